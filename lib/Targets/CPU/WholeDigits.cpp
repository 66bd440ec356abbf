//===- WholeDigits.cpp - What a copy of digits moves ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// IterationSpace.cpp and DigitCopy.cpp in numbers, step by step; each function
// says which of their steps it is.
//
//===----------------------------------------------------------------------===//

#include "WholeDigits.h"
#include "layout/Algebra/Box.h"
#include "layout/Algebra/Pack.h"
#include "layout/Analysis/DigitCopy.h"
#include "layout/Interfaces/IterationSpace.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;

/// What is larger is not worth the care that products of it would take.
static constexpr int64_t kMaxTile = int64_t(1) << 24;
static constexpr int64_t kMaxStorage = int64_t(1) << 48;

static bool isSwizzled(const Digit &digit) {
  return digit.swizzle ||
         (digit.fused && llvm::any_of(digit.fused->terms, [](const auto &term) {
            return isSwizzled(term.digit);
          }));
}

static bool readAxis(const StoredAxis &stored, ArrayRef<int64_t> shape,
                     StoredDigits::Axis &axis) {
  std::optional<int64_t> extent = stored.extent.evaluate(shape);
  std::optional<int64_t> constant = stored.value.constant.evaluate(shape);
  if (!extent || !constant)
    return false;
  axis.extent = *extent;
  axis.hasConstant = *constant != 0;
  for (const DigitTerm &term : stored.value.terms) {
    const Digit &digit = term.digit;
    std::optional<int64_t> stride = term.stride.evaluate(shape);
    if (!stride || *stride < 1 || *stride > kMaxStorage)
      return false;
    if (!digit.isDim()) {
      digit.walkDims([&](unsigned d) { axis.mixedDims |= uint64_t(1) << d; });
      axis.mixedStride = std::max(axis.mixedStride, *stride);
      axis.isSwizzled |= isSwizzled(digit);
      continue;
    }
    if (std::max(digit.lo, digit.modulus) > kMaxTile)
      return false;
    axis.terms.push_back(
        {digit.dim, digit.lo, digit.lo * digit.modulus, *stride});
  }
  return true;
}

/// Whether numbers in place of sizes are all that the shape changes: digits of
/// dims, no two of which become a wider one.
static bool areDigitsOnShape(const StoredDigits::Axis &axis) {
  for (size_t i = 1; i < axis.terms.size(); ++i) {
    const StoredDigits::Term &below = axis.terms[i - 1], &above = axis.terms[i];
    if (below.dim == above.dim && below.end == above.lo &&
        above.stride == below.stride * (below.end / below.lo))
      return false;
  }
  return axis.mixedDims == 0;
}

static std::optional<StoredDigits::Dense> findDense(const StoredDigits &stored,
                                                    ArrayRef<int64_t> shape) {
  StoredDigits::Dense dense;
  SmallVector<int64_t, 6> sizes(shape.size(), 1); // that the digits make up
  for (const StoredDigits::Axis &axis : llvm::reverse(stored.axes)) {
    if (axis.mixedDims || axis.hasConstant)
      return std::nullopt;
    SmallVector<StoredDigits::Term, 4> terms(axis.terms.begin(),
                                             axis.terms.end());
    llvm::sort(terms, [](const auto &a, const auto &b) {
      return a.stride < b.stride;
    });
    int64_t reach = 1;
    for (const StoredDigits::Term &term : terms) {
      int64_t end = term.end ? term.end : shape[term.dim];
      if (end % term.lo != 0 || (term.end && shape[term.dim] % end != 0))
        return std::nullopt;
      int64_t extent = end / term.lo;
      if (extent == 1)
        continue;
      if (term.stride != reach)
        return std::nullopt;
      reach *= extent;
      sizes[term.dim] *= extent;
      if (reach > kMaxStorage || sizes[term.dim] > kMaxTile)
        return std::nullopt;
      dense.digits.push_back({term.dim, term.lo, extent});
      if (term.lo != 1)
        dense.cuts.push_back({term.dim, term.lo});
    }
    if (reach != axis.extent)
      return std::nullopt;
  }
  return ArrayRef<int64_t>(sizes) == shape
             ? std::optional<StoredDigits::Dense>(std::move(dense))
             : std::nullopt;
}

