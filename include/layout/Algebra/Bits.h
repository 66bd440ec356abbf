//===- Bits.h - Copy codes to and from positions of bits --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A map into the space `bits` has one logical dim more than the data: the last
// dim is the bit of a code, 0 for the least significant one, and the coordinate
// `bit` counts bits of a stream of bytes. Bit p is bit p mod 8 of byte p
// floordiv 8 (docs/bundles.md).
//
//     4-bit codes, low half of a byte first:  (i, b) -> bits(i, b)
//     i and i + 16 in one byte:  bit = (i mod 16) * 8 + i floordiv 16 * 4 + b
//
// Codes are unsigned integers of 1, 2, 4 or 8 bytes, little-endian, in row-major
// order.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_BITS_H
#define LAYOUT_ALGEBRA_BITS_H

#include "layout/Algebra/Pieces.h"

namespace mlir::layout {

/// The space of streams of bits, and the name of its coordinate.
constexpr llvm::StringLiteral kBitsSpace = "bits";
constexpr llvm::StringLiteral kBitsCoordinate = "bit";

/// Returns the number of bytes of a code of `width` bits: 1, 2, 4 or 8.
unsigned getCodeBytes(unsigned width);

/// Returns the number of bytes that hold all positions of `pieces`, padding
/// included, or std::nullopt if it overflows int64.
std::optional<int64_t> getStreamBytes(llvm::ArrayRef<PlacedPiece> pieces);

/// Writes the bits of `codes` to `stream`, and no other bits. `shape` is that of
/// the codes, without the dim of the bits; its last dim in `pieces` has `width`
/// bits. Returns false if a buffer is too small, or if positions overflow.
[[nodiscard]] bool packBits(llvm::ArrayRef<PlacedPiece> pieces, Sizes shape,
                            unsigned width, llvm::ArrayRef<char> codes,
                            llvm::MutableArrayRef<char> stream);

/// Reads `codes` from `stream`; bits of a code above `width` become 0. Returns
/// false in the cases in which `packBits` does.
[[nodiscard]] bool unpackBits(llvm::ArrayRef<PlacedPiece> pieces, Sizes shape,
                              unsigned width, llvm::ArrayRef<char> stream,
                              llvm::MutableArrayRef<char> codes);

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_BITS_H
