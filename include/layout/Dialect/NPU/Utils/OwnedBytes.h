//===- OwnedBytes.h - Bytes of the cores that a tensor owns -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Represents the bytes that a tensor owns in the cores, as pieces relative to
// the byte at which the tensor is placed:
//
//   all bytes that a layout reserves     {every core, 0, 256}
//   elements only, 3 aligned channels    {0, 0, 80} {1, 0, 80} {2, 0, 80}
//
// Two tensors are compared as lists of pieces, each shifted by the byte of its
// tensor.
//
// Laws:
//  * pieces are sorted by core and byte, and neither overlap nor touch;
//  * a piece of every core is the only piece.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_UTILS_OWNEDBYTES_H
#define LAYOUT_DIALECT_NPU_UTILS_OWNEDBYTES_H

#include <cstdint>
#include <optional>
#include <vector>

namespace mlir::npu {

constexpr int64_t kEveryCore = -1;

/// Bytes [begin, end) of one core, or of every core if `core` is kEveryCore.
struct Bytes {
  int64_t core, begin, end;
};

using OwnedBytes = std::vector<Bytes>;

/// Sorts byte ranges by core and begin, and merges those of one core that
/// overlap or touch.
void normalize(OwnedBytes &bytes);

/// The bytes that two placed tensors `a` and `b` share.
struct SharedBytes {
  Bytes first; // the lowest shared bytes in the first core that has any
  /// The lowest start byte of `a` at which its ranges are above the ranges of
  /// `b` that they overlap now. From every lower start byte, not below the
  /// current one, `a` and `b` share bytes.
  int64_t next;
};

/// Returns the bytes that `a` at byte `byteOfA` shares with `b` at byte
/// `byteOfB`, or std::nullopt if there are none.
std::optional<SharedBytes> findShared(const OwnedBytes &a, int64_t byteOfA,
                                      const OwnedBytes &b, int64_t byteOfB);

} // namespace mlir::npu

#endif // LAYOUT_DIALECT_NPU_UTILS_OWNEDBYTES_H
