//===- IterationSpace.cpp - The loops of an op on physical tensors --------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Interfaces/IterationSpace.h"
#include "layout/Algebra/AffineMaps.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Interfaces/ReachedStorage.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::layout;

namespace {

/// Builds an IterationSpace step by step.
class SpaceBuilder {
public:
  SpaceBuilder(ArrayRef<OperandAccess> operands,
               ArrayRef<utils::IteratorType> iterators, ArrayRef<int64_t> sizes,
               std::string *whyNot)
      : operands(operands), iterators(iterators), sizes(sizes), whyNot(whyNot) {
  }

  FailureOr<IterationSpace> run();

private:
  LogicalResult readOperands();
  LogicalResult cutLoops();
  void orderDigits();
  std::optional<Linear> placeDigits(const Linear &axis) const;
  void placeAxes();
  void raiseExtents();
  LogicalResult planAxes();
  bool dropUnitDigits();
  LogicalResult checkDigits();
  LogicalResult checkResult(unsigned operand);
  void findPadding();
  /// Whoever only asks whether there is a space wants no reason, and types take
  /// long to print.
  LogicalResult fail(function_ref<std::string()> describeWhy) {
    if (whyNot)
      *whyNot = describeWhy();
    return failure();
  }
  std::string describe(unsigned operand) const;
  LogicalResult planAxis(unsigned operand, AxisAccess &axis);
  bool isRowMajorOf(const AxisAccess &axis,
                    SmallVectorImpl<unsigned> &digits) const;
  std::optional<SizeExpr> largestIndex(AffineExpr expr) const;
  SizeExpr sizeOfLoop(unsigned loop) const {
    return ShapedType::isDynamic(sizes[loop]) ? SizeExpr::dim(loop)
                                              : SizeExpr(sizes[loop]);
  }
  /// Whether a term is a digit of one value.
  bool isUnit(const DigitTerm &term) const {
    return term.digit.isDim() && term.digit.isWholeSource() &&
           space.digits[term.digit.dim].extent.isConstantEqual(1);
  }
  bool isOutermost(unsigned digit) const {
    return space.digitsOf[space.digits[digit].loop].front() == digit;
  }

  ArrayRef<OperandAccess> operands;
  ArrayRef<utils::IteratorType> iterators;
  ArrayRef<int64_t> sizes;
  std::string *whyNot;

  /// Per operand, as functions of the loops.
  SmallVector<ArrayRef<StoredAxis>> axes;
  std::vector<std::vector<StoredAxis>> ownAxes;
  SmallVector<SmallVector<int64_t>> breaks; // per loop, ascending from 1
  SmallVector<bool> dropped;                // per loop: outermost digit is 0
  unsigned numSizes = 0;
  IterationSpace space;
};

} // namespace

std::string SpaceBuilder::describe(unsigned operand) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "operand " << operand << " of type " << operands[operand].type;
  return text;
}

/// The axes of the first replica, where there are several.
static std::vector<StoredAxis> placeOn(const LayoutMap &map,
                                       std::vector<Linear> dims,
                                       ArrayRef<SizeExpr> sizeOf) {
  dims.resize(map.getNumDims());
  std::vector<StoredAxis> axes;
  axes.reserve(map.getStoredAxes().size());
  for (const StoredAxis &axis : map.getStoredAxes())
    axes.push_back(
        {substitute(axis.value, dims, sizeOf), axis.extent.substitute(sizeOf)});
  return axes;
}

std::vector<StoredAxis> layout::getAxesOnShape(const LayoutMap &map,
                                               ArrayRef<int64_t> shape) {
  std::vector<Linear> dims;
  SmallVector<SizeExpr> sizeOf;
  for (auto [d, size] : llvm::enumerate(shape)) {
    dims.push_back(Linear::dim(d));
    sizeOf.push_back(ShapedType::isDynamic(size) ? SizeExpr::dim(d)
                                                 : SizeExpr(size));
  }
  return placeOn(map, std::move(dims), sizeOf);
}

