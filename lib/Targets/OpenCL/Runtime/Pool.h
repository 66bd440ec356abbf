//===- Pool.h - Reuse of released device memory -----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The pool of buffers and images (ObjectPool.h). The queue executes commands in
// order, so a released object can be reused at once: its last use precedes the
// next one.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_POOL_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_POOL_H

#include "Common/ObjectPool.h"
#include "Session.h"

namespace mlir::layout::opencl {

struct MemoryShape {
  cl_mem_object_type object;
  cl_channel_type channel; // 0 for buffers
  size_t width;            // in bytes for buffers
  size_t height, slices;

  size_t countBytes() const;
  /// Returns true if an object of shape `into` can hold one of this shape.
  bool fits(const MemoryShape &into) const;
};

ObjectPool<cl_mem, MemoryShape> &getPool();

} // namespace mlir::layout::opencl

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_POOL_H
