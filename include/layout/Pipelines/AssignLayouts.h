//===- AssignLayouts.h - Decide, apply, fold --------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `layout-assign`: linalg on plain tensors to linalg on tensors with layouts.
//
//   layout-opt net.mlir -layout-assign="target={#layout.cpu<lanes = 16>}"
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PIPELINES_ASSIGNLAYOUTS_H
#define LAYOUT_PIPELINES_ASSIGNLAYOUTS_H

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
};

/// Decide, apply, fold. Without a target `layout.target` of the module is
/// taken, and without a file no certificate is written.
void buildAssignLayoutsPipeline(OpPassManager &pm, StringRef target = {},
                                StringRef certificate = {});

void registerAssignLayoutsPipeline();

} // namespace layout
} // namespace mlir

#endif // LAYOUT_PIPELINES_ASSIGNLAYOUTS_H
