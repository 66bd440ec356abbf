//===- EmitIndex.cpp - Layout maps as IR ----------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/Utils/EmitIndex.h"
#include "layout/Algebra/AffineMaps.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::layout;

namespace {

/// Emits index expressions as affine.apply and arith ops, for given dims and
/// sizes. The dims of the affine maps are the indices, followed by swizzles and
/// non-affine fused values; the symbols are the dynamic sizes.
class ValueEmitter {
public:
  ValueEmitter(OpBuilder &b, Location loc, ValueRange dims,
               ArrayRef<OpFoldResult> sizes);

  Value emit(const IndexExpr &value);

private:
  AffineExpr addDim(Value value);
  Value apply(AffineExpr expr);
  Value emitAffine(const IndexExpr &value);
  AffineExpr emitSwizzle(const Swizzle &swizzle);

  OpBuilder &b;
  Location loc;
  SmallVector<OpFoldResult> dims, symbols;
  SmallVector<AffineExpr> dimExprs, sizeExprs;
};

} // namespace

ValueEmitter::ValueEmitter(OpBuilder &b, Location loc, ValueRange dims,
                           ArrayRef<OpFoldResult> sizes)
    : b(b), loc(loc) {
  for (Value dim : dims)
    dimExprs.push_back(addDim(dim));
  for (OpFoldResult size : sizes) {
    if (std::optional<int64_t> constant = getConstantIntValue(size)) {
      sizeExprs.push_back(b.getAffineConstantExpr(*constant));
    } else {
      sizeExprs.push_back(b.getAffineSymbolExpr(symbols.size()));
      symbols.push_back(size);
    }
  }
}

AffineExpr ValueEmitter::addDim(Value value) {
  dims.push_back(value);
  return b.getAffineDimExpr(dims.size() - 1);
}

AffineExpr ValueEmitter::emitSwizzle(const Swizzle &swizzle) {
  Value mask = arith::ConstantIndexOp::create(b, loc, swizzle.getExtent() - 1);
  Value result;
  auto join = [&](Value bits) {
    result = result ? arith::XOrIOp::create(b, loc, result, bits) : bits;
  };
  for (const IndexExpr &operand : swizzle.operands)
    join(arith::AndIOp::create(b, loc, emit(operand), mask));
  if (swizzle.constant)
    join(arith::ConstantIndexOp::create(b, loc, swizzle.constant));
  return addDim(result);
}

/// Emits `value`. Products of digits and dynamic sizes are separate operations,
/// because upstream does not terminate on some affine maps that contain them.
Value ValueEmitter::emit(const IndexExpr &value) {
  IndexExpr affine;
  Value sum;
  auto addToSum = [&](Value x) {
    sum = sum ? arith::AddIOp::create(b, loc, sum, x) : x;
  };
  auto emitSize = [&](const SizeExpr &size) {
    return apply(toAffineExpr(size, sizeExprs, b.getContext()));
  };
  for (DigitTerm term : value.terms) {
    if (term.digit.fused &&
        !isAffine(*term.digit.fused, /*hasSwizzleExprs=*/true)) {
      // Nested fused values become dims first.
      Value fused = emit(*term.digit.fused);
      term.digit.dim = dimExprs.size();
      dimExprs.push_back(addDim(fused));
      term.digit.fused = nullptr;
    }
    if (term.stride.isConstant()) {
      affine.terms.push_back(std::move(term));
      continue;
    }
    IndexExpr digit;
    digit.terms.push_back({term.digit, SizeExpr(1)});
    addToSum(arith::MulIOp::create(b, loc, emitAffine(digit),
                                   emitSize(term.stride)));
  }
  if (value.constant.isConstant())
    affine.constant = value.constant;
  else
    addToSum(emitSize(value.constant));
  if (!sum || !affine.terms.empty() || !affine.constant.isZero())
    addToSum(emitAffine(affine));
  return sum;
}

Value ValueEmitter::emitAffine(const IndexExpr &value) {
  return apply(toAffineExpr(
      value, dimExprs, sizeExprs, b.getContext(),
      [&](const Swizzle &swizzle) { return emitSwizzle(swizzle); }));
}

Value ValueEmitter::apply(AffineExpr expr) {
  auto map = AffineMap::get(dims.size(), symbols.size(), expr);
  SmallVector<OpFoldResult> operands(dims);
  llvm::append_range(operands, symbols);
  return getValueOrCreateConstantIndexOp(
      b, loc, affine::makeComposedFoldedAffineApply(b, loc, map, operands));
}

SmallVector<Value> layout::emitValues(OpBuilder &b, Location loc,
                                      ArrayRef<IndexExpr> values,
                                      ValueRange dims,
                                      ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> results;
  for (const IndexExpr &value : values)
    results.push_back(ValueEmitter(b, loc, dims, sizes).emit(value));
  return results;
}

/// Emits the values of `parts`, the coordinates or stored axes of `map`.
/// Replica indices that `index` lacks are 0.
template <typename Parts>
static SmallVector<Value>
emitParts(OpBuilder &b, Location loc, const LayoutMap &map, const Parts &parts,
          ValueRange index, ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> dims(index);
  while (dims.size() < map.getNumDims())
    dims.push_back(arith::ConstantIndexOp::create(b, loc, 0));
  SmallVector<IndexExpr> values;
  for (const auto &part : parts)
    values.push_back(part.value);
  return emitValues(b, loc, values, dims, sizes);
}

