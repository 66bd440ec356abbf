//===- LayoutToCPU.h - From linalg to a laid-out CPU program ----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `layout-to-cpu`: assigns layouts (AssignLayouts.h), lowers tensors with
// layouts to physical ones, and these to the LLVM dialect.
//
//   layout-opt net.mlir -layout-to-cpu="target={#layout.cpu<lanes = 16>}"
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_CPU_PIPELINES_LAYOUTTOCPU_H
#define LAYOUT_TARGETS_CPU_PIPELINES_LAYOUTTOCPU_H

#include "layout/Targets/CPU/Pipelines/LinalgToLLVM.h"

namespace mlir::layout {

struct LayoutToCPUOptions : LinalgToLLVMOptions {};

/// Adds all passes of `layout-to-cpu`, from linalg on tensors without layouts
/// to the LLVM dialect.
void buildLayoutToCPUPipeline(OpPassManager &pm,
                              const LayoutToCPUOptions &options);

void registerLayoutToCPUPipelines();

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_CPU_PIPELINES_LAYOUTTOCPU_H
