//===- Programs.h - Kernels from SPIR-V -------------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module of SPIR-V is built once for the process. A device that takes SPIR-V
// gets it as it is; any other gets SPIR, LLVM bitcode, into which a tool of its
// own translates it:
//
//   llvm-spirv-15 -r --spirv-target-env=CL1.2 kernels.spv -o kernels.bc
//
// What the tool made is kept on disk with the words it was made from, so that a
// hit is a comparison, not a promise of a hash.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_PROGRAMS_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_PROGRAMS_H

#include "Session.h"
#include "layout/Targets/OpenCL/Runtime/OpenCL.h"
#include <array>
#include <string_view>

namespace mlir::layout::opencl {

/// Along x, y and z.
using Sizes = std::array<size_t, 3>;

struct Kernel {
  /// What a grid runs in.
  struct Groups {
    Sizes local = {1, 1, 1};
    bool isTuned = false;
  };
  std::string name;
  cl_kernel kernel;
  std::string program; // a hash of what it was built from
  LayoutClKernelFacts facts;
  std::map<std::pair<Sizes, Sizes>, Groups> groups; // of grids and groups
};

/// Of a slot that no program has any more; null is none.
void releaseKernel(Kernel *kernel);

/// SPIR of a SPIR-V module; false after an error, which names `kernel`.
bool translateToSpir(std::string_view spirv, const std::string &kernel,
                     std::string &spir);

} // namespace mlir::layout::opencl

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_PROGRAMS_H
