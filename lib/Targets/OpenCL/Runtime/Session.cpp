//===- Session.cpp - Find the device and create its queue -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Session.h"
#include "Profile.h"
#include "layout/Targets/OpenCL/Runtime/OpenCL.h"
#include <algorithm>
#include <cstdlib>

using namespace mlir::layout::opencl;

std::string mlir::layout::opencl::getDeviceText(cl_device_id device,
                                                cl_device_info what) {
  size_t size = 0;
  if (clGetDeviceInfo(device, what, 0, nullptr, &size) != CL_SUCCESS || !size)
    return "";
  std::string text(size, '\0');
  if (clGetDeviceInfo(device, what, size, text.data(), nullptr) != CL_SUCCESS)
    return "";
  text.resize(text.find('\0') == std::string::npos ? size : text.find('\0'));
  return text;
}

static std::string getPlatformName(cl_platform_id platform) {
  char text[256] = {};
  clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof(text) - 1, text,
                    nullptr);
  return text;
}

template <typename T>
static T getDeviceInfo(cl_device_id device, cl_device_info what) {
  T value = {};
  return clGetDeviceInfo(device, what, sizeof(T), &value, nullptr) == CL_SUCCESS
             ? value
             : T{};
}

namespace {
struct Found {
  cl_platform_id platform;
  cl_device_id device;
  std::string name; // of the device and its platform
  bool isGpu;
};
} // namespace

/// Returns the devices of all platforms, GPUs first. Sets `code` to the result
/// of clGetPlatformIDs.
static std::vector<Found> listDevices(cl_int &code) {
  std::vector<Found> found;
  cl_uint count = 0;
  code = clGetPlatformIDs(0, nullptr, &count);
  if (code != CL_SUCCESS || !count)
    return found;
  std::vector<cl_platform_id> platforms(count);
  clGetPlatformIDs(count, platforms.data(), nullptr);
  for (cl_platform_id platform : platforms) {
    cl_uint n = 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &n) !=
            CL_SUCCESS ||
        !n)
      continue;
    std::vector<cl_device_id> devices(n);
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, n, devices.data(), nullptr);
    for (cl_device_id device : devices)
      found.push_back({platform, device,
                       getDeviceText(device, CL_DEVICE_NAME) + " (" +
                           getPlatformName(platform) + ")",
                       (getDeviceInfo<cl_device_type>(device, CL_DEVICE_TYPE) &
                        CL_DEVICE_TYPE_GPU) != 0});
  }
  std::stable_partition(found.begin(), found.end(),
                        [](const Found &each) { return each.isGpu; });
  return found;
}

bool Session::findDevice() {
  cl_int code = CL_SUCCESS;
  std::vector<Found> found = listDevices(code);
  if (found.empty()) {
    std::string message = "no OpenCL device was found";
    if (code != CL_SUCCESS)
      message += " (clGetPlatformIDs returned " + getCodeName(code) + ")";
    message += "; install the OpenCL driver of a device, such as "
               "pocl-opencl-icd for CPUs";
    if (const char *vendors = std::getenv("OCL_ICD_VENDORS"))
      message += std::string(", or correct OCL_ICD_VENDORS, which is '") +
                 vendors + "'";
    report(message);
    return false;
  }
  const char *wanted = std::getenv("LAYOUT_OPENCL_DEVICE");
  for (const Found &each : found)
    if (!wanted || each.name.find(wanted) != std::string::npos) {
      platform = each.platform;
      device = each.device;
      name = each.name;
      isGpu = each.isGpu;
      return true;
    }
  std::string message =
      std::string(
          "no OpenCL device has a name that contains LAYOUT_OPENCL_DEVICE, '") +
      wanted + "'; devices are";
  for (const Found &each : found)
    message += " '" + each.name + "'";
  report(message);
  return false;
}

bool Session::open() {
  if (!findDevice())
    return false;
  addressBits = getDeviceInfo<cl_uint>(device, CL_DEVICE_ADDRESS_BITS);
  mostObjectBytes =
      getDeviceInfo<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  mostBytes = getDeviceInfo<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
  hasImages = getDeviceInfo<cl_bool>(device, CL_DEVICE_IMAGE_SUPPORT);
  auto size = [&](cl_device_info what) {
    return getDeviceInfo<size_t>(device, what);
  };
  limits.width2D = size(CL_DEVICE_IMAGE2D_MAX_WIDTH);
  limits.height2D = size(CL_DEVICE_IMAGE2D_MAX_HEIGHT);
  limits.width3D = size(CL_DEVICE_IMAGE3D_MAX_WIDTH);
  limits.height3D = size(CL_DEVICE_IMAGE3D_MAX_HEIGHT);
  limits.depth3D = size(CL_DEVICE_IMAGE3D_MAX_DEPTH);
  limits.layers = size(CL_DEVICE_IMAGE_MAX_ARRAY_SIZE);

  cl_int code = CL_SUCCESS;
  context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &code);
  if (!check(code, "clCreateContext", "opening " + name))
    return false;
  queue = clCreateCommandQueue(
      context, device, isProfiling() ? CL_QUEUE_PROFILING_ENABLE : 0, &code);
  return check(code, "clCreateCommandQueue", "opening " + name);
}

static Session *opened = nullptr;

Session *Session::getOpened() { return opened; }

Session *Session::get() {
  if (hasError())
    return nullptr;
  if (opened)
    return opened;
  // Failure is not cached: each program reports a missing device.
  auto *candidate = new Session;
  if (candidate->open())
    opened = candidate;
  else
    delete candidate;
  return opened;
}

bool Session::supports(cl_mem_object_type object, cl_channel_type channel) {
  auto known = formats.find({object, channel});
  if (known != formats.end())
    return known->second;
  cl_uint count = 0;
  if (clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, object, 0, nullptr,
                                 &count) != CL_SUCCESS)
    return false;
  std::vector<cl_image_format> all(count);
  if (clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, object, count,
                                 all.data(), nullptr) != CL_SUCCESS)
    return false;
  return formats[{object, channel}] =
             std::any_of(all.begin(), all.end(), [&](cl_image_format format) {
               return format.image_channel_order == CL_RGBA &&
                      format.image_channel_data_type == channel;
             });
}

std::string Session::getKey() const {
  std::string key = name + "\n";
  for (cl_device_info what :
       {CL_DEVICE_VENDOR, CL_DEVICE_VERSION, CL_DRIVER_VERSION})
    key += getDeviceText(device, what) + "\n";
  return key;
}

const char *layoutClGetUsedDevice(int32_t *isGpu) {
  std::lock_guard<std::recursive_mutex> lock(getMutex());
  if (!opened)
    return nullptr;
  *isGpu = opened->isGpu;
  return opened->name.c_str();
}

const char *layoutClGetDeviceName() {
  std::lock_guard<std::recursive_mutex> lock(getMutex());
  Session *session = Session::get();
  return session ? session->name.c_str() : nullptr;
}
