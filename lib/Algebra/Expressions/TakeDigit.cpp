//===- TakeDigit.cpp - The digits of a sum --------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Views/Combine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir::layout;
using llvm::ArrayRef;

/// Divides every coefficient of `expr` by `g`, which must divide them all.
static SizeExpr divideContent(const SizeExpr &expr, int64_t g) {
  return *expr.exactQuotient(SizeExpr(g));
}

static bool isMultipleOf(const SizeExpr &expr, int64_t g) {
  return !expr.isOverflow() && expr.content() % g == 0;
}

/// Returns A if x is g * A + B with B proven to be in [0, g), or else
/// std::nullopt. A is floor(x / g).
static std::optional<IndexExpr> divideByCommonFactor(const IndexExpr &x,
                                                     int64_t g, Sizes sizes) {
  IndexExpr whole, rest;
  for (const DigitTerm &term : x.terms) {
    if (isMultipleOf(term.stride, g))
      whole.terms.push_back({term.digit, divideContent(term.stride, g)});
    else
      rest.terms.push_back(term);
  }
  if (std::optional<int64_t> c = x.constant.getConstant()) {
    whole.constant = SizeExpr(llvm::divideFloorSigned(*c, g));
    rest.constant = SizeExpr(llvm::mod(*c, g));
  } else if (isMultipleOf(x.constant, g)) {
    whole.constant = divideContent(x.constant, g);
  } else {
    return std::nullopt;
  }
  std::optional<Interval> range = getRange(rest, sizes);
  if (!range || range->min < 0 || range->max >= g)
    return std::nullopt;
  return combine(whole.constant, std::move(whole.terms), sizes);
}

/// Rewrites floor((floor(y / k) + c) / divisor) to floor((y + k * c) / (k *
/// divisor)), so that all digits of a shifted value have the same source. Sets
/// `x` to y + k * c and multiplies `divisor` by k. If `x` is not floor(y / k) +
/// c, or a product overflows int64, both stay.
static void liftShift(IndexExpr &x, int64_t &divisor) {
  std::optional<int64_t> c = x.constant.getConstant();
  if (!c || x.terms.size() != 1 || !x.terms[0].stride.isConstantEqual(1))
    return;
  Digit digit = x.terms[0].digit;
  int64_t shift, newDivisor;
  if (digit.modulus || digit.divisor == 1 ||
      llvm::MulOverflow(*c, digit.divisor, shift) ||
      llvm::MulOverflow(divisor, digit.divisor, newDivisor))
    return;
  divisor = newDivisor;
  if (digit.fused) {
    x = *digit.fused;
  } else {
    digit.divisor = 1;
    x = IndexExpr();
    x.terms.push_back({digit, SizeExpr(1)});
  }
  x.constant = x.constant + SizeExpr(shift);
}

