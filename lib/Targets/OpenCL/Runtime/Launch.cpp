//===- Launch.cpp - Run kernels and time them -----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pool.h"
#include "Programs.h"
#include "Session.h"
#include "layout/Targets/OpenCL/Runtime/OpenCL.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>

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

/// The largest part of `size` that divides it.
static size_t getPart(size_t size) {
  for (size_t factor = 2; factor * factor <= size; ++factor)
    if (size % factor == 0)
      return size / factor;
  return 1;
}

/// Makes groups smaller until the device can run them, longest side first.
static void fitGroups(Session &session, const Kernel &kernel, size_t *local) {
  size_t most = 0, mostOfSide[3] = {};
  if (clGetKernelWorkGroupInfo(kernel.kernel, session.device,
                               CL_KERNEL_WORK_GROUP_SIZE, sizeof(most), &most,
                               nullptr) != CL_SUCCESS ||
      clGetDeviceInfo(session.device, CL_DEVICE_MAX_WORK_ITEM_SIZES,
                      sizeof(mostOfSide), mostOfSide, nullptr) != CL_SUCCESS)
    return;
  for (int d = 0; d < 3; ++d)
    while (local[d] > std::max<size_t>(mostOfSide[d], 1))
      local[d] = getPart(local[d]);
  while (local[0] * local[1] * local[2] > std::max<size_t>(most, 1)) {
    size_t *longest = std::max_element(local, local + 3);
    *longest = getPart(*longest);
  }
}

static void launch(void *handle, const int64_t *grid, int32_t numValues,
                   const void *const *values, const int64_t *sizes,
                   bool mayRegroup) {
  Lock lock(getMutex());
  Session *session = Session::get();
  if (!session || !handle)
    return;
  const auto &kernel = *static_cast<const Kernel *>(handle);
  size_t global[3], local[3];
  for (int d = 0; d < 3; ++d) {
    if (grid[d] < 0 || grid[d + 3] <= 0) {
      report("launching the kernel '" + kernel.name + "' failed: its grid of " +
             std::to_string(grid[d]) + " groups of " +
             std::to_string(grid[d + 3]) + " items in dimension " +
             std::to_string(d) + " is none");
      return;
    }
    local[d] = grid[d + 3];
    global[d] = size_t(grid[d]) * local[d];
  }
  // OpenCL 1.2 takes no empty grid.
  if (std::find(global, global + 3, 0u) != global + 3)
    return;
  if (!setArguments(kernel, numValues, values, sizes))
    return;
  if (mayRegroup)
    fitGroups(*session, kernel, local);
  cl_event event = nullptr;
  cl_int code = clEnqueueNDRangeKernel(session->queue, kernel.kernel, 3,
                                       nullptr, global, local, 0, nullptr,
                                       isProfiling() ? &event : nullptr);
  if (check(code, "clEnqueueNDRangeKernel",
            "launching the kernel '" + kernel.name + "' on a grid of " +
                std::to_string(global[0]) + " x " + std::to_string(global[1]) +
                " x " + std::to_string(global[2]) + " in groups of " +
                std::to_string(local[0]) + " x " + std::to_string(local[1]) +
                " x " + std::to_string(local[2])))
    addToProfile(kernel.name, event);
}

void layoutClLaunch(void *handle, const int64_t *grid, int32_t numValues,
                    const void *const *values, const int64_t *sizes) {
  launch(handle, grid, numValues, values, sizes, /*mayRegroup=*/false);
}

void layoutClLaunchItems(void *handle, const int64_t *grid, int32_t numValues,
                         const void *const *values, const int64_t *sizes) {
  launch(handle, grid, numValues, values, sizes, /*mayRegroup=*/true);
}

//===----------------------------------------------------------------------===//
// Profile
//===----------------------------------------------------------------------===//

namespace {
struct Profile {
  struct Sum {
    uint64_t launches = 0;
    double seconds = 0;
  };
  bool on = false;
  std::map<std::string, Sum> sums;
  std::vector<std::pair<std::string, cl_event>> pending;
};
} // namespace

static Profile &getProfile() {
  static Profile *profile = [] {
    auto *made = new Profile;
    const char *variable = std::getenv("LAYOUT_OPENCL_PROFILE");
    made->on = variable && *variable && std::string(variable) != "0";
    if (made->on)
      std::atexit(layoutClPrintProfile);
    return made;
  }();
  return *profile;
}

bool mlir::layout::opencl::isProfiling() { return getProfile().on; }

void layoutClSetProfiling(int32_t on) {
  Lock lock(getMutex());
  getProfile().on = on;
}

void mlir::layout::opencl::addToProfile(const std::string &name,
                                        cl_event event) {
  if (event)
    getProfile().pending.push_back({name, event});
}

void mlir::layout::opencl::collectProfile() {
  Profile &profile = getProfile();
  std::vector<std::pair<std::string, cl_event>> left;
  for (auto &[name, event] : profile.pending) {
    cl_int status = CL_QUEUED;
    clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status),
                   &status, nullptr);
    if (status > CL_COMPLETE) {
      left.push_back({name, event});
      continue;
    }
    cl_ulong start = 0, end = 0;
    if (clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START,
                                sizeof(start), &start, nullptr) == CL_SUCCESS &&
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(end),
                                &end, nullptr) == CL_SUCCESS) {
      Profile::Sum &sum = profile.sums[name];
      ++sum.launches;
      sum.seconds += double(end - start) * 1e-9;
    }
    clReleaseEvent(event);
  }
  profile.pending = std::move(left);
}

void layoutClPrintProfile() {
  Lock lock(getMutex());
  if (!hasError())
    if (Session *session = Session::get())
      clFinish(session->queue);
  collectProfile();
  std::vector<std::pair<std::string, Profile::Sum>> rows(
      getProfile().sums.begin(), getProfile().sums.end());
  std::sort(rows.begin(), rows.end(), [](const auto &a, const auto &b) {
    return a.second.seconds > b.second.seconds;
  });
  std::fprintf(stderr, "%12s %10s %12s  kernel\n", "total ms", "launches",
               "us each");
  for (const auto &[name, sum] : rows)
    std::fprintf(stderr, "%12.3f %10llu %12.2f  %s\n", sum.seconds * 1e3,
                 static_cast<unsigned long long>(sum.launches),
                 sum.seconds * 1e6 / sum.launches, name.c_str());
  std::fprintf(stderr, "%s\n", describeMemory().c_str());
}
