//===- AssignLayouts.h - Solve, materialize, fold ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `layout-assign`: assigns layouts to the tensors of a linalg program.
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
namespace layout {

struct AssignLayoutsOptions : PassPipelineOptions<AssignLayoutsOptions> {
  Option<std::string> target{
      *this, "target",
      llvm::cl::desc("A target, `#layout.cpu<..>`; without it `layout.target` "
                     "of the module is taken")};
  Option<std::string> certificate{
      *this, "certificate",
      llvm::cl::desc("A file for the problem that was solved, its solution and "
                     "a proof of the lower bound")};
  Option<int64_t> weightBudget{
      *this, "weight-budget",
      llvm::cl::desc("Most bytes that constants may take, each once for every "
                     "layout that it is wanted in, on a mesh on one device, "
                     "where it counts in place of the 'memory' of the target"),
      llvm::cl::init(-1)};
  Option<unsigned> weightCost{
      *this, "weight-cost",
      llvm::cl::desc("What a byte of constants that is kept costs, in "
                     "hundredths of one that is moved"),
      llvm::cl::init(0)};
  Option<unsigned> packingCost{
      *this, "packing-cost",
      llvm::cl::desc("What conversions of constants cost, in hundredths of "
                     "their price"),
      llvm::cl::init(0)};
  Option<std::string> costs{
      *this, "costs",
      llvm::cl::desc("A price list: functions with one op or conversion each "
                     "and its price")};
  Option<std::string> writeCosts{
      *this, "write-costs",
      llvm::cl::desc("A file for the prices that were weighed, as a price "
                     "list")};
};

/// Adds the passes that solve, materialize and fold layouts. If `target` is
/// empty, the `layout.target` attribute of the module is used.
void buildAssignLayoutsPipeline(OpPassManager &pm, StringRef target = {});

/// Adds the passes that assign layouts with the given solver options.
/// `provider` overrides the prices; if null, they follow from the options.
void buildAssignLayoutsPipeline(OpPassManager &pm,
                                const SolvePassOptions &options,
                                std::shared_ptr<CostProvider> provider = {});

void registerAssignLayoutsPipeline();

} // namespace layout
} // namespace mlir

#endif // LAYOUT_PIPELINES_ASSIGNLAYOUTS_H
