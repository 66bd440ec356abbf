//===- Profile.cpp - Timing of commands -----------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Profile.h"
#include "Common/Files.h"
#include "Pool.h"
#include "layout/Targets/OpenCL/Runtime/OpenCL.h"
#include <cstdlib>

using namespace mlir::layout;
using namespace mlir::layout::opencl;
using Lock = std::lock_guard<std::recursive_mutex>;

namespace {
struct Profile {
  bool on = false;
  ProfileTable table;
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
    if (readTime(each.event, nanoseconds))
      profile.table.add(each.name, double(nanoseconds) * 1e-9, each.work);
    clReleaseEvent(each.event);
  }
  profile.pending = std::move(left);
}

void layoutClPrintProfile() {
  Lock lock(getMutex());
  if (!hasError())
    if (Session *session = Session::get())
      clFinish(session->queue);
  collectProfile();
  getProfile().table.print(getPool().describe());
}
