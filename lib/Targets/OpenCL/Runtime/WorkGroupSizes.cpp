//===- WorkGroupSizes.cpp - Choose work-group sizes -----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WorkGroupSizes.h"
#include "Common/Files.h"
#include "Profile.h"
#include "layout/Targets/OpenCL/Runtime/OpenCL.h"
#include <algorithm>
#include <cstdio>

using namespace mlir::layout;
using namespace mlir::layout::opencl;

/// The work-group sizes along x, y and z that tuning measures. Each number is
/// reduced to a divisor of the launch's number of work-items along its
/// dimension.
static constexpr size_t kShapes[][3] = {{64, 1, 1},  {128, 1, 1}, {32, 2, 1},
                                        {16, 16, 1}, {8, 8, 1},   {4, 16, 1},
                                        {1, 64, 1},  {8, 4, 2},   {4, 4, 1}};
static constexpr int kRounds = 4;
/// A shape is not measured again if its least time is more than this many times
/// that of the fastest shape.
static constexpr double kHopeless = 1.5;
/// The fraction of the time of the compiler's work-group size that another size
/// must fall below to be chosen.
static constexpr double kBetter = 0.97;

cl_int mlir::layout::opencl::enqueueKernel(cl_command_queue queue,
                                           const Kernel &kernel,
                                           const Sizes &global,
                                           const Sizes &local,
                                           cl_event *event) {
  return clEnqueueNDRangeKernel(queue, kernel.kernel, 3, nullptr, global.data(),
                                local.data(), 0, nullptr, event);
}

//===----------------------------------------------------------------------===//
// Limits of the device
//===----------------------------------------------------------------------===//

static GroupLimits getLimits(const Session &session, const Kernel &kernel) {
  GroupLimits limits;
  size_t items = 0, sides[3] = {};
  if (clGetKernelWorkGroupInfo(kernel.kernel, session.device,
                               CL_KERNEL_WORK_GROUP_SIZE, sizeof(items), &items,
                               nullptr) == CL_SUCCESS)
    limits.items = std::max<size_t>(items, 1);
  if (clGetDeviceInfo(session.device, CL_DEVICE_MAX_WORK_ITEM_SIZES,
                      sizeof(sides), sides, nullptr) == CL_SUCCESS)
    for (int d = 0; d < 3; ++d)
      limits.sides[d] = std::max<size_t>(sides[d], 1);
  return limits;
}

//===----------------------------------------------------------------------===//
// Tuning
//===----------------------------------------------------------------------===//

static bool &getTuning() {
  static bool on = isSetupVariableOn("LAYOUT_OPENCL_TUNE");
  return on;
}

bool mlir::layout::opencl::isTuning() { return getTuning(); }

void layoutClSetTuning(int32_t on) {
  std::lock_guard<std::recursive_mutex> lock(getMutex());
  getTuning() = on;
}

/// Returns the work-group sizes to measure: `fitted`, the compiler's size
/// reduced to the device's limits, and the distinct sizes of kShapes, reduced
/// to divisors of `global`, that the device supports.
static std::vector<Sizes> listGroups(const GroupLimits &limits,
                                     const Sizes &global, const Sizes &fitted) {
  std::vector<Sizes> list{fitted};
  for (const size_t (&shape)[3] : kShapes) {
    Sizes local;
    for (int d = 0; d < 3; ++d) {
      local[d] = std::min(shape[d], global[d]);
      while (global[d] % local[d])
        --local[d];
    }
    if (limits.allow(local) &&
        std::find(list.begin(), list.end(), local) == list.end())
      list.push_back(local);
  }
  return list;
}

/// Returns a queue with profiling, independent of that of the session and
/// created once per process, or nullptr if it cannot be created.
static cl_command_queue getTimingQueue(const Session &session) {
  static cl_command_queue queue = [&] {
    cl_int code;
    cl_command_queue made = clCreateCommandQueue(
        session.context, session.device, CL_QUEUE_PROFILING_ENABLE, &code);
    return code == CL_SUCCESS ? made : nullptr;
  }();
  return queue;
}

