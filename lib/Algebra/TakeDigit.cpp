//===- TakeDigit.cpp - The digits of a sum --------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Combine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir::layout;
using llvm::ArrayRef;

/// Every coefficient of `expr` divided by `g`, which divides them all.
static SizeExpr divideContent(const SizeExpr &expr, int64_t g) {
  return *expr.exactQuotient(SizeExpr(g));
}

static bool isMultipleOf(const SizeExpr &expr, int64_t g) {
  return !expr.isOverflow() && expr.content() % g == 0;
}

/// x / g where x is g * A + B with B proven to lie in [0, g).
static std::optional<Linear> divideByCommonFactor(const Linear &x, int64_t g,
                                                  Sizes sizes) {
  Linear whole, rest;
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

/// floor((floor(y / k) + c) / lo) is floor((y + k * c) / (k * lo)): the digits
/// of a shifted value name the same source, whichever of them is taken.
static void liftShift(Linear &x, int64_t &lo) {
  std::optional<int64_t> c = x.constant.getConstant();
  if (!c || x.terms.size() != 1 || !x.terms[0].stride.isConstantEqual(1))
    return;
  Digit digit = x.terms[0].digit;
  int64_t shift, newLo;
  if (digit.modulus || digit.lo == 1 ||
      llvm::MulOverflow(*c, digit.lo, shift) ||
      llvm::MulOverflow(lo, digit.lo, newLo))
    return;
  lo = newLo;
  if (digit.fused) {
    x = *digit.fused;
  } else {
    digit.lo = 1;
    x = Linear();
    x.terms.push_back({digit, SizeExpr(1)});
  }
  x.constant = x.constant + SizeExpr(shift);
}

/// One round of the rewrites that make floor(x / lo) mod modulus simpler. What
/// leaves the floor goes to `outside`. True if anything changed.
static bool simplifyDigit(Linear &x, int64_t &lo, int64_t &modulus,
                          Linear &outside, Sizes sizes) {
  bool changed = false;
  // Multiples of lo * modulus do not reach a digit below them.
  int64_t span;
  if (modulus && !llvm::MulOverflow(lo, modulus, span)) {
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

  // floor((g * A + B) / lo) is floor(A / (lo / g)) for B in [0, g).
  llvm::SmallVector<int64_t> factors{lo};
  for (const DigitTerm &term : x.terms)
    factors.push_back(std::gcd(term.stride.content(), lo));
  llvm::sort(factors, std::greater<int64_t>());
  for (int64_t g : factors) {
    if (g <= 1)
      break;
    if (std::optional<Linear> divided = divideByCommonFactor(x, g, sizes)) {
      x = *divided;
      lo /= g;
      return true;
    }
  }

  // floor((lo * A + B) / lo) is A + floor(B / lo), below a mod, too: whichever
  // of the two was written first, there is one form.
  if (lo > 1) {
    Linear whole, rest;
    for (const DigitTerm &term : x.terms) {
      if (isMultipleOf(term.stride, lo))
        whole.terms.push_back({term.digit, divideContent(term.stride, lo)});
      else
        rest.terms.push_back(term);
    }
    rest.constant = x.constant;
    if (std::optional<int64_t> c = x.constant.getConstant()) {
      whole.constant = SizeExpr(llvm::divideFloorSigned(*c, lo));
      rest.constant = SizeExpr(llvm::mod(*c, lo));
    }
    if (modulus == 0) {
      changed |=
          rest.terms.size() != x.terms.size() || !whole.constant.isZero();
      outside.constant = outside.constant + whole.constant;
      llvm::append_range(outside.terms, whole.terms);
      x = std::move(rest);
    } else if (!whole.isZero()) {
      x = add(whole, takeDigit(rest, lo, 0, sizes), sizes);
      lo = 1;
      return true;
    }
  }

  if (modulus) {
    std::optional<Interval> range = getRange(x, sizes);
    if (range && range->min >= 0 && range->max / lo < modulus) {
      modulus = 0;
      changed = true;
    }
  }
  return changed;
}

/// floor(swizzle / lo) mod modulus where the floor takes whole bits: the
/// swizzle of the operands' bits, or a digit of that where the mod does not.
static std::optional<Linear> takeBits(const Swizzle &swizzle, int64_t lo,
                                      int64_t modulus, Sizes sizes) {
  if (!llvm::isPowerOf2_64(lo))
    return std::nullopt;
  if (modulus && !llvm::isPowerOf2_64(modulus)) {
    if (lo == 1)
      return std::nullopt;
    return takeDigit(*takeBits(swizzle, lo, 0, sizes), 1, modulus, sizes);
  }
  unsigned first = llvm::Log2_64(lo);
  if (first >= swizzle.bits)
    return Linear();
  unsigned count = swizzle.bits - first;
  if (modulus)
    count = std::min(count, llvm::Log2_64(modulus));
  llvm::SmallVector<Linear> operands{
      Linear(SizeExpr(swizzle.constant >> first))};
  for (const Linear &operand : swizzle.operands)
    operands.push_back(takeDigit(operand, lo, int64_t(1) << count, sizes));
  return xorBits(operands, count, sizes);
}

/// A digit of a dim without the modulus that the size makes needless; false
/// where it is 0.
static bool narrow(Digit &digit, Sizes sizes) {
  Digit whole;
  whole.dim = digit.dim;
  std::optional<Interval> range = getRange(whole, sizes);
  if (!range)
    return true;
  if (digit.modulus && range->max / digit.lo < digit.modulus)
    digit.modulus = 0;
  return range->max >= digit.lo;
}

Linear mlir::layout::takeDigit(const Linear &input, int64_t lo, int64_t modulus,
                               Sizes sizes) {
  if (modulus == 1)
    return Linear();
  // Most often of a dim, where only the size can make anything simpler.
  if (const Digit *whole = input.getSingleDigit();
      whole && whole->isDim() && whole->isWholeSource()) {
    Digit digit = *whole;
    digit.lo = lo;
    digit.modulus = modulus;
    if (!narrow(digit, sizes))
      return Linear();
    return combine(SizeExpr(0), {{digit, SizeExpr(1)}}, sizes);
  }
  Linear x = combine(input.constant, input.terms, sizes);
  if (lo == 1 && modulus == 0)
    return x;
  Linear outside;
  while (simplifyDigit(x, lo, modulus, outside, sizes))
    ;
  if (lo == 1 && modulus == 0)
    return add(outside, x, sizes);
  if (x.terms.empty())
    if (std::optional<int64_t> c = x.constant.getConstant()) {
      int64_t value = llvm::divideFloorSigned(*c, lo);
      return add(outside, SizeExpr(modulus ? llvm::mod(value, modulus) : value),
                 sizes);
    }

  Digit digit;
  std::optional<Digit> composed;
  if (const Digit *inner = x.getSingleDigit()) {
    if (inner->swizzle && inner->isWholeSource())
      if (std::optional<Linear> bits =
              takeBits(*inner->swizzle, lo, modulus, sizes))
        return add(outside, *bits, sizes);
    composed = composeDigits(*inner, lo, modulus);
    // Where only the mod stands apart, the floor goes in.
    if (!composed && lo > 1)
      if (std::optional<Digit> floor = composeDigits(*inner, lo, 0)) {
        x.terms[0].digit = *floor;
        lo = 1;
      }
  }
  if (composed) {
    // A narrower digit can let go of more of a fused source.
    if (composed->fused && composed->modulus != x.terms[0].digit.modulus)
      return add(
          outside,
          takeDigit(*composed->fused, composed->lo, composed->modulus, sizes),
          sizes);
    digit = *composed;
  } else {
    liftShift(x, lo);
    digit.fused = std::make_shared<Linear>(x);
    digit.lo = lo;
    digit.modulus = modulus;
  }
  outside.terms.push_back({digit, SizeExpr(1)});
  return combine(outside.constant, std::move(outside.terms), sizes);
}

Linear mlir::layout::substitute(const Linear &x, ArrayRef<Linear> dims,
                                ArrayRef<SizeExpr> sizeOf, Sizes sizes) {
  Linear result(x.constant.substitute(sizeOf));
  result.terms.reserve(x.terms.size());
  for (const DigitTerm &term : x.terms) {
    SizeExpr stride = term.stride.substitute(sizeOf);
    auto addScaled = [&](const Linear &value) {
      result.constant = result.constant + value.constant * stride;
      for (const DigitTerm &part : value.terms)
        result.terms.push_back({part.digit, part.stride * stride});
    };
    if (term.digit.isDim() && term.digit.isWholeSource()) {
      addScaled(dims[term.digit.dim]);
      continue;
    }
    // The digit of a dim that is replaced by a dim.
    if (const Digit *whole = term.digit.isDim()
                                 ? dims[term.digit.dim].getSingleDigit()
                                 : nullptr;
        whole && whole->isDim() && whole->isWholeSource()) {
      Digit digit = term.digit;
      digit.dim = whole->dim;
      if (narrow(digit, sizes))
        result.terms.push_back({std::move(digit), std::move(stride)});
      else
        addScaled(Linear()); // a stride beyond int64 stays one
      continue;
    }
    Linear source;
    if (term.digit.fused) {
      source = substitute(*term.digit.fused, dims, sizeOf, sizes);
    } else if (term.digit.swizzle) {
      const Swizzle &swizzle = *term.digit.swizzle;
      llvm::SmallVector<Linear> operands{Linear(SizeExpr(swizzle.constant))};
      for (const Linear &operand : swizzle.operands)
        operands.push_back(substitute(operand, dims, sizeOf, sizes));
      source = xorBits(operands, swizzle.bits, sizes);
    } else {
      source = dims[term.digit.dim];
    }
    addScaled(takeDigit(source, term.digit.lo, term.digit.modulus, sizes));
  }
  return combine(result.constant, std::move(result.terms), sizes);
}
