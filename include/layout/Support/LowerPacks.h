//===- LowerPacks.h - Lower linalg.pack and linalg.unpack -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Uses upstream's lowering of packs to pads, reshapes and transpositions,
// without the cases that it miscompiles. The lowering fails if tile sizes are
// dynamic.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_LOWERPACKS_H
#define LAYOUT_SUPPORT_LOWERPACKS_H

#include "layout/Support/StatedSizes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

namespace mlir::layout {

/// Returns true if `inner_dims_pos` of a pack or unpack op is 0, 1, .., rank -
/// 1. Upstream would lower a pack with unit outer dims to a plain pad, which is
/// right only in this case.
template <typename OpTy> bool tilesAreWhole(OpTy op, int64_t rank) {
  return llvm::equal(op.getInnerDimsPos(), llvm::seq<int64_t>(rank));
}

/// Lowers linalg.pack to tensor.pad, tensor.expand_shape and linalg.transpose.
struct LowerPack : OpRewritePattern<linalg::PackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::PackOp op,
                                PatternRewriter &rewriter) const override {
    return linalg::lowerPack(rewriter, op,
                             tilesAreWhole(op, op.getSourceType().getRank()));
  }
};

/// Lowers linalg.unpack to linalg.transpose, tensor.collapse_shape and
/// tensor.extract_slice. If the result has no elements, replaces it by the
/// destination operand.
struct LowerUnPack : OpRewritePattern<linalg::UnPackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::UnPackOp op,
                                PatternRewriter &rewriter) const override {
    if (!hasNoElements(op.getDestType()))
      return linalg::lowerUnPack(rewriter, op,
                                 tilesAreWhole(op, op.getDestType().getRank()));
    rewriter.replaceOp(op, op.getDest());
    return success();
  }
};

} // namespace mlir::layout

#endif // LAYOUT_SUPPORT_LOWERPACKS_H
