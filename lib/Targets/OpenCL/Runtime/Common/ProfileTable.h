//===- ProfileTable.h - Times and work of kernels ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The table that the runtimes for OpenCL and Vulkan print: one row for each
// kernel, and one for each direction of copies.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_COMMON_PROFILETABLE_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_COMMON_PROFILETABLE_H

#include "layout/Targets/OpenCL/Runtime/OpenCL.h"
#include <cstdint>
#include <map>
#include <string>

namespace mlir::layout {

/// The bytes and operations of a command; negative if unknown.
struct Work {
  double bytes = -1, operations = -1;
};

/// Returns the work of all work-items that compute. `grid` is that of
/// layoutClLaunch.
Work countWork(const LayoutClKernelMetadata &facts, const int64_t *grid);

class ProfileTable {
public:
  void add(const std::string &name, double seconds, Work work);
  /// Prints the rows, the longest times first, the sums over all kernels, and
  /// `memory`, to stderr.
  void print(const std::string &memory) const;

private:
  struct Row {
    uint64_t launches = 0;
    double seconds = 0;
    Work work{0, 0};

    void add(uint64_t count, double time, Work other);
  };
  std::map<std::string, Row> rows;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_COMMON_PROFILETABLE_H
