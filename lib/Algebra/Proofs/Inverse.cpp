//===- Inverse.cpp - Invert stored axes by construction -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Proves L1 by construction, and constructs the inverse. Facts are collected
// until no new one follows:
//
//  * place: if every stride exceeds the reach of all digits below it, a sum
//    determines its digits, the highest stride first;
//  * split: digits of one source whose ranges cover 1 to its size without gaps
//    determine the source;
//  * fuse: a fused source that is determined is a sum, as above;
//  * xor: swizzles are linear equations in bits (SolveSwizzles.h).
//
// A fact has a formula of the digit in terms of the axes, if all strides in its
// derivation are constants.
//
//===----------------------------------------------------------------------===//

#include "Expressions/UpperBound.h"
#include "Proofs/SolveSwizzles.h"
#include "layout/Algebra/Proof.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::layout;
using llvm::ArrayRef;

namespace {

class Inverter {
public:
  Inverter(unsigned rank, Sizes sizes)
      : rank(rank), sizes(sizes), dims(rank), dimKnown(rank, false) {}

  void addSum(const IndexExpr &sum, Formula formula);
  void run();

  bool allDimsKnown() const {
    return llvm::all_of(dimKnown, [](bool known) { return known; });
  }

  unsigned rank;
  Sizes sizes;
  std::vector<Formula> dims;
  std::vector<bool> dimKnown;

private:
  std::vector<KnownDigit> getDigitsOf(const Digit &base, int64_t shift) const;
  bool close(const Digit &source, int64_t shift, Formula &base) const;
  bool closeSources();
  std::optional<Formula> lookup(const Digit &digit) const;

  std::vector<KnownDigit> known;
  std::vector<KnownDigit> closedFused;
};

} // namespace

/// A shape to order strides by. Its sizes are so large that few digits have
/// only one value.
static constexpr int64_t kSample[] = {61,  67,  71,  73,  79,  83,  89,  97,
                                      101, 103, 107, 109, 113, 127, 131, 137};

void Inverter::addSum(const IndexExpr &sum, Formula formula) {
  struct Placed {
    Digit digit;
    SizeExpr stride; // its magnitude
    bool downwards;
    SizeExpr bound;
  };
  std::vector<Placed> order;
  SizeExpr lowest = sum.constant; // the least value of the sum
  for (const DigitTerm &term : sum.terms) {
    std::optional<SizeExpr> bound = getUpperBound(term.digit, sizes);
    if (!bound)
      return;
    Placed placed{term.digit, term.stride, false, std::move(*bound)};
    if (std::optional<int64_t> stride = term.stride.getConstant();
        stride && *stride < 0) {
      placed.downwards = true;
      placed.stride = SizeExpr(0) - term.stride;
      lowest = lowest + (placed.bound - SizeExpr(1)) * term.stride;
    }
    order.push_back(std::move(placed));
  }

  // Upwards: each stride must exceed the maximal sum of all digits below it. If
  // that holds for all sizes, the order for any sizes is the right one.
  auto onSample = [](const Placed &placed) {
    constexpr int64_t kOverflow = std::numeric_limits<int64_t>::max();
    return std::pair(placed.stride.evaluate(kSample).value_or(kOverflow),
                     placed.bound.evaluate(kSample).value_or(kOverflow));
  };
  llvm::stable_sort(order, [&](const Placed &a, const Placed &b) {
    return onSample(a) < onSample(b);
  });
  SizeExpr reach(0);
  for (const Placed &placed : order) {
    if (!placed.stride.isProvablyAtLeast(reach + SizeExpr(1)))
      return;
    reach = reach + (placed.bound - SizeExpr(1)) * placed.stride;
  }

  // Downwards: split off the digit with the highest stride.
  Formula rest;
  if (formula && lowest.isConstant())
    rest = add(*formula, scale(IndexExpr(lowest), SizeExpr(-1)));
  for (const Placed &placed : llvm::reverse(order)) {
    Formula digit;
    std::optional<int64_t> stride = placed.stride.getConstant();
    if (rest && stride) {
      digit = takeDigit(*rest, *stride, 0);
      if (placed.downwards)
        digit = add(IndexExpr(placed.bound - SizeExpr(1)),
                    scale(*digit, SizeExpr(-1)));
      if (digit->constant.isConstant())
        rest = takeDigit(*rest, 1, *stride);
      else
        digit = rest = std::nullopt;
    } else {
      rest = std::nullopt;
    }
    known.push_back({placed.digit, digit});
  }
}

