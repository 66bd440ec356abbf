//===- Profile.cpp - Timing of commands -----------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Profile.h"
#include "DiskCache.h"
#include "Pool.h"
#include "layout/Targets/OpenCL/Runtime/OpenCL.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>

using namespace mlir::layout::opencl;
using Lock = std::lock_guard<std::recursive_mutex>;

namespace {
struct Profile {
  struct Sum {
    uint64_t launches = 0;
    double seconds = 0;
    Work work{0, 0};
  };
  bool on = false;
  std::map<std::string, Sum> sums;
  struct Pending {
    std::string name;
    cl_event event;
    Work work;
  };
  std::vector<Pending> pending;
};
} // namespace

static Profile &getProfile() {
  static Profile *profile = [] {
    auto *made = new Profile;
    made->on = isSetupVariableOn("LAYOUT_OPENCL_PROFILE");
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

void mlir::layout::opencl::addToProfile(const std::string &name, cl_event event,
                                        Work work) {
  if (event)
    getProfile().pending.push_back({name, event, work});
}

bool mlir::layout::opencl::readTime(cl_event event, uint64_t &nanoseconds) {
  cl_ulong start = 0, end = 0;
  if (clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof(start),
                              &start, nullptr) != CL_SUCCESS ||
      clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(end),
                              &end, nullptr) != CL_SUCCESS)
    return false;
  nanoseconds = end - start;
  return true;
}

/// Adds `work` to `sum`, which becomes -1 if either is unknown.
static void addWork(double &sum, double work) {
  sum = sum < 0 || work < 0 ? -1 : sum + work;
}

void mlir::layout::opencl::collectProfile() {
  Profile &profile = getProfile();
  std::vector<Profile::Pending> left;
  for (const Profile::Pending &each : profile.pending) {
    cl_int status = CL_QUEUED;
    clGetEventInfo(each.event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                   sizeof(status), &status, nullptr);
    if (status > CL_COMPLETE) {
      left.push_back(each);
      continue;
    }
    uint64_t nanoseconds = 0;
    if (readTime(each.event, nanoseconds)) {
      Profile::Sum &sum = profile.sums[each.name];
      ++sum.launches;
      sum.seconds += double(nanoseconds) * 1e-9;
      addWork(sum.work.bytes, each.work.bytes);
      addWork(sum.work.operations, each.work.operations);
    }
    clReleaseEvent(each.event);
  }
  profile.pending = std::move(left);
}

/// Returns `count` per second in units of 10^9, or "-" if unknown.
static std::string getRate(double count, double seconds) {
  char text[32] = "-";
  if (count >= 0 && seconds > 0)
    std::snprintf(text, sizeof(text), "%.2f", count * 1e-9 / seconds);
  return text;
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
  std::fprintf(stderr, "%12s %10s %12s %9s %9s  kernel\n", "total ms",
               "launches", "us each", "GB/s", "GFLOP/s");
  for (const auto &[name, sum] : rows)
    std::fprintf(
        stderr, "%12.3f %10llu %12.2f %9s %9s  %s\n", sum.seconds * 1e3,
        static_cast<unsigned long long>(sum.launches),
        sum.seconds * 1e6 / sum.launches,
        getRate(sum.work.bytes, sum.seconds).c_str(),
        getRate(sum.work.operations, sum.seconds).c_str(), name.c_str());
  std::fprintf(stderr, "%s\n", getPool().describe().c_str());
}
