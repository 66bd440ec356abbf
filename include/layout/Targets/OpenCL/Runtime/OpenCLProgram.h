//===- OpenCLProgram.h - Programs with kernels ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lets a CompiledProgram (CompiledProgram.h) call the OpenCL runtime of this
// process, and makes a run fail with the runtime's message. A module that makes
// no such call costs nothing: no device is looked up before the first one.
//
//   CompileOptions options;
//   useOpenCL(options);
//   auto program = CompiledProgram::compile(module, "main", options);
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_RUNTIME_OPENCLPROGRAM_H
#define LAYOUT_TARGETS_OPENCL_RUNTIME_OPENCLPROGRAM_H

#include "layout/Runtime/CompiledProgram.h"

namespace mlir::layout {

void useOpenCL(CompileOptions &options);

struct OpenCLDevice {
  std::string name; // and its platform's
  bool isGpu;
};

/// What the programs of this process ran on; nothing where none had kernels.
std::optional<OpenCLDevice> getUsedOpenCLDevice();

/// To be called before the first program runs.
void setOpenCLProfiling(bool on);
/// Kernels run in groups that were measured to be the best from now on.
void setOpenCLTuning(bool on);
/// Prints the kernels' launches and times to stderr.
void printOpenCLProfile();

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_OPENCL_RUNTIME_OPENCLPROGRAM_H
