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
};

/// Decide, apply, fold. Without a target `layout.target` of the module is
/// taken.
void buildAssignLayoutsPipeline(OpPassManager &pm, StringRef target = {});

void registerAssignLayoutsPipeline();

} // namespace layout
} // namespace mlir

#endif // LAYOUT_PIPELINES_ASSIGNLAYOUTS_H
