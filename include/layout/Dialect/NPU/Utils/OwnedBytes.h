//===- OwnedBytes.h - Which bytes of the cores a tensor owns ----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Pieces of the cores' memories, counted from the byte where a tensor is put:
//
//   all that a layout reserves           {every core, 0, 256}
//   elements alone, 3 channels aligned   {0, 0, 80} {1, 0, 80} {2, 0, 80}
//
// A tensor at byte R owns its pieces R bytes further on, so two tensors are
// compared as lists of pieces, each with its byte.
//
// Laws:
//  * pieces are sorted by core and byte, do not overlap and do not touch;
//  * either one piece is of every core, and is the only one, or none is.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_UTILS_OWNEDBYTES_H
#define LAYOUT_DIALECT_NPU_UTILS_OWNEDBYTES_H

#include <cstdint>
#include <optional>
#include <vector>

namespace mlir {
namespace npu {

constexpr int64_t kEveryCore = -1;

/// Bytes [begin, end) of one core, or of every one.
struct Bytes {
  int64_t core, begin, end;
};

using OwnedBytes = std::vector<Bytes>;

/// Makes the laws hold of pieces in any order, which may overlap.
void normalize(OwnedBytes &bytes);

/// What two tensors share, each at its byte.
struct SharedBytes {
  Bytes first; // the lowest of the first core
  /// The least byte for `a` at which none of the collisions that were found
  /// is left; it shares something with `b` at all bytes before.
  int64_t next;
};
std::optional<SharedBytes> findShared(const OwnedBytes &a, int64_t byteOfA,
                                      const OwnedBytes &b, int64_t byteOfB);

} // namespace npu
} // namespace mlir

#endif // LAYOUT_DIALECT_NPU_UTILS_OWNEDBYTES_H
