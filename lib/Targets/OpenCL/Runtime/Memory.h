//===- Memory.h - Transfers that nobody waits for ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// layoutClUpload and layoutClDownload for a caller whose host memory stays as
// it is until the copy is done. Callers hold the mutex.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_MEMORY_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_MEMORY_H

#include "Session.h"

namespace mlir::layout::opencl {

/// The event, which the caller releases, is left as it is where nothing is
/// copied; null: none is wanted.
void startUpload(void *buffer, const void *host, int64_t bytes,
                 cl_event *event);
void startDownload(void *host, void *buffer, int64_t bytes);

} // namespace mlir::layout::opencl

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_MEMORY_H
