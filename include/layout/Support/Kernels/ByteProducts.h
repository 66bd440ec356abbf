//===- ByteProducts.h - Sums of products of bytes ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Defines what kernels of a CPU and their prices share about sums of i8 products
// by words. A word holds four adjacent bytes of a reduction in 32 bits.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_KERNELS_BYTEPRODUCTS_H
#define LAYOUT_SUPPORT_KERNELS_BYTEPRODUCTS_H

#include "layout/Support/CpuModelParams.h"

namespace mlir::layout {

/// The number of bytes of a word.
constexpr int64_t kWordBytes = 4;

/// The minimum number of iterations of a reduction that are grouped to words.
/// Words of one or two bytes are not faster than single bytes.
constexpr int64_t kLeastGrouped = 3;

/// Returns true if kernels group bytes to words: if one instruction adds pairs
/// of 16-bit products, as those of AVX2 and AVX-512 do. NEON needs as many
/// instructions for pairs as for products of 32 bits.
inline bool groupsBytes(const CpuModelParams &params) {
  return params.vectorBits >= 256;
}

/// Returns true if one instruction adds the products of the unsigned and signed
/// bytes of two words to each 32-bit lane.
inline bool hasByteProducts(const CpuModelParams &params) {
  return params.dotProductBytes == kWordBytes;
}

/// The minimum number of products with each word for which its bytes are
/// extended to words of 16-bit halves before a kernel.
constexpr int64_t kLeastUsesOfHalves = 8;

/// The number of vector operations that add the products of the halves of two
/// words to a sum: the products with the sums of pairs, and an addition.
constexpr int64_t kHalvesOps = 2;

/// Returns the number of vector operations that add the products of two words
/// to a sum: one instruction for an unsigned and a signed factor if the CPU has
/// it, else the products of two pairs of 16-bit integers and two additions.
inline int64_t countWordOps(const CpuModelParams &params, bool isMixed) {
  return isMixed && hasByteProducts(params) ? 1 : 4;
}

} // namespace mlir::layout

#endif // LAYOUT_SUPPORT_KERNELS_BYTEPRODUCTS_H
