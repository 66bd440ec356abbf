//===- DeviceMemory.cpp - Images, buffers, transfers ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceMemory.h"
#include "Pool.h"
#include "Profile.h"
#include "Scopes.h"
#include "layout/Targets/OpenCL/Runtime/OpenCL.h"
#include <algorithm>

using namespace mlir::layout::opencl;
using Lock = std::lock_guard<std::recursive_mutex>;

/// Returns memory of the given shape from the pool, or allocated by `make`. If
/// the device is out of memory, `make` is called again after the pool is
/// emptied. On failure, reports an error that names `call` and `what`, and
/// returns null.
template <typename Make>
static void *getMemory(const MemoryShape &shape, const char *call,
                       const std::string &what, Make make) {
  cl_mem memory = getPool().take(shape);
  if (!memory) {
    cl_int code = CL_SUCCESS;
    memory = make(&code);
    if ((code == CL_MEM_OBJECT_ALLOCATION_FAILURE ||
         code == CL_OUT_OF_RESOURCES || code == CL_OUT_OF_HOST_MEMORY) &&
        getPool().releaseWaiting())
      memory = make(&code);
    if (!check(code, call, "allocating " + what))
      return nullptr;
    getPool().add(memory, shape);
  }
  addToScope(memory);
  return memory;
}

void *layoutClCreateBuffer(int64_t bytes) {
  Lock lock(getMutex());
  Session *session = Session::get();
  if (!session)
    return nullptr;
  // The buffer of an empty tensor is allocated because it may be passed on.
  size_t size = std::max<int64_t>(bytes, 4);
  return getMemory({CL_MEM_OBJECT_BUFFER, 0, size, 1, 1}, "clCreateBuffer",
                   "a buffer of " + std::to_string(bytes) + " bytes",
                   [&](cl_int *code) {
                     return clCreateBuffer(session->context, CL_MEM_READ_WRITE,
                                           size, nullptr, code);
                   });
}

namespace {
struct Kind {
  const char *name;
  cl_mem_object_type object;
  size_t width, height, slices; // of the device
};
struct Channel {
  const char *name;
  cl_channel_type type;
};
} // namespace

static Kind getKind(const ImageLimits &limits, int32_t kind) {
  switch (kind) {
  case LayoutClImage2DArray:
    return {"image2d_array", CL_MEM_OBJECT_IMAGE2D_ARRAY, limits.width2D,
            limits.height2D, limits.layers};
  case LayoutClImage3D:
    return {"image3d", CL_MEM_OBJECT_IMAGE3D, limits.width3D, limits.height3D,
            limits.depth3D};
  default:
    return {"image2d", CL_MEM_OBJECT_IMAGE2D, limits.width2D, limits.height2D,
            1};
  }
}

static Channel getChannel(int32_t channel) {
  switch (channel) {
  case LayoutClHalf:
    return {"CL_HALF_FLOAT", CL_HALF_FLOAT};
  case LayoutClSigned8:
    return {"CL_SIGNED_INT8", CL_SIGNED_INT8};
  case LayoutClSigned16:
    return {"CL_SIGNED_INT16", CL_SIGNED_INT16};
  case LayoutClSigned32:
    return {"CL_SIGNED_INT32", CL_SIGNED_INT32};
  default:
    return {"CL_FLOAT", CL_FLOAT};
  }
}

static std::string sizesText(int64_t width, int64_t height, int64_t slices,
                             const Kind &kind) {
  std::string text = std::to_string(width) + " x " + std::to_string(height);
  if (kind.object != CL_MEM_OBJECT_IMAGE2D)
    text += " x " + std::to_string(slices);
  return text;
}

/// Returns true if the device has images, and supports this kind, channel type
/// and size. Else reports an error that names the image by `what`.
static bool checkImage(Session &session, const Kind &kind,
                       const Channel &channel, int64_t width, int64_t height,
                       int64_t slices, const std::string &what) {
  if (!session.hasImages) {
    report(what + " cannot be allocated: " + session.name + " has no images");
    return false;
  }
  if (size_t(width) > kind.width || size_t(height) > kind.height ||
      size_t(slices) > kind.slices) {
    report(what + " is beyond the limit of " + session.name + ", " +
           sizesText(kind.width, kind.height, kind.slices, kind) +
           "; choose another image map, or a buffer, by the target's "
           "image2d_max_width and image2d_max_height");
    return false;
  }
  if (!session.supports(kind.object, channel.type)) {
    report(what + " cannot be allocated: " + session.name +
           " does not support channel order CL_RGBA with channel type " +
           channel.name + " in " + kind.name);
    return false;
  }
  return true;
}

