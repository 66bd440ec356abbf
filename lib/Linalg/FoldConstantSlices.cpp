//===- FoldConstantSlices.cpp - layout-prepare-fold-constant-slices -------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Folds slices, copies and transposes of constants. Upstream folds slices of
// dense constants only, not of resources, and no copies that compute indices in
// their body. Here all are read as strided views of a row-major constant.
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Linalg/Passes.h"
#include "layout/Support/ConstantBytes.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::layout {
#define GEN_PASS_DEF_FOLDCONSTANTSLICESPASS
#include "layout/Linalg/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

namespace {
/// A strided view: element (i, j, ..) is number `offset` + `strides[0]` * i +
/// `strides[1]` * j + .. of the elements of `source` in row-major order.
struct StridedView {
  Value source;
  int64_t offset = 0;
  SmallVector<int64_t> strides;
};
} // namespace

static SmallVector<int64_t> getRowMajorStrides(RankedTensorType type) {
  SmallVector<int64_t> strides(type.getRank(), 1);
  for (int64_t d = type.getRank() - 1; d > 0; --d)
    strides[d - 1] = strides[d] * type.getDimSize(d);
  return strides;
}

static bool isStatic(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  return type && !type.getEncoding() && type.hasStaticShape();
}

static std::optional<StridedView> readSlice(tensor::ExtractSliceOp op) {
  if (!isStatic(op.getSource()) || !isStatic(op.getResult()) ||
      llvm::any_of(op.getStaticOffsets(), ShapedType::isDynamic) ||
      llvm::any_of(op.getStaticStrides(), ShapedType::isDynamic))
    return std::nullopt;
  StridedView view{op.getSource(), 0, {}};
  llvm::SmallBitVector dropped = op.getDroppedDims();
  for (auto [d, stride] :
       llvm::enumerate(getRowMajorStrides(op.getSourceType()))) {
    view.offset += stride * op.getStaticOffset(d);
    if (!dropped[d])
      view.strides.push_back(stride * op.getStaticStride(d));
  }
  return view;
}

/// Returns `value` as an expression whose dims are the numbers of the loops of
/// the linalg op around it. Returns a null expression if `value` is not made of
/// loop indices and constants by additions and subtractions.
static AffineExpr readIndex(Value value) {
  MLIRContext *context = value.getContext();
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return getAffineConstantExpr(constant.getSExtValue(), context);
  if (auto index = value.getDefiningOp<linalg::IndexOp>())
    return getAffineDimExpr(index.getDim(), context);
  Operation *producer = value.getDefiningOp();
  if (!producer)
    return {};
  auto combine = [](auto op, auto function) -> AffineExpr {
    AffineExpr a = readIndex(op.getLhs()), b = readIndex(op.getRhs());
    return a && b ? function(a, b) : AffineExpr();
  };
  return llvm::TypeSwitch<Operation *, AffineExpr>(producer)
      .Case([&](arith::AddIOp op) { return combine(op, std::plus<>()); })
      .Case([&](arith::SubIOp op) { return combine(op, std::minus<>()); })
      .Default([](Operation *) { return AffineExpr(); });
}

/// Returns the tensor that a copy reads and the indices that it reads, as
/// expressions whose dims are the numbers of the loops of `op`. An index that
/// is no such expression is a null expression. Returns std::nullopt if `op`
/// does not copy an element.
static std::optional<std::pair<Value, SmallVector<AffineExpr>>>
readCopy(linalg::GenericOp op) {
  Value copied = op.getBody()->getTerminator()->getOperand(0);
  if (auto argument = dyn_cast<BlockArgument>(copied)) {
    unsigned number = argument.getArgNumber();
    if (argument.getOwner() != op.getBody() || number >= op.getNumDpsInputs())
      return std::nullopt;
    return std::make_pair(op->getOperand(number),
                          SmallVector<AffineExpr>(
                              op.getIndexingMapsArray()[number].getResults()));
  }
  auto extract = copied.getDefiningOp<tensor::ExtractOp>();
  if (!extract || extract->getBlock() != op.getBody())
    return std::nullopt;
  return std::make_pair(Value(extract.getTensor()),
                        llvm::map_to_vector(extract.getIndices(), readIndex));
}

static std::optional<StridedView> readCopyView(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op->getNumResults() != 1 ||
      op.getNumReductionLoops() != 0 ||
      !op.getIndexingMapsArray().back().isIdentity())
    return std::nullopt;
  auto copy = readCopy(op);
  if (!copy || !isStatic(copy->first) || !isStatic(op->getResult(0)))
    return std::nullopt;
  unsigned loops = op.getNumLoops();
  StridedView view{copy->first, 0, SmallVector<int64_t>(loops, 0)};
  auto type = cast<RankedTensorType>(copy->first.getType());
  for (auto [stride, index] :
       llvm::zip_equal(getRowMajorStrides(type), copy->second)) {
    // A coefficient for each loop, and a constant.
    SmallVector<int64_t> terms;
    if (!index || failed(getFlattenedAffineExpr(index, loops, 0, &terms)) ||
        terms.size() != loops + 1)
      return std::nullopt;
    view.offset += stride * terms.back();
    for (unsigned l = 0; l < loops; ++l)
      view.strides[l] += stride * terms[l];
  }
  return view;
}

