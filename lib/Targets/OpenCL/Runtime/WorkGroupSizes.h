//===- WorkGroupSizes.h - Choose work-group sizes ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The work-group sizes of kernels with `any_groups`. The compiler states a
// size, with which neighboring pixels share reads. The device may not support
// it, or may be faster with another. If tuning is on, up to ten sizes are
// measured at the first launch of a kernel on a grid. The fastest is kept on
// disk (Common/DiskCache.h); its key has the device, the driver, the program, the
// kernel and the grid:
//
//   grid 112 x 112 x 1, written 16 x 4 x 1   ->  "56 2 1"
//
// Laws:
//   - Work-groups divide the grid, so that the number of work-items is
//     unchanged.
//   - A cached size is used if the device supports it; otherwise it is ignored.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_WORKGROUPSIZES_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_WORKGROUPSIZES_H

#include "Programs.h"

namespace mlir::layout::opencl {

/// Returns true if tuning is on.
bool isTuning();

/// Returns the work-group size for a launch whose arguments are set: a measured
/// one that is cached, or `written`, which the compiler stated, reduced to the
/// limits of the device. If `mayTune` is true and none is cached, measures
/// several and caches the best.
Sizes chooseGroups(Session &session, Kernel &kernel, const Sizes &global,
                   const Sizes &written, bool mayTune);

cl_int enqueueKernel(cl_command_queue queue, const Kernel &kernel,
                     const Sizes &global, const Sizes &local, cl_event *event);

} // namespace mlir::layout::opencl

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_WORKGROUPSIZES_H