SmallVector<Value> layout::emitForward(OpBuilder &b, Location loc,
                                       const LayoutMap &map, ValueRange index,
                                       ArrayRef<OpFoldResult> sizes) {
  return emitParts(b, loc, map, map.getCoordinates(), index, sizes);
}

SmallVector<Value> layout::emitStoredAxes(OpBuilder &b, Location loc,
                                          const LayoutMap &map,
                                          ValueRange index,
                                          ArrayRef<OpFoldResult> sizes) {
  return emitParts(b, loc, map, map.getStoredAxes(), index, sizes);
}

FailureOr<EmittedIndex>
layout::emitBackward(OpBuilder &b, Location loc, const LayoutMap &map,
                     ArrayRef<int64_t> shape, ValueRange position,
                     ArrayRef<OpFoldResult> sizes, bool checkPadding) {
  std::optional<std::vector<IndexExpr>> inverse = getBackwardValues(map, shape);
  if (!inverse)
    return failure();
  SmallVector<Value> dims = emitValues(b, loc, *inverse, position, sizes);
  EmittedIndex result;
  result.index = llvm::to_vector(ArrayRef(dims).take_front(map.getRank()));
  if (!checkPadding)
    return result;

  // The position holds an element if the index is in the box and maps back to
  // the position.
  auto require = [&](arith::CmpIPredicate predicate, Value x, Value y) {
    Value holds = arith::CmpIOp::create(b, loc, predicate, x, y);
    result.isElement =
        result.isElement
            ? arith::AndIOp::create(b, loc, result.isElement, holds)
            : holds;
  };
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  SmallVector<OpFoldResult> box(sizes);
  for (int64_t extent : map.getReplicas())
    box.push_back(b.getIndexAttr(extent));
  for (auto [dim, size] : llvm::zip_equal(dims, box)) {
    require(arith::CmpIPredicate::sge, dim, zero);
    require(arith::CmpIPredicate::slt, dim,
            getValueOrCreateConstantIndexOp(b, loc, size));
  }
  for (auto [here, own] :
       llvm::zip_equal(position, emitStoredAxes(b, loc, map, dims, sizes)))
    if (here != own)
      require(arith::CmpIPredicate::eq, here, own);
  return result;
}

SmallVector<Value> layout::emitDigits(OpBuilder &b, Location loc,
                                      Value coordinate,
                                      ArrayRef<OpFoldResult> extents) {
  auto isOne = [](OpFoldResult extent) {
    return isConstantIntValue(extent, 1);
  };
  SmallVector<Value> digits(extents.size());
  // Splits off the fastest digit first; the remainder is the slowest one.
  Value rest = coordinate;
  for (size_t a = extents.size(); a-- > 0;) {
    if (isOne(extents[a])) {
      digits[a] = arith::ConstantIndexOp::create(b, loc, 0);
      continue;
    }
    if (llvm::all_of(extents.take_front(a), isOne)) {
      digits[a] = rest;
      continue;
    }
    Value divisor = getValueOrCreateConstantIndexOp(b, loc, extents[a]);
    // Empty storage has an axis of extent 0: do not divide by it.
    if (getConstantIntValue(extents[a]).value_or(0) < 1) {
      Value one = arith::ConstantIndexOp::create(b, loc, 1);
      divisor = arith::MaxSIOp::create(b, loc, divisor, one);
    }
    digits[a] = arith::RemUIOp::create(b, loc, rest, divisor);
    rest = arith::DivUIOp::create(b, loc, rest, divisor);
  }
  return digits;
}

/// Emits the index along each stored axis of a storage point, which must be
/// within the storage.
static SmallVector<Value> emitAxesOfPoint(OpBuilder &b, Location loc,
                                          const LayoutMap &map,
                                          ValueRange point,
                                          ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> axes;
  for (auto [c, x] : llvm::enumerate(point)) {
    SmallVector<OpFoldResult> extents;
    for (const StoredAxis &axis : map.getStoredAxes(c))
      extents.push_back(getAsOpFoldResult(
          emitValues(b, loc, IndexExpr(axis.extent), {}, sizes).front()));
    llvm::append_range(axes, emitDigits(b, loc, x, extents));
  }
  return axes;
}

FailureOr<EmittedIndex>
layout::emitBackwardOfPoint(OpBuilder &b, Location loc, const LayoutMap &map,
                            ArrayRef<int64_t> shape, ValueRange point,
                            ArrayRef<OpFoldResult> sizes) {
  if (!getBackwardValues(map, shape))
    return failure();
  // Points outside are replaced by the first position, so that nothing
  // overflows.
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value isInside;
  SmallVector<Value> inside;
  for (auto [x, coordinate] : llvm::zip_equal(point, map.getCoordinates())) {
    Value extent =
        emitValues(b, loc, IndexExpr(coordinate.extent), {}, sizes).front();
    // As an unsigned number, a negative coordinate is too large.
    Value fits =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, x, extent);
    inside.push_back(arith::SelectOp::create(b, loc, fits, x, zero));
    isInside = isInside ? arith::AndIOp::create(b, loc, isInside, fits) : fits;
  }
  FailureOr<EmittedIndex> result = emitBackward(
      b, loc, map, shape, emitAxesOfPoint(b, loc, map, inside, sizes), sizes,
      /*checkPadding=*/true);
  Value &isElement = result->isElement;
  if (!isElement)
    isElement = isInside;
  else if (isInside)
    isElement = arith::AndIOp::create(b, loc, isInside, isElement);
  return result;
}