/// The largest value of `expr`, where it only grows with the loops.
std::optional<SizeExpr> SpaceBuilder::largestIndex(AffineExpr expr) const {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return sizeOfLoop(dim.getPosition()) - SizeExpr(1);
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return SizeExpr(constant.getValue());
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<SizeExpr> lhs = largestIndex(binary.getLHS());
  auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (binary.getKind() == AffineExprKind::Mul && lhs && factor &&
      factor.getValue() >= 0)
    return *lhs * SizeExpr(factor.getValue());
  if (binary.getKind() != AffineExprKind::Add)
    return std::nullopt;
  std::optional<SizeExpr> rhs = largestIndex(binary.getRHS());
  return lhs && rhs ? std::optional(*lhs + *rhs) : std::nullopt;
}

/// The stored axes of every operand as functions of the loops. The size of an
/// operand dim is that of its loop where it has one of its own; that of a
/// window is above the indices that it is read at, by an unknown number of at
/// least 1.
LogicalResult SpaceBuilder::readOperands() {
  numSizes = sizes.size();
  SmallVector<Linear> loops;
  axes.resize(operands.size());
  ownAxes.resize(operands.size());
  for (auto [k, operand] : llvm::enumerate(operands)) {
    if (!operand.type)
      continue;
    if (operand.axes) {
      axes[k] = *operand.axes;
      continue;
    }
    FailureOr<LayoutMap> map = getLayoutMap(operand.type);
    if (failed(map))
      return fail([&] {
        return "the encoding of " + describe(k) + " is not a layout";
      });
    if (map->getSpace() != "buffer")
      return fail([&] {
        return (Twine(describe(k)) + " lives in the space '" + map->getSpace() +
                "'")
            .str();
      });
    if (operand.isResult && !map->getReplicas().empty())
      return fail(
          [&] { return describe(k) + " stores each element several times"; });
    while (loops.size() < sizes.size())
      loops.push_back(Linear::dim(loops.size()));
    std::vector<Linear> dims;
    std::vector<SizeExpr> sizeOf;
    for (auto [d, expr] : llvm::enumerate(operand.map.getResults())) {
      std::optional<Linear> index = fromAffineExpr(expr, loops);
      if (!index)
        return fail([&] {
          return ("the index of dim " + Twine(d) + " of " + describe(k) +
                  " is not a sum of digits of loops")
              .str();
        });
      dims.push_back(std::move(*index));
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (dim)
        sizeOf.push_back(sizeOfLoop(dim.getPosition()));
      else if (!operand.type.isDynamicDim(d))
        sizeOf.push_back(SizeExpr(operand.type.getDimSize(d)));
      else
        sizeOf.push_back(SizeExpr::dim(numSizes++) +
                         (operand.isResult
                              ? SizeExpr()
                              : largestIndex(expr).value_or(SizeExpr())));
    }
    ownAxes[k] = placeOn(*map, std::move(dims), sizeOf);
    axes[k] = ownAxes[k];
  }
  return success();
}

/// The breakpoints at which some operand cuts each loop.
LogicalResult SpaceBuilder::cutLoops() {
  breaks.assign(sizes.size(), {1});
  for (ArrayRef<StoredAxis> operandAxes : axes)
    for (const StoredAxis &axis : operandAxes)
      for (const DigitTerm &term : axis.value.terms) {
        if (!term.digit.isDim())
          continue;
        SmallVector<int64_t> &points = breaks[term.digit.dim];
        points.push_back(term.digit.lo);
        int64_t end;
        if (term.digit.modulus &&
            !llvm::MulOverflow(term.digit.lo, term.digit.modulus, end))
          points.push_back(end);
      }
  for (auto [loop, points] : llvm::enumerate(breaks)) {
    llvm::sort(points);
    points.erase(llvm::unique(points), points.end());
    for (size_t i = 0; i + 1 < points.size(); ++i)
      if (points[i + 1] % points[i] != 0)
        return fail([&] {
          return ("loop d" + Twine(loop) + " is cut at multiples of " +
                  Twine(points[i]) + " and of " + Twine(points[i + 1]) +
                  ", which do not nest")
              .str();
        });
  }
  dropped.assign(sizes.size(), false);
  return success();
}

