//===- Combine.cpp - The canonical form of a sum of digits ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Views/Combine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <tuple>

using namespace mlir::layout;

/// Rewrites the digits of one source, sorted by (divisor, modulus), as disjoint
/// maximal digits: `c floordiv 4 * 4 + c mod 4` becomes c. If their
/// breakpoints, the divisors and divisors * moduli, do not divide each other or
/// overflow int64, merges equal digits only.
static void combineDigits(std::vector<DigitTerm> &terms) {
  // Add the strides of equal digits, also if breakpoints do not divide each
  // other.
  std::vector<DigitTerm> unique;
  for (DigitTerm &term : terms) {
    if (!unique.empty() && unique.back().digit.compare(term.digit) == 0)
      unique.back().stride = unique.back().stride + term.stride;
    else
      unique.push_back(std::move(term));
  }
  terms = std::move(unique);

  // Breakpoints in units of the source; 0 means "no end" and sorts last.
  llvm::SmallVector<int64_t> breaks;
  for (const DigitTerm &term : terms) {
    breaks.push_back(term.digit.divisor);
    int64_t hi = 0;
    if (term.digit.modulus &&
        llvm::MulOverflow(term.digit.divisor, term.digit.modulus, hi))
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
    int64_t divisor = breaks[i], hi = breaks[i + 1];
    SizeExpr stride;
    for (const DigitTerm &term : terms) {
      int64_t end = term.digit.divisor * term.digit.modulus;
      bool covers =
          term.digit.divisor <= divisor && (end == 0 || (hi && hi <= end));
      if (covers)
        stride = stride + term.stride * SizeExpr(divisor / term.digit.divisor);
    }
    if (stride.isZero())
      continue;
    if (!pieces.empty()) {
      DigitTerm &last = pieces.back();
      int64_t end = last.digit.divisor * last.digit.modulus;
      if (end == divisor &&
          stride == last.stride * SizeExpr(last.digit.modulus)) {
        last.digit.modulus = hi ? hi / last.digit.divisor : 0;
        continue;
      }
    }
    DigitTerm piece;
    piece.digit = terms.front().digit;
    piece.digit.divisor = divisor;
    piece.digit.modulus = hi ? hi / divisor : 0;
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
  IndexExpr base = *digit.fused;
  base.constant = SizeExpr(0);
  Digit result = digit;
  const Digit *single = base.getSingleDigit();
  if (single && single->isDim() && single->isWholeSource()) {
    result.fused = nullptr;
    result.dim = single->dim;
  } else {
    result.fused = std::make_shared<IndexExpr>(std::move(base));
  }
  return result;
}

Digit mlir::layout::withShift(const Digit &base, int64_t shift) {
  if (shift == 0)
    return base;
  Digit result = base;
  IndexExpr source;
  if (base.fused) {
    source = *base.fused;
  } else {
    Digit whole = base;
    whole.divisor = 1;
    whole.modulus = 0;
    source.terms.push_back({whole, SizeExpr(1)});
    result.swizzle = nullptr;
  }
  source.constant = SizeExpr(shift);
  result.fused = std::make_shared<IndexExpr>(std::move(source));
  return result;
}

namespace {
/// A term with a constant added to the source of its digit.
struct ShiftedTerm {
  DigitTerm term; // of the source without the constant
  int64_t shift = 0;

  int64_t end() const { return term.digit.divisor * term.digit.modulus; }
};
} // namespace

/// Appends to `result` the combined digits of `group`, whose sources differ in
/// a constant only, their shift. Leaves `group` unspecified. A digit can be
/// written with another shift that differs by a multiple of its period: (c + 4)
/// mod 4 is c mod 4. Adds the constants that result from changed shifts to
/// `constant`.
static void combineShifted(std::vector<ShiftedTerm> &group, SizeExpr &constant,
                           std::vector<DigitTerm> &result) {
  // If divisor * modulus of a digit overflows int64, the digits stay apart.
  if (llvm::any_of(group, [](const ShiftedTerm &term) {
        int64_t end;
        return llvm::MulOverflow(term.term.digit.divisor,
                                 term.term.digit.modulus, end);
      })) {
    for (ShiftedTerm &term : group) {
      term.term.digit = withShift(term.term.digit, term.shift);
      result.push_back(std::move(term.term));
    }
    return;
  }
  while (!group.empty()) {
    // Use the shift of the widest digit: one without a mod, or else the one
    // with the largest divisor * modulus.
    auto reference = std::max_element(
        group.begin(), group.end(),
        [](const ShiftedTerm &a, const ShiftedTerm &b) {
          auto key = [](const ShiftedTerm &t) {
            return std::make_tuple(t.end() == 0, t.end(), t.term.digit.divisor,
                                   t.shift);
          };
          return key(a) < key(b);
        });
    int64_t shift = reference->shift;
    std::vector<DigitTerm> same;
    std::vector<ShiftedTerm> others;
    for (ShiftedTerm &term : group) {
      int64_t difference = term.shift - shift;
      int64_t period = term.end() ? term.end() : term.term.digit.divisor;
      if (difference % period != 0) {
        others.push_back(std::move(term));
        continue;
      }
      if (!term.end())
        constant = constant + SizeExpr(difference / period) * term.term.stride;
      same.push_back(std::move(term.term));
    }
    llvm::stable_sort(same, [](const DigitTerm &a, const DigitTerm &b) {
      return a.digit.compare(b.digit) < 0;
    });
    combineDigits(same);
    for (DigitTerm &term : same) {
      // Give each digit the least non-negative shift that has the same value.
      int64_t end = term.digit.divisor * term.digit.modulus;
      int64_t period = end ? end : term.digit.divisor;
      if (!end)
        constant = constant + SizeExpr(llvm::divideFloorSigned(shift, period)) *
                                  term.stride;
      term.digit = withShift(term.digit, llvm::mod(shift, period));
      result.push_back(std::move(term));
    }
    group = std::move(others);
  }
}

std::optional<Digit> mlir::layout::composeDigits(const Digit &inner,
                                                 int64_t divisor,
                                                 int64_t modulus) {
  Digit result = inner;
  if (inner.swizzle ||
      llvm::MulOverflow(inner.divisor, divisor, result.divisor))
    return std::nullopt;
  if (inner.modulus == 0) {
    result.modulus = modulus;
    return result;
  }
  if (inner.modulus % divisor != 0)
    return std::nullopt;
  int64_t left = inner.modulus / divisor;
  if (modulus == 0 || modulus % left == 0)
    result.modulus = left;
  else if (left % modulus == 0)
    result.modulus = modulus;
  else
    return std::nullopt;
  return result;
}

/// Returns true if two digits of one dim are disjoint and cannot be merged.
static bool areApart(const DigitTerm &below, const DigitTerm &above) {
  int64_t end;
  if (!below.digit.modulus ||
      llvm::MulOverflow(below.digit.divisor, below.digit.modulus, end) ||
      above.digit.divisor < end)
    return false;
  return above.digit.divisor > end ||
         above.stride != below.stride * SizeExpr(below.digit.modulus);
}

/// Returns true if `terms` are already in canonical form: digits of dims that
/// are disjoint, not constant and sorted by dim. This is the most frequent
/// case.
static bool isCombined(llvm::ArrayRef<DigitTerm> terms, Sizes sizes) {
  for (size_t i = 0; i < terms.size(); ++i) {
    const Digit &digit = terms[i].digit;
    if (!digit.isDim() || terms[i].stride.isZero())
      return false;
    if (i > 0 && digit.dim <= terms[i - 1].digit.dim &&
        (digit.dim < terms[i - 1].digit.dim ||
         !areApart(terms[i - 1], terms[i])))
      return false;
    int64_t end;
    if (llvm::MulOverflow(digit.divisor, digit.modulus, end))
      return false;
    std::optional<Interval> range = getRange(digit, sizes);
    if (range && range->min == range->max)
      return false;
  }
  return true;
}

/// Splits the constant shift off each fused digit, drops terms with stride 0,
/// and sorts the terms by the source of their digits.
static std::vector<ShiftedTerm> splitShifts(std::vector<DigitTerm> &terms) {
  std::vector<ShiftedTerm> shifted;
  shifted.reserve(terms.size());
  for (DigitTerm &term : terms)
    if (!term.stride.isZero()) {
      ShiftedTerm &split = shifted.emplace_back(ShiftedTerm{std::move(term)});
      if (split.term.digit.fused)
        split.term.digit = splitShift(split.term.digit, split.shift);
    }
  auto bySource = [](const ShiftedTerm &a, const ShiftedTerm &b) {
    return a.term.digit.compareSource(b.term.digit) < 0;
  };
  if (!llvm::is_sorted(shifted, bySource))
    llvm::stable_sort(shifted, bySource);
  return shifted;
}

/// Returns the combined digits of each source, with the constants that
/// splitShifts() removed added to the sources again. If a digit is written with
/// another shift, adds the constant that results to `constant`.
static std::vector<DigitTerm> combineSources(std::vector<ShiftedTerm> shifted,
                                             SizeExpr &constant) {
  std::vector<DigitTerm> combined;
  combined.reserve(shifted.size());
  for (size_t begin = 0, end; begin < shifted.size(); begin = end) {
    end = begin + 1;
    while (end < shifted.size() && shifted[begin].term.digit.compareSource(
                                       shifted[end].term.digit) == 0)
      ++end;
    // A digit that is the only one of its source cannot be combined.
    if (end == begin + 1 && shifted[begin].shift == 0) {
      combined.push_back(std::move(shifted[begin].term));
      continue;
    }
    std::vector<ShiftedTerm> group(
        std::make_move_iterator(shifted.begin() + begin),
        std::make_move_iterator(shifted.begin() + end));
    combineShifted(group, constant, combined);
  }
  return combined;
}

/// Adds `term` to the sum of `constant` and `result`. Replaces a digit that is
/// its whole fused value by the terms of that value, a digit of a digit by one
/// digit, and a digit with one value by a constant. Returns true in the first
/// two cases: the new terms have other sources and must be combined again.
static bool addSimplified(DigitTerm term, Sizes sizes, SizeExpr &constant,
                          std::vector<DigitTerm> &result) {
  if (term.stride.isZero())
    return false;
  if (term.digit.fused && term.digit.isWholeSource()) {
    constant = constant + term.digit.fused->constant * term.stride;
    for (const DigitTerm &inner : term.digit.fused->terms)
      result.push_back({inner.digit, inner.stride * term.stride});
    return true;
  }
  // Removing a shift can leave a digit of a digit.
  if (const Digit *inner =
          term.digit.fused ? term.digit.fused->getSingleDigit() : nullptr)
    if (std::optional<Digit> composed =
            composeDigits(*inner, term.digit.divisor, term.digit.modulus)) {
      result.push_back({*composed, term.stride});
      return true;
    }
  std::optional<Interval> range = getRange(term.digit, sizes);
  if (range && range->min == range->max) {
    constant = constant + SizeExpr(range->min) * term.stride;
    return false;
  }
  result.push_back(std::move(term));
  return false;
}

IndexExpr mlir::layout::combine(SizeExpr constant, std::vector<DigitTerm> terms,
                                Sizes sizes) {
  if (isCombined(terms, sizes)) {
    IndexExpr linear(std::move(constant));
    linear.terms = std::move(terms);
    return linear;
  }
  // Combining one source can complete a fused value, whose terms then join the
  // others. Each round removes a fused source, so the loop terminates.
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<DigitTerm> combined =
        combineSources(splitShifts(terms), constant);
    std::vector<DigitTerm> result;
    result.reserve(combined.size());
    for (DigitTerm &term : combined)
      changed |= addSimplified(std::move(term), sizes, constant, result);
    terms = std::move(result);
  }
  auto byDigit = [](const DigitTerm &a, const DigitTerm &b) {
    return a.digit.compare(b.digit) < 0;
  };
  if (!llvm::is_sorted(terms, byDigit))
    llvm::stable_sort(terms, byDigit);
  IndexExpr linear;
  linear.constant = std::move(constant);
  linear.terms = std::move(terms);
  return linear;
}

IndexExpr mlir::layout::add(const IndexExpr &a, const IndexExpr &b,
                            Sizes sizes) {
  std::vector<DigitTerm> terms;
  terms.reserve(a.terms.size() + b.terms.size());
  terms.insert(terms.end(), a.terms.begin(), a.terms.end());
  terms.insert(terms.end(), b.terms.begin(), b.terms.end());
  return combine(a.constant + b.constant, std::move(terms), sizes);
}

IndexExpr mlir::layout::scale(const IndexExpr &a, const SizeExpr &factor,
                              Sizes sizes) {
  std::vector<DigitTerm> terms = a.terms;
  for (DigitTerm &term : terms)
    term.stride = term.stride * factor;
  return combine(a.constant * factor, std::move(terms), sizes);
}