std::optional<StoredDigits> StoredDigits::read(const LayoutMap &map,
                                               ArrayRef<int64_t> shape) {
  if (map.getSpace() != "buffer" || !map.getReplicas().empty() ||
      shape.size() > 64 || llvm::any_of(shape, [](int64_t size) {
        return size < 1 || size > kMaxTile;
      }))
    return std::nullopt;
  StoredDigits result;
  std::optional<int64_t> size = getStorageSize(map, shape);
  if (!size || *size > kMaxStorage)
    return std::nullopt;
  result.size = *size;
  auto readAxes = [&](ArrayRef<StoredAxis> axes) {
    result.axes.clear();
    result.axes.reserve(axes.size());
    return llvm::all_of(axes, [&](const StoredAxis &axis) {
      return readAxis(axis, shape, result.axes.emplace_back());
    });
  };
  if (!readAxes(map.getStoredAxes()))
    return std::nullopt;
  if (!llvm::all_of(result.axes, areDigitsOnShape) &&
      !readAxes(getAxesOnShape(map, shape)))
    return std::nullopt;
  result.dense = findDense(result, shape);
  return result;
}

/// The positions next to each other on both sides.
static int64_t getDenseRun(ArrayRef<StoredDigits::Dense::Digit> from,
                           ArrayRef<StoredDigits::Dense::Digit> to) {
  int64_t run = 1;
  while (!from.empty() && !to.empty()) {
    StoredDigits::Dense::Digit a = from.front(), b = to.front();
    from = from.drop_front();
    to = to.drop_front();
    // A digit that is cut on one side only goes on behind the cut.
    while (a.dim == b.dim && a.lo == b.lo && a.extent != b.extent) {
      auto &shorter = a.extent < b.extent ? a : b;
      auto &longer = a.extent < b.extent ? b : a;
      auto &next = a.extent < b.extent ? from : to;
      run *= shorter.extent;
      longer.lo *= shorter.extent;
      longer.extent /= shorter.extent;
      if (next.empty())
        return run;
      shorter = next.front();
      next = next.drop_front();
    }
    if (a.dim != b.dim || a.lo != b.lo)
      return run;
    run *= a.extent;
  }
  return run;
}

/// Without padding every element is moved once. Nothing where dims are cut at
/// positions that do not nest.
static std::optional<DigitMove> findDenseMove(const StoredDigits &from,
                                              const StoredDigits &to) {
  for (auto [dim, cut] : from.dense->cuts)
    for (auto [otherDim, other] : to.dense->cuts)
      if (dim == otherDim && cut % other != 0 && other % cut != 0)
        return std::nullopt;
  return DigitMove{from.size, from.size,
                   getDenseRun(from.dense->digits, to.dense->digits)};
}

namespace {
class NumberedMove {
public:
  NumberedMove(const StoredDigits &from, const StoredDigits &to,
               ArrayRef<int64_t> shape)
      : sides{&from, &to}, shape(shape), loops(shape.size()) {}

  std::optional<DigitMove> run();

private:
  using Answer = std::optional<DigitMove>;

  struct Digit {
    unsigned loop;
    int64_t weight, extent;
    bool isOutermost;
    bool isUsed = false;
  };
  struct Loop {
    SmallVector<int64_t, 6> cuts = {1};
    SmallVector<unsigned, 4> digits; // most significant first
    bool isDropped = false, isPadded = false, isRagged = false;
  };
  struct Axis {
    SmallVector<std::pair<unsigned, int64_t>, 4> terms; // digit and stride
    uint64_t mixedDims = 0;
    int64_t extent = 0, required = 0;
    SmallVector<unsigned, 4> digits; // as in AxisAccess

    bool isExact() const { return !digits.empty() && required == extent; }
  };
  using Box = SmallVector<int64_t, 12>; // the number of positions per digit

  bool cutLoops();
  void orderDigits();
  bool placeAxes();
  void raiseExtents();
  void findPadding();
  enum class Planned { Yes, Gathered, Unknown };
  Planned planAxes();
  bool findRowMajor(Axis &axis, bool hasConstant);
  bool speaksOfPadding(const Axis &axis) const;
  bool storesPaddedLoops() const;
  bool dropUnitDigits();
  void findRaggedLoops();
  bool makeBoxes(SmallVectorImpl<Box> &boxes) const;
  bool areSlices(ArrayRef<Box> boxes) const;
  bool hasLoneDigits() const;
  std::optional<int64_t> countElements(const Box &box) const;
  Answer countMove() const;
  int64_t getCommonRun() const;

