//===- StaticCopyCost.cpp - Elements that a copy of digits moves ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StaticCopyCost.h"
#include "layout/Algebra/Box.h"
#include "layout/Algebra/Pack.h"
#include "layout/Analysis/BoxDecomposition.h"
#include "layout/Interfaces/CommonRefinement.h"

using namespace mlir;
using namespace mlir::layout;

/// The maximum dim size or tile size, and the maximum elements of a storage, so
/// that products stay within 64 bits.
static constexpr int64_t kMaxTile = int64_t(1) << 24;
static constexpr int64_t kMaxStorage = int64_t(1) << 48;

static bool isSwizzled(const Digit &digit) {
  return digit.swizzle ||
         (digit.fused && llvm::any_of(digit.fused->terms, [](const auto &term) {
            return isSwizzled(term.digit);
          }));
}

static bool readAxis(const StoredAxis &stored, ArrayRef<int64_t> shape,
                     StaticStorage::Axis &axis) {
  std::optional<int64_t> extent = stored.extent.evaluate(shape);
  std::optional<int64_t> constant = stored.value.constant.evaluate(shape);
  if (!extent || !constant)
    return false;
  axis.extent = *extent;
  axis.value.constant = *constant;
  for (const DigitTerm &from : stored.value.terms) {
    std::optional<int64_t> stride = from.stride.evaluate(shape);
    if (!stride || *stride < 1 || *stride > kMaxStorage)
      return false;
    StaticIndexExpr::Term &term = axis.value.terms.emplace_back();
    term.stride = *stride;
    if (!from.digit.isDim()) {
      from.digit.walkDims(
          [&](unsigned d) { term.digit.mixedDims |= uint64_t(1) << d; });
      term.digit.isSwizzled = isSwizzled(from.digit);
      continue;
    }
    if (std::max(from.digit.divisor, from.digit.modulus) > kMaxTile)
      return false;
    term.digit.dim = from.digit.dim;
    term.digit.divisor = from.digit.divisor;
    term.digit.modulus = from.digit.modulus;
  }
  return true;
}

/// Returns true if `axis` need not be simplified for its static shape: each of
/// its digits is a digit of a single dim, and no two adjacent ones merge into a
/// wider digit.
static bool areDigitsOnShape(const StaticStorage::Axis &axis) {
  ArrayRef<StaticIndexExpr::Term> terms = axis.value.terms;
  for (size_t i = 1; i < terms.size(); ++i) {
    const StaticIndexExpr::Term &below = terms[i - 1], &above = terms[i];
    if (below.digit.dim == above.digit.dim &&
        below.digit.divisor * below.digit.modulus == above.digit.divisor &&
        above.stride == below.stride * below.digit.modulus)
      return false;
  }
  return llvm::all_of(terms,
                      [](const auto &term) { return term.digit.isDim(); });
}

std::optional<StaticStorage> StaticStorage::read(const LayoutMap &map,
                                                 ArrayRef<int64_t> shape) {
  if (map.getSpace() != "buffer" || !map.getReplicas().empty() ||
      shape.size() > 64 || llvm::any_of(shape, [](int64_t size) {
        return size < 1 || size > kMaxTile;
      }))
    return std::nullopt;
  StaticStorage result;
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
  return result;
}

