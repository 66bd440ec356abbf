//===- DiskCache.h - What the runtime keeps on disk -------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Values by keys in $LAYOUT_OPENCL_CACHE (OpenCL.h):
//
//   if (!findInCache(".spir", key, spir))
//     keepInCache(".spir", key, spir = translate(..));
//
// Laws:
//   - A file holds its whole key, so that a hit is a comparison, not a promise
//     of a hash. One that was cut off or changed is no hit.
//   - A file appears whole or not at all, also where two processes write it.
//     That nothing could be kept is no error.
//   - All files together have at most $LAYOUT_OPENCL_CACHE_BYTES: the one that
//     was not used for longest goes first.
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
/// Whether anything is kept: a folder is named, and its limit is above 0.
bool isCacheOn();

/// A number of 64 bits, as 16 digits.
std::string getHash(std::string_view text);

/// The value of a variable of the environment, or nothing.
std::string getVariable(const char *name);
/// Whether the variable has a value, and another one than 0.
bool isSwitchedOn(const char *name);

bool readFile(const std::string &path, std::string &text);
/// Makes a file that nobody else has made; X in `path` become what names it.
bool writeNewFile(std::string &path, std::string_view text);

} // namespace mlir::layout::opencl

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_DISKCACHE_H
