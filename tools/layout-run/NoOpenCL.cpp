//===- NoOpenCL.cpp - Programs with kernels, in builds without OpenCL -----===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In place of OpenCLProgram.cpp. A program that calls the OpenCL runtime cannot
// be linked: the error is at the program, with a note at each function that is
// missing. A library that defines them may be named in --shared-libs.
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/OpenCL/Runtime/OpenCLProgram.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

void layout::useOpenCL(CompileOptions &) {}

std::optional<layout::OpenCLDevice> layout::getUsedOpenCLDevice() {
  return std::nullopt;
}

static void warn(bool on, StringRef option) {
  if (on)
    llvm::errs() << "layout-run: warning: " << option
                 << " does nothing, since this layout-run was built without "
                    "OpenCL\n";
}

void layout::setOpenCLProfiling(bool on) { warn(on, "--opencl-profile"); }

void layout::setOpenCLTuning(bool on) { warn(on, "--opencl-tune"); }

void layout::printOpenCLProfile() {}