/// Numbers the digits in the order of the file comment.
void SpaceBuilder::orderDigits() {
  struct Candidate {
    unsigned loop;
    size_t level; // how many digits of the loop lie below
    bool outermost;
  };
  SmallVector<Candidate> order;
  for (unsigned loop = 0; loop < sizes.size(); ++loop)
    for (size_t level = breaks[loop].size(); level-- > 0;) {
      bool outermost = level + 1 == breaks[loop].size();
      if (!(outermost && dropped[loop]))
        order.push_back({loop, level, outermost});
    }
  llvm::stable_sort(order, [&](const Candidate &a, const Candidate &b) {
    if (a.outermost != b.outermost)
      return a.outermost;
    if (a.outermost)
      return a.loop < b.loop;
    if (a.level != b.level)
      return a.level > b.level;
    bool aReduces = iterators[a.loop] == utils::IteratorType::reduction;
    bool bReduces = iterators[b.loop] == utils::IteratorType::reduction;
    return aReduces != bReduces ? aReduces : a.loop < b.loop;
  });
  space = IterationSpace();
  space.digitsOf.resize(sizes.size());
  for (const Candidate &c : order) {
    ArrayRef<int64_t> points = breaks[c.loop];
    int64_t weight = points[c.level];
    space.digitsOf[c.loop].push_back(space.digits.size());
    space.digits.push_back({c.loop, weight,
                            c.outermost
                                ? sizeOfLoop(c.loop).ceilDiv(weight)
                                : SizeExpr(points[c.level + 1] / weight)});
  }
}

/// A digit of a loop is a sum of the digits that the loop is cut into there,
/// and what speaks of loops that keep their number stays as it is; nothing
/// where an axis has anything else.
std::optional<Linear> SpaceBuilder::placeDigits(const Linear &axis) const {
  Linear result(axis.constant);
  const DigitTerm *mixed = axis.terms.data() + axis.terms.size();
  for (const DigitTerm &term : axis.terms) {
    if (!term.digit.isDim()) {
      mixed = &term; // dims come first
      break;
    }
    int64_t end;
    if (llvm::MulOverflow(term.digit.lo, term.digit.modulus, end))
      return std::nullopt;
    for (unsigned i : space.digitsOf[term.digit.dim]) {
      int64_t weight = space.digits[i].weight;
      if (weight < term.digit.lo || (end && weight >= end))
        continue;
      Digit digit;
      digit.dim = i;
      result.terms.push_back(
          {digit, term.stride * SizeExpr(weight / term.digit.lo)});
    }
  }
  llvm::sort(result.terms, [](const DigitTerm &a, const DigitTerm &b) {
    return a.digit.dim < b.digit.dim;
  });
  for (size_t i = 1; i < result.terms.size(); ++i)
    if (result.terms[i - 1].digit.dim == result.terms[i].digit.dim)
      return std::nullopt;
  for (; mixed != axis.terms.data() + axis.terms.size(); ++mixed) {
    bool stays = true;
    mixed->digit.walkDims([&](unsigned loop) {
      stays &= space.digitsOf[loop].size() == 1 &&
               space.digitsOf[loop].front() == loop;
    });
    if (!stays)
      return std::nullopt;
    result.terms.push_back(*mixed);
  }
  return result;
}

