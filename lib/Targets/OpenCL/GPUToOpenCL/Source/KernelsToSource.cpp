//===- KernelsToSource.cpp - Convert GPU modules to OpenCL C --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelPatterns.h"
#include "Source/KernelSource.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h"

namespace mlir::layout {
#define GEN_PASS_DEF_KERNELSTOSOURCEPASS
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

namespace {
struct KernelsToSource
    : layout::impl::KernelsToSourcePassBase<KernelsToSource> {
  void runOnOperation() override {
    for (auto module : getOperation().getOps<gpu::GPUModuleOp>())
      if (failed(convert(module)))
        return signalPassFailure();
  }

  LogicalResult convert(gpu::GPUModuleOp module) {
    if (failed(checkKernels(module)))
      return failure();
    OwningOpRef<gpu::GPUModuleOp> legal(module.clone());
    legalizeHalf(*legal);
    if (failed(legalizeForOpenCL(*legal)))
      return failure();
    FailureOr<std::string> source =
        printOpenCLSource(*legal, describeKernels(module));
    if (failed(source))
      return failure();
    module->setAttr(kSourceAttrName,
                    StringAttr::get(module.getContext(), *source));
    return success();
  }
};
} // namespace
