//===- IndexExpr.h - Digits of indices, and sums of them --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values that a layout computes from a logical index. A `Digit` is
//
//     floor(source / divisor) mod modulus          (modulus 0: no mod)
//
// of a logical dim, of a fused value or of a swizzle; a `IndexExpr` is a
// constant plus digits times strides. `c floordiv 16`, `(c + 2) mod 4` and the
// offset of a tensor are all `IndexExpr`s:
//
//     NCHW16c:  1 * (c mod 16) + 16 * w + 16 * size(w) * h + ..
//
// Laws:
//  * every function returns the canonical form: the digits of one source whose
//    breakpoints divide each other are disjoint, maximal, sorted and have
//    strides that are not 0, so equal sums compare equal;
//  * a digit of a swizzle is the swizzle of the digits: only whole swizzles
//    occur where divisor and modulus are powers of two;
//  * no function changes the value at any index inside the given bounds.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_INDEXEXPR_H
#define LAYOUT_ALGEBRA_INDEXEXPR_H

#include "layout/Algebra/SizeExpr.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <limits>

namespace mlir {
namespace layout {

struct IndexExpr;
struct Swizzle;
llvm::hash_code hash_value(const IndexExpr &linear);

/// The size that stands for "not known", as in ShapedType::kDynamic.
constexpr int64_t kUnknownSize = std::numeric_limits<int64_t>::min();

/// floor(source / divisor) mod modulus; see the file comment.
struct Digit {
  // The source: `fused` or `swizzle` where one is set, else the dim.
  unsigned dim = 0;
  std::shared_ptr<const IndexExpr> fused;
  std::shared_ptr<const Swizzle> swizzle;
  int64_t divisor = 1;
  int64_t modulus = 0;

  bool isDim() const { return !fused && !swizzle; }
  bool isWholeSource() const { return divisor == 1 && modulus == 0; }
  /// Calls `fn` for every dim that occurs in the source.
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

  /// The index of logical dim `d`.
  static IndexExpr dim(unsigned d);

  bool isZero() const { return terms.empty() && constant.isZero(); }
  /// The digit where this is one digit with stride 1 and nothing else.
  const Digit *getSingleDigit() const;
  bool hasOverflow() const;

  /// A total order; 0 iff equal.
  int compare(const IndexExpr &other) const;
  bool operator==(const IndexExpr &other) const { return compare(other) == 0; }
  bool operator!=(const IndexExpr &other) const { return compare(other) != 0; }
  friend llvm::hash_code hash_value(const IndexExpr &linear);

  /// The value at an index, all sizes static; nothing on overflow.
  std::optional<int64_t> evaluate(llvm::ArrayRef<int64_t> index,
                                  llvm::ArrayRef<int64_t> sizes) const;

  /// Calls `fn` for every dim that occurs in a digit.
  void walkDims(llvm::function_ref<void(unsigned)> fn) const;
};

/// The bitwise xor of the lowest `bits` bits of at least two values, or of one
/// and a constant: its own inverse in each of them. The values are distinct,
/// sorted, and stand without a `mod` that takes those very bits.
struct Swizzle {
  std::vector<IndexExpr> operands;
  int64_t constant = 0;
  unsigned bits = 0;

  int64_t getExtent() const { return int64_t(1) << bits; }
  int compare(const Swizzle &other) const;
};

/// A swizzle has at most 2^62 values, so that its extent is an int64.
constexpr unsigned kMaxSwizzleBits = 62;

/// A digit of c + 2 is a digit of the base c, shifted: the source of `digit`
/// without its constant, which goes to `shift` ..
Digit splitShift(const Digit &digit, int64_t &shift);

/// .. and the digit whose source is that base plus `shift`.
Digit withShift(const Digit &base, int64_t shift);

/// An inclusive range of values.
struct Interval {
  int64_t min = 0;
  int64_t max = 0;
};

/// What is known of dims: sizes[d], or kUnknownSize. An empty array knows
/// nothing. A dim of size 0 has no index, so anything holds of it.
using Sizes = llvm::ArrayRef<int64_t>;

/// The values that `x` takes on the box of `sizes`; nothing where unbounded.
std::optional<Interval> getRange(const IndexExpr &x, Sizes sizes);
std::optional<Interval> getRange(const Digit &digit, Sizes sizes);

IndexExpr add(const IndexExpr &a, const IndexExpr &b, Sizes sizes = {});
IndexExpr scale(const IndexExpr &a, const SizeExpr &factor, Sizes sizes = {});

/// floor(x / divisor) mod modulus (0: no mod), in canonical form.
IndexExpr takeDigit(const IndexExpr &x, int64_t divisor, int64_t modulus,
                    Sizes sizes = {});

/// The xor of the lowest `bits` bits of all operands, in canonical form.
IndexExpr xorBits(llvm::ArrayRef<IndexExpr> operands, unsigned bits,
                  Sizes sizes = {});

/// `x` with dim d replaced by dims[d] and size(d) by sizeOf[d]; `sizes` are
/// what is known of the dims that the replacements speak of.
IndexExpr substitute(const IndexExpr &x, llvm::ArrayRef<IndexExpr> dims,
                     llvm::ArrayRef<SizeExpr> sizeOf, Sizes sizes = {});

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ALGEBRA_INDEXEXPR_H
