//===- IterationSpace.cpp - Loops of an op over stored axes ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SpaceBuilder.h"
#include "layout/Algebra/AffineMaps.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Interfaces/ReachedStorage.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::layout;

std::string SpaceBuilder::describe(unsigned operand) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "operand " << operand << " of type " << operands[operand].type;
  return text;
}

/// Returns the stored axes of `map`, for the first replica of each element,
/// with its dims and sizes replaced by the given expressions.
static std::vector<StoredAxis> placeOn(const LayoutMap &map,
                                       std::vector<IndexExpr> dims,
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
  std::vector<IndexExpr> dims;
  SmallVector<SizeExpr> sizeOf;
  for (auto [d, size] : llvm::enumerate(shape)) {
    dims.push_back(IndexExpr::dim(d));
    sizeOf.push_back(ShapedType::isDynamic(size) ? SizeExpr::dim(d)
                                                 : SizeExpr(size));
  }
  return placeOn(map, std::move(dims), sizeOf);
}

/// Returns the largest value of an index over all iterations, or std::nullopt
/// if it is not a sum of loops times constants >= 0 and a constant.
std::optional<SizeExpr> SpaceBuilder::largestIndex(AffineExpr expr) const {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return getSize(dim.getPosition()) - SizeExpr(1);
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

/// Computes the stored axes of every operand as functions of the loops. A dim
/// indexed by one loop has the loop's size, and any other static dim that of
/// the type. A dynamic dim indexed by a sum of loops, such as the rows of a
/// window, has a symbolic size of its own. In an operand, this is at least the
/// largest index plus 1; in a result, it may be any size.
LogicalResult SpaceBuilder::readOperands() {
  numSizes = sizes.size();
  SmallVector<IndexExpr> loops;
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
        return (Twine(describe(k)) + " is in the space '" + map->getSpace() +
                "'")
            .str();
      });
    if (operand.isResult && !map->getReplicas().empty())
      return fail([&] { return describe(k) + " has replicas"; });
    while (loops.size() < sizes.size())
      loops.push_back(IndexExpr::dim(loops.size()));
    std::vector<IndexExpr> dims;
    std::vector<SizeExpr> sizeOf;
    for (auto [d, expr] : llvm::enumerate(operand.map.getResults())) {
      std::optional<IndexExpr> index = fromAffineExpr(expr, loops);
      if (!index)
        return fail([&] {
          return ("the index of dim " + Twine(d) + " of " + describe(k) +
                  " is not a sum of digits of loops")
              .str();
        });
      dims.push_back(std::move(*index));
      auto dim = dyn_cast<AffineDimExpr>(expr);
      if (dim)
        sizeOf.push_back(getSize(dim.getPosition()));
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

/// Sets the values in `space` of those axes that placeDigits cannot rewrite:
/// replaces each loop in the axis by the sum of its digits, times their
/// weights, and simplifies the value.
///
/// The simplification gets upper bounds of all digits except the outermost ones
/// of loops that are not in `dropped`. With these bounds, it would remove a
/// digit that is always 0 on this shape, but is an axis of the storage.
void SpaceBuilder::substituteAxes() {
  std::vector<IndexExpr> dims(sizes.size());
  SmallVector<int64_t> bounds(space.digits.size(), kUnknownSize);
  for (auto [i, digit] : llvm::enumerate(space.digits)) {
    if (dropped[digit.loop] || !isOutermost(i))
      bounds[i] = *digit.extent.getConstant();
    dims[digit.loop] =
        add(dims[digit.loop], scale(IndexExpr::dim(i), SizeExpr(digit.weight)));
  }
  std::vector<SizeExpr> sizeOf;
  for (unsigned d = 0; d < numSizes; ++d)
    sizeOf.push_back(SizeExpr::dim(d));
  for (auto [k, operandAxes] : llvm::enumerate(axes))
    for (auto [axis, access] : llvm::zip(operandAxes, space.operands[k]))
      if (IndexExpr placed; !placeDigits(axis.value, placed))
        access.value = substitute(axis.value, dims, sizeOf, bounds);
}

/// Sets `axis.required` to the number of positions that the axis needs: its
/// extent, or one more than the highest position that the loops reach if that
/// is more. Fails if positions may be negative or unbounded, or if the extent
/// is dynamic.
LogicalResult SpaceBuilder::setReach(unsigned operand, AxisAccess &axis) {
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

/// Checks that the type of operand `k` does not state the value of padding
/// (`#layout.padded`), or that the loops reach a box of its positions.
/// Otherwise padding between elements would not get the stated value.
LogicalResult SpaceBuilder::checkStated(unsigned k) {
  if (operands[k].type && !reachesBox(space, k) &&
      statesPadding(operands[k].type))
    return fail(
        [&] { return describe(k) + " states padding between its elements"; });
  return success();
}

FailureOr<IterationSpace>
layout::getIterationSpace(ArrayRef<OperandAccess> operands,
                          ArrayRef<utils::IteratorType> iterators,
                          ArrayRef<int64_t> sizes, FailureReason refuse) {
  SpaceBuilder builder(operands, iterators, sizes, refuse);
  if (failed(builder.run()))
    return failure();
  return builder.takeSpace();
}

AffineMap layout::getExpandedMap(const IterationSpace &space, unsigned k,
                                 MLIRContext *context) {
  unsigned numDigits = space.digits.size();
  SmallVector<AffineExpr> dims, results;
  for (unsigned i = 0; i < numDigits; ++i)
    dims.push_back(getAffineDimExpr(i, context));
  for (const AxisAccess &axis : space.operands[k]) {
    if (axis.digits.empty())
      results.push_back(toAffineExpr(axis.value, dims, {}, context));
    for (unsigned digit : axis.digits)
      results.push_back(dims[digit]);
  }
  return AffineMap::get(numDigits, 0, results, context);
}