  const StoredDigits *sides[2];
  ArrayRef<int64_t> shape;
  SmallVector<Loop, 6> loops;
  SmallVector<Digit, 12> digits;
  SmallVector<Axis, 6> axes[2];
};
} // namespace

/// SpaceBuilder::cutLoops.
bool NumberedMove::cutLoops() {
  for (const StoredDigits *side : sides)
    for (const StoredDigits::Axis &axis : side->axes)
      for (const StoredDigits::Term &term : axis.terms)
        for (int64_t cut : {term.lo, term.end})
          if (cut && !llvm::is_contained(loops[term.dim].cuts, cut))
            loops[term.dim].cuts.push_back(cut);
  for (Loop &loop : loops) {
    std::sort(loop.cuts.begin(), loop.cuts.end());
    for (size_t i = 1; i < loop.cuts.size(); ++i)
      if (loop.cuts[i] % loop.cuts[i - 1] != 0)
        return false;
  }
  return true;
}

/// SpaceBuilder::orderDigits.
void NumberedMove::orderDigits() {
  digits.clear();
  size_t maxLevel = 0;
  for (auto [l, loop] : llvm::enumerate(loops)) {
    loop.digits.clear();
    maxLevel = std::max(maxLevel, loop.cuts.size());
    if (loop.isDropped)
      continue;
    int64_t weight = loop.cuts.back();
    loop.digits.push_back(digits.size());
    digits.push_back({unsigned(l), weight,
                      int64_t(llvm::divideCeil(shape[l], weight)), true});
  }
  for (size_t level = maxLevel; level-- > 0;)
    for (auto [l, loop] : llvm::enumerate(loops))
      if (level + 1 < loop.cuts.size()) {
        loop.digits.push_back(digits.size());
        digits.push_back({unsigned(l), loop.cuts[level],
                          loop.cuts[level + 1] / loop.cuts[level], false});
      }
}

/// SpaceBuilder::placeAxes; false where sums of cut dims have to be taken apart
/// again.
bool NumberedMove::placeAxes() {
  for (unsigned k : {0u, 1u}) {
    axes[k].clear();
    axes[k].resize(sides[k]->axes.size());
    for (auto [stored, axis] : llvm::zip(sides[k]->axes, axes[k])) {
      axis.extent = stored.extent;
      axis.mixedDims = stored.mixedDims;
      for (uint64_t mixed = stored.mixedDims; mixed; mixed &= mixed - 1) {
        const Loop &loop = loops[llvm::countr_zero(mixed)];
        if (loop.cuts.size() > 1 || loop.isDropped)
          return false;
      }
      for (const StoredDigits::Term &term : stored.terms)
        for (unsigned d : loops[term.dim].digits) {
          int64_t weight = digits[d].weight;
          if (weight < term.lo || (term.end && weight >= term.end))
            continue;
          if (llvm::any_of(axis.terms, [&](auto &t) { return t.first == d; }))
            return false;
          axis.terms.push_back({d, term.stride * (weight / term.lo)});
        }
      std::sort(axis.terms.begin(), axis.terms.end());
    }
  }
  return true;
}

/// SpaceBuilder::raiseExtents.
void NumberedMove::raiseExtents() {
  for (auto [stored, axis] : llvm::zip(sides[1]->axes, axes[1])) {
    const std::pair<unsigned, int64_t> *top = nullptr;
    for (const auto &term : axis.terms)
      if (!top || term.second > top->second ||
          (term.second == top->second && digits[term.first].extent != 1))
        top = &term;
    if (!top || stored.mixedStride >= top->second ||
        !digits[top->first].isOutermost)
      continue;
    int64_t &extent = digits[top->first].extent;
    extent = std::max(extent, axis.extent / top->second);
  }
}

