//===- PackWeights.cpp - Constants in the order of a kernel ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/PackWeights.h"
#include "layout/Support/ConstantBytes.h"
#include "layout/Support/MappedFiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir;
using namespace mlir::layout;

/// The minimum number of tiles that read each element of an input that is
/// packed at run time.
static constexpr int64_t kLeastTiles = 4;

/// The elements of an input tensor that one register tile of the kernel reads.
/// The input is a matrix here: its last dim has the columns, all other dims
/// together have the rows.
struct Columns {
  /// True if the columns are on the lanes of vectors.
  bool onLanes;
  /// The number of adjacent columns that a tile reads in each row.
  int64_t perTile;
  /// The number of rows that a tile reads: the product of the extents of the
  /// reduction dims that index the input.
  int64_t rows;
};

/// Returns what one register tile reads of an input of `type` that `map`
/// indexes. Returns std::nullopt unless `map` is a projected permutation of at
/// least two results, no reduction indexes the columns, and the innermost
/// reduction advances from row to row. Also returns std::nullopt if a tile
/// reads one column, or if a row fits in one tile (in one vector, if columns
/// are on the lanes).
static std::optional<Columns> findColumns(const Kernel &kernel,
                                          const KernelPlan &plan, AffineMap map,
                                          RankedTensorType type) {
  if (!map.isProjectedPermutation(/*allowZeroInResults=*/true) ||
      type.getRank() < 2)
    return std::nullopt;
  auto column = dyn_cast<AffineDimExpr>(map.getResults().back());
  if (!column || !kernel.isParallel(column.getPosition()))
    return std::nullopt;
  Columns columns{plan.lane == column.getPosition(),
                  plan.tile[column.getPosition()], 1};
  int64_t least = columns.onLanes ? plan.vectorSize : columns.perTile;
  if (columns.perTile == 1 || type.getShape().back() <= least)
    return std::nullopt;
  std::optional<unsigned> innermost;
  for (unsigned dim = 0; dim < kernel.extents.size(); ++dim) {
    if (kernel.isParallel(dim) || kernel.extents[dim] == 1)
      continue;
    innermost = dim;
    if (map.isFunctionOfDim(dim))
      columns.rows *= kernel.extents[dim];
  }
  return innermost && map.isFunctionOfDim(*innermost) ? std::optional(columns)
                                                      : std::nullopt;
}

/// Returns `map` with each input dim whose extent is one replaced by the
/// constant 0.
static AffineMap withoutUnitDims(const Kernel &kernel, AffineMap map) {
  MLIRContext *context = map.getContext();
  SmallVector<AffineExpr> dims;
  for (auto [dim, extent] : llvm::enumerate(kernel.extents))
    dims.push_back(extent == 1 ? getAffineConstantExpr(0, context)
                               : getAffineDimExpr(dim, context));
  return simplifyAffineMap(
      map.replaceDimsAndSymbols(dims, {}, dims.size(), map.getNumSymbols()));
}

/// Returns true if the cache lines that one tile reads exceed L1, so that it
/// does not hold them until the next tile reads its columns from them.
static bool exceedsL1(const Columns &columns, int64_t rowBytes,
                      const CpuModelParams &target) {
  int64_t apart =
      std::max(target.lineBytes, std::gcd(rowBytes, target.l1SetStride));
  return columns.rows * apart > target.l1Bytes;
}

/// Returns the number of tiles that read each element by `map`. A dynamic
/// extent counts as one tile.
static int64_t countTiles(const Kernel &kernel, const KernelPlan &plan,
                          AffineMap map) {
  int64_t tiles = 1;
  for (auto [dim, extent] : llvm::enumerate(kernel.extents))
    if (kernel.isParallel(dim) && !map.isFunctionOfDim(dim))
      tiles *= ShapedType::isDynamic(extent)
                   ? 1
                   : llvm::divideCeil(extent, plan.tile[dim]);
  return tiles;
}

/// Returns the blocks of `width` columns of a constant, the last one padded
/// with zeros, or a null attribute if its bytes are not available.
static ElementsAttr packColumns(ElementsAttr value, int64_t width) {
  auto type = cast<RankedTensorType>(value.getType());
  ArrayRef<char> bytes = getConstantBytes(value).value_or(ArrayRef<char>());
  size_t elementBytes = type.getElementTypeBitWidth() / 8;
  if (bytes.size() != type.getNumElements() * elementBytes)
    return {};
  size_t rowBytes = type.getShape().back() * elementBytes;
  size_t rows = bytes.size() / rowBytes, blockBytes = width * elementBytes;
  size_t blocks = llvm::divideCeil(rowBytes, blockBytes);
  AsmResourceBlob blob =
      allocateConstant(blocks * rows * blockBytes, /*alignment=*/64);
  char *to = blob.getMutableData().data();
  for (size_t at = 0; at < rowBytes; at += blockBytes) {
    size_t used = std::min(blockBytes, rowBytes - at);
    for (size_t row = 0; row < rows; ++row, to += blockBytes) {
      std::memcpy(to, bytes.data() + row * rowBytes + at, used);
      std::memset(to + used, 0, blockBytes - used);
    }
  }
  forgetMappedPages(bytes);
  auto packed = RankedTensorType::get(
      static_cast<int64_t>(blocks * rows) * width, type.getElementType());
  return DenseResourceElementsAttr::get(packed, "packed_weights",
                                        std::move(blob));
}

