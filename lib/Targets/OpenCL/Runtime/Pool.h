//===- Pool.h - Reuse of released device memory -----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A pool of released buffers and images, which are reused by tensors that fit.
// The queue executes commands in order, so a released object can be reused at
// once: its last use precedes the next one.
//
//   MemoryShape shape{CL_MEM_OBJECT_BUFFER, 0, bytes, 1, 1};
//   cl_mem memory = takeMemory(shape);      // null: allocate one ..
//   addMemory(made, shape);                 // .. and register it
//   giveMemoryBack(memory);
//
// Laws:
//   - A tensor gets the smallest waiting object of its type that is at least as
//     large in each dimension. Kernels access only their own tensor, by
//     coordinates that do not depend on the size of the object.
//   - The waiting objects have at most twice the peak bytes in use; the one
//     that was released first is freed first.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_POOL_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_POOL_H

#include "Session.h"

namespace mlir::layout::opencl {

struct MemoryShape {
  cl_mem_object_type object;
  cl_channel_type channel; // 0 for buffers
  size_t width;            // in bytes for buffers
  size_t height, slices;
};

/// Returns the smallest released buffer or image that has the type of `shape`
/// and is at least as large in each dimension, and marks it as used. If the
/// pool has no such object, returns null.
cl_mem takeMemory(const MemoryShape &shape);
void addMemory(cl_mem memory, const MemoryShape &shape);
void giveMemoryBack(cl_mem memory);
/// Frees all released objects in the pool. Returns true if there was one.
bool releaseWaitingMemory();
/// Returns e.g. "8 buffers and images made, 9633792 bytes at most in use, ..".
std::string describeMemory();

} // namespace mlir::layout::opencl

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_POOL_H
