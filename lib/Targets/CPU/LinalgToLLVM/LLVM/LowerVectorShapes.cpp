//===- LowerVectorShapes.cpp - Transfers to 1-D vector ops ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs on buffers. Transfers of contiguous rows become vector loads and stores.
// Transfers with other strides are unrolled by the patterns of vector-to-scf.
//
//===----------------------------------------------------------------------===//

#include "CpuParams.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Conversion/VectorToSCF/VectorToSCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "LLVM/VectorMasks.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::layout {
#define GEN_PASS_DEF_LOWERVECTORSHAPESPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

/// Returns the vector type with the next power of two of elements. Returns a
/// null type if `type` already has such a number, does not have one dim, is
/// scalable, or has elements that are not masked (only indices, 32 and 64 bits
/// are).
static VectorType getMaskedType(VectorType type) {
  int64_t width = type.getRank() == 1 ? type.getDimSize(0) : 1;
  Type element = type.getElementType();
  bool fits = element.isIndex() || element.getIntOrFloatBitWidth() == 32 ||
              element.getIntOrFloatBitWidth() == 64;
  if (llvm::isPowerOf2_64(width) || type.isScalable() || !fits)
    return {};
  return VectorType::get({static_cast<int64_t>(llvm::PowerOf2Ceil(width))},
                         type.getElementType());
}

/// Returns the first `width` elements of `vector`. If it has fewer, the
/// remaining lanes are poison.
static Value resize(OpBuilder &b, Location loc, Value vector, int64_t width) {
  int64_t present = cast<VectorType>(vector.getType()).getDimSize(0);
  SmallVector<int64_t> lanes(width, vector::ShuffleOp::kPoisonIndex);
  for (int64_t lane = 0, e = std::min(width, present); lane < e; ++lane)
    lanes[lane] = lane;
  return vector::ShuffleOp::create(b, loc, vector, vector, lanes);
}

namespace {
struct MaskLoad : OpRewritePattern<vector::LoadOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::LoadOp op,
                                PatternRewriter &rewriter) const override {
    VectorType type = op.getVectorType(), wide = getMaskedType(type);
    if (!wide)
      return failure();
    int64_t width = type.getDimSize(0);
    Location loc = op.getLoc();
    Value others = ub::PoisonOp::create(rewriter, loc, wide);
    Value loaded = vector::MaskedLoadOp::create(
        rewriter, loc, wide, op.getBase(), op.getIndices(),
        makeMask(rewriter, loc, wide, width), others);
    rewriter.replaceOp(op, resize(rewriter, loc, loaded, width));
    return success();
  }
};

struct MaskStore : OpRewritePattern<vector::StoreOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(vector::StoreOp op,
                                PatternRewriter &rewriter) const override {
    VectorType type = op.getVectorType(), wide = getMaskedType(type);
    if (!wide)
      return failure();
    Location loc = op.getLoc();
    rewriter.replaceOpWithNewOp<vector::MaskedStoreOp>(
        op, op.getBase(), op.getIndices(),
        makeMask(rewriter, loc, wide, type.getDimSize(0)),
        resize(rewriter, loc, op.getValueToStore(), wide.getDimSize(0)));
    return success();
  }
};

struct LowerVectorShapes
    : layout::impl::LowerVectorShapesPassBase<LowerVectorShapes> {
  using LowerVectorShapesPassBase::LowerVectorShapesPassBase;

  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    layout::CpuModelParams params = layout::getCpuParams(getOperation());
    if (layout::hasMaskedLoads(params))
      patterns.add<MaskLoad>(&getContext());
    if (layout::isAVX512(params))
      patterns.add<MaskStore>(&getContext());
    vector::populateVectorTransferPermutationMapLoweringPatterns(patterns);
    vector::populateVectorTransferLoweringPatterns(patterns,
                                                   /*maxTransferRank=*/1);
    // Full unrolling avoids stack buffers, which each iteration would allocate.
    populateVectorToSCFConversionPatterns(
        patterns, VectorTransferToSCFOptions().enableFullUnroll());
    GreedyRewriteConfig config;
    config.enableFolding(false);
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    if (failed(
            applyPatternsGreedily(getOperation(), std::move(patterns), config)))
      signalPassFailure();
  }
};
} // namespace
