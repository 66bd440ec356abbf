//===- DeviceMemory.h - Non-blocking transfers ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Non-blocking layoutClUpload and layoutClDownload. The caller holds the mutex
// and keeps the host memory unchanged until the copy is done.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_DEVICEMEMORY_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_DEVICEMEMORY_H

#include "Session.h"

namespace mlir::layout::opencl {

/// Start an upload of `host`, or a download to it. `host` must not change
/// before its upload is done, or be read before its download is done. If
/// `event` is not null and a copy is started, startUpload sets `*event`, which
/// the caller must release. No copy is started if `buffer` is null or `bytes`
/// is 0, or after an error.
void startUpload(void *buffer, const void *host, int64_t bytes,
                 cl_event *event);
void startDownload(void *host, void *buffer, int64_t bytes);

} // namespace mlir::layout::opencl

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_DEVICEMEMORY_H
