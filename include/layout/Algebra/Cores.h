//===- Cores.h - Cores, channels and banks of a memory ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A local address counts the bytes of all cores one after the other: core Q,
// byte R is at Q * S + R where a core has S bytes (docs/spec.md, 3.4).
//
//     4 cores of 1024 bytes:  splitAddress(2304) is core 2, byte 256
//
// The *channels* of a map with a coordinate `npu` are the values of the digit
// that is scattered, before it is taken modulo the number of cores:
//
//     npu = (d1 + 2) mod 4, 5 channels:  1, 1, 1 and 2 of them in cores 0 to 3
//
// A memory of *banks* serves one word of each bank at a time; bytes are spread
// over the banks in stripes. Elements that are accessed together wait for each
// other where they lie in different words of one bank.
//
//     32 banks of 4-byte words, 32 lanes down a column of 32x32xf32:
//       row-major             32 turns: all in bank 0
//       i, xor(i, j : 32)      1 turn
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_CORES_H
#define LAYOUT_ALGEBRA_CORES_H

#include "layout/Algebra/Families/NpuScatter.h"
#include "layout/Algebra/Views.h"
#include "layout/Support/Refusal.h"

namespace mlir {
namespace layout {

struct LocalAddress {
  int64_t core = 0, byte = 0;
};

/// Nothing outside [0, cores * bytes of one).
std::optional<LocalAddress> splitAddress(const NpuFigures &figures,
                                         int64_t address);
/// The inverse; nothing where there is no such core or byte.
std::optional<int64_t> joinAddress(const NpuFigures &figures,
                                   const LocalAddress &address);

/// How many channels each core holds, one number for each of the coordinate's
/// positions. Exists where the sizes are static, the coordinate `npu` is one
/// digit and its dims have at most `kMaxPoints` indices.
std::optional<llvm::SmallVector<int64_t>>
countChannels(const LayoutMap &map, Sizes sizes, Refusal error = {});

/// Byte b lies in bank (b floordiv stripe) mod count, in word b floordiv word.
struct Banks {
  int64_t count = 1;
  int64_t stripeBytes = 4; // a multiple of the word
  int64_t wordBytes = 4;

  /// Of one core: `count` banks, one after the other.
  static Banks ofNode(const NpuFigures &figures, int64_t count) {
    return {count, figures.bytesPerNpu / count, figures.euBytes};
  }
};

struct BankUse {
  /// The bank in which each element begins.
  llvm::SmallVector<int64_t> banks;
  /// The most words of one bank: how many turns the access takes. 1 has no
  /// conflict, 0 no element.
  int64_t turns = 0;
};

/// What the elements at `indices` take when they are accessed together. The
/// last coordinate is an offset in a memory of its own for each value of the
/// others; storage begins at byte 0 of it. Sizes are static; of replicas the
/// first is accessed.
std::optional<BankUse>
getBankUse(const LayoutMap &map, Sizes sizes,
           llvm::ArrayRef<llvm::SmallVector<int64_t>> indices,
           int64_t elementBytes, const Banks &banks, Refusal error = {});

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ALGEBRA_CORES_H
