//===- IndexExpr.h - Sums of index digits -----------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values that a layout computes from a logical index. A `Digit` is a
// mixed-radix digit
//
//     floor(source / divisor) mod modulus          (modulus 0: no mod)
//
// of a logical dim, of a fused value or of a swizzle. An `IndexExpr` is a
// constant plus digits times strides. `c floordiv 16`, `(c + 2) mod 4` and the
// offset of a tensor are all `IndexExpr`s:
//
//     NCHW16c:  1 * (c mod 16) + 16 * w + 16 * size(w) * h + ..
//
// Laws:
//  * every function returns the canonical form: the digits of one source whose
//    breakpoints divide each other are disjoint, maximal, sorted and have
//    nonzero strides, so that equal sums compare equal;
//  * a digit of a swizzle is the swizzle of the digits: if divisor and modulus
//    are powers of two, only whole swizzles occur;
//  * no function changes the value at any index inside the given bounds.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_INDEXEXPR_H
#define LAYOUT_ALGEBRA_INDEXEXPR_H

#include "layout/Algebra/SizeExpr.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <limits>

namespace mlir::layout {

struct IndexExpr;
struct Swizzle;
llvm::hash_code hash_value(const IndexExpr &linear);

/// Stands for a dynamic size, as ShapedType::kDynamic does.
constexpr int64_t kUnknownSize = std::numeric_limits<int64_t>::min();

/// A mixed-radix digit: floor(source / divisor) mod modulus, or without the mod
/// if `modulus` is 0.
struct Digit {
  // The source is `fused` or `swizzle` if set, else the dim.
  unsigned dim = 0;
  std::shared_ptr<const IndexExpr> fused;
  std::shared_ptr<const Swizzle> swizzle;
  int64_t divisor = 1;
  int64_t modulus = 0;

  bool isDim() const { return !fused && !swizzle; }
  bool isWholeSource() const { return divisor == 1 && modulus == 0; }
  /// Calls `fn` with every dim in the source of this digit, once per occurrence.
  void walkDims(llvm::function_ref<void(unsigned)> fn) const;

  int compareSource(const Digit &other) const;
  int compare(const Digit &other) const;
};

struct DigitTerm {
  Digit digit;
  SizeExpr stride;
};

struct IndexExpr {
  SizeExpr constant;
  std::vector<DigitTerm> terms;

  IndexExpr() = default;
  /*implicit*/ IndexExpr(SizeExpr constant) : constant(std::move(constant)) {}

  /// Returns the expression whose value is the index along dim `d`.
  static IndexExpr dim(unsigned d);

  bool isZero() const { return terms.empty() && constant.isZero(); }
  /// Returns the digit if the expression is a single digit with stride 1 and no
  /// constant, else null.
  const Digit *getSingleDigit() const;
  bool hasOverflow() const;

  /// Compares in a total order of the expressions, not of their values: returns
  /// a number below, equal to or above 0 if this is less than, equal to or
  /// greater than `other`.
  int compare(const IndexExpr &other) const;
  bool operator==(const IndexExpr &other) const { return compare(other) == 0; }
  bool operator!=(const IndexExpr &other) const { return compare(other) != 0; }
  friend llvm::hash_code hash_value(const IndexExpr &linear);

  /// Returns the value at `index` of a tensor of `sizes`, or std::nullopt if it
  /// overflows int64 or depends on a size that is dynamic.
  std::optional<int64_t> evaluate(llvm::ArrayRef<int64_t> index,
                                  llvm::ArrayRef<int64_t> sizes) const;

  /// Calls `fn` with every dim in the source of any digit of this sum, once per
  /// occurrence. The sizes in strides and in the constant do not count.
  void walkDims(llvm::function_ref<void(unsigned)> fn) const;
};

/// The bitwise xor of the lowest `bits` bits of at least two values, or of one
/// value and a constant. The operands are distinct and sorted. An outer `mod
/// 2^bits` of an operand is removed, because the xor implies it.
struct Swizzle {
  std::vector<IndexExpr> operands;
  int64_t constant = 0;
  unsigned bits = 0;

  int64_t getExtent() const { return int64_t(1) << bits; }
  int compare(const Swizzle &other) const;
};

/// The maximal number of bits of a swizzle, so that its extent is an int64.
constexpr unsigned kMaxSwizzleBits = 62;

/// Removes the constant from the source of `digit`, and returns it in `shift`:
/// `(c + 2) floordiv 4` becomes `c floordiv 4`, with shift 2. A constant that
/// depends on sizes stays; the shift is then 0.
Digit splitShift(const Digit &digit, int64_t &shift);

/// Returns the digit with `shift` added to its source: `c floordiv 4` with
/// shift 2 becomes `(c + 2) floordiv 4`.
Digit withShift(const Digit &base, int64_t shift);

/// An inclusive range of values.
struct Interval {
  int64_t min = 0;
  int64_t max = 0;
};

/// The sizes of dims, or kUnknownSize if dynamic. All are dynamic if the array
/// is empty. A shape with a size 0 has no index, so any statement about all
/// indices holds.
using Sizes = llvm::ArrayRef<int64_t>;

/// Returns an interval that contains the values of `x` at all indices of a
/// shape, or std::nullopt if a bound is unknown or overflows int64.
std::optional<Interval> getRange(const IndexExpr &x, Sizes sizes);
std::optional<Interval> getRange(const Digit &digit, Sizes sizes);

IndexExpr add(const IndexExpr &a, const IndexExpr &b, Sizes sizes = {});
IndexExpr scale(const IndexExpr &a, const SizeExpr &factor, Sizes sizes = {});

/// Computes floor(x / divisor) mod modulus (0: no mod) in canonical form.
IndexExpr takeDigit(const IndexExpr &x, int64_t divisor, int64_t modulus,
                    Sizes sizes = {});

/// Computes the xor of the lowest `bits` bits of `operands`, in canonical form.
IndexExpr xorBits(llvm::ArrayRef<IndexExpr> operands, unsigned bits,
                  Sizes sizes = {});

/// Returns `x` with dims[d] in place of dim d, and sizeOf[d] in place of
/// size(d). `sizes` are those of the dims that occur in the replacements.
IndexExpr substitute(const IndexExpr &x, llvm::ArrayRef<IndexExpr> dims,
                     llvm::ArrayRef<SizeExpr> sizeOf, Sizes sizes = {});

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_INDEXEXPR_H
