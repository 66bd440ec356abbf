//===- PushConstants.h - Offsets of scalar arguments ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The one rule by which the compiler and the Vulkan runtime place the scalar
// arguments of a kernel in its push constants, in the order of the arguments.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_RUNTIME_PUSHCONSTANTS_H
#define LAYOUT_TARGETS_OPENCL_RUNTIME_PUSHCONSTANTS_H

#include <cstdint>

namespace mlir::layout {

/// The bytes of push constants that each device of Vulkan has.
constexpr uint32_t kPushConstantBytes = 128;

/// Places a scalar of `bytes` bytes after the first `end` bytes, in 4 or 8 bytes
/// at a multiple of their number. Returns its offset, and adds it to `end`.
inline uint32_t placePushConstant(uint32_t bytes, uint32_t &end) {
  uint32_t size = bytes <= 4 ? 4 : 8;
  uint32_t offset = (end + size - 1) / size * size;
  end = offset + size;
  return offset;
}

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_OPENCL_RUNTIME_PUSHCONSTANTS_H
