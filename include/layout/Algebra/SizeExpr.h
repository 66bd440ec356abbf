//===- SizeExpr.h - Symbolic sizes ------------------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A `SizeExpr` is an extent or a stride of a layout: a polynomial with int64
// coefficients. Its variables are the sizes of logical dims, and ceiling
// divisions of such polynomials:
//
//     NCHW16c, stride of n:  16 * ceil(size(d1), 16) * size(d2) * size(d3)
//
// Laws:
//  * the form is unique: equal polynomials compare equal, whatever the order
//    in which they were built; ceil(ceil(p, a) + q, b) is
//    ceil(p + a * q, a * b);
//  * arithmetic that overflows int64 makes the result `isOverflow()`, which is
//    absorbing and evaluates to std::nullopt: sizes never wrap around.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_SIZEEXPR_H
#define LAYOUT_ALGEBRA_SIZEEXPR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

namespace llvm {
class raw_ostream;
} // namespace llvm

namespace mlir::layout {

class SizeExpr;
llvm::hash_code hash_value(const SizeExpr &expr);

class SizeExpr {
public:
  struct Ceil;

  /// A variable of the polynomial: size(dim), or ceil(num, den).
  struct Atom {
    unsigned dim = 0;
    std::shared_ptr<const Ceil> ceil;
    int compare(const Atom &other) const;
  };

  /// The product coeff * factors[0] * ..; factors are sorted and may repeat.
  struct Term {
    int64_t coeff = 0;
    llvm::SmallVector<Atom, 3> factors;
  };

  /// Creates the constant c.
  SizeExpr(int64_t c = 0) : constant(c) {}

  /// Returns size(d), the size of logical dim d.
  static SizeExpr dim(unsigned d);

  /// Returns the expression that stands for a result beyond int64.
  static SizeExpr overflow();

  bool isOverflow() const { return overflowed; }
  bool isConstant() const { return !overflowed && terms.empty(); }
  bool isZero() const { return isConstantEqual(0); }
  bool isConstantEqual(int64_t c) const {
    return isConstant() && constant == c;
  }
  std::optional<int64_t> getConstant() const {
    return isConstant() ? std::optional<int64_t>(constant) : std::nullopt;
  }
  /// Returns the terms that depend on sizes, e.g. 2 * size(d1) of 2 * size(d1)
  /// + 3.
  llvm::ArrayRef<Term> getTerms() const { return terms.get(); }
  /// Returns the constant term, e.g. 3 of 2 * size(d1) + 3.
  int64_t getConstantTerm() const { return constant; }

  SizeExpr operator+(const SizeExpr &other) const;
  SizeExpr operator-(const SizeExpr &other) const;
  SizeExpr operator*(const SizeExpr &other) const;

  /// Returns ceil(this / den) for den >= 1.
  SizeExpr ceilDiv(int64_t den) const;

  /// Returns the smallest multiple of `k` that is at least this.
  SizeExpr alignTo(int64_t k) const { return ceilDiv(k) * k; }

  /// Returns this / divisor if that is a polynomial with integer coefficients,
  /// else std::nullopt.
  std::optional<SizeExpr> exactQuotient(const SizeExpr &divisor) const;

  /// Returns the greatest integer that divides every coefficient and the
  /// constant; 0 for zero.
  int64_t content() const;

  /// Returns true only if this >= other is proven for all sizes >= 1; false
  /// proves nothing.
  bool isProvablyAtLeast(const SizeExpr &other) const;

  /// Returns the value for the given sizes, one per logical dim, or
  /// std::nullopt on overflow or if a size that occurs is dynamic.
  std::optional<int64_t> evaluate(llvm::ArrayRef<int64_t> sizes) const;

  /// Returns the expression with replacement[d] in place of size(d).
  SizeExpr substitute(llvm::ArrayRef<SizeExpr> replacement) const;

  /// Returns the expression with the number sizes[d] in place of size(d) for
  /// each static size.
  SizeExpr specialize(llvm::ArrayRef<int64_t> sizes) const;

  /// Compares in a total order of the expressions, not of their values: returns
  /// -1, 0 (equal) or 1.
  int compare(const SizeExpr &other) const;
  bool operator==(const SizeExpr &other) const { return compare(other) == 0; }
  bool operator!=(const SizeExpr &other) const { return compare(other) != 0; }
  bool operator<(const SizeExpr &other) const { return compare(other) < 0; }

  /// Prints the expression as the parser of `#layout.map` reads it, e.g. `2 *
  /// size(d1) + 3`.
  void print(llvm::raw_ostream &os) const;

  friend llvm::hash_code hash_value(const SizeExpr &expr);

private:
  /// Copy-on-write storage of the terms: expressions are copied far more often
  /// than changed.
  class Terms {
  public:
    llvm::ArrayRef<Term> get() const {
      return shared ? llvm::ArrayRef<Term>(*shared) : llvm::ArrayRef<Term>();
    }
    const Term *begin() const { return get().begin(); }
    const Term *end() const { return get().end(); }
    size_t size() const { return shared ? shared->size() : 0; }
    bool empty() const { return size() == 0; }
    const Term &front() const { return shared->front(); }
    const Term &operator[](size_t i) const { return (*shared)[i]; }

    /// Returns the terms for modification, unshared.
    std::vector<Term> &edit();

  private:
    std::shared_ptr<std::vector<Term>> shared; // null for none
  };

  void addTerm(const Term &term);
  std::vector<Term> getAllTerms() const;
  bool isPositiveForm() const;
  SizeExpr dropSlack(const Atom *only, bool largestFirst = true) const;

  // Most sizes are constants, which need no terms.
  int64_t constant = 0;
  Terms terms; // sorted by factors, coefficients not 0
  bool overflowed = false;
};

struct SizeExpr::Ceil {
  SizeExpr num;
  int64_t den = 1;
};

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_SIZEEXPR_H
