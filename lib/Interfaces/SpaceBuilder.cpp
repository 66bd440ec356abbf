//===- SpaceBuilder.cpp - Common digits of stored axes --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpaceBuilder.h"
#include "layout/Algebra/AffineMaps.h"
#include "layout/Interfaces/ReachedStorage.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

/// Collects, per loop, the divisors at which operands split it into digits,
/// e.g. 1 and 16 for `c floordiv 16` and `c mod 16`. Fails if, in ascending
/// order, a divisor does not divide the next one.
LogicalResult SpaceBuilder::cutLoops() {
  for (ArrayRef<StoredAxis> operandAxes : axes)
    for (const StoredAxis &axis : operandAxes)
      for (const DigitTerm &term : axis.value.terms) {
        if (!term.digit.isDim())
          continue;
        auto &points = breaks[term.digit.dim];
        auto add = [&](int64_t point) {
          if (!llvm::is_contained(points, point))
            points.push_back(point);
        };
        add(term.digit.divisor);
        int64_t end;
        if (term.digit.modulus &&
            !llvm::MulOverflow(term.digit.divisor, term.digit.modulus, end))
          add(end);
      }
  for (auto [loop, points] : llvm::enumerate(breaks)) {
    std::sort(points.begin(), points.end());
    for (size_t i = 0; i + 1 < points.size(); ++i)
      if (points[i + 1] % points[i] != 0)
        return fail([&] {
          return ("loop d" + Twine(loop) + " is cut at multiples of " +
                  Twine(points[i]) + " and of " + Twine(points[i + 1]) +
                  ", which do not nest")
              .str();
        });
  }
  return success();
}

/// Numbers the digits: the outermost ones in loop order, then the others by the
/// number of faster digits of the same loop, the highest first. Of equally
/// many, the digits of reduction loops come before those of parallel loops.
void SpaceBuilder::orderDigits() {
  space.digits.clear();
  space.digitsOf.assign(breaks.size(), {});
  auto add = [&](unsigned loop, int64_t weight, SizeExpr extent) {
    space.digitsOf[loop].push_back(space.digits.size());
    space.digits.push_back({loop, weight, std::move(extent)});
  };
  size_t maxLevel = 0;
  for (auto [loop, points] : llvm::enumerate(breaks)) {
    maxLevel = std::max(maxLevel, points.size() - 1);
    if (!dropped[loop])
      add(loop, points.back(), getSize(loop).ceilDiv(points.back()));
  }
  for (size_t level = maxLevel; level-- > 0;)
    for (bool reduces : {true, false})
      for (auto [loop, points] : llvm::enumerate(breaks))
        if (level + 1 < points.size() && isReduction(loop) == reduces)
          add(loop, points[level], SizeExpr(points[level + 1] / points[level]));
}

/// Rewrites `axis`, a function of the loops, to `result`, a function of the
/// digits in `space`: a digit of a loop becomes the sum of the digits that it
/// is split into. Terms of another kind, such as digits of a sum, are kept.
/// Returns false if a loop in such a term is split, or its only digit has
/// another number than the loop, or if two terms contain the same digit.
bool SpaceBuilder::placeDigits(const IndexExpr &axis, IndexExpr &result) const {
  result.constant = axis.constant;
  result.terms.clear();
  auto term = axis.terms.begin(), last = axis.terms.end();
  for (; term != last && term->digit.isDim(); ++term) { // dims come first
    int64_t end;
    if (llvm::MulOverflow(term->digit.divisor, term->digit.modulus, end))
      return false;
    for (unsigned i : space.digitsOf[term->digit.dim]) {
      int64_t weight = space.digits[i].weight;
      if (weight < term->digit.divisor || (end && weight >= end))
        continue;
      auto &placed = result.terms.emplace_back();
      placed.digit.dim = i;
      placed.stride = term->stride * SizeExpr(weight / term->digit.divisor);
    }
  }
  llvm::sort(result.terms, [](const DigitTerm &a, const DigitTerm &b) {
    return a.digit.dim < b.digit.dim;
  });
  for (size_t i = 1; i < result.terms.size(); ++i)
    if (result.terms[i - 1].digit.dim == result.terms[i].digit.dim)
      return false;
  for (; term != last; ++term) {
    bool stays = true;
    term->digit.walkDims([&](unsigned loop) {
      stays &= space.digitsOf[loop].size() == 1 &&
               space.digitsOf[loop].front() == loop;
    });
    if (!stays)
      return false;
    result.terms.push_back(*term);
  }
  return true;
}