namespace {
/// The loops of a copy, one per digit that source and result have in common,
/// and how they index the stored axes of both. All numbers are integers for a
/// static shape, unlike in an IterationSpace.
struct StaticSpace {
  struct LoopDigit {
    unsigned loop;
    int64_t weight;
    SaturatedInt extent;
  };
  struct AxisAccess {
    StaticIndexExpr value;
    SaturatedInt extent, required;
    SmallVector<unsigned, 4> digits;
  };
  SmallVector<LoopDigit, 12> digits;
  SmallVector<SmallVector<unsigned, 4>, 6> digitsOf;
  SmallVector<bool, 8> isPadded;
  SmallVector<SmallVector<AxisAccess, 6>, 2> operands;
};

/// Splits the dims into the digits in which both a source and a result, which
/// states no padding, are stored.
class StaticRefinement : public CommonRefinement<StaticRefinement, StaticSpace,
                                                 StaticStorage::Axis> {
public:
  StaticRefinement(const StaticStorage &from, const StaticStorage &to,
                   ArrayRef<int64_t> shape)
      : CommonRefinement(shape.size()), shape(shape) {
    axes = {from.axes, to.axes};
  }

  /// Returns true if the refinement failed only because this class does not
  /// handle an axis, e.g. some with an offset or a swizzle. A CopyPlan with
  /// symbolic sizes may exist then.
  bool isUnknown() const { return unknown; }
  const StaticSpace &getSpace() const { return space; }

  LogicalResult readOperands() { return success(); }
  SaturatedInt getSize(unsigned loop) const { return shape[loop]; }
  bool isReduction(unsigned) const { return false; }
  bool isResult(unsigned operand) const { return operand == 1; }
  bool dependsOn(unsigned, unsigned) const { return true; }
  /// Fails, and makes isUnknown() return true. Called for axes whose dims
  /// cannot be replaced by their digits one by one, which need a CopyPlan with
  /// symbolic sizes.
  LogicalResult substituteAxes() { return failUnknown(); }
  static bool isAffine(const StaticIndexExpr &value) {
    return llvm::none_of(
        value.terms, [](const auto &term) { return term.digit.isSwizzled; });
  }
  LogicalResult setReach(unsigned, StaticSpace::AxisAccess &axis);
  LogicalResult checkStated(unsigned) { return success(); }
  LogicalResult fail(function_ref<std::string()>) { return failure(); }
  std::string describe(unsigned) const { return {}; }

private:
  LogicalResult failUnknown() {
    unknown = true;
    return failure();
  }

  ArrayRef<int64_t> shape;
  bool unknown = false;
};

/// The parts of a CopyPlan that its cost depends on, as integers for a static
/// shape: the boxes (index ranges per digit) to copy, and the boxes of padding
/// to fill.
struct NumberedCopy {
  const StaticSpace &space;
  CopyPlan::Method method = CopyPlan::Method::Boxes;
  SmallVector<DigitBox> boxes, fills;
  bool prefills = false;
};

class NumberedPlanner : BoxPlanner<NumberedCopy> {
public:
  NumberedPlanner(const StaticSpace &space, ArrayRef<int64_t> shape);
  const NumberedCopy &get() const { return copy; }
};
} // namespace

LogicalResult StaticRefinement::setReach(unsigned,
                                         StaticSpace::AxisAccess &axis) {
  if (!axis.value.constant.isZero())
    return failUnknown();
  int64_t last = 0;
  for (const StaticIndexExpr::Term &term : axis.value.terms) {
    int64_t reach;
    if (!term.digit.isDim() ||
        llvm::MulOverflow(*space.digits[term.digit.dim].extent.getConstant() -
                              1,
                          *term.stride.getConstant(), reach) ||
        llvm::AddOverflow(last, reach, last))
      return failUnknown();
  }
  axis.required = std::max(*axis.extent.getConstant(), last + 1);
  return success();
}

NumberedPlanner::NumberedPlanner(const StaticSpace &space,
                                 ArrayRef<int64_t> shape)
    : BoxPlanner({space}) {
  llvm::SmallBitVector nonDivisible(shape.size());
  for (unsigned dim = 0; dim < shape.size(); ++dim)
    nonDivisible[dim] = copy.space.isPadded[dim] && isCutOrPadded(dim);
  if (!makeBoxes(nonDivisible, shape, /*writesFills=*/false))
    goWhole();
}

std::optional<StaticCopyCount>
mlir::layout::countStaticCopy(const StaticStorage &from,
                              const StaticStorage &to,
                              ArrayRef<int64_t> shape) {
  std::optional<int64_t> elements = countIndices(shape);
  if (!elements || *elements > kMaxStorage)
    return std::nullopt;
  StaticRefinement refinement(from, to, shape);
  LogicalResult isRefined = refinement.run();
  if (refinement.isUnknown())
    return std::nullopt;
  if (failed(isRefined))
    return StaticCopyCount{*elements, to.size, 1, /*isGathered=*/true};
  NumberedPlanner planner(refinement.getSpace(), shape);
  const NumberedCopy &copy = planner.get();
  return StaticCopyCount{countRead(copy, shape), countWritten(copy, shape),
                         countCommonRun(copy.space, shape)};
}
