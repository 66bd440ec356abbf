//===- Session.h - The device and its queue ---------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One device, context and queue for the process, and the error that stops them.
// Every entry point of the C API starts with
//
//   Session *session = Session::get();
//   if (!session)
//     return nullptr;           // an error is pending, or there is no device
//
// Laws:
//   - report() keeps the first message only, until it is taken.
//   - The session is never destroyed: drivers take their own state down at
//     exit, in an order that is not ours.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_SESSION_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_SESSION_H

#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS // a queue of a 1.2 device
#include <CL/cl.h>
#include <CL/cl_ext.h>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace mlir::layout::opencl {

/// Guards all state of the runtime: clSetKernelArg is not thread safe.
std::recursive_mutex &getMutex();

/// Makes `message` the pending error, unless there is one.
void report(const std::string &message);
bool hasError();

/// "CL_INVALID_VALUE", or the number of a code that has no name here.
std::string getCodeName(cl_int code);

/// Reports "<what> failed: <call> returned <code>" and returns false, unless
/// `code` is CL_SUCCESS.
bool check(cl_int code, const char *call, const std::string &what);

struct ImageLimits {
  size_t width2D = 0, height2D = 0, width3D = 0, height3D = 0, depth3D = 0,
         layers = 0;
};

/// What a device says of itself.
std::string getDeviceText(cl_device_id device, cl_device_info what);

class Session {
public:
  /// Null while an error is pending or where no device was found.
  static Session *get();
  /// Also while an error is pending; null before the first use of the device.
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

  /// Whether CL_RGBA images of the object and channel types can be read and
  /// written.
  bool supports(cl_mem_object_type object, cl_channel_type channel);

  /// The name, vendor and versions of the device and its driver.
  std::string getKey() const;

private:
  bool open();
  bool findDevice();
  std::map<std::pair<cl_mem_object_type, cl_channel_type>, bool> formats;
};

} // namespace mlir::layout::opencl

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_SESSION_H