/// Sets the axes of all operands in `space` as functions of its digits.
void SpaceBuilder::placeAxes() {
  space.operands.resize(axes.size());
  bool isComplete = true;
  for (auto [k, operandAxes] : llvm::enumerate(axes)) {
    space.operands[k].resize(operandAxes.size());
    for (auto [axis, access] : llvm::zip(operandAxes, space.operands[k])) {
      access.extent = axis.extent;
      isComplete &= placeDigits(axis.value, access.value);
    }
  }
  if (!isComplete)
    substituteAxes();
}

/// Returns true if a term of an axis is a digit of `space` that has one value.
static bool isUnit(const IterationSpace &space, const DigitTerm &term) {
  return term.digit.isDim() && term.digit.isWholeSource() &&
         space.digits[term.digit.dim].extent.isConstantEqual(1);
}

/// Raises the extents of outermost digits so that the loops reach every
/// position in the storage of results, which may have more positions than the
/// sizes of the loops need.
void SpaceBuilder::raiseExtents() {
  for (auto [k, operand] : llvm::enumerate(space.operands)) {
    if (!isResult(k))
      continue;
    for (const AxisAccess &axis : operand) {
      // A digit with one value has the stride of the next slower digit, which
      // is preferred.
      const DigitTerm *top = nullptr;
      for (const DigitTerm &term : axis.value.terms)
        if (!top || (term.stride.isProvablyAtLeast(top->stride) &&
                     !(isUnit(space, term) && term.stride == top->stride)))
          top = &term;
      if (!top || !top->digit.isDim() || !top->digit.isWholeSource() ||
          !isOutermost(top->digit.dim) ||
          dropped[space.digits[top->digit.dim].loop])
        continue;
      SizeExpr &extent = space.digits[top->digit.dim].extent;
      std::optional<int64_t> stride = top->stride.getConstant();
      std::optional<int64_t> stored = axis.extent.getConstant();
      std::optional<int64_t> current = extent.getConstant();
      if (stride && *stride > 0 && stored && current)
        extent = SizeExpr(std::max(*current, *stored / *stride));
      else if (top->stride.isConstantEqual(1) && axis.value.terms.size() == 1 &&
               axis.extent.isProvablyAtLeast(extent))
        extent = axis.extent;
    }
  }
}

void SpaceBuilder::findPadding() {
  space.isPadded.resize(breaks.size());
  for (unsigned loop = 0; loop < breaks.size(); ++loop) {
    SizeExpr total(1);
    for (unsigned digit : space.digitsOf[loop])
      total = total * space.digits[digit].extent;
    space.isPadded[loop] = total != getSize(loop);
  }
}

/// Returns true if `axis` fuses digits in row-major order, such as 16 * c1 + c0
/// with 16 values of c0, and appends these digits, most significant first. If
/// false, `digits` is unspecified.
bool SpaceBuilder::isRowMajorOf(const AxisAccess &axis,
                                SmallVectorImpl<unsigned> &digits) const {
  if (!axis.value.constant.isZero() || axis.value.terms.empty())
    return false;
  auto left = axis.value.terms;
  SizeExpr stride(1);
  while (!left.empty()) {
    auto fits = [&](const DigitTerm &term) {
      return term.digit.isDim() && term.digit.isWholeSource() &&
             term.stride == stride;
    };
    // Digits with one value have the stride of another digit, and are placed
    // before it, as slower ones.
    SmallVector<unsigned> units;
    llvm::erase_if(left, [&](const DigitTerm &term) {
      bool isFound = fits(term) && isUnit(space, term);
      if (isFound)
        units.push_back(term.digit.dim);
      return isFound;
    });
    auto next = llvm::find_if(left, fits);
    if (next == left.end() && units.empty())
      return false;
    if (next != left.end()) {
      digits.push_back(next->digit.dim);
      stride = stride * space.digits[next->digit.dim].extent;
      left.erase(next);
    }
    llvm::append_range(digits, llvm::reverse(units));
  }
  std::reverse(digits.begin(), digits.end());
  return true;
}

