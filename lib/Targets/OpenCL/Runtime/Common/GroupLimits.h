//===- GroupLimits.h - Limits of work-group sizes ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Work-group sizes within the limits of a device. Shared by the runtimes for
// OpenCL and Vulkan.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_COMMON_GROUPLIMITS_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_COMMON_GROUPLIMITS_H

#include "PendingError.h"
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace mlir::layout {

/// Extents along x, y and z.
using Sizes = std::array<size_t, 3>;

/// Returns the largest proper divisor of `size`; 1 for a prime, and for 1.
inline size_t getPart(size_t size) {
  for (size_t factor = 2; factor * factor <= size; ++factor)
    if (size % factor == 0)
      return size / factor;
  return 1;
}

/// The limits of a device for the work-groups of a kernel: the number of
/// work-items of a work-group, and its size along x, y and z.
struct GroupLimits {
  size_t items = 1;
  Sizes sides = {1, 1, 1};

  bool allow(const Sizes &local) const {
    for (int d = 0; d < 3; ++d)
      if (!local[d] || local[d] > sides[d])
        return false;
    return local[0] * local[1] * local[2] <= items;
  }

  /// Returns `local` with sides repeatedly replaced by their largest proper
  /// divisors: those above the device's limit of a side, then the longest one
  /// while the work-group has too many work-items.
  Sizes fit(Sizes local) const {
    for (int d = 0; d < 3; ++d)
      while (local[d] > sides[d])
        local[d] = getPart(local[d]);
    while (local[0] * local[1] * local[2] > items) {
      size_t *longest = std::max_element(local.begin(), local.end());
      *longest = getPart(*longest);
    }
    return local;
  }
};

/// Returns e.g. "16 x 4 x 1".
inline std::string getText(const Sizes &sizes) {
  return std::to_string(sizes[0]) + " x " + std::to_string(sizes[1]) + " x " +
         std::to_string(sizes[2]);
}

/// Reports an error and returns false if the grid of a launch, grid[0..2]
/// work-groups of grid[3..5] work-items, has negative sizes.
inline bool checkGrid(const int64_t *grid, const std::string &kernel,
                      PendingError &error) {
  for (int d = 0; d < 3; ++d)
    if (grid[d] < 0 || grid[d + 3] <= 0) {
      error.report("launching the kernel '" + kernel +
                   "' failed: its grid of " + std::to_string(grid[d]) +
                   " work-groups of " + std::to_string(grid[d + 3]) +
                   " work-items in dimension " + std::to_string(d) +
                   " is invalid");
      return false;
    }
  return true;
}

/// The reason why a launch is refused, and the way out.
inline constexpr const char *kRefusedSizes =
    "its 32-bit indices are too small for these sizes; compile for a target "
    "with address_bits = 64";

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_COMMON_GROUPLIMITS_H
