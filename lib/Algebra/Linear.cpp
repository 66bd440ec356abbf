//===- Linear.cpp - Digits of logical indices, and sums of them -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Linear.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>
#include <tuple>

using namespace mlir::layout;
using llvm::ArrayRef;

//===----------------------------------------------------------------------===//
// Orders and values
//===----------------------------------------------------------------------===//

static int compareInts(int64_t a, int64_t b) {
  return a == b ? 0 : (a < b ? -1 : 1);
}

int Digit::compareSource(const Digit &other) const {
  if (!fused || !other.fused) {
    if (fused || other.fused)
      return fused ? 1 : -1;
    return compareInts(dim, other.dim);
  }
  return fused == other.fused ? 0 : fused->compare(*other.fused);
}

int Digit::compare(const Digit &other) const {
  if (int c = compareSource(other))
    return c;
  if (int c = compareInts(lo, other.lo))
    return c;
  return compareInts(modulus, other.modulus);
}

int Linear::compare(const Linear &other) const {
  if (int c = compareInts(terms.size(), other.terms.size()))
    return c;
  for (auto [a, b] : llvm::zip(terms, other.terms)) {
    if (int c = a.digit.compare(b.digit))
      return c;
    if (int c = a.stride.compare(b.stride))
      return c;
  }
  return constant.compare(other.constant);
}

llvm::hash_code mlir::layout::hash_value(const Linear &linear) {
  llvm::hash_code hash = hash_value(linear.constant);
  for (const DigitTerm &term : linear.terms)
    hash = llvm::hash_combine(
        hash, hash_value(term.stride), term.digit.lo, term.digit.modulus,
        term.digit.fused ? size_t(hash_value(*term.digit.fused))
                         : size_t(term.digit.dim));
  return hash;
}

Linear Linear::dim(unsigned d) {
  Linear result;
  Digit digit;
  digit.dim = d;
  result.terms.push_back({digit, SizeExpr(1)});
  return result;
}

const Digit *Linear::getSingleDigit() const {
  if (terms.size() == 1 && constant.isZero() &&
      terms[0].stride.isConstantEqual(1))
    return &terms[0].digit;
  return nullptr;
}

bool Linear::hasOverflow() const {
  return constant.isOverflow() ||
         llvm::any_of(terms, [](const DigitTerm &term) {
           return term.stride.isOverflow() ||
                  (term.digit.fused && term.digit.fused->hasOverflow());
         });
}

std::optional<int64_t> Linear::evaluate(ArrayRef<int64_t> index,
                                        ArrayRef<int64_t> sizes) const {
  std::optional<int64_t> sum = constant.evaluate(sizes);
  if (!sum)
    return std::nullopt;
  for (const DigitTerm &term : terms) {
    std::optional<int64_t> source =
        term.digit.fused ? term.digit.fused->evaluate(index, sizes)
                         : std::optional<int64_t>(index[term.digit.dim]);
    std::optional<int64_t> stride = term.stride.evaluate(sizes);
    if (!source || !stride)
      return std::nullopt;
    int64_t value = llvm::divideFloorSigned(*source, term.digit.lo);
    if (term.digit.modulus)
      value = llvm::mod(value, term.digit.modulus);
    if (llvm::MulOverflow(value, *stride, value) ||
        llvm::AddOverflow(*sum, value, *sum))
      return std::nullopt;
  }
  return sum;
}