/// SpaceBuilder::findPadding.
void NumberedMove::findPadding() {
  for (auto [loop, size] : llvm::zip(loops, shape)) {
    int64_t total = 1;
    for (unsigned d : loop.digits)
      total = llvm::SaturatingMultiply<uint64_t>(total, digits[d].extent);
    loop.isPadded = total != size;
  }
}

/// SpaceBuilder::isRowMajorOf.
bool NumberedMove::findRowMajor(Axis &axis, bool hasConstant) {
  axis.digits.clear();
  if (hasConstant || axis.mixedDims || axis.terms.empty())
    return false;
  SmallVector<std::pair<unsigned, int64_t>, 4> left = axis.terms;
  int64_t stride = 1;
  while (!left.empty()) {
    auto *next = left.end();
    for (auto *it = left.begin(); it != left.end(); ++it)
      if (it->second == stride &&
          (next == left.end() || digits[it->first].extent == 1))
        next = it;
    if (next == left.end())
      return false;
    axis.digits.push_back(next->first);
    if (llvm::MulOverflow(stride, digits[next->first].extent, stride))
      return false;
    left.erase(next);
  }
  std::reverse(axis.digits.begin(), axis.digits.end());
  axis.required = stride;
  return true;
}

bool NumberedMove::speaksOfPadding(const Axis &axis) const {
  for (auto [l, loop] : llvm::enumerate(loops))
    if (loop.isPadded && (axis.mixedDims >> l & 1))
      return true;
  return llvm::any_of(axis.terms, [&](const auto &term) {
    return loops[digits[term.first].loop].isPadded;
  });
}

/// SpaceBuilder::planAxis.
NumberedMove::Planned NumberedMove::planAxes() {
  for (unsigned k : {0u, 1u})
    for (auto [stored, axis] : llvm::zip(sides[k]->axes, axes[k])) {
      if (findRowMajor(axis, stored.hasConstant)) {
        for (unsigned d : axis.digits)
          digits[d].isUsed = true;
        continue;
      }
      axis.digits.clear();
      axis.required = axis.extent;
      if (stored.isSwizzled)
        return Planned::Gathered;
      if (!speaksOfPadding(axis))
        continue;
      if (k == 1)
        return Planned::Gathered;
      if (axis.mixedDims || stored.hasConstant)
        return Planned::Unknown;
      int64_t last = 0;
      for (auto [digit, step] : axis.terms) {
        int64_t reach;
        if (llvm::MulOverflow(digits[digit].extent - 1, step, reach) ||
            llvm::AddOverflow(last, reach, last))
          return Planned::Unknown;
      }
      axis.required = std::max(axis.extent, last + 1);
    }
  return Planned::Yes;
}

/// SpaceBuilder::checkResult, where no padding is stated.
bool NumberedMove::storesPaddedLoops() const {
  return llvm::all_of(loops, [&](const Loop &loop) {
    return !loop.isPadded || llvm::all_of(loop.digits, [&](unsigned d) {
      return digits[d].extent == 1 ||
             llvm::any_of(axes[1], [&](const Axis &axis) {
               return llvm::is_contained(axis.digits, d);
             });
    });
  });
}

/// SpaceBuilder::dropUnitDigits.
bool NumberedMove::dropUnitDigits() {
  bool changed = false;
  for (const Digit &digit : digits)
    if (!digit.isUsed && digit.isOutermost && digit.extent == 1)
      changed = loops[digit.loop].isDropped = true;
  return changed;
}

/// The part of Planner::run about loops, which states no padding.
void NumberedMove::findRaggedLoops() {
  for (const auto &side : axes)
    for (const Axis &axis : side)
      if (axis.required > axis.extent)
        for (const auto &term : axis.terms) {
          Loop &loop = loops[digits[term.first].loop];
          loop.isRagged = loop.isPadded;
        }
}

/// Planner::makeBoxes.
bool NumberedMove::makeBoxes(SmallVectorImpl<Box> &boxes) const {
  Box whole;
  for (const Digit &digit : digits)
    whole.push_back(digit.extent);
  boxes.assign(1, whole);
  for (auto [loop, size] : llvm::zip(loops, shape)) {
    if (!loop.isRagged)
      continue;
    SmallVector<Box> cut;
    for (const Box &box : boxes) {
      // At each level what is left, under single positions of those above.
      Box part = box;
      int64_t left = size;
      for (unsigned d : loop.digits) {
        part[d] = left / digits[d].weight;
        left %= digits[d].weight;
        if (part[d] != 0)
          cut.push_back(part);
        part[d] = 1;
      }
    }
    boxes.assign(cut.begin(), cut.end());
    if (boxes.size() > kMaxCopyBoxes)
      return false;
  }
  return hasLoneDigits() && areSlices(boxes);
}

