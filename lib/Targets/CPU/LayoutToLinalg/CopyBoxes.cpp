//===- CopyBoxes.cpp - Conversions carried out box by box -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CopyBoxes.h"
#include "layout/Algebra/AffineMaps.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/Layout/Utils/EmitSize.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::layout;

namespace {

/// Emits the reshapes and slices of one tensor of a copy, its source or its
/// result. The physical tensor is expanded: a stored axis whose positions are
/// exactly all values of its digits becomes one dim per digit, and other axes
/// stay.
class Side {
public:
  Side(OpBuilder &b, Location loc, const CopyPlan &copy, unsigned operand,
       ArrayRef<OpFoldResult> sizes)
      : b(b), loc(loc), space(copy.space), axes(space.operands[operand]),
        slots(getSlots(space, operand)), sizes(sizes) {}

  Value expand(Value physical);
  Value collapse(Value expanded, RankedTensorType physical);
  /// Emits the extents of the expanded tensor, one per dim, from the logical
  /// sizes.
  SmallVector<OpFoldResult> getExtents();

  struct Slice {
    SmallVector<OpFoldResult> offsets, sizes, strides;
    bool isAll = true;
  };
  Slice getSlice(const DigitBox &box);
  /// Returns the map from the digits to the dims of the slice of the expanded
  /// tensor that holds `box`. A digit counts from the start of its index range
  /// in `box`.
  AffineMap getMap(const DigitBox &box) const;

private:
  /// Returns true if `slot`, a dim of the expanded tensor, is one digit, and
  /// `box`, which has an index range per digit, covers all of it.
  bool isWholeDigit(const DigitSlot &slot, const DigitBox &box) const {
    return slot.digits.size() == 1 && box[slot.digits[0]].isWhole() &&
           axes[slot.axis].required == axes[slot.axis].extent;
  }
  bool isExpanded() const { return slots.size() != axes.size(); }
  RankedTensorType getType(Type elementType);
  SmallVector<ReassociationIndices> getGroups() const;

  OpBuilder &b;
  Location loc;
  const IterationSpace &space;
  ArrayRef<AxisAccess> axes;
  SmallVector<DigitSlot> slots;
  ArrayRef<OpFoldResult> sizes;
};

} // namespace

SmallVector<OpFoldResult> Side::getExtents() {
  SmallVector<OpFoldResult> extents;
  for (const DigitSlot &slot : slots) {
    bool isDigit = slot.digits.size() == 1 &&
                   axes[slot.axis].required == axes[slot.axis].extent;
    OpFoldResult extent = emitSize(b, loc,
                                   isDigit ? space.digits[slot.digits[0]].extent
                                           : axes[slot.axis].extent,
                                   sizes);
    // Constant values must be static in the type, too.
    if (std::optional<int64_t> number = getConstantIntValue(extent))
      extent = b.getIndexAttr(*number);
    extents.push_back(extent);
  }
  return extents;
}

RankedTensorType Side::getType(Type elementType) {
  SmallVector<int64_t> shape;
  for (OpFoldResult extent : getExtents())
    shape.push_back(getConstantIntValue(extent).value_or(ShapedType::kDynamic));
  return RankedTensorType::get(shape, elementType);
}

SmallVector<ReassociationIndices> Side::getGroups() const {
  SmallVector<ReassociationIndices> groups(axes.size());
  for (auto [i, slot] : llvm::enumerate(slots))
    groups[slot.axis].push_back(i);
  return groups;
}

Value Side::expand(Value physical) {
  Type elementType =
      cast<RankedTensorType>(physical.getType()).getElementType();
  RankedTensorType type = getType(elementType);
  // The digits may have static sizes that the type does not state.
  SmallVector<int64_t> line;
  for (const ReassociationIndices &group : getGroups()) {
    int64_t extent = 1;
    for (int64_t i : group)
      extent = ShapedType::isDynamic(extent) || type.isDynamicDim(i)
                   ? ShapedType::kDynamic
                   : extent * type.getDimSize(i);
    line.push_back(extent);
  }
  auto lineType = RankedTensorType::get(line, elementType);
  if (physical.getType() != lineType)
    physical = tensor::CastOp::create(b, loc, lineType, physical);
  if (!isExpanded())
    return physical;
  return tensor::ExpandShapeOp::create(b, loc, type, physical, getGroups(),
                                       getExtents());
}

