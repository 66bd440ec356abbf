//===- PlacedDigits.h - Digits in the order of storage ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What an exporter looks at: a map on a shape as a list of digits, slowest
// first, and the same digits by the value that they are digits of. Faults name
// the digit that no notation can say.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_PLACEDDIGITS_H
#define LAYOUT_ALGEBRA_PLACEDDIGITS_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Support/Refusal.h"

namespace mlir {
namespace layout {

struct PlacedDigit {
  Digit digit;
  SizeExpr stride;
  /// The positions up to the next slower digit: those of the digit itself, and
  /// padding. Nothing where the strides do not divide each other.
  std::optional<SizeExpr> room;
};

/// A dim or a fused value, and which of the placed digits are its digits.
struct Source {
  Digit whole;
  SizeExpr size;
  llvm::SmallVector<unsigned> digits; // from major to minor
};

/// Of an importer: the notation is over as many dims as the tensor has.
bool checkRank(unsigned rank, Sizes shape, Refusal error);

llvm::SmallVector<int64_t> unknownSizes(const LayoutMap &map);

/// size(d) where it is not known, else a constant.
SizeExpr getSize(unsigned dim, Sizes sizes);

/// The number of values of a digit on the box.
SizeExpr getExtent(const Digit &digit, Sizes sizes);

/// divisor * modulus, 0 for a digit without an upper end; nothing past int64.
std::optional<int64_t> getEnd(const Digit &digit);

/// The digit as the core writes it: `d1 floordiv 16`.
std::string describe(const IndexExpr &value, unsigned rank);
std::string describe(const Digit &digit, unsigned rank);

/// The one coordinate of linear memory, counted from 0, of a map that holds
/// something.
std::optional<Coordinate> getOffset(const LayoutMap &special, Sizes sizes,
                                    Refusal error);

/// The highest stride first. Where that differs from size to size, the digit
/// that is at fault, else null.
const PlacedDigit *sortByStride(std::vector<PlacedDigit> &digits);

/// The digits of `special` by their strides, the highest first.
std::optional<std::vector<PlacedDigit>> getDigits(const LayoutMap &special,
                                                  Sizes sizes, Refusal error);

/// The same where each digit has the room that the next slower one leaves, down
/// to stride 1. Digits between which there is no whole number of positions are
/// one digit of their sum: [h, w] align 32. Padding below all of them is a
/// digit of the empty sum.
std::optional<std::vector<PlacedDigit>>
getDenseDigits(const LayoutMap &special, Sizes sizes, Refusal error);

/// Where the size of a dim is not known, padding behind its outermost digit is
/// a digit of its own: `d0 align 32` is d0 floordiv 32 and d0 mod 32.
void splitAlignedDigits(std::vector<PlacedDigit> &digits, Sizes sizes);

/// The digits by source. Fails where they leave something of a dim out, or say
/// it twice: such a map stores two indices at one point.
std::optional<std::vector<Source>>
getSources(llvm::ArrayRef<PlacedDigit> digits, unsigned rank, Sizes sizes,
           Refusal error);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ALGEBRA_PLACEDDIGITS_H
