//===- Cores.h - Cores, channels and banks of an NPU ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A local address numbers the bytes of all cores consecutively: byte R of core
// Q is at Q * S + R if a core has S bytes (docs/spec.md, 3.4).
//
//     4 cores of 1024 bytes:  splitAddress(2304) is core 2, byte 256
//
// The *channels* of a map with a coordinate `npu` are the values of the
// scattered digit before it is taken modulo the number of cores:
//
//     npu = (d1 + 2) mod 4, 5 channels:  1, 1, 1 and 2 of them in cores 0 to 3
//
// A *banked* memory serves one word per bank and cycle. Bytes are distributed
// over the banks in stripes. Elements that are accessed together conflict if
// they are in different words of one bank.
//
//     32 banks of 4-byte words, 32 lanes down a column of 32x32xf32:
//       row-major             32 cycles: all in bank 0
//       i, xor(i, j : 32)      1 cycle
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_CORES_H
#define LAYOUT_ALGEBRA_CORES_H

#include "layout/Algebra/Families/NpuScatter.h"
#include "layout/Algebra/Views.h"
#include "layout/Support/FailureReason.h"

namespace mlir::layout {

struct LocalAddress {
  int64_t core = 0, byte = 0;
};

/// Converts a local address, which numbers the bytes of all cores
/// consecutively, to a core and a byte in it, or std::nullopt if no core has
/// it.
std::optional<LocalAddress> splitAddress(const ChipParams &params,
                                         int64_t address);
/// Returns the local address of a byte of a core, core * bytes per core + byte,
/// or std::nullopt if the core or the byte does not exist.
std::optional<int64_t> joinAddress(const ChipParams &params,
                                   const LocalAddress &address);

/// Counts the channels that each core holds: the result has one number per
/// position of the coordinate `npu`. A channel is a value of `npu` before it is
/// taken modulo the number of cores, e.g. of c + 2 in `(c + 2) mod 4`. Fails if
/// there is no coordinate `npu`, or it is not a single digit. Also fails if the
/// dims that it depends on are dynamic or have more than 2^20 indices, or if a
/// core is outside of the extent.
std::optional<llvm::SmallVector<int64_t>>
countChannels(const LayoutMap &map, Sizes sizes, FailureReason error = {});

/// A banked memory: byte b is in bank (b floordiv stripe) mod count, and in
/// word b floordiv word.
struct Banks {
  int64_t count = 1;
  int64_t stripeBytes = 4; // a multiple of the word
  int64_t wordBytes = 4;

  /// Returns the banks of the local memory of a core: `count` contiguous parts
  /// of equal size. A word has the bytes that an execution unit processes at
  /// once.
  static Banks ofNode(const ChipParams &params, int64_t count) {
    return {count, params.bytesPerNpu / count, params.euBytes};
  }
};

struct BankUse {
  /// The bank of the first byte of each accessed element, in the order in which
  /// the elements are listed.
  llvm::SmallVector<int64_t> banks;
  /// The number of cycles of the access, which is the maximal number of
  /// distinct words in one bank. 1 means no conflict, 0 no element.
  int64_t cycles = 0;
};

/// Determines the banks that the elements at `indices` use when they are
/// accessed together. The last coordinate of `map` is an offset in elements.
/// Each value of the other coordinates, e.g. each core, has a memory of its
/// own, in which storage begins at byte 0. Sizes are static. Only the first
/// replica is accessed. Fails if a byte is negative or does not fit int64.
std::optional<BankUse>
getBankUse(const LayoutMap &map, Sizes sizes,
           llvm::ArrayRef<llvm::SmallVector<int64_t>> indices,
           int64_t elementBytes, const Banks &banks, FailureReason error = {});

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_CORES_H