/// The axes as functions of the digits. Outermost digits count as unbounded:
/// a digit that is always 0 on this shape is still an axis of storage.
void SpaceBuilder::placeAxes() {
  space.operands.resize(operands.size());
  bool isComplete = true;
  for (auto [k, operandAxes] : llvm::enumerate(axes)) {
    space.operands[k].assign(operandAxes.size(), AxisAccess());
    for (auto [axis, access] : llvm::zip(operandAxes, space.operands[k])) {
      access.extent = axis.extent;
      std::optional<Linear> digits = placeDigits(axis.value);
      isComplete &= digits.has_value();
      if (digits)
        access.value = std::move(*digits);
    }
  }
  if (isComplete)
    return;
  std::vector<Linear> dims(sizes.size());
  SmallVector<int64_t> bounds(space.digits.size(), kUnknownSize);
  for (auto [i, digit] : llvm::enumerate(space.digits)) {
    if (dropped[digit.loop] || !isOutermost(i))
      bounds[i] = *digit.extent.getConstant();
    dims[digit.loop] =
        add(dims[digit.loop], scale(Linear::dim(i), SizeExpr(digit.weight)));
  }
  std::vector<SizeExpr> sizeOf;
  for (unsigned d = 0; d < numSizes; ++d)
    sizeOf.push_back(SizeExpr::dim(d));
  for (auto [k, operandAxes] : llvm::enumerate(axes))
    for (auto [axis, access] : llvm::zip(operandAxes, space.operands[k]))
      if (!placeDigits(axis.value))
        access.value = substitute(axis.value, dims, sizeOf, bounds);
}