Value Side::collapse(Value expanded, RankedTensorType physical) {
  if (isExpanded())
    expanded = tensor::CollapseShapeOp::create(b, loc, expanded, getGroups());
  if (expanded.getType() != physical)
    expanded = tensor::CastOp::create(b, loc, physical, expanded);
  return expanded;
}

Side::Slice Side::getSlice(const DigitBox &box) {
  Slice slice;
  for (auto [slot, stored] : llvm::zip_equal(slots, getExtents())) {
    int64_t offset = 0;
    OpFoldResult size = stored;
    if (!slot.digits.empty()) {
      DigitRange range = *getRange(space, slot.digits, box);
      offset = range.offset;
      // Storage may have more positions than the digits reach.
      size = range.size
                 ? OpFoldResult(b.getIndexAttr(*range.size))
                 : emitSize(b, loc, space.digits[slot.digits[0]].extent, sizes);
    }
    std::optional<int64_t> all = getConstantIntValue(stored);
    slice.isAll &= slot.digits.empty() || isWholeDigit(slot, box) ||
                   (all && all == getConstantIntValue(size));
    slice.offsets.push_back(b.getIndexAttr(offset));
    slice.sizes.push_back(size);
    slice.strides.push_back(b.getIndexAttr(1));
  }
  return slice;
}

AffineMap Side::getMap(const DigitBox &box) const {
  MLIRContext *context = b.getContext();
  unsigned count = space.digits.size();
  SmallVector<AffineExpr> digits, shifted, results;
  for (unsigned i = 0; i < count; ++i) {
    digits.push_back(getAffineDimExpr(i, context));
    shifted.push_back(digits.back() + box[i].offset);
  }
  for (const DigitSlot &slot : slots) {
    // Expressions are not sliced, so their positions include the offset.
    if (slot.digits.empty()) {
      results.push_back(
          toAffineExpr(axes[slot.axis].value, shifted, {}, context));
      continue;
    }
    AffineExpr position = getAffineConstantExpr(0, context);
    for (unsigned digit : slot.digits) {
      if (slot.digits.size() > 1)
        position = position * *space.digits[digit].extent.getConstant();
      // A digit of size one adds nothing to the offset of its slice.
      if (slot.digits.size() == 1 || box[digit].size != 1)
        position = position + digits[digit];
    }
    results.push_back(position);
  }
  return AffineMap::get(count, 0, results, context);
}

/// Emits a copy of `from` into `to` and returns the result. `fromMap` and
/// `toMap` map the digits to the dims of both. The copy is a linalg.copy or
/// linalg.transpose, which later passes match by name, or else a
/// linalg.generic.
static Value emitCopy(OpBuilder &b, Location loc, Value from, AffineMap fromMap,
                      Value to, AffineMap toMap) {
  if (fromMap.isPermutation() && toMap.isPermutation()) {
    if (fromMap == toMap)
      return linalg::CopyOp::create(b, loc, from, to).getResult(0);
    // Either side may have static sizes that the other does not state.
    auto fromType = cast<RankedTensorType>(from.getType());
    auto toType = cast<RankedTensorType>(to.getType());
    SmallVector<int64_t> fromShape(fromType.getShape()),
        toShape(toType.getShape()), permutation;
    for (auto [expr, size] : llvm::zip_equal(toMap.getResults(), toShape)) {
      int64_t position = *fromMap.getResultPosition(expr);
      permutation.push_back(position);
      if (ShapedType::isDynamic(size))
        size = fromShape[position];
      fromShape[position] = size;
    }
    auto castTo = [&](RankedTensorType type, Value value) -> Value {
      return type == value.getType()
                 ? value
                 : tensor::CastOp::create(b, loc, type, value);
    };
    auto transposed = linalg::TransposeOp::create(
        b, loc, castTo(fromType.clone(fromShape), from),
        castTo(toType.clone(toShape), to), permutation);
    return castTo(toType, transposed->getResult(0));
  }
  SmallVector<utils::IteratorType> iterators(fromMap.getNumDims(),
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, loc, to.getType(), from, to, ArrayRef{fromMap, toMap}, iterators,
      [](OpBuilder &b, Location loc, ValueRange args) {
        linalg::YieldOp::create(b, loc, args.front());
      });
  return generic.getResult(0);
}

/// Returns `into` with one slice replaced by what `emit` computes from it.
static Value updateSlice(OpBuilder &b, Location loc, Value into,
                         const Side::Slice &slice,
                         function_ref<Value(Value)> emit) {
  if (slice.isAll)
    return emit(into);
  Value part = tensor::ExtractSliceOp::create(b, loc, into, slice.offsets,
                                              slice.sizes, slice.strides);
  return tensor::InsertSliceOp::create(b, loc, emit(part), into, slice.offsets,
                                       slice.sizes, slice.strides);
}

