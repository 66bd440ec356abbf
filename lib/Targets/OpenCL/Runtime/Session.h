//===- Session.h - The device and its queue ---------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The device, context and queue of the process, and the pending error. Every
// entry point of the C API starts with
//
//   Session *session = Session::get();
//   if (!session)
//     return nullptr;           // an error is pending, or there is no device
//
// Laws:
//   - report() keeps only the first message until it is taken.
//   - The session is never destroyed: drivers tear down their state at exit in
//     an order that the runtime cannot control.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_SESSION_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_SESSION_H

#include "Common/DiskCache.h"
#include "Common/PendingError.h"
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS // clCreateCommandQueue for OpenCL 1.2
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace mlir::layout::opencl {

/// Returns the pending error of the runtime.
PendingError &getErrors();
/// Returns the mutex of all runtime state; clSetKernelArg is not thread-safe.
std::recursive_mutex &getMutex();

/// Returns the cache of built and translated kernels.
const DiskCache &getCache();

/// Makes `message` the pending error unless there is one.
void report(const std::string &message);
bool hasError();

/// Returns the name of `code`, e.g. "CL_INVALID_VALUE", or "OpenCL error
/// <code>" if the name is unknown.
std::string getCodeName(cl_int code);

/// Returns true if `code` is CL_SUCCESS. Otherwise reports "<what> failed:
/// <call> returned <code>" and returns false.
bool check(cl_int code, const char *call, const std::string &what);

struct ImageLimits {
  size_t width2D = 0, height2D = 0, width3D = 0, height3D = 0, depth3D = 0,
         layers = 0;
};

/// Returns a text property of the device, or "" if it has none.
std::string getDeviceText(cl_device_id device, cl_device_info what);

class Session {
public:
  /// Returns the session, which the first call opens. While an error is
  /// pending, or without a device, returns null.
  static Session *get();
  /// Returns the session even if an error is pending, or null before the first
  /// use of the device.
  static Session *getOpened();

  cl_platform_id platform = nullptr;
  cl_device_id device = nullptr;
  cl_context context = nullptr;
  cl_command_queue queue = nullptr;
  std::string name;
  bool isGpu = false;
  cl_uint addressBits = 64;
  bool hasImages = false;
  ImageLimits limits;
  cl_ulong mostObjectBytes = 0, mostBytes = 0; // of an object, of all memory

  /// Returns true if CL_RGBA images of these types can be read and written.
  bool supports(cl_mem_object_type object, cl_channel_type channel);

  /// Returns the part of cache keys that identifies the device: its name,
  /// vendor and version, and the version of its driver.
  std::string getKey() const;

private:
  bool open();
  bool findDevice();
  std::map<std::pair<cl_mem_object_type, cl_channel_type>, bool> formats;
};

} // namespace mlir::layout::opencl

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_SESSION_H
