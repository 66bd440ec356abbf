//===- Launch.cpp - Launch kernels ----------------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Profile.h"
#include "Programs.h"
#include "WorkGroupSizes.h"
#include "layout/Targets/OpenCL/Runtime/OpenCL.h"
#include <algorithm>
#include <set>

using namespace mlir::layout;
using namespace mlir::layout::opencl;
using Lock = std::lock_guard<std::recursive_mutex>;

static bool setArguments(const Kernel &kernel, int32_t numValues,
                         const void *const *values, const int64_t *sizes) {
  for (int32_t i = 0; i < numValues; ++i) {
    cl_int code;
    if (sizes[i] == 0) {
      auto memory = static_cast<cl_mem>(const_cast<void *>(values[i]));
      code = clSetKernelArg(kernel.kernel, i, sizeof(cl_mem), &memory);
    } else {
      code = clSetKernelArg(kernel.kernel, i, sizes[i], values[i]);
    }
    if (!check(code, "clSetKernelArg",
               "passing argument " + std::to_string(i) + " to the kernel '" +
                   kernel.name + "'"))
      return false;
  }
  return true;
}

/// Returns true if the kernel may be run repeatedly on these values: it does
/// not read what it writes, and no memory is passed twice.
static bool mayRepeat(const Kernel &kernel, int32_t numValues,
                      const void *const *values, const int64_t *sizes) {
  if (!kernel.facts.may_repeat)
    return false;
  std::set<const void *> memory;
  for (int32_t i = 0; i < numValues; ++i)
    if (sizes[i] == 0 && !memory.insert(values[i]).second)
      return false;
  return true;
}

void layoutClLaunch(void *handle, const int64_t *grid, int32_t numValues,
                    const void *const *values, const int64_t *sizes) {
  Lock lock(getMutex());
  Session *session = Session::get();
  if (!session || !handle)
    return;
  auto &kernel = *static_cast<Kernel *>(handle);
  if (!checkGrid(grid, kernel.name, getErrors()))
    return;
  Sizes global, local;
  for (int d = 0; d < 3; ++d) {
    local[d] = grid[d + 3];
    global[d] = size_t(grid[d]) * local[d];
  }
  // OpenCL 1.2 does not allow empty grids.
  if (std::find(global.begin(), global.end(), 0u) != global.end())
    return;
  if (!setArguments(kernel, numValues, values, sizes))
    return;
  if (kernel.facts.any_groups)
    local =
        chooseGroups(*session, kernel, global, local,
                     isTuning() && mayRepeat(kernel, numValues, values, sizes));
  cl_event event = nullptr;
  cl_int code = enqueueKernel(session->queue, kernel, global, local,
                              isProfiling() ? &event : nullptr);
  if (check(code, "clEnqueueNDRangeKernel",
            "launching the kernel '" + kernel.name + "' on a grid of " +
                getText(global) + " in groups of " + getText(local)))
    addToProfile(kernel.name, event, countWork(kernel.facts, grid));
}

void layoutClRefuseSizes(const char *name) {
  report("launching the kernel '" + std::string(name) +
         "' failed: " + kRefusedSizes);
}
