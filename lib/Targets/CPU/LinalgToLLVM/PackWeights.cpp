//===- PackWeights.cpp - Constants in the order of a kernel ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PackWeights.h"
#include "layout/Support/ConstantBytes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

/// Whether `map` indexes a tensor with rows of more than one block along the
/// lanes, and the innermost reduction goes from row to row.
static bool readsColumns(const Kernel &kernel, const KernelPlan &plan,
                         AffineMap map, RankedTensorType type) {
  if (!plan.lane || !kernel.isParallel(*plan.lane) ||
      !map.isProjectedPermutation() || type.getRank() < 2 ||
      type.getShape().back() <= plan.vectorSize ||
      map.getResults().back() != getAffineDimExpr(*plan.lane, map.getContext()))
    return false;
  for (unsigned dim = kernel.extents.size(); dim-- > 0;)
    if (!kernel.isParallel(dim) && kernel.extents[dim] != 1)
      return map.isFunctionOfDim(dim);
  return false;
}

/// The blocks of `width` columns of a constant, the last one filled up with
/// zeros. Null where its bytes are not known.
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
      HeapAsmResourceBlob::allocate(blocks * rows * blockBytes, /*align=*/64);
  char *to = blob.getMutableData().data();
  for (size_t at = 0; at < rowBytes; at += blockBytes) {
    size_t used = std::min(blockBytes, rowBytes - at);
    for (size_t row = 0; row < rows; ++row, to += blockBytes) {
      std::memcpy(to, bytes.data() + row * rowBytes + at, used);
      std::memset(to + used, 0, blockBytes - used);
    }
  }
  auto packed = RankedTensorType::get(
      static_cast<int64_t>(blocks * rows) * width, type.getElementType());
  return DenseResourceElementsAttr::get(packed, "packed_weights",
                                        std::move(blob));
}

/// Where a vector begins in the blocks of the tensor that `map` indexes.
static AffineMap getPackedMap(AffineMap map, RankedTensorType type,
                              int64_t width) {
  AffineExpr row = getAffineConstantExpr(0, map.getContext());
  for (auto [expr, extent] :
       llvm::zip(map.getResults().drop_back(), type.getShape()))
    row = row * extent + expr;
  int64_t rows = type.getNumElements() / type.getShape().back();
  return AffineMap::get(map.getNumDims(), 0,
                        map.getResults().back() * rows + row * width);
}

void layout::packWeights(Kernel &kernel, const KernelPlan &plan,
                         const CpuFigures &target, OpBuilder &builder,
                         PackedConstants &known) {
  Stage &root = kernel.root;
  for (unsigned i = 0, e = root.numInputs(); i < e; ++i) {
    auto type = dyn_cast<RankedTensorType>(root.operands[i].getType());
    ElementsAttr value;
    if (!type || !root.groups[i].empty() ||
        !type.getElementType().isIntOrFloat() ||
        !isWholeBytes(type.getElementType()) ||
        !matchPattern(root.operands[i], m_Constant(&value)) ||
        type.getNumElements() * type.getElementTypeBitWidth() / 8 <=
            target.secondCacheBytes ||
        !readsColumns(kernel, plan, root.maps[i], type))
      continue;
    ElementsAttr &packed = known[{value, plan.vectorSize}];
    if (!packed)
      packed = packColumns(value, plan.vectorSize);
    if (!packed)
      continue;
    root.operands[i] = arith::ConstantOp::create(builder, root.op.getLoc(),
                                                 cast<TypedAttr>(packed));
    root.maps[i] = getPackedMap(root.maps[i], type, plan.vectorSize);
  }
}
