//===- DiskCache.h - A cache of kernels on disk -----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A key-value store in a directory that an environment variable names, for the
// runtimes of OpenCL and Vulkan:
//
//   DiskCache cache("LAYOUT_OPENCL_CACHE", "opencl", getErrors());
//   if (!cache.find(".spir", key, spir))
//     cache.keep(".spir", key, spir = translate(..));
//
// Laws:
//   - A file contains its whole key, so that a hit does not rely on a hash. A
//     truncated or modified file is a miss.
//   - Files are written atomically, even by concurrent processes. A failed
//     write is not an error.
//   - All files together have at most $LAYOUT_OPENCL_CACHE_BYTES bytes, 256 MiB
//     by default: the least recently used file is removed first.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_COMMON_DISKCACHE_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_COMMON_DISKCACHE_H

#include "PendingError.h"
#include <cstdint>
#include <string>
#include <string_view>

namespace mlir::layout {

class DiskCache {
public:
  /// The directory is the value of `variable`, which turns the cache off if it
  /// is empty. If it is not set, the directory is mlir-layout/`folder` in
  /// $XDG_CACHE_HOME or ~/.cache. An invalid limit is reported to `error`.
  DiskCache(std::string variable, std::string folder, PendingError &error)
      : variable(std::move(variable)), folder(std::move(folder)), error(error) {
  }

  bool find(const char *suffix, std::string_view key, std::string &value) const;
  void keep(const char *suffix, std::string_view key,
            const std::string &value) const;
  /// Returns true if the cache has a directory and a limit above 0.
  bool isOn() const;

private:
  /// Returns the directory, or "" if there is none.
  std::string getDirectory() const;
  /// Returns the limit of the sum of all files in bytes.
  uint64_t getMostBytes() const;
  /// Returns the path of the file of a key, or "" without a directory.
  std::string getPath(const char *suffix, std::string_view key) const;

  std::string variable, folder;
  PendingError &error;
};

/// Returns a 64-bit hash as 16 hexadecimal digits.
std::string getHash(std::string_view text);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_COMMON_DISKCACHE_H
