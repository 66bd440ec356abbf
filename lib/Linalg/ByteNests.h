//===- ByteNests.h - Repacks as loop nests over bytes -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans the bytes of a new stream as loop nests. The breakpoints of both maps of
// a component split each dim into digits, along which both positions are linear.
// Digits of whole bytes are loops; those within bytes are unrolled. The
// innermost bytes of a nest are its lanes, each with masks of its own:
//
//   dense nibbles to Q4_0, lane 0 <= q < 16 of block n (18 bytes from byte 2 on)
//     low half of a byte:   code q of the block, a nibble of byte
//                           16 * n + q floordiv 2, the low one if q is even
//     high half of a byte:  code q + 16, in byte 16 * n + 8 + q floordiv 2
//
// Law: the nests of a plan write each bit of a code once, and no other bits.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_LINALG_BYTENESTS_H
#define LAYOUT_LIB_LINALG_BYTENESTS_H

#include "layout/Dialect/Layout/IR/Bundle.h"
#include "mlir/IR/Builders.h"

namespace mlir::layout {

/// The term stride * (index floordiv divisor mod modulus) of a position;
/// modulus 0 is no mod.
struct PositionTerm {
  int64_t divisor, modulus, stride;

  /// Returns the index at which the digit begins again, or changes last.
  int64_t getPeriod() const { return divisor * std::max<int64_t>(modulus, 1); }
  int64_t evaluate(int64_t index) const {
    int64_t digit = index / divisor;
    return stride * (modulus ? digit % modulus : digit);
  }
  /// Returns the stride of a digit of the index that counts `unit`s.
  int64_t getStride(int64_t unit) const {
    bool isPart = divisor <= unit && (!modulus || unit < getPeriod());
    return isPart ? stride * (unit / divisor) : 0;
  }
};

/// Returns the stride of a digit of the index that counts `unit`s.
int64_t getStride(ArrayRef<PositionTerm> terms, int64_t unit);

/// A position in bits: a constant and the terms of each dim.
struct LinearPosition {
  int64_t constant;
  SmallVector<SmallVector<PositionTerm>> terms;

  /// Returns the position `value` over dims of the given sizes, or std::nullopt
  /// if it has digits of sums or strides that are not constant.
  static std::optional<LinearPosition> get(const IndexExpr &value,
                                           ArrayRef<int64_t> sizes);
};

/// Returns the units of the digits of an index below `end`, from 1 on, along
/// which all positions are linear. Digits within bytes are apart from those of
/// whole bytes if possible. Returns std::nullopt if the units do not divide each
/// other.
std::optional<SmallVector<int64_t>>
findUnits(ArrayRef<ArrayRef<PositionTerm>> positions, int64_t end);

/// A component before and after a repack, and the number of its old stream.
struct CodeMove {
  const PlacedComponent *from, *to;
  unsigned source;
};

/// A digit along which positions are linear: its extent and its strides in the
/// new and in the old stream.
struct MovedDigit {
  int64_t to, from, extent;

  bool operator<(const MovedDigit &other) const {
    return std::tie(to, from, extent) <
           std::tie(other.to, other.from, other.extent);
  }
  bool operator==(const MovedDigit &other) const {
    return !(*this < other) && !(other < *this);
  }
};

/// Bits that a byte of the new stream takes from one old byte: that byte,
/// shifted to the left by `shift` (or to the right if negative), and masked.
struct MovedBits {
  unsigned source;
  /// The old byte at index 0 of all loops, in lane 0.
  int64_t byte;
  int64_t shift;
  /// The old bytes between iterations of each loop.
  SmallVector<int64_t> strides;
  /// The digits of the lane, in bytes, that the old byte depends on.
  SmallVector<MovedDigit> lanes;
  /// One mask per lane.
  SmallVector<uint8_t> masks;
};

struct ByteLoop {
  int64_t stride, extent; // in bytes of the new stream
};

/// Loops over bytes of a new stream, slowest first. Each iteration writes the
/// bytes of all lanes, which are adjacent.
struct ByteNest {
  int64_t begin;
  SmallVector<ByteLoop> loops;
  int64_t lanes;
  SmallVector<MovedBits> bits;

  /// Returns the bits of each lane that the nest writes.
  SmallVector<uint8_t> getMasks() const;
  bool writesWholeBytes() const;
  int64_t countBytes() const;
  /// Returns the nest at the iterations from `first` on of loop `i`: `count` of
  /// them, or one and without the loop.
  ByteNest restrict(unsigned i, int64_t first, int64_t count) const;
};

/// The nests of a new stream of `bytes` bytes, and the bits that no nest writes.
struct StreamNests {
  std::vector<ByteNest> nests;
  int64_t bytes;
  uint8_t padding;

  /// Returns true if all bits are written.
  bool isFull() const;
};

/// Returns where the bytes of `nest` are in a stream of `bytes` bytes. Entry i is
/// the first byte of a slice of extent * stride bytes of loop i: relative to the
/// stream, or to an iteration of loop i - 1. The last entry is that of the
/// lanes. Returns std::nullopt if a slice is not in the iteration around it.
std::optional<SmallVector<int64_t>> findSlices(const ByteNest &nest,
                                               int64_t bytes);

/// Plans a new stream of `bytes` bytes with the components `moves`. Every nest
/// is a slice of the stream. Returns std::nullopt if positions are not sums of
/// nested digits of dims, or if there are too many nests.
std::optional<std::vector<ByteNest>> planByteNests(ArrayRef<CodeMove> moves,
                                                   int64_t bytes);

/// Emits new streams, i8 tensors. With `inBlocks`, all nests run block by block
/// in one scf.forall if they move the same parts of all streams, so that each
/// cache line is loaded once.
SmallVector<Value> emitByteNests(OpBuilder &b, Location loc,
                                 ArrayRef<StreamNests> streams,
                                 ArrayRef<Value> sources, bool inBlocks);

} // namespace mlir::layout

#endif // LAYOUT_LIB_LINALG_BYTENESTS_H
