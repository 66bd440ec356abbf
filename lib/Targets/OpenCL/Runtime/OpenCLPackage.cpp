//===- OpenCLPackage.cpp - Run a package of OpenCL kernels ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/OpenCL/Runtime/OpenCLPackage.h"
#include "Common/Package.h"
#include "DeviceMemory.h"
#include "Profile.h"
#include "Programs.h"

using namespace mlir::layout;
using namespace mlir::layout::opencl;

static constexpr RuntimeFunctions kFunctions = {
    layoutClCreateBuffer,
    layoutClCreateImage,
    layoutClRelease,
    layoutClGetConstant,
    layoutClCopy,
    layoutClGetKernel,
    layoutClLaunch,
    [](void *kernel) { releaseKernel(static_cast<Kernel *>(kernel)); }};

namespace {
/// Owns the event of a command, or null.
class Event {
public:
  ~Event() { set(nullptr); }
  /// Takes ownership of `next` and releases the old event.
  void set(cl_event next) {
    if (event)
      clReleaseEvent(event);
    event = next;
  }
  cl_int wait() const {
    return event ? clWaitForEvents(1, &event) : CL_SUCCESS;
  }

private:
  cl_event event = nullptr;
};

class OpenCLPackage : public LayoutPackage {
public:
  OpenCLPackage() : LayoutPackage(kFunctions, getErrors()) {}
  // Copies may be in flight even after an error.
  ~OpenCLPackage() override { done.wait(); }

  bool open() override { return Session::get() != nullptr; }

  MemoryLimit getObjectLimit() const override {
    return {Session::getOpened()->mostObjectBytes,
            "CL_DEVICE_MAX_MEM_ALLOC_SIZE"};
  }
  MemoryLimit getTotalLimit() const override {
    return {Session::getOpened()->mostBytes, "CL_DEVICE_GLOBAL_MEM_SIZE"};
  }

  bool waitForInputs() override {
    return check(uploaded.wait(), "clWaitForEvents", "running a package");
  }

  bool waitForRuns() override {
    cl_int code = done.wait();
    std::lock_guard<std::recursive_mutex> lock(getMutex());
    done.set(nullptr);
    collectProfile();
    return check(code, "clWaitForEvents", "running a package");
  }

protected:
  void startUpload(void *memory, const std::string &data,
                   bool isInput) override {
    cl_event event = nullptr;
    opencl::startUpload(memory, data.data(), data.size(),
                        isInput ? &event : nullptr);
    if (event)
      uploaded.set(event);
  }

  void startDownload(std::string &data, void *memory) override {
    opencl::startDownload(data.data(), memory, data.size());
  }

  void endRun() override {
    cl_event event = nullptr;
    cl_command_queue queue = Session::getOpened()->queue;
    if (clEnqueueMarkerWithWaitList(queue, 0, nullptr, &event) == CL_SUCCESS)
      clFlush(queue);
    else
      clFinish(queue);
    done.set(event);
  }

private:
  Event uploaded, done; // of the last run
};
} // namespace

LayoutPackage *layoutClLoadPackage(const char *directory) {
  return loadPackage(directory, std::make_unique<OpenCLPackage>());
}
