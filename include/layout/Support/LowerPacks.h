//===- LowerPacks.h - Pack and unpack to simpler ops ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's rewriting of tiles to pads, reshapes and transpositions, where it
// is right. It fails where the tiles are not known.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_LOWERPACKS_H
#define LAYOUT_SUPPORT_LOWERPACKS_H

#include "layout/Support/StatedSizes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

namespace mlir {
namespace layout {

/// Whether the tiles are those of all dims, in their order. Only then is a
/// single tile the tensor with its padding, as upstream takes it to be wherever
/// the other dims have size 1.
template <typename OpTy> bool tilesAreWhole(OpTy op, int64_t rank) {
  return llvm::equal(op.getInnerDimsPos(), llvm::seq<int64_t>(rank));
}

/// pack = pad, expand, transpose.
struct LowerPack : OpRewritePattern<linalg::PackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::PackOp op,
                                PatternRewriter &rewriter) const override {
    return linalg::lowerPack(rewriter, op,
                             tilesAreWhole(op, op.getSourceType().getRank()));
  }
};

/// unpack = transpose, collapse, slice.
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

} // namespace layout
} // namespace mlir

#endif // LAYOUT_SUPPORT_LOWERPACKS_H
