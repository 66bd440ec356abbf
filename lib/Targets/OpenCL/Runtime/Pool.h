//===- Pool.h - Memory that is used again -----------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Buffers and images that were released wait for the next tensor that fits into
// them. The queue runs commands in order, so that what is released can be given
// away at once: its last use comes before the next one.
//
//   MemoryShape shape{CL_MEM_OBJECT_BUFFER, 0, bytes, 1, 1};
//   cl_mem memory = takeMemory(shape);      // null: make one ..
//   addMemory(made, shape);                 // .. and say so
//   giveMemoryBack(memory);
//
// Laws:
//   - A tensor gets the smallest waiting object of its type that is as large as
//     it is in each dimension. Kernels read and write inside of their tensor
//     alone, by coordinates that do not depend on the size of the object.
//   - What waits is at most twice the most that was in use at one time; what
//   was
//     released first goes first.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_POOL_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_POOL_H

#include "Session.h"

namespace mlir::layout::opencl {

struct MemoryShape {
  cl_mem_object_type object;
  cl_channel_type channel; // 0 for buffers
  size_t width;            // the bytes of a buffer
  size_t height, slices;
};

/// Null where nothing waits that fits.
cl_mem takeMemory(const MemoryShape &shape);
void addMemory(cl_mem memory, const MemoryShape &shape);
void giveMemoryBack(cl_mem memory);
/// Releases all that waits; whether there was anything.
bool releaseWaitingMemory();
/// "128 buffers and images made, 9633792 bytes at most in use, .."
std::string describeMemory();

} // namespace mlir::layout::opencl

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_POOL_H