/// Returns the map that reads the packed input, a 1-D tensor of blocks of
/// `width` columns, one block after another. `map` reads the original, of type
/// `type`.
static AffineMap getPackedMap(AffineMap map, RankedTensorType type,
                              int64_t width) {
  AffineExpr row = getAffineConstantExpr(0, map.getContext());
  for (auto [expr, extent] :
       llvm::zip(map.getResults().drop_back(), type.getShape()))
    row = row * extent + expr;
  int64_t rows = type.getNumElements() / type.getShape().back();
  AffineExpr column = map.getResults().back();
  return AffineMap::get(map.getNumDims(), 0,
                        (column.floorDiv(width) * rows + row) * width +
                            column % width);
}

/// Emits a copy of `value` to blocks of `width` columns, one after another in a
/// 1-D tensor, and returns it. The padding of the last block is not written.
static Value copyColumns(OpBuilder &b, Location loc, Value value,
                         int64_t width) {
  auto type = cast<RankedTensorType>(value.getType());
  Type element = type.getElementType();
  int64_t extent = type.getShape().back();
  int64_t rows = type.getNumElements() / extent;
  int64_t blocks = llvm::divideCeil(extent, width);
  if (type.getRank() > 2) {
    ReassociationIndices leading =
        llvm::to_vector(llvm::seq<int64_t>(0, type.getRank() - 1));
    value = tensor::CollapseShapeOp::create(
        b, loc, value,
        ArrayRef<ReassociationIndices>{leading, {type.getRank() - 1}});
  }
  auto sizes = [&](ArrayRef<int64_t> numbers) {
    return getAsIndexOpFoldResult(b.getContext(), numbers);
  };
  Value packed =
      tensor::EmptyOp::create(b, loc, sizes({blocks, rows, width}), element);
  // Copies the whole blocks, then the partial one.
  int64_t whole = extent / width * width;
  for (auto [from, count, size] :
       {std::tuple(int64_t(0), extent / width, width),
        std::tuple(whole, int64_t(1), extent - whole)}) {
    if (size == 0 || count == 0)
      continue;
    Value part = tensor::ExtractSliceOp::create(b, loc, value, sizes({0, from}),
                                                sizes({rows, count * size}),
                                                sizes({1, 1}));
    part = tensor::ExpandShapeOp::create(
        b, loc, RankedTensorType::get({rows, count, size}, element), part,
        ArrayRef<ReassociationIndices>{{0}, {1, 2}});
    SmallVector<OpFoldResult> offsets = sizes({from / width, 0, 0}),
                              extents = sizes({count, rows, size}),
                              ones = sizes({1, 1, 1});
    Value to =
        tensor::ExtractSliceOp::create(b, loc, packed, offsets, extents, ones);
    part = linalg::TransposeOp::create(b, loc, part, to,
                                       ArrayRef<int64_t>{1, 0, 2})
               .getResult()[0];
    packed = tensor::InsertSliceOp::create(b, loc, part, packed, offsets,
                                           extents, ones);
  }
  return tensor::CollapseShapeOp::create(
      b, loc, packed, ArrayRef<ReassociationIndices>{{0, 1, 2}});
}

void layout::packWeights(Kernel &kernel, const KernelPlan &plan,
                         const CpuModelParams &target, OpBuilder &builder,
                         PackedConstants &known) {
  Stage &root = kernel.root;
  for (unsigned i = 0, e = root.numInputs(); i < e; ++i) {
    auto type = dyn_cast<RankedTensorType>(root.getType(i));
    if (!type || type.getRank() == 0 || !type.hasStaticShape() ||
        !type.getElementType().isIntOrFloat() ||
        !isWholeBytes(type.getElementType()))
      continue;
    AffineMap map = withoutUnitDims(kernel, root.maps[i]);
    std::optional<Columns> columns = findColumns(kernel, plan, map, type);
    int64_t bytes = type.getElementTypeBitWidth() / 8;
    int64_t rowBytes = type.getShape().back() * bytes;
    if (!columns || rowBytes <= target.lineBytes)
      continue;
    bool leaves = exceedsL1(*columns, rowBytes, target);
    int64_t width = columns->perTile;
    Location loc = root.op.getLoc();
    Value value = root.operands[i];
    ElementsAttr constant;
    if (matchPattern(value, m_Constant(&constant)) && root.groups[i].empty()) {
      // A constant whose elements one tile reads has blocks of a whole tile.
      // Otherwise blocks are one vector, so that kernels with different tiles
      // share them.
      bool isShared = !value.hasOneUse() ||
                      known.contains({constant, plan.vectorSize}) ||
                      countTiles(kernel, plan, map) > 1;
      if (isShared)
        width = plan.vectorSize;
      if (!columns->onLanes || type.getShape().back() <= width ||
          (!leaves && type.getNumElements() * bytes <= target.l2Bytes))
        continue;
      ElementsAttr &packed = known[{constant, width}];
      if (!packed)
        packed = packColumns(constant, width);
      if (!packed)
        continue;
      root.operands[i] =
          arith::ConstantOp::create(builder, loc, cast<TypedAttr>(packed));
    } else if (leaves && type.getShape().back() > width &&
               countTiles(kernel, plan, map) >= kLeastTiles) {
      if (!root.groups[i].empty())
        value = tensor::CollapseShapeOp::create(builder, loc, value,
                                                root.groups[i]);
      root.groups[i].clear();
      root.operands[i] = copyColumns(builder, loc, value, width);
    } else {
      continue;
    }
    root.maps[i] = getPackedMap(map, type, width);
  }
}
