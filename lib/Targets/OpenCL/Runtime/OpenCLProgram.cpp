//===- OpenCLProgram.cpp - Run programs with OpenCL kernels ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/OpenCL/Runtime/OpenCLProgram.h"
#include "layout/Targets/OpenCL/Runtime/OpenCL.h"

using namespace mlir;

void layout::useOpenCL(CompileOptions &options) {
  // The message is emitted as a diagnostic instead of being printed.
  layoutClSetErrorHandler(nullptr);
#define FUNCTION(name) {#name, reinterpret_cast<void *>(&name)}
  options.addRuntime(
      {FUNCTION(layoutClCreateBuffer), FUNCTION(layoutClCreateImage),
       FUNCTION(layoutClRelease), FUNCTION(layoutClEnterScope),
       FUNCTION(layoutClLeaveScope), FUNCTION(layoutClUpload),
       FUNCTION(layoutClDownload), FUNCTION(layoutClCopy),
       FUNCTION(layoutClGetConstant), FUNCTION(layoutClGetKernel),
       FUNCTION(layoutClLaunch), FUNCTION(layoutClRefuseSizes)},
      layoutClTakeError);
#undef FUNCTION
}

std::optional<layout::KernelDevice> layout::getUsedOpenCLDevice() {
  int32_t isGpu = 0;
  const char *name = layoutClGetUsedDevice(&isGpu);
  return name ? std::optional<KernelDevice>({name, isGpu != 0}) : std::nullopt;
}

void layout::setOpenCLProfiling(bool on) {
  if (on)
    layoutClSetProfiling(1);
}

void layout::setOpenCLTuning(bool on) {
  if (on)
    layoutClSetTuning(1);
}

void layout::printOpenCLProfile() { layoutClPrintProfile(); }