void *layoutClCreateImage(int32_t kindNumber, int32_t channelNumber,
                          int64_t width, int64_t height, int64_t slices) {
  Lock lock(getMutex());
  Session *session = Session::get();
  if (!session)
    return nullptr;
  Kind kind = getKind(session->limits, kindNumber);
  Channel channel = getChannel(channelNumber);
  std::string what = std::string(kind.name) + " of " +
                     sizesText(width, height, slices, kind) +
                     " CL_RGBA pixels of " + channel.name;
  // An image has at least one pixel, but a tensor may be empty.
  width = std::max<int64_t>(width, 1);
  height = std::max<int64_t>(height, 1);
  slices = std::max<int64_t>(slices, 1);
  if (!checkImage(*session, kind, channel, width, height, slices, what))
    return nullptr;
  cl_image_format format = {CL_RGBA, channel.type};
  cl_image_desc desc = {};
  desc.image_type = kind.object;
  desc.image_width = width;
  desc.image_height = height;
  if (kind.object == CL_MEM_OBJECT_IMAGE2D_ARRAY)
    desc.image_array_size = slices;
  if (kind.object == CL_MEM_OBJECT_IMAGE3D)
    desc.image_depth = slices;
  return getMemory({kind.object, channel.type, desc.image_width,
                    desc.image_height, static_cast<size_t>(slices)},
                   "clCreateImage", "an " + what, [&](cl_int *code) {
                     return clCreateImage(session->context, CL_MEM_READ_WRITE,
                                          &format, &desc, nullptr, code);
                   });
}

void layoutClRelease(void *memory) {
  Lock lock(getMutex());
  // Memory is released even if an error is pending.
  if (!memory)
    return;
  removeFromScope(memory);
  getPool().giveBack(static_cast<cl_mem>(memory));
}

/// Enqueues a command that copies `bytes` bytes. `enqueue` gets the session and
/// an event pointer, which may be null; `name` is the row in the profile. If
/// `given` is not null, sets it to the event, which the caller must release.
/// Without bytes, or after an error, leaves `given` unchanged.
template <typename Enqueue>
static void transfer(int64_t bytes, const char *call, const char *direction,
                     const char *name, cl_event *given, Enqueue enqueue) {
  Session *session = Session::get();
  if (!session || !bytes)
    return;
  cl_event event = nullptr;
  cl_int code = enqueue(*session, isProfiling() || given ? &event : nullptr);
  if (!check(code, call,
             "copying " + std::to_string(bytes) + " bytes " + direction))
    return;
  if (given && isProfiling())
    clRetainEvent(event);
  if (given)
    *given = event;
  if (isProfiling())
    addToProfile(name, event, {double(bytes)});
}

static void upload(void *buffer, const void *host, int64_t bytes,
                   cl_bool blocking, cl_event *given) {
  if (!buffer)
    return;
  transfer(bytes, "clEnqueueWriteBuffer", "to the device", "(upload)", given,
           [&](Session &session, cl_event *event) {
             return clEnqueueWriteBuffer(session.queue,
                                         static_cast<cl_mem>(buffer), blocking,
                                         0, bytes, host, 0, nullptr, event);
           });
}

static void download(void *host, void *buffer, int64_t bytes,
                     cl_bool blocking) {
  if (!buffer)
    return;
  transfer(bytes, "clEnqueueReadBuffer", "from the device", "(download)",
           nullptr, [&](Session &session, cl_event *event) {
             return clEnqueueReadBuffer(session.queue,
                                        static_cast<cl_mem>(buffer), blocking,
                                        0, bytes, host, 0, nullptr, event);
           });
}

void layoutClUpload(void *buffer, const void *host, int64_t bytes) {
  Lock lock(getMutex());
  // Blocking, because the host may change its memory after the call.
  upload(buffer, host, bytes, CL_TRUE, nullptr);
}

void layoutClDownload(void *host, void *buffer, int64_t bytes) {
  Lock lock(getMutex());
  download(host, buffer, bytes, CL_TRUE);
  collectProfile();
}

void mlir::layout::opencl::startUpload(void *buffer, const void *host,
                                       int64_t bytes, cl_event *event) {
  upload(buffer, host, bytes, CL_FALSE, event);
}

void mlir::layout::opencl::startDownload(void *host, void *buffer,
                                         int64_t bytes) {
  download(host, buffer, bytes, CL_FALSE);
}

void layoutClCopy(void *to, void *from, int64_t bytes) {
  Lock lock(getMutex());
  if (!to || !from)
    return;
  transfer(bytes, "clEnqueueCopyBuffer", "between buffers", "(copy)", nullptr,
           [&](Session &session, cl_event *event) {
             return clEnqueueCopyBuffer(
                 session.queue, static_cast<cl_mem>(from),
                 static_cast<cl_mem>(to), 0, 0, bytes, 0, nullptr, event);
           });
}