/// Simplifies floor(x / divisor) mod modulus (0: no mod) by one round of
/// rewrites of the arguments. Without a mod, also moves multiples of the
/// divisor from `x` to `outside`, divided by it; the caller adds `outside` to
/// the floor. Returns true if anything changed.
static bool simplifyDigit(IndexExpr &x, int64_t &divisor, int64_t &modulus,
                          IndexExpr &outside, Sizes sizes) {
  bool changed = false;
  // Multiples of divisor * modulus do not affect the digit.
  int64_t span;
  if (modulus && !llvm::MulOverflow(divisor, modulus, span)) {
    size_t before = x.terms.size();
    llvm::erase_if(x.terms, [&](const DigitTerm &term) {
      return isMultipleOf(term.stride, span);
    });
    SizeExpr constant = x.constant;
    if (std::optional<int64_t> c = x.constant.getConstant())
      x.constant = SizeExpr(llvm::mod(*c, span));
    else if (isMultipleOf(x.constant, span))
      x.constant = SizeExpr(0);
    changed |= x.terms.size() != before || constant != x.constant;
  }

  // floor((g * A + B) / divisor) is floor(A / (divisor / g)) for B in [0, g).
  llvm::SmallVector<int64_t> factors{divisor};
  for (const DigitTerm &term : x.terms)
    factors.push_back(std::gcd(term.stride.content(), divisor));
  llvm::sort(factors, std::greater<int64_t>());
  for (int64_t g : factors) {
    if (g <= 1)
      break;
    if (std::optional<IndexExpr> divided = divideByCommonFactor(x, g, sizes)) {
      x = *divided;
      divisor /= g;
      return true;
    }
  }

  // floor((divisor * A + B) / divisor) is A + floor(B / divisor), also under a
  // mod. This gives both spellings the same form.
  if (divisor > 1) {
    IndexExpr whole, rest;
    for (const DigitTerm &term : x.terms) {
      if (isMultipleOf(term.stride, divisor))
        whole.terms.push_back(
            {term.digit, divideContent(term.stride, divisor)});
      else
        rest.terms.push_back(term);
    }
    rest.constant = x.constant;
    if (std::optional<int64_t> c = x.constant.getConstant()) {
      whole.constant = SizeExpr(llvm::divideFloorSigned(*c, divisor));
      rest.constant = SizeExpr(llvm::mod(*c, divisor));
    }
    if (modulus == 0) {
      changed |=
          rest.terms.size() != x.terms.size() || !whole.constant.isZero();
      outside.constant = outside.constant + whole.constant;
      llvm::append_range(outside.terms, whole.terms);
      x = std::move(rest);
    } else if (!whole.isZero()) {
      x = add(whole, takeDigit(rest, divisor, 0, sizes), sizes);
      divisor = 1;
      return true;
    }
  }

  if (modulus) {
    std::optional<Interval> range = getRange(x, sizes);
    if (range && range->min >= 0 && range->max / divisor < modulus) {
      modulus = 0;
      changed = true;
    }
  }
  return changed;
}

/// Computes floor(swizzle / divisor) mod modulus (0: no mod) as a swizzle of
/// the operands' bits. For a modulus that is not a power of two, it is a digit
/// of such a swizzle. Returns std::nullopt if `divisor` is not a power of two,
/// or if it is 1 and `modulus` is neither 0 nor a power of two.
static std::optional<IndexExpr> takeBits(const Swizzle &swizzle,
                                         int64_t divisor, int64_t modulus,
                                         Sizes sizes) {
  if (!llvm::isPowerOf2_64(divisor))
    return std::nullopt;
  if (modulus && !llvm::isPowerOf2_64(modulus)) {
    if (divisor == 1)
      return std::nullopt;
    return takeDigit(*takeBits(swizzle, divisor, 0, sizes), 1, modulus, sizes);
  }
  unsigned first = llvm::Log2_64(divisor);
  if (first >= swizzle.bits)
    return IndexExpr();
  unsigned count = swizzle.bits - first;
  if (modulus)
    count = std::min(count, llvm::Log2_64(modulus));
  llvm::SmallVector<IndexExpr> operands{
      IndexExpr(SizeExpr(swizzle.constant >> first))};
  for (const IndexExpr &operand : swizzle.operands)
    operands.push_back(takeDigit(operand, divisor, int64_t(1) << count, sizes));
  return xorBits(operands, count, sizes);
}

/// Removes the modulus of a digit of a dim if the size of the dim makes it
/// redundant. Returns false if the digit is always 0.
static bool narrow(Digit &digit, Sizes sizes) {
  Digit whole;
  whole.dim = digit.dim;
  std::optional<Interval> range = getRange(whole, sizes);
  if (!range)
    return true;
  if (digit.modulus && range->max / digit.divisor < digit.modulus)
    digit.modulus = 0;
  return range->max >= digit.divisor;
}