/// Returns the known digits whose source is base + shift, including those with
/// an equivalent shift: (c + 4) mod 4 is c mod 4. Formulas are adapted to
/// `shift`.
std::vector<KnownDigit> Inverter::getDigitsOf(const Digit &base,
                                              int64_t shift) const {
  std::vector<KnownDigit> result;
  for (const KnownDigit &k : known) {
    int64_t ofDigit;
    KnownDigit digit{splitShift(k.digit, ofDigit), k.formula};
    if (digit.digit.compareSource(base) != 0)
      continue;
    int64_t end;
    if (llvm::MulOverflow(digit.digit.divisor, digit.digit.modulus, end))
      end = 0;
    int64_t period = end ? end : digit.digit.divisor;
    if ((ofDigit - shift) % period != 0)
      continue;
    if (!end && digit.formula)
      digit.formula =
          add(*digit.formula, IndexExpr(SizeExpr((shift - ofDigit) / period)));
    result.push_back(std::move(digit));
  }
  return result;
}

/// Returns true if known digits of source + shift determine `source`, a dim or
/// a fused value without its constant. Then sets `base`, which must be
/// std::nullopt before, to the formula of `source` in terms of the storage axes,
/// unless one of these digits has no formula.
bool Inverter::close(const Digit &source, int64_t shift, Formula &base) const {
  // Known so far: (base + shift) mod `end` (0: the whole value).
  int64_t end = 1;
  Formula value = IndexExpr();
  Digit whole = withShift(source, shift);
  whole.divisor = 1;
  whole.modulus = 0;
  std::optional<Interval> range = getRange(whole, sizes);
  auto done = [&] {
    return end == 0 || (range && range->min >= 0 && range->max < end);
  };
  std::vector<KnownDigit> digits = getDigitsOf(source, shift);
  for (bool changed = true; changed && !done();) {
    changed = false;
    for (const KnownDigit &known : digits) {
      const Digit &digit = known.digit;
      int64_t newEnd = 0;
      if (end % digit.divisor != 0)
        continue;
      if (digit.modulus &&
          llvm::MulOverflow(digit.divisor, digit.modulus, newEnd))
        newEnd = 0;
      if (newEnd != 0 && newEnd <= end)
        continue;
      // source = divisor * digit + (source mod divisor), where the divisor
      // divides `end`.
      if (value && known.formula)
        value = add(takeDigit(*value, 1, digit.divisor),
                    scale(*known.formula, SizeExpr(digit.divisor)));
      else
        value = std::nullopt;
      end = newEnd;
      changed = true;
      break;
    }
  }
  if (!done())
    return false;
  if (value)
    base = add(*value, IndexExpr(SizeExpr(-shift)));
  return true;
}

