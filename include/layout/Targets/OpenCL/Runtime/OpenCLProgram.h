//===- OpenCLProgram.h - Run programs with OpenCL kernels -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lets a CompiledProgram (CompiledProgram.h) call the OpenCL runtime of this
// process; a runtime error makes the run fail with its message. Programs
// without such calls do not look up a device.
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

/// Returns the device that programs of this process used, or std::nullopt if
/// they have used none.
std::optional<KernelDevice> getUsedOpenCLDevice();

/// Enables timing of kernels if `on` is true, else changes nothing. Call it
/// before the first program runs.
void setOpenCLProfiling(bool on);
/// Enables the measurement of work-group sizes if `on` is true, else changes
/// nothing.
void setOpenCLTuning(bool on);
/// Prints to stderr how often each kernel was launched and how long it ran.
void printOpenCLProfile();

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_OPENCL_RUNTIME_OPENCLPROGRAM_H
