//===- Constants.cpp - Constants in device memory -------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Scopes.h"
#include "Session.h"
#include "layout/Targets/OpenCL/Runtime/OpenCL.h"
#include <algorithm>

using namespace mlir::layout::opencl;

static bool writeImage(Session &session, cl_mem image, const void *host,
                       const size_t (&region)[3]) {
  const size_t origin[3] = {0, 0, 0};
  cl_int code = clEnqueueWriteImage(session.queue, image, CL_TRUE, origin,
                                    region, 0, 0, host, 0, nullptr, nullptr);
  return check(code, "clEnqueueWriteImage", "copying a constant to an image");
}

void *layoutClGetConstant(void **slot, int32_t kind, int32_t channel,
                          int64_t width, int64_t height, int64_t slices,
                          const void *host, int64_t bytes) {
  std::lock_guard<std::recursive_mutex> lock(getMutex());
  if (*slot)
    return *slot;
  Session *session = Session::get();
  if (!session)
    return nullptr;
  void *memory = kind
                     ? layoutClCreateImage(kind, channel, width, height, slices)
                     : layoutClCreateBuffer(bytes);
  if (!memory)
    return nullptr;
  if (!kind) {
    layoutClUpload(memory, host, bytes);
  } else {
    const size_t region[3] = {static_cast<size_t>(width),
                              static_cast<size_t>(height),
                              static_cast<size_t>(slices)};
    writeImage(*session, static_cast<cl_mem>(memory), host, region);
  }
  if (hasError()) {
    layoutClRelease(memory);
    return nullptr;
  }
  // A constant outlives the scope in which it is first used.
  removeFromScope(memory);
  return *slot = memory;
}