/// Returns the formula of `digit` in terms of the axes, or std::nullopt if no
/// known digit, dim or fused value determines it. The Formula inside of the
/// result is std::nullopt if the digit is determined without a formula.
std::optional<Formula> Inverter::lookup(const Digit &digit) const {
  auto take = [&](const Formula &source, int64_t divisor) -> Formula {
    return source ? Formula(takeDigit(*source, divisor, digit.modulus))
                  : Formula();
  };
  if (digit.isDim() && dimKnown[digit.dim])
    return take(dims[digit.dim], digit.divisor);
  for (const KnownDigit &k : closedFused)
    if (k.digit.compareSource(digit) == 0)
      return take(k.formula, digit.divisor);
  for (const KnownDigit &k : known) {
    if (k.digit.compareSource(digit) != 0 ||
        digit.divisor % k.digit.divisor != 0)
      continue;
    // A known digit k determines `digit` if its mod has no effect, or if k is a
    // whole number of periods of `digit`.
    Digit unbounded = k.digit;
    unbounded.modulus = 0;
    std::optional<Interval> range = getRange(unbounded, sizes);
    bool isUnbounded = k.digit.modulus == 0 || (range && range->min >= 0 &&
                                                range->max < k.digit.modulus);
    int64_t end = digit.divisor / k.digit.divisor;
    if (!isUnbounded &&
        (!digit.modulus || llvm::MulOverflow(end, digit.modulus, end) ||
         k.digit.modulus % end != 0))
      continue;
    return take(k.formula, digit.divisor / k.digit.divisor);
  }
  // A fused value is determined by its digits.
  if (digit.fused)
    if (std::optional<Formula> source = lookupSum(
            *digit.fused, [this](const Digit &d) { return lookup(d); }))
      return take(*source, digit.divisor);
  return std::nullopt;
}

/// Tries to determine each dim or fused value from its known digits. Returns
/// true if at least one more is determined.
bool Inverter::closeSources() {
  bool changed = false;
  for (size_t i = 0; i < known.size(); ++i) {
    int64_t shift;
    Digit base = splitShift(known[i].digit, shift);
    if (base.swizzle)
      continue;
    auto sameSource = [&](const KnownDigit &other) {
      return other.digit.compareSource(base) == 0;
    };
    bool isClosed =
        base.fused ? llvm::any_of(closedFused, sameSource) : dimKnown[base.dim];
    Formula formula;
    if (isClosed || !close(base, shift, formula))
      continue;
    changed = true;
    if (base.fused) {
      closedFused.push_back({base, formula});
      addSum(*base.fused, formula);
    } else {
      dimKnown[base.dim] = true;
      dims[base.dim] = formula;
    }
  }
  return changed;
}

void Inverter::run() {
  for (unsigned d = 0; d < rank; ++d)
    if (d < sizes.size() && (sizes[d] == 0 || sizes[d] == 1)) {
      dims[d] = IndexExpr();
      dimKnown[d] = true;
    }
  bool hasSwizzle = true;
  while (true) {
    while (closeSources())
      ;
    if (allDimsKnown() || !hasSwizzle)
      return;
    std::vector<KnownDigit> solved = solveSwizzles(
        known, [&](const Digit &digit) { return lookup(digit); }, sizes);
    hasSwizzle = !solved.empty();
    llvm::append_range(known, solved);
  }
}

static Inverter invert(ArrayRef<StoredAxis> axes, unsigned rank, Sizes sizes) {
  Inverter inverter(rank, sizes);
  for (auto [a, axis] : llvm::enumerate(axes))
    inverter.addSum(axis.value, IndexExpr::dim(a));
  inverter.run();
  return inverter;
}

bool mlir::layout::isInjectiveByConstruction(const LayoutMap &specialized,
                                             Sizes sizes) {
  if (llvm::is_contained(sizes, 0))
    return true;
  return invert(specialized.getStoredAxes(), specialized.getNumDims(),
                specialized.getBox(sizes))
      .allDimsKnown();
}

std::optional<std::vector<IndexExpr>>
mlir::layout::invertAxes(ArrayRef<StoredAxis> axes, unsigned rank,
                         Sizes sizes) {
  Inverter inverter = invert(axes, rank, sizes);
  if (!inverter.allDimsKnown())
    return std::nullopt;
  std::vector<IndexExpr> result;
  for (Formula &dim : inverter.dims) {
    if (!dim)
      return std::nullopt;
    result.push_back(std::move(*dim));
  }
  return result;
}