static Value fillSlices(OpBuilder &b, Location loc, ArrayRef<DigitBox> fills,
                        Side &side, Value expanded, RankedTensorType to) {
  if (fills.empty())
    return expanded;
  Value padding = arith::ConstantOp::create(b, loc, getPadding(to));
  for (const DigitBox &box : fills)
    expanded =
        updateSlice(b, loc, expanded, side.getSlice(box), [&](Value part) {
          return linalg::FillOp::create(b, loc, padding, part).getResult(0);
        });
  return expanded;
}

/// Returns true if the index range of `fill` in digit `fastest` starts where
/// that of `box` ends, and both have the same range in every other digit.
static bool follows(const DigitBox &fill, const DigitBox &box,
                    unsigned fastest) {
  for (auto [digit, a, b] : llvm::enumerate(box, fill)) {
    bool isSame = digit == fastest ? a.size && a.offset + *a.size == b.offset
                                   : a.offset == b.offset && a.size == b.size;
    if (!isSame)
      return false;
  }
  return true;
}

/// Removes from `fills`, and returns, the boxes of padding that begin where
/// `box` ends along the innermost stored digit of the result and equal `box` in
/// all other digits.
static SmallVector<DigitBox> takeFills(SmallVectorImpl<DigitBox> &fills,
                                       const CopyPlan &copy,
                                       const DigitBox &box) {
  SmallVector<DigitBox> taken, others;
  for (DigitBox &fill : fills) {
    ArrayRef<unsigned> digits = copy.space.operands[1].back().digits;
    bool isNext = !digits.empty() && follows(fill, box, digits.back());
    (isNext ? taken : others).push_back(std::move(fill));
  }
  fills = std::move(others);
  return taken;
}

Value layout::emitBoxes(OpBuilder &b, Location loc, const CopyPlan &copy,
                        Value source, RankedTensorType to,
                        ArrayRef<OpFoldResult> sizes) {
  // A plan without elements has no digits.
  if (copy.space.operands.empty())
    return copy.prefills ? createPadded(b, loc, to, sizes)
                         : createEmpty(b, loc, to, sizes);
  RankedTensorType physical = *getPhysicalType(to);
  Side from(b, loc, copy, 0, sizes), into(b, loc, copy, 1, sizes);
  auto holdsNothing = [](Side &side) {
    return llvm::any_of(side.getExtents(), [](OpFoldResult extent) {
      return isConstantIntValue(extent, 0);
    });
  };
  if (holdsNothing(into))
    return createEmpty(b, loc, to, sizes);
  Value result = tensor::EmptyOp::create(b, loc, into.getExtents(),
                                         physical.getElementType());
  Value expanded = from.expand(source);
  if (copy.prefills) {
    Value padding = arith::ConstantOp::create(b, loc, getPadding(to));
    result = linalg::FillOp::create(b, loc, padding, result).getResult(0);
  }
  // Slices of an empty source would be out of bounds.
  ArrayRef<DigitBox> boxes = copy.boxes;
  if (holdsNothing(from))
    boxes = {};
  // The fill that follows a box comes before it, so that both can be one loop.
  SmallVector<DigitBox> fills = copy.fills;
  SmallVector<SmallVector<DigitBox>> own;
  for (const DigitBox &box : boxes)
    own.push_back(takeFills(fills, copy, box));
  result = fillSlices(b, loc, fills, into, result, to);
  auto following = own.begin();
  for (const DigitBox &box : boxes) {
    result = fillSlices(b, loc, *following++, into, result, to);
    Side::Slice read = from.getSlice(box);
    Value part = expanded;
    if (!read.isAll)
      part = tensor::ExtractSliceOp::create(b, loc, expanded, read.offsets,
                                            read.sizes, read.strides);
    result = updateSlice(b, loc, result, into.getSlice(box), [&](Value dest) {
      return emitCopy(b, loc, part, from.getMap(box), dest, into.getMap(box));
    });
  }
  return into.collapse(result, physical);
}

Value layout::emitFills(OpBuilder &b, Location loc, const CopyPlan &copy,
                        Value storage, RankedTensorType to,
                        ArrayRef<OpFoldResult> sizes) {
  Side side(b, loc, copy, 1, sizes);
  Value filled = fillSlices(b, loc, copy.fills, side, side.expand(storage), to);
  return side.collapse(filled, *getPhysicalType(to));
}
