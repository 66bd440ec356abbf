//===- Steps.cpp - Strides, runs and alignments ---------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Steps along a dim are computed by one of two methods. If its digits depend on
// no other dim and have nested breakpoints, a step to a position changes
// exactly the digits whose breakpoint divides it. So the greatest such
// breakpoint determines the amount. Otherwise the box of the dims that share a
// digit with it is enumerated.
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Steps.h"
#include "Expressions/SplitMods.h"
#include "layout/Algebra/Box.h"
#include "layout/Algebra/DigitDecomposition.h"
#include "layout/Algebra/Evaluator.h"
#include "layout/Algebra/Proof.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>
#include <numeric>

using namespace mlir::layout;
using llvm::ArrayRef;

/// Adds a step. Steps with equal increments share an entry, with the gcd of
/// their positions.
static void addStep(Steps &steps, const SizeExpr &by, int64_t every) {
  for (Step &step : steps)
    if (step.by == by) {
      step.every = std::gcd(step.every, every);
      return;
    }
  steps.push_back({by, every});
}

static bool speaksOf(const DigitTerm &term, unsigned dim) {
  bool found = false;
  term.digit.walkDims([&](unsigned d) { found |= d == dim; });
  return found;
}

//===----------------------------------------------------------------------===//
// Digits that nest
//===----------------------------------------------------------------------===//

namespace {

/// The digits of d + `shift`, where d is one dim. Their breakpoints (divisors
/// and divisors * moduli) divide each other.
class NestedDigits {
public:
  /// Collects the digits of `terms`. Returns std::nullopt if a digit mixes
  /// dims, if breakpoints do not divide each other, or if the shifts of the
  /// digits are inconsistent.
  static std::optional<NestedDigits> get(ArrayRef<DigitTerm> terms);

  std::optional<Steps> getSteps(int64_t size) const;

private:
  struct Part {
    int64_t divisor, end, modulus; // end is 0 if unbounded
    SizeExpr stride;
  };
  bool addShift(int64_t of, int64_t period);
  SizeExpr getAmount(int64_t breakpoint) const;
  int64_t getEvery(int64_t breakpoint, int64_t next, int64_t size) const;

  std::vector<Part> parts;
  std::vector<int64_t> breakpoints{1};
  int64_t shift = 0, period = 1; // the shift is known modulo `period`
};

} // namespace

/// The maximal shift and breakpoint, so that sums of three such numbers fit 64
/// bits. If a digit exceeds them, get() fails, and walkSteps() is tried
/// instead.
static constexpr int64_t kMaxNumber = int64_t(1) << 61;

/// Combines `shift` with the shift `of` of another digit, which is determined
/// modulo `ofPeriod`: the divisor * modulus of that digit, or its divisor if it
/// has no modulus. Keeps the one with the longer period. Returns false if no
/// shift of the dim has both remainders.
bool NestedDigits::addShift(int64_t of, int64_t ofPeriod) {
  if (llvm::mod(of - shift, std::gcd(period, ofPeriod)) != 0)
    return false;
  if (ofPeriod > period) {
    shift = of;
    period = ofPeriod;
  }
  return true;
}

std::optional<NestedDigits> NestedDigits::get(ArrayRef<DigitTerm> terms) {
  NestedDigits result;
  for (const DigitTerm &term : terms) {
    int64_t shift = 0, end = 0;
    Digit base = splitShift(term.digit, shift);
    if (!base.isDim() || shift < -kMaxNumber || shift > kMaxNumber ||
        llvm::MulOverflow(term.digit.divisor, term.digit.modulus, end) ||
        std::max(term.digit.divisor, end) > kMaxNumber)
      return std::nullopt;
    // Shifts of a digit that differ by a multiple of its period have equal
    // steps.
    if (!result.addShift(shift, end ? end : term.digit.divisor))
      return std::nullopt;
    result.parts.push_back(
        {term.digit.divisor, end, term.digit.modulus, term.stride});
    result.breakpoints.push_back(term.digit.divisor);
    if (end)
      result.breakpoints.push_back(end);
  }
  llvm::sort(result.breakpoints);
  result.breakpoints.erase(llvm::unique(result.breakpoints),
                           result.breakpoints.end());
  for (size_t i = 0; i + 1 < result.breakpoints.size(); ++i)
    if (result.breakpoints[i + 1] % result.breakpoints[i] != 0)
      return std::nullopt;
  return result;
}

/// Returns the increment of a step to a position p if `breakpoint` is the
/// greatest breakpoint that divides p + `shift`.
SizeExpr NestedDigits::getAmount(int64_t breakpoint) const {
  SizeExpr amount;
  for (const Part &part : parts) {
    if (breakpoint % part.divisor != 0)
      continue;
    bool wraps = part.end && breakpoint % part.end == 0;
    amount =
        amount + part.stride * (wraps ? SizeExpr(1) - SizeExpr(part.modulus)
                                      : SizeExpr(1));
  }
  return amount;
}

