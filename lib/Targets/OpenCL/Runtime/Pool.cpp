//===- Pool.cpp - Reuse of released device memory -------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Pool.h"
#include "layout/Targets/OpenCL/Runtime/OpenCL.h"

using namespace mlir::layout::opencl;

size_t MemoryShape::countBytes() const {
  size_t channelBytes = channel == CL_SIGNED_INT8    ? 1
                        : channel == CL_HALF_FLOAT   ? 2
                        : channel == CL_SIGNED_INT16 ? 2
                                                     : 4;
  size_t elementBytes = object == CL_MEM_OBJECT_BUFFER ? 1 : 4 * channelBytes;
  return width * height * slices * elementBytes;
}

bool MemoryShape::fits(const MemoryShape &into) const {
  return object == into.object && channel == into.channel &&
         width <= into.width && height <= into.height && slices <= into.slices;
}

mlir::layout::ObjectPool<cl_mem, MemoryShape> &mlir::layout::opencl::getPool() {
  static auto *pool = new ObjectPool<cl_mem, MemoryShape>(
      [](cl_mem memory) { clReleaseMemObject(memory); });
  return *pool;
}

void layoutClReleaseWaiting() {
  std::lock_guard<std::recursive_mutex> lock(getMutex());
  getPool().releaseWaiting();
}
