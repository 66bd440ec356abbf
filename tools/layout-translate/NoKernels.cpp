//===- NoKernels.cpp - Builds without OpenCL ------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;

static LogicalResult reportMissing() {
  llvm::WithColor::error(llvm::errs(), "layout-translate")
      << "this build has no OpenCL: add opencl to LAYOUT_TARGETS\n";
  return failure();
}

FailureOr<std::string>
layout::writeSpirvBinary(std::unique_ptr<llvm::MemoryBuffer>, StringRef) {
  return reportMissing();
}

FailureOr<std::string>
layout::writeOpenCLSource(std::unique_ptr<llvm::MemoryBuffer>, StringRef) {
  return reportMissing();
}

LogicalResult layout::writePackage(std::unique_ptr<llvm::MemoryBuffer>,
                                   StringRef, StringRef, KernelAPI) {
  return reportMissing();
}
