//===- CopyNoncontiguousCasts.cpp - Casts that would lose strides ---------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces casts that lose strides. Bufferization casts a slice that crosses a
// function boundary to contiguous memory if the strides may be equal:
//
//   memref<8x?xf32, strided<[?, 1]>> to memref<8x?xf32>
//
// The first stride of the result is the size of its second dim, that of the
// slice is the size of its source, and at most one of them is static.
// docs/upstream/bufferize-casts-strided-slice.mlir reproduces it.
//
// Also replaces views of casts of memory without elements: if upstream folds
// the cast, the offset of the view is out of bounds.
//
//===----------------------------------------------------------------------===//

#include "layout/Support/StatedSizes.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::layout {
#define GEN_PASS_DEF_COPYNONCONTIGUOUSCASTSPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

/// Returns true if `cast` goes from a strided memref type to a row-major one,
/// and at least one of the two has a dynamic stride, so that the real strides
/// may be lost.
static bool losesStrides(memref::CastOp cast) {
  auto from = dyn_cast<MemRefType>(cast.getSource().getType());
  auto to = dyn_cast<MemRefType>(cast.getType());
  SmallVector<int64_t> strides, contiguous;
  int64_t offset;
  return from && to && !from.getLayout().isIdentity() &&
         to.getLayout().isIdentity() &&
         succeeded(from.getStridesAndOffset(strides, offset)) &&
         succeeded(to.getStridesAndOffset(contiguous, offset)) &&
         (llvm::is_contained(strides, ShapedType::kDynamic) ||
          llvm::is_contained(contiguous, ShapedType::kDynamic));
}

static bool showsNoElements(memref::SubViewOp view) {
  auto cast = view.getSource().getDefiningOp<memref::CastOp>();
  auto type =
      cast ? dyn_cast<MemRefType>(cast.getSource().getType()) : MemRefType();
  return type && layout::hasNoElements(type);
}

/// Replaces `view`, which has no elements, by a reinterpret_cast, whose offset
/// is not verified. Dynamic offsets and strides become 0, because they do not
/// matter without elements.
static void viewAnywhere(RewriterBase &rewriter, memref::SubViewOp view) {
  rewriter.setInsertionPoint(view);
  MemRefType type = view.getType();
  auto [strides, offset] = type.getStridesAndOffset();
  auto known = [&](int64_t number) {
    return rewriter.getIndexAttr(ShapedType::isDynamic(number) ? 0 : number);
  };
  llvm::SmallBitVector dropped = view.getDroppedDims();
  SmallVector<OpFoldResult> sizes, steps;
  for (auto [d, size] : llvm::enumerate(view.getMixedSizes()))
    if (!dropped[d])
      sizes.push_back(size);
  for (int64_t stride : strides)
    steps.push_back(known(stride));
  OpFoldResult start = known(offset);
  Value any = memref::ReinterpretCastOp::create(
      rewriter, view.getLoc(), view.getSource(), start, sizes, steps);
  rewriter.replaceOp(
      view, rewriter.createOrFold<memref::CastOp>(view.getLoc(), type, any));
}

namespace {
struct CopyNoncontiguousCasts
    : layout::impl::CopyNoncontiguousCastsPassBase<CopyNoncontiguousCasts> {
  void runOnOperation() override {
    SmallVector<memref::CastOp> casts;
    getOperation()->walk([&](memref::CastOp op) {
      if (losesStrides(op))
        casts.push_back(op);
    });
    SmallVector<memref::SubViewOp> views;
    getOperation()->walk([&](memref::SubViewOp op) {
      if (showsNoElements(op))
        views.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (memref::SubViewOp view : views)
      viewAnywhere(rewriter, view);
    for (memref::CastOp cast : casts) {
      rewriter.setInsertionPoint(cast);
      Location loc = cast.getLoc();
      auto type = llvm::cast<MemRefType>(cast.getType());
      SmallVector<Value> sizes;
      for (unsigned d = 0; d < type.getRank(); ++d)
        if (type.isDynamicDim(d))
          sizes.push_back(
              memref::DimOp::create(rewriter, loc, cast.getSource(), d));
      Value copy = memref::AllocOp::create(rewriter, loc, type, sizes);
      memref::CopyOp::create(rewriter, loc, cast.getSource(), copy);
      rewriter.replaceOp(cast, copy);
    }
  }
};
} // namespace
