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
  auto add = [&](StringRef name, auto *function) {
    options.symbols.push_back({name.str(), reinterpret_cast<void *>(function)});
  };
  add("layoutClCreateBuffer", &layoutClCreateBuffer);
  add("layoutClCreateImage", &layoutClCreateImage);
  add("layoutClRelease", &layoutClRelease);
  add("layoutClEnterScope", &layoutClEnterScope);
  add("layoutClLeaveScope", &layoutClLeaveScope);
  add("layoutClUpload", &layoutClUpload);
  add("layoutClDownload", &layoutClDownload);
  add("layoutClCopy", &layoutClCopy);
  add("layoutClGetConstant", &layoutClGetConstant);
  add("layoutClGetKernel", &layoutClGetKernel);
  add("layoutClLaunch", &layoutClLaunch);
  add("layoutClRefuseSizes", &layoutClRefuseSizes);
  options.takeError = [] {
    const char *message = layoutClTakeError();
    return message ? std::optional<std::string>(message) : std::nullopt;
  };
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
