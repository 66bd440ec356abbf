//===- Prepare.h - One preparation for all targets --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `layout-prepare`: rewrites a program to the form in which layouts are
// assigned, the same on every target: linalg ops on canonical IR. It runs once
// in each pipeline, before the decision. A second run changes nothing.
//
//   layout-opt net.mlir -layout-prepare
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PIPELINES_PREPARE_H
#define LAYOUT_PIPELINES_PREPARE_H

#include "mlir/Pass/PassOptions.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::layout {

struct PrepareOptions : PassPipelineOptions<PrepareOptions> {
  Option<bool> all{
      *this, "all",
      llvm::cl::desc("Rewrite ops with layouts or a layout rule of their own, "
                     "too: no decision follows, or ops are tiled before it"),
      llvm::cl::init(false)};
  Option<bool> foldTransposes{
      *this, "fold-transposes",
      llvm::cl::desc("Fold linalg.transpose of constants, too, for a target on "
                     "which it would move elements"),
      llvm::cl::init(false)};
  Option<bool> inBlocks{
      *this, "in-blocks",
      llvm::cl::desc("Repack bundles block by block, for a target with caches"),
      llvm::cl::init(false)};
};

/// Adds the passes of `layout-prepare`, which rewrite a program to linalg ops
/// on canonical IR, the form in which layouts are assigned.
void buildPreparePipeline(OpPassManager &pm,
                          const PrepareOptions &options = PrepareOptions());

void registerPreparePipeline();

} // namespace mlir::layout

#endif // LAYOUT_PIPELINES_PREPARE_H
