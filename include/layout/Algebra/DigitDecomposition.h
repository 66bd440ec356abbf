//===- DigitDecomposition.h - Digits in storage order -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Prepares a map on a shape for an exporter: lists its mixed-radix digits,
// slowest first, and groups them by source, the dim or fused value that they
// are digits of. Errors name the digit that the notation cannot express.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_DIGITDECOMPOSITION_H
#define LAYOUT_ALGEBRA_DIGITDECOMPOSITION_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Support/FailureReason.h"

namespace mlir::layout {

struct PlacedDigit {
  Digit digit;
  SizeExpr stride;
  /// The number of positions up to the next slower digit: those of the digit
  /// and of padding. std::nullopt if the strides do not divide each other.
  std::optional<SizeExpr> room;
};

/// A dim or a fused value, and the placed digits of it.
struct Source {
  Digit whole;
  SizeExpr size;
  llvm::SmallVector<unsigned> digits; // from major to minor
};

/// Checks in an importer that the notation has the rank of the tensor.
bool checkRank(unsigned rank, Sizes shape, FailureReason error);

llvm::SmallVector<int64_t> unknownSizes(const LayoutMap &map);

/// Returns the size of a dim: a constant, or size(d) if it is dynamic.
SizeExpr getSize(unsigned dim, Sizes sizes);

/// Returns the number of values of `digit` on the box.
SizeExpr getExtent(const Digit &digit, Sizes sizes);

/// Returns divisor * modulus, 0 if `digit` has no modulus, or std::nullopt on
/// int64 overflow.
std::optional<int64_t> getEnd(const Digit &digit);

/// Prints a value or digit in the notation of `#layout.map`: `d1 floordiv 16`.
std::string describe(const IndexExpr &value, unsigned rank);
std::string describe(const Digit &digit, unsigned rank);

/// Returns the only coordinate of a map in linear memory. Fails if there are
/// several, if the lowest offset is not 0, or if the tensor is empty.
std::optional<Coordinate> getOffset(const LayoutMap &special, Sizes sizes,
                                    FailureReason error);

/// Sorts by stride, the highest first. Returns null, or the first digit whose
/// rank in the order depends on the sizes.
const PlacedDigit *sortByStride(std::vector<PlacedDigit> &digits);

/// Returns the digits of `special` by stride, the highest first.
std::optional<std::vector<PlacedDigit>>
getDigits(const LayoutMap &special, Sizes sizes, FailureReason error);

/// Returns the digits of `special` by stride, each with the room up to the next
/// slower one, down to stride 1. Digits that are not a whole number of
/// positions apart are combined to one digit of their sum: [h, w] align 32.
/// Padding below all of them is a digit of the empty sum.
std::optional<std::vector<PlacedDigit>>
getDenseDigits(const LayoutMap &special, Sizes sizes, FailureReason error);

/// Splits padding after the outermost digit of a dynamic dim into a digit of
/// its own: `d0 align 32` becomes d0 floordiv 32 and d0 mod 32.
void splitAlignedDigits(std::vector<PlacedDigit> &digits, Sizes sizes);

/// Groups the digits by source. Fails if a digit of a dim is missing, because
/// two indices would then share one point, or repeated.
std::optional<std::vector<Source>>
getSources(llvm::ArrayRef<PlacedDigit> digits, unsigned rank, Sizes sizes,
           FailureReason error);

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_DIGITDECOMPOSITION_H