/// Returns the greatest common divisor of all positions p from 1 to size - 1
/// (or from 1 on if `size` is dynamic) for which `breakpoint` divides p +
/// `shift`, but `next` (0: no such limit) does not. Returns 0 if there are
/// none.
int64_t NestedDigits::getEvery(int64_t breakpoint, int64_t next,
                               int64_t size) const {
  int64_t every = 0, found = 0;
  // Four positions suffice: the distances between later ones are the same.
  for (int64_t k = llvm::divideFloorSigned(shift, breakpoint) + 1; found < 4;
       ++k) {
    int64_t position;
    if (llvm::MulOverflow(k, breakpoint, position) ||
        llvm::SubOverflow(position, shift, position) ||
        (size >= 0 && position >= size))
      break;
    if (next && k % (next / breakpoint) == 0)
      continue;
    every = std::gcd(every, position);
    ++found;
  }
  return every;
}

std::optional<Steps> NestedDigits::getSteps(int64_t size) const {
  Steps steps;
  for (auto [i, breakpoint] : llvm::enumerate(breakpoints)) {
    int64_t next = i + 1 < breakpoints.size() ? breakpoints[i + 1] : 0;
    int64_t every = getEvery(breakpoint, next, size);
    if (every == 0)
      continue;
    SizeExpr amount = getAmount(breakpoint);
    if (amount.isOverflow())
      return std::nullopt;
    addStep(steps, amount, every);
  }
  return steps;
}

//===----------------------------------------------------------------------===//
// Any digits
//===----------------------------------------------------------------------===//

/// Finds the steps of `value` along `dim`, which all its digits depend on, by
/// enumerating the dims in these digits. Returns std::nullopt if these have
/// more than 2^20 indices or a dynamic size, or if a stride is not constant.
static std::optional<Steps> walkSteps(const IndexExpr &value, unsigned dim,
                                      Sizes box) {
  llvm::SmallVector<int64_t> shared(box.size(), 1);
  value.walkDims([&](unsigned d) { shared[d] = box[d]; });
  std::optional<int64_t> points = countIndices(shared);
  if (!points || *points > kMaxPoints)
    return std::nullopt;
  std::optional<Evaluator> evaluator = Evaluator::compile(value, shared);
  if (!evaluator)
    return std::nullopt;
  std::map<int64_t, int64_t> found;
  int64_t size = std::exchange(shared[dim], 1);
  llvm::SmallVector<int64_t> index;
  bool fits = forEachIndex(shared, [&](ArrayRef<int64_t> others) {
    index.assign(others.begin(), others.end());
    int64_t before = 0, after = 0;
    for (int64_t &i = index[dim]; i < size; ++i, before = after) {
      evaluator->evaluate(index.data(), &after);
      if (i == 0)
        continue;
      int64_t by;
      if (llvm::SubOverflow(after, before, by))
        return false;
      int64_t &every = found[by];
      every = std::gcd(every, i);
    }
    return true;
  });
  if (!fits)
    return std::nullopt;
  Steps steps;
  for (auto [by, every] : found)
    steps.push_back({SizeExpr(by), every});
  return steps;
}

/// Returns the steps of `value`, a coordinate in normal form on the box, along
/// `dim`, or std::nullopt if they are not known within the bounds of
/// walkSteps().
static std::optional<Steps> findSteps(const IndexExpr &value, unsigned dim,
                                      Sizes box) {
  if (box[dim] == 0 || box[dim] == 1)
    return Steps();
  IndexExpr part;
  for (const DigitTerm &term : value.terms)
    if (speaksOf(term, dim))
      part.terms.push_back(term);
  if (part.hasOverflow())
    return std::nullopt;
  std::optional<Steps> steps;
  if (std::optional<NestedDigits> digits = NestedDigits::get(part.terms))
    steps = digits->getSteps(box[dim]);
  return steps ? steps : walkSteps(part, dim, box);
}

std::optional<Steps> mlir::layout::getSteps(const LayoutMap &map,
                                            unsigned coordinate, unsigned dim,
                                            Sizes sizes) {
  LayoutMap special = map.specialize(sizes);
  return findSteps(special.getCoordinates()[coordinate].value, dim,
                   special.getBox(sizes));
}

std::optional<SizeExpr> mlir::layout::getStride(const Steps &steps) {
  if (steps.empty())
    return SizeExpr(0);
  if (steps.size() == 1)
    return steps.front().by;
  return std::nullopt;
}

llvm::SmallVector<PlacedPart> mlir::layout::getPlacedParts(const LayoutMap &map,
                                                           unsigned coordinate,
                                                           Sizes sizes) {
  LayoutMap special = map.specialize(sizes);
  llvm::SmallVector<int64_t> box = special.getBox(sizes);
  llvm::SmallVector<PlacedPart> parts;
  for (const DigitTerm &term : special.getCoordinates()[coordinate].value.terms)
    parts.push_back({describe(term.digit, special.getNumDims()),
                     getExtent(term.digit, box), term.stride});
  return parts;
}