IndexExpr mlir::layout::takeDigit(const IndexExpr &input, int64_t divisor,
                                  int64_t modulus, Sizes sizes) {
  if (modulus == 1)
    return IndexExpr();
  // Fast path for dims, where only the size enables simplifications.
  if (const Digit *whole = input.getSingleDigit();
      whole && whole->isDim() && whole->isWholeSource()) {
    Digit digit = *whole;
    digit.divisor = divisor;
    digit.modulus = modulus;
    if (!narrow(digit, sizes))
      return IndexExpr();
    return combine(SizeExpr(0), {{digit, SizeExpr(1)}}, sizes);
  }
  IndexExpr x = combine(input.constant, input.terms, sizes);
  if (divisor == 1 && modulus == 0)
    return x;
  IndexExpr outside;
  while (simplifyDigit(x, divisor, modulus, outside, sizes))
    ;
  if (divisor == 1 && modulus == 0)
    return add(outside, x, sizes);
  if (x.terms.empty())
    if (std::optional<int64_t> c = x.constant.getConstant()) {
      int64_t value = llvm::divideFloorSigned(*c, divisor);
      return add(outside, SizeExpr(modulus ? llvm::mod(value, modulus) : value),
                 sizes);
    }

  Digit digit;
  std::optional<Digit> composed;
  if (const Digit *inner = x.getSingleDigit()) {
    if (inner->swizzle && inner->isWholeSource())
      if (std::optional<IndexExpr> bits =
              takeBits(*inner->swizzle, divisor, modulus, sizes))
        return add(outside, *bits, sizes);
    composed = composeDigits(*inner, divisor, modulus);
    // If only the mod cannot be composed, compose the floor.
    if (!composed && divisor > 1)
      if (std::optional<Digit> floor = composeDigits(*inner, divisor, 0)) {
        x.terms[0].digit = *floor;
        divisor = 1;
      }
  }
  if (composed) {
    // A narrower digit can drop more terms of a fused source.
    if (composed->fused && composed->modulus != x.terms[0].digit.modulus)
      return add(outside,
                 takeDigit(*composed->fused, composed->divisor,
                           composed->modulus, sizes),
                 sizes);
    digit = *composed;
  } else {
    liftShift(x, divisor);
    digit.fused = std::make_shared<IndexExpr>(x);
    digit.divisor = divisor;
    digit.modulus = modulus;
  }
  outside.terms.push_back({digit, SizeExpr(1)});
  return combine(outside.constant, std::move(outside.terms), sizes);
}

IndexExpr mlir::layout::substitute(const IndexExpr &x, ArrayRef<IndexExpr> dims,
                                   ArrayRef<SizeExpr> sizeOf, Sizes sizes) {
  IndexExpr result(x.constant.substitute(sizeOf));
  result.terms.reserve(x.terms.size());
  for (const DigitTerm &term : x.terms) {
    SizeExpr stride = term.stride.substitute(sizeOf);
    auto addScaled = [&](const IndexExpr &value) {
      result.constant = result.constant + value.constant * stride;
      for (const DigitTerm &part : value.terms)
        result.terms.push_back({part.digit, part.stride * stride});
    };
    if (term.digit.isDim() && term.digit.isWholeSource()) {
      addScaled(dims[term.digit.dim]);
      continue;
    }
    // Fast path: a digit of a dim that is replaced by a dim.
    if (const Digit *whole = term.digit.isDim()
                                 ? dims[term.digit.dim].getSingleDigit()
                                 : nullptr;
        whole && whole->isDim() && whole->isWholeSource()) {
      Digit digit = term.digit;
      digit.dim = whole->dim;
      if (narrow(digit, sizes))
        result.terms.push_back({std::move(digit), std::move(stride)});
      else
        addScaled(IndexExpr()); // keeps a stride that overflowed
      continue;
    }
    IndexExpr source;
    if (term.digit.fused) {
      source = substitute(*term.digit.fused, dims, sizeOf, sizes);
    } else if (term.digit.swizzle) {
      const Swizzle &swizzle = *term.digit.swizzle;
      llvm::SmallVector<IndexExpr> operands{
          IndexExpr(SizeExpr(swizzle.constant))};
      for (const IndexExpr &operand : swizzle.operands)
        operands.push_back(substitute(operand, dims, sizeOf, sizes));
      source = xorBits(operands, swizzle.bits, sizes);
    } else {
      source = dims[term.digit.dim];
    }
    addScaled(takeDigit(source, term.digit.divisor, term.digit.modulus, sizes));
  }
  return combine(result.constant, std::move(result.terms), sizes);
}
