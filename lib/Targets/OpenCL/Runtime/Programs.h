//===- Programs.h - Build kernels for the device ----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds programs from OpenCL C or SPIR-V, each once per process. For a device
// that does not accept SPIR-V, a tool translates it to SPIR, LLVM bitcode:
//
//   llvm-spirv-15 -r --spirv-target-env=CL1.2 kernels.spv -o kernels.bc
//
// The output of the tool is cached on disk (Common/DiskCache.h).
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_PROGRAMS_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_PROGRAMS_H

#include "Common/GroupLimits.h"
#include "Session.h"
#include "layout/Targets/OpenCL/Runtime/OpenCL.h"
#include <string_view>

namespace mlir::layout::opencl {

struct Kernel {
  /// The work-group size chosen for launches on a grid. `isTuned` is true if it
  /// was measured, now or by an earlier process.
  struct WorkGroupSize {
    Sizes local = {1, 1, 1};
    bool isTuned = false;
  };
  std::string name;
  cl_kernel kernel;
  std::string program; // a hash of its SPIR-V or source
  LayoutClKernelMetadata facts;
  std::map<std::pair<Sizes, Sizes>, WorkGroupSize> groups; // by grid and size
};

/// Frees a kernel, which no caller of layoutClGetKernel may use any more. A
/// null kernel is ignored.
void releaseKernel(Kernel *kernel);

/// Translates a SPIR-V module to SPIR, which is stored in `spir`. Reports an
/// error that names `kernel` and returns false on failure.
bool translateToSpir(std::string_view spirv, const std::string &kernel,
                     std::string &spir);

} // namespace mlir::layout::opencl

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_PROGRAMS_H
