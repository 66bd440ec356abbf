//===- LayoutToNPU.h - From linalg to the memories of an NPU ----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `layout-to-npu`: lowers linalg on tensors to npu ops on addressed memory,
// with layouts assigned for the chip of the target. `layout-prepare-for-npu`
// runs only the passes before layout assignment.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_NPU_PIPELINES_LAYOUTTONPU_H
#define LAYOUT_TARGETS_NPU_PIPELINES_LAYOUTTONPU_H

#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"

namespace mlir {
class OpPassManager;
} // namespace mlir

namespace mlir::layout {

template <typename Options>
struct NPUTargetOptions : public PassPipelineOptions<Options> {
  mlir::detail::PassOptions::Option<std::string> target{
      *this, "target",
      llvm::cl::desc("The target, such as `#layout.npu<..>`; by default "
                     "`layout.target` of the module")};
};

struct PrepareForNPUOptions : public NPUTargetOptions<PrepareForNPUOptions> {};

struct LayoutToNPUOptions : public NPUTargetOptions<LayoutToNPUOptions> {
  PassOptions::Option<bool> reuseHoles{
      *this, "reuse-holes",
      llvm::cl::desc("Place tensors in the holes of others"),
      llvm::cl::init(false)};
};

void buildPrepareForNPUPipeline(OpPassManager &pm, llvm::StringRef target);

void buildLayoutToNPUPipeline(OpPassManager &pm,
                              const LayoutToNPUOptions &options);

void registerLayoutToNPUPipelines();

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_NPU_PIPELINES_LAYOUTTONPU_H
