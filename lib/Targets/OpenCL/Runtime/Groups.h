//===- Groups.h - How many items run together -------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The groups of kernels that run in any. The compiler says some, which
// neighbors of images share reads in; the device may have none so large, and
// may be faster with others. Where tuning is on, up to ten are measured at the
// first launch of a kernel on a grid, and the fastest is kept on disk
// (DiskCache.h) under the device, its driver, the kernel's program, its name
// and the grid:
//
//   grid 112 x 112 x 1, written 16 x 4 x 1   ->  "56 2 1"
//
// Laws:
//   - Groups divide the grid, so that the same items run.
//   - What the file says is taken where the device has such groups; anything
//     else is as if nothing had been kept.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_GROUPS_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_GROUPS_H

#include "Programs.h"

namespace mlir::layout::opencl {

/// "112 x 112 x 1"
std::string getText(const Sizes &sizes);

/// Whether whoever uses the library asked for measurements.
bool isTuning();

/// Groups for a launch whose arguments are set, where the program says
/// `written`. Unless it may tune, nothing runs the kernel but its launch.
Sizes chooseGroups(Session &session, Kernel &kernel, const Sizes &global,
                   const Sizes &written, bool mayTune);

cl_int enqueueKernel(cl_command_queue queue, const Kernel &kernel,
                     const Sizes &global, const Sizes &local, cl_event *event);

} // namespace mlir::layout::opencl

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_GROUPS_H
