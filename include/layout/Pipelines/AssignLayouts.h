//===- AssignLayouts.h - Solve, materialize, fold ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `layout-assign`: prepares a linalg program (Prepare.h) and assigns layouts to
// its tensors.
//
//   layout-opt net.mlir -layout-assign="target={#layout.cpu<lanes = 16>}"
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PIPELINES_ASSIGNLAYOUTS_H
#define LAYOUT_PIPELINES_ASSIGNLAYOUTS_H

#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::layout {

struct AssignLayoutsOptions : PassPipelineOptions<AssignLayoutsOptions> {
  Option<std::string> target{
      *this, "target",
      llvm::cl::desc("The target, such as `#layout.cpu<..>`; by default "
                     "`layout.target` of the module")};
  Option<std::string> certificate{
      *this, "certificate",
      llvm::cl::desc("Output file for the problem, its solution and a proof of "
                     "the lower bound")};
  Option<int64_t> weightBudget{
      *this, "weight-budget",
      llvm::cl::desc(
          "Maximum bytes of constants, each counted once per layout; on a mesh "
          "for one device, in place of the 'memory' of the target"),
      llvm::cl::init(-1)};
  Option<unsigned> weightCost{
      *this, "weight-cost",
      llvm::cl::desc("Cost of storing a byte of constants, in percent of the "
                     "cost of moving a byte"),
      llvm::cl::init(0)};
  Option<unsigned> packingCost{
      *this, "packing-cost",
      llvm::cl::desc("Cost of converting a constant, in percent of the cost of "
                     "the same conversion at run time"),
      llvm::cl::init(0)};
  Option<std::string> costs{
      *this, "costs",
      llvm::cl::desc("Input file with a price list: functions with one op or "
                     "conversion each and its cost")};
  Option<std::string> writeCosts{
      *this, "write-costs",
      llvm::cl::desc(
          "Output file for the costs that were used, as a price list")};
};

/// Adds the passes that choose layouts (solve), insert conversions
/// (materialize) and remove conversions that need not run (fold). They run on a
/// program that `layout-prepare` has rewritten. If `target` is empty, the
/// `layout.target` attribute of the module is used.
void buildDecideLayoutsPipeline(OpPassManager &pm, StringRef target = {});

/// Adds the passes that choose layouts, insert conversions and remove those
/// that need not run, with the given options of `layout-solve`. `provider` is
/// the source of all costs; if null, the costs are those of the target or of
/// the price list in `options`.
void buildDecideLayoutsPipeline(OpPassManager &pm,
                                const SolvePassOptions &options,
                                std::shared_ptr<CostProvider> provider = {});

/// Adds the passes of `layout-prepare`, which rewrite a program to linalg ops
/// on canonical IR. Then adds those of buildDecideLayoutsPipeline() with the
/// same arguments: they choose layouts, insert conversions and remove those
/// that need not run.
void buildAssignLayoutsPipeline(OpPassManager &pm, StringRef target = {});
void buildAssignLayoutsPipeline(OpPassManager &pm,
                                const SolvePassOptions &options,
                                std::shared_ptr<CostProvider> provider = {});

void registerAssignLayoutsPipeline();

} // namespace mlir::layout

#endif // LAYOUT_PIPELINES_ASSIGNLAYOUTS_H