//===----------------------------------------------------------------------===//
// Runs and alignments
//===----------------------------------------------------------------------===//

std::optional<Run> mlir::layout::getRun(const LayoutMap &map,
                                        unsigned coordinate, unsigned dim,
                                        Sizes sizes) {
  LayoutMap special = map.specialize(sizes);
  llvm::SmallVector<int64_t> box = special.getBox(sizes);
  int64_t every = 0; // gcd of the positions at which runs end
  for (auto [c, other] : llvm::enumerate(special.getCoordinates())) {
    std::optional<Steps> steps = findSteps(other.value, dim, box);
    if (!steps)
      return std::nullopt;
    for (const Step &step : *steps)
      if (!step.by.isConstantEqual(c == coordinate))
        every = std::gcd(every, step.every);
  }
  return every == 0 ? Run{sizes[dim], true} : Run{every, false};
}

std::optional<Run> mlir::layout::getRowMajorRun(const LayoutMap &map,
                                                unsigned coordinate,
                                                Sizes sizes,
                                                FailureReason error) {
  if (map.getRank() == 0)
    return Run{1, true};
  llvm::SmallVector<int64_t, 2> all(map.getRank());
  std::iota(all.begin(), all.end(), 0);
  std::optional<LayoutMap> row = collapseShape(map, all, sizes, error);
  if (!row)
    return std::nullopt;
  int64_t size = kUnknownSize;
  if (!llvm::is_contained(sizes, kUnknownSize)) {
    std::optional<int64_t> count = countIndices(sizes);
    if (!count)
      return std::nullopt;
    size = *count;
  }
  return getRun(*row, coordinate, 0, size);
}

/// Returns the value at the index of zeros, or std::nullopt if a digit
/// overflows int64 or depends on a dynamic size.
static std::optional<SizeExpr> getFirst(const IndexExpr &value, Sizes box) {
  llvm::SmallVector<int64_t> zeros(box.size(), 0);
  SizeExpr first = value.constant;
  for (const DigitTerm &term : value.terms) {
    IndexExpr digit;
    digit.terms.push_back({term.digit, SizeExpr(1)});
    std::optional<int64_t> at = digit.evaluate(zeros, box);
    if (!at)
      return std::nullopt;
    first = first + term.stride * SizeExpr(*at);
  }
  return first;
}

std::optional<int64_t> mlir::layout::getAlignment(const LayoutMap &map,
                                                  unsigned coordinate,
                                                  ArrayRef<int64_t> blocks,
                                                  Sizes sizes) {
  if (llvm::is_contained(sizes, 0))
    return 0;
  LayoutMap special = map.specialize(sizes);
  llvm::SmallVector<int64_t> box = special.getBox(sizes);
  // Dim d becomes the number of a block, so that an index is block number *
  // block size. Strides still refer to the original sizes.
  llvm::SmallVector<IndexExpr> dims;
  llvm::SmallVector<SizeExpr> sizeOf;
  for (auto [d, size] : llvm::enumerate(box)) {
    int64_t block = d < blocks.size() ? blocks[d] : 1;
    dims.push_back(scale(IndexExpr::dim(d), SizeExpr(block)));
    sizeOf.push_back(SizeExpr::dim(d));
    if (size >= 0)
      size = llvm::divideCeil(uint64_t(size), uint64_t(block));
  }
  IndexExpr value = splitMods(
      substitute(special.getCoordinates()[coordinate].value, dims, sizeOf, box),
      box);
  std::optional<SizeExpr> first = getFirst(value, box);
  if (!first || first->isOverflow())
    return std::nullopt;
  int64_t alignment = first->content();
  for (unsigned d = 0; d < box.size(); ++d) {
    std::optional<Steps> steps = findSteps(value, d, box);
    if (!steps)
      return std::nullopt;
    for (const Step &step : *steps)
      alignment = std::gcd(alignment, step.by.content());
  }
  return alignment;
}

std::optional<int64_t> mlir::layout::getVectorWidth(const LayoutMap &map,
                                                    unsigned coordinate,
                                                    unsigned dim, Sizes sizes,
                                                    int64_t most) {
  std::optional<Run> run = getRun(map, coordinate, dim, sizes);
  if (!run)
    return std::nullopt;
  llvm::SmallVector<int64_t> blocks(map.getRank(), 1);
  int64_t width = 1;
  while (width <= most / 2) {
    int64_t next = 2 * width;
    bool isRun = run->isWhole ? sizes[dim] < 0 || width < sizes[dim]
                              : run->length % next == 0;
    if (!isRun)
      break;
    blocks[dim] = next;
    std::optional<int64_t> alignment =
        getAlignment(map, coordinate, blocks, sizes);
    if (!alignment)
      return std::nullopt;
    if (*alignment % next != 0)
      break;
    width = next;
  }
  return width;
}
