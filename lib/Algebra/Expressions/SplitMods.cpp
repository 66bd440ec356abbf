//===- SplitMods.cpp - Split digits of sums -------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Expressions/SplitMods.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir::layout;

/// Rewrites (g * a + b) mod (g * m), where g is `factor`, to g * (a mod m) + b,
/// or returns std::nullopt if b is not proven to be in [0, g).
static std::optional<IndexExpr> splitBy(const Digit &digit, int64_t factor,
                                        Sizes sizes) {
  std::optional<int64_t> constant = digit.fused->constant.getConstant();
  if (!constant)
    return std::nullopt;
  IndexExpr above(SizeExpr(llvm::divideFloorSigned(*constant, factor))),
      below(SizeExpr(llvm::mod(*constant, factor)));
  for (const DigitTerm &term : digit.fused->terms) {
    std::optional<SizeExpr> quotient =
        term.stride.exactQuotient(SizeExpr(factor));
    if (quotient)
      above.terms.push_back({term.digit, *quotient});
    else
      below.terms.push_back(term);
  }
  std::optional<Interval> range = getRange(below, sizes);
  if (!range || range->min < 0 || range->max >= factor)
    return std::nullopt;
  return add(scale(takeDigit(above, 1, digit.modulus / factor, sizes),
                   SizeExpr(factor), sizes),
             below, sizes);
}

static std::optional<IndexExpr> split(const Digit &digit, Sizes sizes) {
  if (!digit.fused || digit.divisor != 1 || !digit.modulus)
    return std::nullopt;
  llvm::SmallVector<int64_t> factors;
  for (const DigitTerm &term : digit.fused->terms)
    factors.push_back(std::gcd(term.stride.content(), digit.modulus));
  llvm::sort(factors, std::greater<int64_t>());
  for (int64_t factor : factors)
    if (factor > 1)
      if (std::optional<IndexExpr> parts = splitBy(digit, factor, sizes))
        return parts;
  return std::nullopt;
}

IndexExpr mlir::layout::splitMods(const IndexExpr &value, Sizes sizes) {
  IndexExpr result(value.constant);
  for (const DigitTerm &term : value.terms) {
    IndexExpr one;
    one.terms.push_back({term.digit, SizeExpr(1)});
    // Ends, because each part has a smaller modulus or a smaller source.
    if (std::optional<IndexExpr> parts = split(term.digit, sizes))
      one = splitMods(*parts, sizes);
    result = add(result, scale(one, term.stride, sizes), sizes);
  }
  return result;
}