void Linear::walkDims(llvm::function_ref<void(unsigned)> fn) const {
  for (const DigitTerm &term : terms) {
    if (term.digit.fused)
      term.digit.fused->walkDims(fn);
    else
      fn(term.digit.dim);
  }
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

std::optional<Interval> mlir::layout::getRange(const Digit &digit,
                                               Sizes sizes) {
  std::optional<Interval> source;
  if (digit.fused) {
    source = getRange(*digit.fused, sizes);
  } else if (digit.dim < sizes.size() && sizes[digit.dim] >= 0) {
    source = Interval{0, std::max<int64_t>(sizes[digit.dim], 1) - 1};
  }
  if (source) {
    source->min = llvm::divideFloorSigned(source->min, digit.lo);
    source->max = llvm::divideFloorSigned(source->max, digit.lo);
    if (!digit.modulus || (source->min >= 0 && source->max < digit.modulus))
      return source;
  }
  if (digit.modulus)
    return Interval{0, digit.modulus - 1};
  return std::nullopt;
}

std::optional<Interval> mlir::layout::getRange(const Linear &x, Sizes sizes) {
  std::optional<int64_t> constant = x.constant.getConstant();
  if (!constant)
    return std::nullopt;
  Interval range{*constant, *constant};
  for (const DigitTerm &term : x.terms) {
    std::optional<int64_t> stride = term.stride.getConstant();
    std::optional<Interval> digit = getRange(term.digit, sizes);
    if (!stride || !digit)
      return std::nullopt;
    int64_t a, b;
    if (llvm::MulOverflow(digit->min, *stride, a) ||
        llvm::MulOverflow(digit->max, *stride, b) ||
        llvm::AddOverflow(range.min, std::min(a, b), range.min) ||
        llvm::AddOverflow(range.max, std::max(a, b), range.max))
      return std::nullopt;
  }
  return range;
}

//===----------------------------------------------------------------------===//
// Canonical sums
//===----------------------------------------------------------------------===//

/// Rewrites the digits of one source, sorted by (lo, modulus), as disjoint
/// maximal digits, where their breakpoints divide each other.
static void combineDigits(std::vector<DigitTerm> &terms) {
  // Equal digits add up in any case.
  std::vector<DigitTerm> unique;
  for (DigitTerm &term : terms) {
    if (!unique.empty() && unique.back().digit.compare(term.digit) == 0)
      unique.back().stride = unique.back().stride + term.stride;
    else
      unique.push_back(std::move(term));
  }
  terms = std::move(unique);

  // Breakpoints in units of the source; 0 stands for "no end" and sorts last.
  llvm::SmallVector<int64_t> breaks;
  for (const DigitTerm &term : terms) {
    breaks.push_back(term.digit.lo);
    int64_t hi = 0;
    if (term.digit.modulus &&
        llvm::MulOverflow(term.digit.lo, term.digit.modulus, hi))
      return;
    breaks.push_back(hi);
  }
  auto before = [](int64_t a, int64_t b) {
    return b == 0 ? a != 0 : (a != 0 && a < b);
  };
  llvm::sort(breaks, before);
  breaks.erase(std::unique(breaks.begin(), breaks.end()), breaks.end());
  for (size_t i = 0; i + 1 < breaks.size(); ++i)
    if (breaks[i + 1] && breaks[i + 1] % breaks[i] != 0)
      return;

  std::vector<DigitTerm> pieces;
  for (size_t i = 0; i + 1 < breaks.size(); ++i) {
    int64_t lo = breaks[i], hi = breaks[i + 1];
    SizeExpr stride;
    for (const DigitTerm &term : terms) {
      int64_t end = term.digit.lo * term.digit.modulus;
      bool covers = term.digit.lo <= lo && (end == 0 || (hi && hi <= end));
      if (covers)
        stride = stride + term.stride * SizeExpr(lo / term.digit.lo);
    }
    if (stride.isZero())
      continue;
    if (!pieces.empty()) {
      DigitTerm &last = pieces.back();
      int64_t end = last.digit.lo * last.digit.modulus;
      if (end == lo && stride == last.stride * SizeExpr(last.digit.modulus)) {
        last.digit.modulus = hi ? hi / last.digit.lo : 0;
        continue;
      }
    }
    DigitTerm piece;
    piece.digit = terms.front().digit;
    piece.digit.lo = lo;
    piece.digit.modulus = hi ? hi / lo : 0;
    piece.stride = stride;
    pieces.push_back(std::move(piece));
  }
  terms = std::move(pieces);
}

Digit mlir::layout::splitShift(const Digit &digit, int64_t &shift) {
  shift = 0;
  if (!digit.fused)
    return digit;
  std::optional<int64_t> constant = digit.fused->constant.getConstant();
  if (!constant || *constant == 0)
    return digit;
  shift = *constant;
  Linear base = *digit.fused;
  base.constant = SizeExpr(0);
  Digit result = digit;
  const Digit *single = base.getSingleDigit();
  if (single && !single->fused && single->isWholeSource()) {
    result.fused = nullptr;
    result.dim = single->dim;
  } else {
    result.fused = std::make_shared<Linear>(std::move(base));
  }
  return result;
}

Digit mlir::layout::withShift(const Digit &base, int64_t shift) {
  if (shift == 0)
    return base;
  Digit result = base;
  Linear source = base.fused ? *base.fused : Linear::dim(base.dim);
  source.constant = SizeExpr(shift);
  result.fused = std::make_shared<Linear>(std::move(source));
  return result;
}

namespace {
/// A term whose source is base + shift.
struct ShiftedTerm {
  DigitTerm term; // of the base
  int64_t shift = 0;

  int64_t end() const { return term.digit.lo * term.digit.modulus; }
};
} // namespace

/// Combines the digits of one base. Digits of different shifts of it meet where
/// the shifts differ by whole turns of the digit: (c + 4) mod 4 is c mod 4.
/// What the shifts add up to goes to `constant`.
static void combineShifted(std::vector<ShiftedTerm> &group, SizeExpr &constant,
                           std::vector<DigitTerm> &result) {
  while (!group.empty()) {
    // The widest digit says which shift is meant.
    auto reference =
        std::max_element(group.begin(), group.end(),
                         [](const ShiftedTerm &a, const ShiftedTerm &b) {
                           auto key = [](const ShiftedTerm &t) {
                             return std::make_tuple(t.end() == 0, t.end(),
                                                    t.term.digit.lo, t.shift);
                           };
                           return key(a) < key(b);
                         });
    int64_t shift = reference->shift;
    std::vector<DigitTerm> same;
    std::vector<ShiftedTerm> others;
    for (ShiftedTerm &term : group) {
      int64_t difference = term.shift - shift;
      int64_t turn = term.end() ? term.end() : term.term.digit.lo;
      if (difference % turn != 0) {
        others.push_back(std::move(term));
        continue;
      }
      if (!term.end())
        constant = constant + SizeExpr(difference / turn) * term.term.stride;
      same.push_back(std::move(term.term));
    }
    llvm::stable_sort(same, [](const DigitTerm &a, const DigitTerm &b) {
      return a.digit.compare(b.digit) < 0;
    });
    combineDigits(same);
    for (DigitTerm &term : same) {
      // Each digit keeps the least shift that gives it.
      int64_t end = term.digit.lo * term.digit.modulus;
      int64_t turn = end ? end : term.digit.lo;
      if (!end)
        constant = constant +
                   SizeExpr(llvm::divideFloorSigned(shift, turn)) * term.stride;
      term.digit = withShift(term.digit, llvm::mod(shift, turn));
      result.push_back(std::move(term));
    }
    group = std::move(others);
  }
}

/// The digit of a digit, where the two nest; nothing otherwise.
static std::optional<Digit> composeDigits(const Digit &inner, int64_t lo,
                                          int64_t modulus) {
  Digit result = inner;
  if (llvm::MulOverflow(inner.lo, lo, result.lo))
    return std::nullopt;
  if (inner.modulus == 0) {
    result.modulus = modulus;
    return result;
  }
  if (inner.modulus % lo != 0)
    return std::nullopt;
  int64_t left = inner.modulus / lo;
  if (modulus == 0 || modulus % left == 0)
    result.modulus = left;
  else if (left % modulus == 0)
    result.modulus = modulus;
  else
    return std::nullopt;
  return result;
}

/// The canonical form of constant + terms.
static Linear combine(SizeExpr constant, std::vector<DigitTerm> terms,
                      Sizes sizes) {
  // Refinement of one source can complete a fused value, whose terms then join
  // the others; each round removes a fused source, so this ends.
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<ShiftedTerm> shifted;
    for (const DigitTerm &term : terms)
      if (!term.stride.isZero()) {
        ShiftedTerm &split = shifted.emplace_back(ShiftedTerm{term});
        split.term.digit = splitShift(term.digit, split.shift);
      }
    llvm::stable_sort(shifted, [](const ShiftedTerm &a, const ShiftedTerm &b) {
      return a.term.digit.compareSource(b.term.digit) < 0;
    });
    std::vector<DigitTerm> combined, result;
    for (size_t begin = 0, end; begin < shifted.size(); begin = end) {
      end = begin + 1;
      while (end < shifted.size() && shifted[begin].term.digit.compareSource(
                                         shifted[end].term.digit) == 0)
        ++end;
      std::vector<ShiftedTerm> group(shifted.begin() + begin,
                                     shifted.begin() + end);
      combineShifted(group, constant, combined);
    }
    for (DigitTerm &term : combined) {
      if (term.stride.isZero())
        continue;
      if (term.digit.fused && term.digit.isWholeSource()) {
        constant = constant + term.digit.fused->constant * term.stride;
        for (const DigitTerm &inner : term.digit.fused->terms)
          result.push_back({inner.digit, inner.stride * term.stride});
        changed = true;
        continue;
      }
      // A shift that vanished can leave the digit of a digit.
      if (const Digit *inner =
              term.digit.fused ? term.digit.fused->getSingleDigit() : nullptr)
        if (std::optional<Digit> composed =
                composeDigits(*inner, term.digit.lo, term.digit.modulus)) {
          result.push_back({*composed, term.stride});
          changed = true;
          continue;
        }
      std::optional<Interval> range = getRange(term.digit, sizes);
      if (range && range->min == range->max) {
        constant = constant + SizeExpr(range->min) * term.stride;
        continue;
      }
      result.push_back(std::move(term));
    }
    terms = std::move(result);
  }
  llvm::stable_sort(terms, [](const DigitTerm &a, const DigitTerm &b) {
    return a.digit.compare(b.digit) < 0;
  });
  Linear linear;
  linear.constant = std::move(constant);
  linear.terms = std::move(terms);
  return linear;
}

