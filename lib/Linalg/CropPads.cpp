//===- CropPads.cpp - layout-prepare-crop-pads ----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Padding by a negative amount removes elements, as in ONNX and StableHLO. The
// upstream lowerings of tensor.pad assume that every amount adds elements.
//
//   tensor.pad %x low[-1] high[2] : 6 to 7
//     tensor.extract_slice %x[1] [5] [1], then tensor.pad low[0] high[2]
//
// For a dim of size n with result size t = n + low + high:
//
//   offset = min(n, max(0, -low))
//   size   = max(0, n - offset - max(0, -high))
//   low'   = max(0, min(t, low))
//   high'  = max(0, t - low' - size)
//
// The bounds n and t matter only if one side removes more elements than exist
// and the other one adds some: then all elements of the result are padding.
// Dynamic amounts become maxima with 0, which `addsOnly` recognizes in a second
// run.
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Linalg/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

namespace mlir::layout {
#define GEN_PASS_DEF_CROPPADSPASS
#include "layout/Linalg/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

/// Returns true if `amount` is proven to be at least 0.
static bool addsOnly(OpFoldResult amount) {
  if (std::optional<int64_t> number = getConstantIntValue(amount))
    return *number >= 0;
  // The upstream bounds analysis does not support maxima.
  if (auto larger = cast<Value>(amount).getDefiningOp<arith::MaxSIOp>())
    return addsOnly(larger.getLhs()) || addsOnly(larger.getRhs());
  OpFoldResult zero = IntegerAttr::get(IndexType::get(amount.getContext()), 0);
  return ValueBoundsConstraintSet::compare(
      amount, ValueBoundsConstraintSet::ComparisonOperator::GE, zero);
}

namespace {
/// Emits arithmetic on sizes, with folded constants.
class SizeEmitter {
public:
  SizeEmitter(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  OpFoldResult max0(AffineExpr expr, ArrayRef<OpFoldResult> symbols) {
    AffineMap map = AffineMap::get(
        0, symbols.size(), {expr, b.getAffineConstantExpr(0)}, b.getContext());
    return affine::makeComposedFoldedAffineMax(b, loc, map, symbols);
  }
  OpFoldResult min(OpFoldResult x, OpFoldResult y) {
    AffineMap map = AffineMap::getMultiDimIdentityMap(2, b.getContext());
    return affine::makeComposedFoldedAffineMin(b, loc, map, {x, y});
  }
  OpFoldResult apply(AffineExpr expr, ArrayRef<OpFoldResult> symbols) {
    return affine::makeComposedFoldedAffineApply(b, loc, expr, symbols);
  }

private:
  OpBuilder &b;
  Location loc;
};
} // namespace

/// Emits the slice of `source` with the given offsets and sizes and strides of
/// 1, as a tensor without a layout. If a size is the constant 0, emits a
/// tensor.empty instead.
static Value emitSlice(OpBuilder &b, Location loc, Value source,
                       ArrayRef<OpFoldResult> offsets,
                       ArrayRef<OpFoldResult> sizes) {
  auto type = cast<RankedTensorType>(source.getType());
  // The offset of an empty slice may be out of bounds.
  if (llvm::any_of(sizes, isZeroInteger))
    return tensor::EmptyOp::create(b, loc, sizes, type.getElementType());
  SmallVector<OpFoldResult> ones(sizes.size(), b.getIndexAttr(1));
  auto slice =
      tensor::ExtractSliceOp::create(b, loc, source, offsets, sizes, ones);
  slice.getResult().setType(withoutLayout(slice.getType()));
  return slice;
}

/// Replaces a padding that may remove elements by a slice and a padding that
/// only adds elements. Replaces it by a fill if its value is constant, its
/// shape is static, and the result provably has no element of the source. The
/// replacement has the type of `op`; the slice is row-major.
static void crop(RewriterBase &rewriter, tensor::PadOp op) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  SizeEmitter emit(rewriter, loc);
  AffineExpr a, b, c;
  bindSymbols(op.getContext(), a, b, c);
  RankedTensorType type = op.getResultType();
  SmallVector<OpFoldResult> low = op.getMixedLowPad();
  SmallVector<OpFoldResult> high = op.getMixedHighPad();
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(rewriter, loc, op.getSource());
  SmallVector<OpFoldResult> offsets(sizes.size(), rewriter.getIndexAttr(0));
  for (unsigned d = 0, e = sizes.size(); d < e; ++d) {
    if (addsOnly(low[d]) && addsOnly(high[d]))
      continue;
    OpFoldResult total =
        type.isDynamicDim(d)
            ? emit.apply(a + b + c, {sizes[d], low[d], high[d]})
            : OpFoldResult(rewriter.getIndexAttr(type.getDimSize(d)));
    offsets[d] = emit.min(sizes[d], emit.max0(-a, {low[d]}));
    OpFoldResult behind = emit.max0(-a, {high[d]});
    sizes[d] = emit.max0(a - b - c, {sizes[d], offsets[d], behind});
    low[d] = emit.max0(a, {emit.min(total, low[d])});
    high[d] = emit.max0(a - b - c, {total, low[d], sizes[d]});
  }
  Value value = op.getConstantPaddingValue();
  bool isPadding = llvm::any_of(sizes, isZeroInteger);
  if (value && isPadding && type.hasStaticShape()) {
    Value empty = tensor::EmptyOp::create(rewriter, loc, type, ValueRange());
    auto fill = linalg::FillOp::create(rewriter, loc, value, empty);
    rewriter.replaceOp(op, fill.getResult(0));
    return;
  }
  Value slice = emitSlice(rewriter, loc, op.getSource(), offsets, sizes);
  auto pad = tensor::PadOp::create(rewriter, loc, type, slice, low, high,
                                   op.getNofold());
  rewriter.inlineRegionBefore(op.getRegion(), pad.getRegion(),
                              pad.getRegion().end());
  rewriter.replaceOp(op, pad);
}

namespace {
struct CropPads : layout::impl::CropPadsPassBase<CropPads> {
  void runOnOperation() override {
    SmallVector<tensor::PadOp> pads;
    getOperation()->walk([&](tensor::PadOp op) {
      if (!llvm::all_of(op.getMixedLowPad(), addsOnly) ||
          !llvm::all_of(op.getMixedHighPad(), addsOnly))
        pads.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (tensor::PadOp op : pads)
      crop(rewriter, op);
  }
};
} // namespace
