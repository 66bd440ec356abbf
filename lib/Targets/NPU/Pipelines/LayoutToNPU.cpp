//===- LayoutToNPU.cpp - From linalg to the memories of an NPU ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/NPU/Pipelines/LayoutToNPU.h"
#include "layout/Dialect/NPU/Transforms/Passes.h"
#include "layout/Linalg/Passes.h"
#include "layout/Pipelines/AddCanonicalizer.h"
#include "layout/Pipelines/AssignLayouts.h"
#include "layout/Pipelines/Prepare.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "layout/Targets/NPU/LayoutToNPU/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::layout;

void layout::buildPrepareForNPUPipeline(OpPassManager &pm, StringRef target) {
  pm.addPass(createCheckInputPass());
  // Runs before the inliner, which canonicalizes, too: upstream replaces a
  // tensor.pad by its source if both have the same type, although negative
  // amounts may shift its elements.
  pm.addPass(createCropPadsPass());
  pm.addPass(createInlinerPass());
  pm.addPass(createSequenceForallsPass());
  pm.addNestedPass<func::FuncOp>(createUnrollLoopsPass());
  pm.addPass(createLowerPacksPass());
  // Rewrite all ops, also those with layouts, and fold transposes of constants:
  // the tile sizes and the fit of operands in local memory depend on the final
  // contractions and weights.
  PrepareOptions prepare;
  prepare.all = true;
  prepare.foldTransposes = true;
  buildPreparePipeline(pm, prepare);
  CheckIndicesPassOptions check;
  check.fixedText = true;
  pm.addPass(createCheckIndicesPass(check));
  pm.addNestedPass<func::FuncOp>(createCheckOnHostPass());
  pm.addNestedPass<func::FuncOp>(createSliceDynamicBatchPass());
  addCanonicalizer(pm);
  LegalizeLinalgPassOptions legalize;
  legalize.target = target.str();
  pm.addPass(createLegalizeLinalgPass(legalize));
  // Folds slices in the contractions created by the previous pass.
  pm.addPass(createFoldConstantSlicesPass({/*transposes=*/true}));
  addCanonicalizer(pm);
  pm.addPass(createCSEPass());
  TileAndFusePassOptions split;
  split.target = target.str();
  pm.addPass(createTileAndFusePass(split));
  addCanonicalizer(pm);
  NarrowConstantsPassOptions narrow;
  narrow.target = target.str();
  pm.addPass(createNarrowConstantsPass(narrow));
}

void layout::buildLayoutToNPUPipeline(OpPassManager &pm,
                                      const LayoutToNPUOptions &options) {
  buildPrepareForNPUPipeline(pm, options.target);
  buildDecideLayoutsPipeline(pm, options.target);
  pm.addPass(createConvertLayoutToNPUPass());
  npu::NPUSpillTensorsPassOptions spill;
  npu::NPUOverlapTransfersPassOptions overlap;
  npu::NPUAssignAddressesPassOptions assign;
  spill.reuseHoles = overlap.reuseHoles = assign.reuseHoles =
      options.reuseHoles;
  pm.addNestedPass<func::FuncOp>(npu::createNPUSpillTensorsPass(spill));
  // The times of loads depend on the order of constants.
  pm.addPass(npu::createNPUOrderConstantsPass());
  pm.addNestedPass<func::FuncOp>(npu::createNPUOverlapTransfersPass(overlap));
  pm.addNestedPass<func::FuncOp>(createComputeMovesPass());
  pm.addNestedPass<func::FuncOp>(npu::createNPUAssignAddressesPass(assign));
}

void layout::registerLayoutToNPUPipelines() {
  PassPipelineRegistration<PrepareForNPUOptions>(
      "layout-prepare-for-npu",
      "Run the passes of layout-to-npu that precede the assignment of layouts",
      [](OpPassManager &pm, const PrepareForNPUOptions &options) {
        buildPrepareForNPUPipeline(pm, options.target);
      });
  PassPipelineRegistration<LayoutToNPUOptions>(
      "layout-to-npu",
      "Assign layouts for the cores of an NPU, and lower to its memory ops "
      "with addresses",
      buildLayoutToNPUPipeline);
}
