//===- BufferAlignment.h - Alignment of allocated buffers -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_BUFFERALIGNMENT_H
#define LAYOUT_SUPPORT_BUFFERALIGNMENT_H

#include <cstdint>

namespace mlir::layout {

/// The alignment of buffers in bytes, the default of upstream's bufferization.
/// Upstream allocates kBufferAlignment extra bytes to align a buffer.
constexpr int64_t kBufferAlignment = 64;

} // namespace mlir::layout

#endif // LAYOUT_SUPPORT_BUFFERALIGNMENT_H
