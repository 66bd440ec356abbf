//===- LayoutToUpstream.cpp - Layouts for other compilers -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/CPU/Pipelines/LayoutToUpstream.h"
#include "layout/Targets/CPU/LayoutToLinalg/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::layout;

void layout::buildLayoutToUpstreamPipeline(OpPassManager &pm,
                                           StringRef target) {
  buildAssignLayoutsPipeline(pm, target);
  ConvertLayoutToLinalgPassOptions convert;
  convert.packOps = true;
  pm.addPass(createConvertLayoutToLinalgPass(convert));
  pm.addPass(createStripAttributesPass());
}

void layout::registerLayoutToUpstreamPipelines() {
  PassPipelineRegistration<AssignLayoutsOptions>(
      "layout-to-upstream",
      "Assign layouts for a CPU, and apply them with upstream ops only",
      [](OpPassManager &pm, const AssignLayoutsOptions &options) {
        buildLayoutToUpstreamPipeline(pm, options.target);
      });
}
