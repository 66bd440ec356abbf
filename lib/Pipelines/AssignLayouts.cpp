//===- AssignLayouts.cpp - Solve, materialize, fold -----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Pipelines/AssignLayouts.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Pipelines/Prepare.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::layout;

void layout::buildDecideLayoutsPipeline(
    OpPassManager &pm, const SolvePassOptions &options,
    std::shared_ptr<CostProvider> provider) {
  CanonicalizeLayoutsPassOptions canonicalize;
  canonicalize.keepFamilies = true;
  pm.addPass(createCanonicalizeLayoutsPass(canonicalize));
  pm.addPass(createSolvePass(options, std::move(provider)));
  pm.addPass(createMaterializePass());
  pm.addPass(createFoldConvertsPass());
  pm.addPass(createVerifyLayoutsPass());
}

void layout::buildDecideLayoutsPipeline(OpPassManager &pm, StringRef target) {
  SolvePassOptions options;
  options.target = target.str();
  buildDecideLayoutsPipeline(pm, options);
}

void layout::buildAssignLayoutsPipeline(
    OpPassManager &pm, const SolvePassOptions &options,
    std::shared_ptr<CostProvider> provider) {
  buildPreparePipeline(pm);
  buildDecideLayoutsPipeline(pm, options, std::move(provider));
}

void layout::buildAssignLayoutsPipeline(OpPassManager &pm, StringRef target) {
  buildPreparePipeline(pm);
  buildDecideLayoutsPipeline(pm, target);
}

void layout::registerAssignLayoutsPipeline() {
  PassPipelineRegistration<AssignLayoutsOptions>(
      "layout-assign",
      "Assign layouts for the target, insert conversions between them and fold "
      "conversions that need not run",
      [](OpPassManager &pm, const AssignLayoutsOptions &options) {
        SolvePassOptions solve;
        solve.target = options.target;
        solve.certificate = options.certificate;
        solve.weightBudget = options.weightBudget;
        solve.weightCost = options.weightCost;
        solve.packingCost = options.packingCost;
        solve.costsFile = options.costs;
        solve.writeCostsFile = options.writeCosts;
        buildAssignLayoutsPipeline(pm, solve);
      });
}