static std::optional<StridedView> readTranspose(linalg::TransposeOp op) {
  if (!op.hasPureTensorSemantics() || !isStatic(op.getInput()) ||
      !isStatic(op->getResult(0)))
    return std::nullopt;
  StridedView view{op.getInput(), 0, {}};
  SmallVector<int64_t> strides =
      getRowMajorStrides(cast<RankedTensorType>(op.getInput().getType()));
  for (int64_t d : op.getPermutation())
    view.strides.push_back(strides[d]);
  return view;
}

/// Returns true if all elements of the view are within a constant of `count`
/// elements.
static bool isWithin(const StridedView &view, ArrayRef<int64_t> shape,
                     int64_t count) {
  int64_t first = view.offset, last = view.offset;
  for (auto [stride, size] : llvm::zip_equal(view.strides, shape))
    (stride < 0 ? first : last) += stride * (size - 1);
  return first >= 0 && last < count;
}

/// Appends the elements of a strided view, each of `bytes` bytes, to `to` in
/// row-major order. `position` is the index in `from` of the first one, counted
/// in elements, as are `strides`.
static void copyElements(ArrayRef<char> from, ArrayRef<int64_t> shape,
                         ArrayRef<int64_t> strides, int64_t position,
                         size_t bytes, SmallVectorImpl<char> &to) {
  if (shape.empty())
    return to.append(from.begin() + position * bytes,
                     from.begin() + (position + 1) * bytes);
  for (int64_t i = 0; i < shape[0]; ++i)
    copyElements(from, shape.drop_front(), strides.drop_front(),
                 position + i * strides[0], bytes, to);
}

/// Returns the elements of the view of `constant`. Returns a null attribute if
/// there are none or more than those of the constant, if one is outside of it,
/// or if their bytes cannot be read.
static ElementsAttr evaluate(const StridedView &view, ElementsAttr constant,
                             RankedTensorType type) {
  int64_t count = constant.getNumElements();
  Type element = type.getElementType();
  // Return the constant itself for a view of all of it, so that it is stored
  // once.
  if (constant.getType() == type && view.offset == 0 &&
      view.strides == getRowMajorStrides(type))
    return constant;
  if (type.getNumElements() == 0 || type.getNumElements() > count ||
      !isWithin(view, type.getShape(), count))
    return {};
  auto dense = dyn_cast<DenseElementsAttr>(constant);
  if (dense && dense.isSplat())
    return dense.resizeSplat(type);
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0)
    return {};
  size_t bytes = element.getIntOrFloatBitWidth() / 8;
  ArrayRef<char> from = getConstantBytes(constant).value_or(ArrayRef<char>());
  if (from.size() != count * bytes)
    return {};
  SmallVector<char> to;
  to.reserve(type.getNumElements() * bytes);
  copyElements(from, type.getShape(), view.strides, view.offset, bytes, to);
  if (dense)
    return DenseElementsAttr::getFromRawBuffer(type, to);
  auto &manager =
      DenseResourceElementsHandle::getManagerInterface(type.getContext());
  StringRef name =
      cast<DenseResourceElementsAttr>(constant).getRawHandle().getKey();
  return DenseResourceElementsAttr::get(
      type, manager.insert(name, HeapAsmResourceBlob::allocateAndCopyInferAlign(
                                     ArrayRef<char>(to))));
}

namespace {
struct FoldConstantSlices
    : layout::impl::FoldConstantSlicesPassBase<FoldConstantSlices> {
  using FoldConstantSlicesPassBase::FoldConstantSlicesPassBase;

  void runOnOperation() override {
    // Program order, so that slices of slices fold, too.
    IRRewriter rewriter(&getContext());
    bool changed = false;
    getOperation()->walk([&](Operation *op) {
      std::optional<StridedView> view;
      if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
        view = readSlice(slice);
      else if (auto copy = dyn_cast<linalg::GenericOp>(op))
        view = readCopyView(copy);
      else if (auto transpose = dyn_cast<linalg::TransposeOp>(op))
        view = transposes ? readTranspose(transpose) : std::nullopt;
      ElementsAttr constant;
      if (!view || !matchPattern(view->source, m_Constant(&constant)))
        return;
      auto type = cast<RankedTensorType>(op->getResult(0).getType());
      ElementsAttr value = evaluate(*view, constant, type);
      if (!value)
        return;
      rewriter.setInsertionPoint(op);
      rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, type,
                                                     cast<TypedAttr>(value));
      changed = true;
    });
    if (changed)
      (void)runRegionDCE(rewriter, getOperation()->getRegions());
  }
};
} // namespace
