//===- DiskCache.h - The kernel cache on disk -------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A key-value store in $LAYOUT_OPENCL_CACHE (OpenCL.h):
//
//   if (!findInCache(".spir", key, spir))
//     keepInCache(".spir", key, spir = translate(..));
//
// Laws:
//   - A file contains its whole key, so that a hit does not rely on a hash. A
//     truncated or modified file is a miss.
//   - Files are written atomically, even by concurrent processes. A failed
//     write is not an error.
//   - All files together have at most $LAYOUT_OPENCL_CACHE_BYTES bytes: the
//     least recently used file is removed first.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_DISKCACHE_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_DISKCACHE_H

#include <string>
#include <string_view>

namespace mlir::layout::opencl {

bool findInCache(const char *suffix, std::string_view key, std::string &value);
void keepInCache(const char *suffix, std::string_view key,
                 const std::string &value);
/// Returns true if the cache has a directory and a limit above 0.
bool isCacheOn();

/// Returns a 64-bit hash as 16 hexadecimal digits.
std::string getHash(std::string_view text);

/// Returns the value of an environment variable, or "" if it is not set.
std::string getVariable(const char *name);
/// Returns true if the environment variable is set, and neither "" nor "0".
bool isSetupVariableOn(const char *name);

bool readFile(const std::string &path, std::string &text);
/// Creates and writes a new file. The Xs of `path` are replaced by a unique
/// name. Returns false on failure.
bool writeNewFile(std::string &path, std::string_view text);

} // namespace mlir::layout::opencl

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_DISKCACHE_H
