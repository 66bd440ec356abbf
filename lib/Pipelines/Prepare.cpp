//===- Prepare.cpp - One preparation for all targets ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Pipelines/Prepare.h"
#include "AddCanonicalizer.h"
#include "layout/Linalg/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::layout;

void layout::buildPreparePipeline(OpPassManager &pm,
                                  const PrepareOptions &options) {
  pm.addPass(createLowerTosaPass());
  pm.addPass(createInlineGlobalsPass());
  pm.addPass(createCropPadsPass());
  pm.addPass(createConvertElementwisePass({options.all}));
  pm.addPass(createPrepareForCanonicalizerPass());
  // Each structured op of a decomposition gets layouts.
  pm.addPass(createDecomposeAggregatesPass({options.all}));
  pm.addPass(createFoldBroadcastsPass());
  pm.addPass(createDecomposeTransposedConvPass());
  pm.addPass(createFoldConstantSlicesPass({options.foldTransposes}));
  // Unlike CSE, the canonicalizer merges equal constants of which one has
  // constraints on its layout.
  GreedyRewriteConfig config;
  config.enableConstantCSE(false);
  addCanonicalizer(pm, config);
  pm.addPass(createCSEPass());
}

void layout::registerPreparePipeline() {
  PassPipelineRegistration<PrepareOptions>(
      "layout-prepare",
      "Rewrite a program to the form in which layouts are assigned",
      buildPreparePipeline);
}
