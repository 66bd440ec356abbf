//===- Prepare.cpp - One preparation for all targets ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Pipelines/Prepare.h"
#include "layout/Linalg/Passes.h"
#include "layout/Pipelines/AddCanonicalizer.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::layout;

void layout::buildPreparePipeline(OpPassManager &pm,
                                  const PrepareOptions &options) {
  pm.addPass(createLowerBundlesPass({options.inBlocks}));
  pm.addPass(createLowerTosaPass());
  pm.addPass(createInlineGlobalsPass());
  pm.addPass(createCropPadsPass());
  pm.addPass(createConvertElementwisePass({options.all}));
  pm.addPass(createPrepareForCanonicalizerPass());
  // Decompose e.g. linalg.softmax before layouts are assigned, so that each op
  // of the decomposition gets layouts of its own.
  pm.addPass(createDecomposeAggregatesPass({options.all}));
  pm.addPass(createFoldBroadcastsPass());
  pm.addPass(createDecomposeTransposedConvPass());
  pm.addPass(createFoldConstantSlicesPass({options.foldTransposes}));
  // The canonicalizer must not merge equal constants, because one of them may
  // have an attribute that constrains its layout. CSE compares attributes.
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
