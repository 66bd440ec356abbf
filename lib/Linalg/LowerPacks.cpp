//===- LowerPacks.cpp - layout-prepare-lower-packs ------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lowers packs for targets that have no lowering of their own. The CPU pipeline
// keeps them until layout-cpu-lower-pack-pad-concat, which has the same
// patterns (LowerPacks.h).
//
//===----------------------------------------------------------------------===//

#include "layout/Support/LowerPacks.h"
#include "layout/Interfaces/LayoutOpInterface.h"
#include "layout/Linalg/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::layout {
#define GEN_PASS_DEF_LOWERPACKSPASS
#include "layout/Linalg/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

namespace {
struct LowerPacks : layout::impl::LowerPacksPassBase<LowerPacks> {
  using LowerPacksPassBase::LowerPacksPassBase;

  void runOnOperation() override {
    SmallVector<Operation *> packs;
    getOperation()->walk([&](Operation *op) {
      if (isa<linalg::PackOp, linalg::UnPackOp>(op) &&
          (views || !std::holds_alternative<ViewRule>(getLayoutRule(op))))
        packs.push_back(op);
    });
    RewritePatternSet patterns(&getContext());
    patterns.add<LowerPack, LowerUnPack>(&getContext());
    // Packs that the patterns do not match stay and are reported when they are
    // lowered.
    GreedyRewriteConfig config;
    config.enableFolding(false);
    config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
    config.setStrictness(GreedyRewriteStrictness::ExistingOps);
    (void)applyOpPatternsGreedily(packs, std::move(patterns), config);
  }
};
} // namespace
