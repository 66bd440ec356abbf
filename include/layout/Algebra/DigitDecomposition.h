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
  /// The number of positions of the digit, padding included: the stride of the
  /// next slower digit divided by `stride`. The slowest digit has the extent of
  /// the offset instead of that stride. std::nullopt if the quotient is not a
  /// polynomial.
  std::optional<SizeExpr> room;
};

/// A dim or a fused value, its size, and which entries of a list of placed
/// digits are its digits.
struct Source {
  Digit whole;
  SizeExpr size;
  llvm::SmallVector<unsigned> digits; // from major to minor
};

/// Returns true if `rank`, the rank of a layout in another notation, is that of
/// the tensor of `shape`; otherwise reports an error and returns false.
bool checkRank(unsigned rank, Sizes shape, FailureReason error);

llvm::SmallVector<int64_t> unknownSizes(const LayoutMap &map);

/// Returns the size of a dim: a constant, or size(d) if it is dynamic.
SizeExpr getSize(unsigned dim, Sizes sizes);

/// Returns the number of values of `digit` on a shape, as a constant if that
/// does not depend on a dynamic size.
SizeExpr getExtent(const Digit &digit, Sizes sizes);

/// Returns the value of its source at which `digit` begins again at 0, divisor
/// * modulus. Returns 0 if it has no modulus, or std::nullopt on int64
/// overflow.
std::optional<int64_t> getEnd(const Digit &digit);

/// Prints a value or digit in the notation of `#layout.map`: `d1 floordiv 16`.
/// `rank` is the number of logical dims.
std::string describe(const IndexExpr &value, unsigned rank);
std::string describe(const Digit &digit, unsigned rank);

/// Returns the offset coordinate of `special`, a map in normal form on `sizes`.
/// Fails if the map is not in linear memory, has replicas or a constant offset,
/// overflows int64, or if the tensor is empty.
std::optional<Coordinate> getOffset(const LayoutMap &special, Sizes sizes,
                                    FailureReason error);

/// Sorts digits by stride, the highest first. Returns null on success. If none
/// of the digits that are left provably has the highest stride, because that
/// depends on dynamic sizes, returns the first of these.
const PlacedDigit *sortByStride(std::vector<PlacedDigit> &digits);

/// Returns the digits of the offset of `special`, a map in normal form on
/// `sizes`, by stride, the highest first. Fails if the map is not in linear
/// memory, has replicas or a constant offset, or overflows int64. Also fails if
/// the tensor is empty, a stride may not be positive, or the order depends on
/// dynamic sizes.
std::optional<std::vector<PlacedDigit>>
getDigits(const LayoutMap &special, Sizes sizes, FailureReason error);

/// Returns the digits of the offset of `special`, a map in normal form on
/// `sizes`, the slowest first, such that each stride is a multiple of the next,
/// and the last stride is 1. Digits whose strides are no such multiples are
/// fused: h and w of `[h, w] align 32` become one digit of their sum. If all
/// strides exceed 1, a last digit of the constant 0 stands for the padding
/// between positions. Fails where getDigits() does, or if fusing does not give
/// such strides.
std::optional<std::vector<PlacedDigit>>
getDenseDigits(const LayoutMap &special, Sizes sizes, FailureReason error);

/// Splits each digit of dynamic extent without a mod that is padded to a
/// multiple of a constant k > 1 into two: `d0 align 32` becomes d0 floordiv 32
/// and d0 mod 32.
void splitAlignedDigits(std::vector<PlacedDigit> &digits, Sizes sizes);

/// Groups digits by their sources, the dims or fused values that they are
/// digits of. Fails if the digits of a source overlap or leave a gap, if a dim
/// is in two sources, or if a dim of a size other than 1 is in none.
std::optional<std::vector<Source>>
getSources(llvm::ArrayRef<PlacedDigit> digits, unsigned rank, Sizes sizes,
           FailureReason error);

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_DIGITDECOMPOSITION_H