LogicalResult SpaceBuilder::planAxis(unsigned operand, AxisAccess &axis) {
  axis.digits.clear();
  if (isRowMajorOf(axis, axis.digits)) {
    axis.required = SizeExpr(1);
    for (unsigned digit : axis.digits)
      axis.required = axis.required * space.digits[digit].extent;
    if (axis.required == axis.extent ||
        axis.required.isProvablyAtLeast(axis.extent) ||
        axis.extent.isProvablyAtLeast(axis.required))
      return success();
    return fail([&] {
      return "the stored extent of " + describe(operand) +
             " cannot be compared with what the loops need: make the sizes "
             "static, or store the dim the same way in all operands";
    });
  }

  axis.digits.clear();
  if (!isAffine(axis.value))
    return fail([&] {
      return "the storage of " + describe(operand) +
             " is swizzled, or a stride or an offset of it depends on a "
             "dynamic size";
    });
  // Positions of indices below the sizes are inside of the storage.
  axis.required = axis.extent;
  bool reachesPadding = false;
  axis.value.walkDims([&](unsigned digit) {
    reachesPadding |= space.isPadded[space.digits[digit].loop];
  });
  if (!reachesPadding)
    return success();
  // Indices beyond the size may have the positions of other elements.
  if (isResult(operand))
    return fail([&] {
      return "padding of the loops would be stored over elements of " +
             describe(operand) + ", which is not dense";
    });
  return setReach(operand, axis);
}

LogicalResult SpaceBuilder::planAxes() {
  for (auto [k, operand] : llvm::enumerate(space.operands))
    for (AxisAccess &axis : operand)
      if (failed(planAxis(k, axis)))
        return failure();
  return success();
}

SmallVector<bool, 12> SpaceBuilder::findUsed() const {
  SmallVector<bool, 12> used(space.digits.size(), false);
  for (const auto &operand : space.operands)
    for (const AxisAccess &axis : operand)
      for (unsigned digit : axis.digits)
        used[digit] = true;
  return used;
}

/// Drops the outermost digits that have one value and that no operand stores
/// (`c floordiv 32` of 17 channels, or a dim of size 1), because they need no
/// loop. Returns true if there are any.
bool SpaceBuilder::dropUnitDigits() {
  SmallVector<bool, 12> used = findUsed();
  bool changed = false;
  for (auto [i, digit] : llvm::enumerate(space.digits))
    if (!used[i] && !dropped[digit.loop] && isOutermost(i) &&
        digit.extent.isConstantEqual(1)) {
      dropped[digit.loop] = true;
      changed = true;
    }
  return changed;
}

/// Checks that each digit is on a stored axis of some operand, so that a shape
/// determines its trip count, and that iterations over padding do not overwrite
/// elements of results. Also calls checkStated() for each result.
LogicalResult SpaceBuilder::checkDigits() {
  SmallVector<bool, 12> used = findUsed();
  for (auto [i, digit] : llvm::enumerate(space.digits))
    if (!used[i])
      return fail([&] {
        return ("loop d" + Twine(digit.loop) +
                " is not a stored axis of any operand, so no shape determines "
                "its trip count: store at least one operand densely along it")
            .str();
      });
  for (unsigned k = 0; k < axes.size(); ++k) {
    if (!isResult(k))
      continue;
    for (unsigned loop = 0; loop < breaks.size(); ++loop)
      if (space.isPadded[loop] && dependsOn(k, loop) &&
          !storesAllOf(space, k, loop))
        return fail([&] {
          return (Twine(describe(k)) + " leaves out a digit of loop d" +
                  Twine(loop) + ", whose padding would be stored over elements")
              .str();
        });
    if (failed(checkStated(k)))
      return failure();
  }
  return success();
}

LogicalResult SpaceBuilder::run() {
  if (failed(readOperands()) || failed(cutLoops()))
    return failure();
  do {
    orderDigits();
    placeAxes();
    raiseExtents();
    findPadding();
    if (failed(planAxes()))
      return failure();
  } while (dropUnitDigits());
  return checkDigits();
}