Linear mlir::layout::add(const Linear &a, const Linear &b, Sizes sizes) {
  std::vector<DigitTerm> terms = a.terms;
  terms.insert(terms.end(), b.terms.begin(), b.terms.end());
  return combine(a.constant + b.constant, std::move(terms), sizes);
}

Linear mlir::layout::scale(const Linear &a, const SizeExpr &factor,
                           Sizes sizes) {
  std::vector<DigitTerm> terms = a.terms;
  for (DigitTerm &term : terms)
    term.stride = term.stride * factor;
  return combine(a.constant * factor, std::move(terms), sizes);
}

//===----------------------------------------------------------------------===//
// Digits of sums
//===----------------------------------------------------------------------===//

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
    x = Linear::dim(digit.dim);
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

  // floor((lo * A + B) / lo) is A + floor(B / lo).
  if (modulus == 0 && lo > 1) {
    Linear rest;
    SizeExpr whole;
    for (const DigitTerm &term : x.terms) {
      if (isMultipleOf(term.stride, lo))
        outside.terms.push_back({term.digit, divideContent(term.stride, lo)});
      else
        rest.terms.push_back(term);
    }
    rest.constant = x.constant;
    if (std::optional<int64_t> c = x.constant.getConstant()) {
      whole = SizeExpr(llvm::divideFloorSigned(*c, lo));
      rest.constant = SizeExpr(llvm::mod(*c, lo));
    }
    outside.constant = outside.constant + whole;
    changed |= rest.terms.size() != x.terms.size() || !whole.isZero();
    x = rest;
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

Linear mlir::layout::takeDigit(const Linear &input, int64_t lo, int64_t modulus,
                               Sizes sizes) {
  if (modulus == 1)
    return Linear();
  Linear x = combine(input.constant, input.terms, sizes);
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
  if (const Digit *inner = x.getSingleDigit())
    composed = composeDigits(*inner, lo, modulus);
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
  for (const DigitTerm &term : x.terms) {
    Linear source = term.digit.fused
                        ? substitute(*term.digit.fused, dims, sizeOf, sizes)
                        : dims[term.digit.dim];
    Linear digit = takeDigit(source, term.digit.lo, term.digit.modulus, sizes);
    Linear scaled = scale(digit, term.stride.substitute(sizeOf), sizes);
    result.constant = result.constant + scaled.constant;
    result.terms.insert(result.terms.end(), scaled.terms.begin(),
                        scaled.terms.end());
  }
  return combine(result.constant, std::move(result.terms), sizes);
}