/// Returns the nanoseconds of one launch, or 0 if it fails.
static double measure(cl_command_queue queue, const Kernel &kernel,
                      const Sizes &global, const Sizes &local) {
  cl_event event = nullptr;
  uint64_t nanoseconds = 0;
  if (enqueueKernel(queue, kernel, global, local, &event) != CL_SUCCESS)
    return 0;
  if (clWaitForEvents(1, &event) != CL_SUCCESS || !readTime(event, nanoseconds))
    nanoseconds = 0;
  clReleaseEvent(event);
  return double(nanoseconds);
}

/// Returns the fastest size of `list`, or the first one if it cannot be
/// measured or none is clearly better (kBetter).
static Sizes findFastest(const Session &session, const Kernel &kernel,
                         const Sizes &global, const std::vector<Sizes> &list) {
  cl_command_queue queue = getTimingQueue(session);
  // Finish the other queue, whose commands write the inputs of the kernel.
  if (!queue || clFinish(session.queue) != CL_SUCCESS)
    return list.front();
  std::vector<double> least(list.size(), 0);
  std::vector<bool> isLeft(list.size(), true);
  // The first round is not counted because drivers compile for each size.
  for (int round = 0; round < kRounds; ++round) {
    double best = 0;
    for (size_t i = 0; i < list.size(); ++i) {
      double time = isLeft[i] ? measure(queue, kernel, global, list[i]) : 0;
      if (!time)
        isLeft[i] = false;
      else if (round && (!least[i] || time < least[i]))
        least[i] = time;
      if (least[i] && (!best || least[i] < best))
        best = least[i];
    }
    for (size_t i = 0; round && i < list.size(); ++i)
      if (least[i] > kHopeless * best)
        isLeft[i] = false;
  }
  size_t fastest = 0;
  for (size_t i = 1; i < list.size(); ++i)
    if (least[i] && least[0] &&
        least[i] < (fastest ? least[fastest] : kBetter * least[0]))
      fastest = i;
  return list[fastest];
}

/// Returns the key under which the cache keeps the work-group size for a
/// kernel, its numbers of work-items `global`, and the size that the compiler
/// wrote.
static std::string getKey(const Session &session, const Kernel &kernel,
                          const Sizes &global, const Sizes &written) {
  return session.getKey() + "groups\n" + kernel.program + "\n" + kernel.name +
         "\n" + getText(global) + "\n" + getText(written);
}

/// Sets `local` to the cached work-group size and returns true. Returns false,
/// with `local` unchanged, if none is cached that divides the numbers of
/// work-items `global` and that the device supports.
static bool findKept(const std::string &key, const GroupLimits &limits,
                     const Sizes &global, Sizes &local) {
  std::string text;
  unsigned long long kept[3];
  if (!getCache().find(".groups", key, text) ||
      std::sscanf(text.c_str(), "%llu %llu %llu", &kept[0], &kept[1],
                  &kept[2]) != 3)
    return false;
  Sizes found = {size_t(kept[0]), size_t(kept[1]), size_t(kept[2])};
  if (!limits.allow(found))
    return false;
  for (int d = 0; d < 3; ++d)
    if (global[d] % found[d])
      return false;
  local = found;
  return true;
}

Sizes mlir::layout::opencl::chooseGroups(Session &session, Kernel &kernel,
                                         const Sizes &global,
                                         const Sizes &written, bool mayTune) {
  auto [place, isNew] = kernel.groups.insert({{global, written}, {}});
  Kernel::WorkGroupSize &chosen = place->second;
  bool tunes = mayTune && !chosen.isTuned;
  if (!isNew && !tunes)
    return chosen.local;
  GroupLimits limits = getLimits(session, kernel);
  std::string key = getKey(session, kernel, global, written);
  chosen.isTuned = findKept(key, limits, global, chosen.local);
  if (chosen.isTuned)
    return chosen.local;
  chosen.local = limits.fit(written);
  if (!tunes)
    return chosen.local;
  chosen.local = findFastest(session, kernel, global,
                             listGroups(limits, global, chosen.local));
  chosen.isTuned = true;
  getCache().keep(".groups", key,
                  std::to_string(chosen.local[0]) + " " +
                      std::to_string(chosen.local[1]) + " " +
                      std::to_string(chosen.local[2]));
  return chosen.local;
}