/// Storage of a result may hold more positions than the loops need; all of them
/// are written.
void SpaceBuilder::raiseExtents() {
  for (auto [k, operand] : llvm::enumerate(operands)) {
    if (!operand.isResult)
      continue;
    for (const AxisAccess &axis : space.operands[k]) {
      // A digit of one value has the stride of the next, which is above it.
      const DigitTerm *top = nullptr;
      for (const DigitTerm &term : axis.value.terms)
        if (!top || (term.stride.isProvablyAtLeast(top->stride) &&
                     !(isUnit(term) && term.stride == top->stride)))
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

/// Whether `axis` is digits in row-major order, and which.
bool SpaceBuilder::isRowMajorOf(const AxisAccess &axis,
                                SmallVectorImpl<unsigned> &digits) const {
  if (!axis.value.constant.isZero() || axis.value.terms.empty())
    return false;
  std::vector<DigitTerm> left = axis.value.terms;
  SizeExpr stride(1);
  while (!left.empty()) {
    // A digit of one value has the stride of the next: it comes first.
    auto next = left.end();
    for (auto it = left.begin(); it != left.end(); ++it)
      if (it->digit.isDim() && it->digit.isWholeSource() &&
          it->stride == stride && (next == left.end() || isUnit(*it)))
        next = it;
    if (next == left.end())
      return false;
    digits.push_back(next->digit.dim);
    stride = stride * space.digits[next->digit.dim].extent;
    left.erase(next);
  }
  std::reverse(digits.begin(), digits.end());
  return true;
}

/// Whether `value` is an affine expression of the digits alone.
static bool isAffine(const Linear &value) {
  return value.constant.isConstant() &&
         llvm::all_of(value.terms, [](const DigitTerm &term) {
           return term.stride.isConstant() && !term.digit.swizzle &&
                  (!term.digit.fused || isAffine(*term.digit.fused));
         });
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
  // Points inside the logical box lie inside the storage.
  axis.required = axis.extent;
  bool reachesPadding = false;
  axis.value.walkDims([&](unsigned digit) {
    reachesPadding |= space.isPadded[space.digits[digit].loop];
  });
  if (!reachesPadding)
    return success();
  // Positions of indices past the size may be those of other elements.
  if (operands[operand].isResult)
    return fail([&] {
      return "padding of the loops would be stored over elements of " +
             describe(operand) + ", which is not dense";
    });
  SmallVector<int64_t> bounds;
  for (const LoopDigit &digit : space.digits)
    bounds.push_back(digit.extent.getConstant().value_or(kUnknownSize));
  std::optional<Interval> range = getRange(axis.value, bounds);
  std::optional<int64_t> extent = axis.extent.getConstant();
  if (!range || range->min < 0 || !extent || range->max == INT64_MAX)
    return fail([&] {
      return "padding makes the loops leave the storage of " +
             describe(operand) + " by an unknown amount";
    });
  axis.required = SizeExpr(std::max(*extent, range->max + 1));
  return success();
}

LogicalResult SpaceBuilder::planAxes() {
  for (unsigned k = 0; k < operands.size(); ++k)
    for (AxisAccess &axis : space.operands[k])
      if (failed(planAxis(k, axis)))
        return failure();
  return success();
}

void SpaceBuilder::findPadding() {
  space.isPadded.assign(sizes.size(), false);
  for (unsigned loop = 0; loop < sizes.size(); ++loop) {
    SizeExpr total(1);
    for (unsigned digit : space.digitsOf[loop])
      total = total * space.digits[digit].extent;
    space.isPadded[loop] = total != sizeOfLoop(loop);
  }
}

static std::vector<bool> findUsed(const IterationSpace &space) {
  std::vector<bool> used(space.digits.size(), false);
  for (const auto &operand : space.operands)
    for (const AxisAccess &axis : operand)
      for (unsigned digit : axis.digits)
        used[digit] = true;
  return used;
}

/// A layout may leave out a digit that its shape does not have (`c mod 32` of
/// 17 channels, or a whole dim of size 1): no loop is needed for it.
bool SpaceBuilder::dropUnitDigits() {
  std::vector<bool> used = findUsed(space);
  bool changed = false;
  for (auto [i, digit] : llvm::enumerate(space.digits))
    if (!used[i] && !dropped[digit.loop] && isOutermost(i) &&
        digit.extent.isConstantEqual(1)) {
      dropped[digit.loop] = true;
      changed = true;
    }
  return changed;
}

LogicalResult SpaceBuilder::checkDigits() {
  std::vector<bool> used = findUsed(space);
  for (auto [i, digit] : llvm::enumerate(space.digits))
    if (!used[i])
      return fail([&] {
        return ("loop d" + Twine(digit.loop) +
                " is no stored axis of any operand, so no shape says how far "
                "it runs: store at least one operand densely along it")
            .str();
      });
  for (unsigned k = 0; k < operands.size(); ++k)
    if (operands[k].isResult && operands[k].type && failed(checkResult(k)))
      return failure();
  return success();
}

/// Every position that is written gets one element, or padding; padding that
/// the type states is outside of what the loops write, or written by them.
LogicalResult SpaceBuilder::checkResult(unsigned k) {
  for (unsigned loop = 0; loop < sizes.size(); ++loop)
    if (space.isPadded[loop] && operands[k].map.isFunctionOfDim(loop) &&
        !storesAllOf(space, k, loop))
      return fail([&] {
        return (Twine(describe(k)) + " leaves out a digit of loop d" +
                Twine(loop) + ", whose padding would be stored over elements")
            .str();
      });
  if (!reachesBox(space, k) && statesPadding(operands[k].type))
    return fail([&] {
      return describe(k) + " states padding that lies between its elements";
    });
  return success();
}

FailureOr<IterationSpace> SpaceBuilder::run() {
  if (failed(readOperands()) || failed(cutLoops()))
    return failure();
  for (;;) {
    orderDigits();
    placeAxes();
    raiseExtents();
    findPadding();
    if (failed(planAxes()))
      return failure();
    if (!dropUnitDigits())
      break;
  }
  if (failed(checkDigits()))
    return failure();
  return std::move(space);
}

FailureOr<IterationSpace>
layout::getIterationSpace(ArrayRef<OperandAccess> operands,
                          ArrayRef<utils::IteratorType> iterators,
                          ArrayRef<int64_t> sizes, std::string *whyNot) {
  return SpaceBuilder(operands, iterators, sizes, whyNot).run();
}
