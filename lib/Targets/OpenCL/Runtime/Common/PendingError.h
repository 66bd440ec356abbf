//===- PendingError.h - The pending error of a runtime ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The first error of a runtime until it is taken. Shared by the runtimes for
// OpenCL and Vulkan, each of which has one.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_COMMON_PENDINGERROR_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_COMMON_PENDINGERROR_H

#include <cstdio>
#include <mutex>
#include <string>

namespace mlir::layout {

class PendingError {
public:
  using Handler = void (*)(const char *message);

  explicit PendingError(Handler handler) : handler(handler) {}

  /// The mutex of all state of the runtime.
  std::recursive_mutex mutex;

  /// Makes `text` the pending error unless there is one, and passes it to the
  /// handler.
  void report(const std::string &text) {
    std::lock_guard<std::recursive_mutex> lock(mutex);
    if (pending)
      return;
    pending = true;
    message = text;
    if (handler)
      handler(message.c_str());
  }

  bool isPending() {
    std::lock_guard<std::recursive_mutex> lock(mutex);
    return pending;
  }

  /// Returns and clears the pending error, or returns null without one. The
  /// text is valid until the next failure.
  const char *take() {
    std::lock_guard<std::recursive_mutex> lock(mutex);
    if (!pending)
      return nullptr;
    pending = false;
    return message.c_str();
  }

  /// Replaces the handler, which may be null.
  void setHandler(Handler next) {
    std::lock_guard<std::recursive_mutex> lock(mutex);
    handler = next;
  }

private:
  bool pending = false;
  std::string message;
  Handler handler;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_COMMON_PENDINGERROR_H