/// Planner::areSlices.
bool NumberedMove::areSlices(ArrayRef<Box> boxes) const {
  for (const auto &side : axes)
    for (const Axis &axis : side) {
      if (axis.isExact() || axis.digits.size() < 2)
        continue;
      for (const Box &box : boxes) {
        bool isOpen = false;
        for (unsigned d : axis.digits) {
          if (isOpen && box[d] != digits[d].extent)
            return false;
          isOpen |= box[d] != 1;
        }
      }
    }
  return true;
}

/// Planner::hasLoneDigits.
bool NumberedMove::hasLoneDigits() const {
  SmallVector<bool, 12> isAlone(digits.size(), false);
  for (const auto &side : axes)
    for (const Axis &axis : side)
      if (axis.isExact() || axis.digits.size() == 1)
        for (unsigned d : axis.digits)
          isAlone[d] = true;
  return !llvm::is_contained(isAlone, false);
}

std::optional<int64_t> NumberedMove::countElements(const Box &box) const {
  int64_t elements = 1;
  for (int64_t extent : box)
    if (llvm::MulOverflow(elements, extent, elements) || elements > kMaxStorage)
      return std::nullopt;
  return elements;
}

/// DigitCopy::getNumRead and getNumWritten.
NumberedMove::Answer NumberedMove::countMove() const {
  SmallVector<Box> boxes;
  bool isWhole = !makeBoxes(boxes);
  if (isWhole) {
    boxes.assign(1, Box());
    for (const Digit &digit : digits)
      boxes.front().push_back(digit.extent);
  }
  int64_t elements = 0;
  for (const Box &box : boxes) {
    std::optional<int64_t> count = countElements(box);
    if (!count)
      return std::nullopt;
    elements += *count;
  }
  for (unsigned k : {0u, 1u})
    if (isWhole && llvm::any_of(axes[k], [](const Axis &axis) {
          return axis.required > axis.extent;
        }))
      elements += sides[k]->size;
  return DigitMove{elements, elements, getCommonRun()};
}

/// DigitCopy::getCommonRun.
int64_t NumberedMove::getCommonRun() const {
  auto walk = [&](ArrayRef<Axis> side) {
    SmallVector<unsigned, 12> result;
    for (const Axis &axis : llvm::reverse(side)) {
      for (unsigned d : llvm::reverse(axis.digits))
        if (digits[d].extent != 1)
          result.push_back(d);
      if (!axis.isExact())
        break;
    }
    return result;
  };
  int64_t run = 1;
  for (auto [a, b] : llvm::zip(walk(axes[0]), walk(axes[1]))) {
    if (a != b)
      break;
    run *= digits[a].extent;
  }
  return run;
}

std::optional<DigitMove> NumberedMove::run() {
  std::optional<int64_t> elements = countIndices(shape);
  if (!elements || *elements > kMaxStorage)
    return std::nullopt;
  DigitMove gathered{*elements, sides[1]->size, 1, /*isGathered=*/true};
  if (!cutLoops())
    return gathered;
  do {
    orderDigits();
    if (!placeAxes())
      return std::nullopt;
    raiseExtents();
    findPadding();
    Planned planned = planAxes();
    if (planned == Planned::Unknown)
      return std::nullopt;
    if (planned == Planned::Gathered)
      return gathered;
  } while (dropUnitDigits());
  if (!llvm::all_of(digits, [](const Digit &digit) { return digit.isUsed; }) ||
      !storesPaddedLoops())
    return gathered;
  findRaggedLoops();
  return countMove();
}

std::optional<DigitMove>
mlir::layout::findMoveOfDigits(const StoredDigits &from, const StoredDigits &to,
                               ArrayRef<int64_t> shape) {
  if (from.dense && to.dense)
    if (std::optional<DigitMove> move = findDenseMove(from, to))
      return move;
  return NumberedMove(from, to, shape).run();
}
