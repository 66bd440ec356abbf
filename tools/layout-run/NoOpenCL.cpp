//===- NoOpenCL.cpp - Stubs for builds without OpenCL ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces OpenCLProgram.cpp in builds without OpenCL. Linking a program that
// calls the OpenCL runtime is an error at the program, with a note for each
// missing function. A library in --shared-libs may define them.
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/OpenCL/Runtime/OpenCLProgram.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

void layout::useOpenCL(CompileOptions &) {}

std::optional<layout::KernelDevice> layout::getUsedOpenCLDevice() {
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
