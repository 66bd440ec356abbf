//===- ElementEmitter.cpp - Emit elements of tensors in a kernel ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementEmitter.h"
#include "Sizes.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/Layout/Utils/EmitIndex.h"
#include "layout/Interfaces/OpLayoutRule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::layout;

Value ElementEmitter::fail(const Twine &why) {
  if (whyNot.empty())
    whyNot = (why + kRewrite).str();
  return {};
}

Value ElementEmitter::evaluate(Value tensor, Point index, Value valid) {
  if (plan.isInlined(tensor))
    return compute(cast<OpResult>(tensor), index, valid);
  return load(tensor, index);
}

Value ElementEmitter::anyElement(Value tensor) {
  TypedAttr zero = b.getZeroAttr(getElementTypeOrSelf(tensor));
  if (!zero)
    return fail("its elements have no zero");
  return arith::ConstantOp::create(b, loc, zero);
}

SmallVector<IndexExpr> layout::getSourceIndex(const ViewRule &view,
                                              ArrayRef<IndexExpr> index,
                                              ArrayRef<SizeExpr> sizes,
                                              Sizes extents) {
  return llvm::map_to_vector(view.toSource.dims, [&](const IndexExpr &dim) {
    return substitute(dim, index, sizes, extents);
  });
}

std::optional<SmallVector<IndexExpr>> ElementEmitter::throughView(Operation *op,
                                                                  Point index) {
  OpLayoutRule rule = getLayoutRule(op);
  auto *view = std::get_if<ViewRule>(&rule);
  if (!view)
    return std::nullopt;
  return getSourceIndex(*view, index, scope.getSizes(op->getResult(0)),
                        scope.getExtents());
}

Value ElementEmitter::compute(OpResult tensor, Point index, Value valid) {
  Operation *op = tensor.getOwner();
  return TypeSwitch<Operation *, Value>(op)
      .Case([&](arith::ConstantOp constant) {
        // Any value is valid for a constant without elements.
        auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
        if (!splat)
          return anyElement(tensor);
        return arith::ConstantOp::create(
                   b, loc, cast<TypedAttr>(splat.getSplatValue<Attribute>()))
            .getResult();
      })
      .Case([&](tensor::EmptyOp) { return anyElement(tensor); })
      .Case(
          [&](tensor::SplatOp splat) { return scope.import(splat.getInput()); })
      .Case([&](tensor::PadOp pad) { return computePad(pad, index, valid); })
      .Case([&](tensor::ExtractSliceOp slice) {
        return computeSlice(slice, index, valid);
      })
      .Case([&](tensor::InsertSliceOp insert) {
        return computeInsert(insert, index, valid);
      })
      .Case([&](tensor::ConcatOp concat) {
        return computeConcat(concat, index, valid);
      })
      .Case([&](linalg::LinalgOp linalgOp) {
        SmallVector<Value> values =
            computeLinalg(linalgOp, tensor.getResultNumber(),
                          ElementPoint{llvm::to_vector(index), valid});
        return values.empty() ? Value() : values.front();
      })
      .Case<ConvertOp, tensor::CastOp>([&](Operation *op) {
        return evaluate(op->getOperand(0), index, valid);
      })
      .Case([&](StorageViewOp view) {
        return computeStorageView(view, index, valid);
      })
      .Default([&](Operation *op) {
        if (std::optional<SmallVector<IndexExpr>> source =
                throughView(op, index))
          return evaluate(op->getOperand(0), *source, valid);
        // Reshapes of dynamic sizes, which are not views by constant digits.
        if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
          return computeCollapse(collapse, index, valid);
        if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
          return computeExpand(expand, index, valid);
        SmallVector<Value> values =
            computeElementwise(op, ElementPoint{llvm::to_vector(index), valid});
        return values.empty() ? Value() : values.front();
      });
}

SmallVector<Value> ElementEmitter::computeAll(OpResult tensor,
                                              ArrayRef<ElementPoint> points) {
  Operation *op = tensor.getOwner();
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return computeLinalg(linalgOp, tensor.getResultNumber(), points);
  if (OpTrait::hasElementwiseMappableTraits(op) && !isa<arith::ConstantOp>(op))
    return computeElementwise(op, points);
  SmallVector<ElementPoint> shown;
  for (const ElementPoint &point : points)
    if (std::optional<SmallVector<IndexExpr>> source =
            throughView(op, point.index))
      shown.push_back({*source, point.valid});
  if (shown.size() == points.size())
    return evaluateAll(op->getOperand(0), shown);
  SmallVector<Value> values;
  for (const ElementPoint &point : points) {
    values.push_back(compute(tensor, point.index, point.valid));
    if (!values.back())
      return {};
  }
  return values;
}

SmallVector<Value> ElementEmitter::evaluateAll(Value tensor,
                                               ArrayRef<ElementPoint> points) {
  if (plan.isInlined(tensor))
    return computeAll(cast<OpResult>(tensor), points);
  SmallVector<Value> values;
  for (const ElementPoint &point : points) {
    values.push_back(load(tensor, point.index));
    if (!values.back())
      return {};
  }
  return values;
}

//===----------------------------------------------------------------------===//
// Ops that move elements
//===----------------------------------------------------------------------===//

/// Returns an offset or padding width as an expression: a constant, or a new
/// variable if it is dynamic.
IndexExpr ElementEmitter::offsetOf(OpFoldResult value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return IndexExpr(SizeExpr(*constant));
  return scope.addVariable(scope.import(cast<Value>(value)), kUnknownSize);
}

static IndexExpr minus(const IndexExpr &a, const IndexExpr &b, Sizes extents) {
  return add(a, scale(b, SizeExpr(-1), extents), extents);
}

/// Emits the condition x < bound: a scalar if the four lanes of the pixel are
/// known to agree, else one condition per lane.
Value ElementEmitter::isBelow(const IndexExpr &x, const SizeExpr &bound) {
  std::optional<int64_t> known = bound.getConstant();
  if (scope.dependsOnLane(x) && known && *known % kLanesOfPixel == 0) {
    IndexExpr pixel = takeDigit(x, kLanesOfPixel, 0, scope.getExtents());
    if (!scope.dependsOnLane(pixel))
      return isBelow(pixel, SizeExpr(*known / kLanesOfPixel));
  }
  return scope.emitLanes(x, [&](ArrayRef<IndexExpr> xs) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                 scope.emit(xs.front()), scope.emit(bound));
  });
}

/// Emits the choice between two values: an scf.if that computes one of them if
/// the condition is a scalar, or a select of both if it differs per lane.
/// Returns a null value if one of them cannot be emitted.
Value ElementEmitter::chooseIf(Value condition, function_ref<Value()> yes,
                               function_ref<Value()> no) {
  if (isa<VectorType>(condition.getType())) {
    Value a = yes(), b = no();
    return a && b ? scope.select(condition, a, b) : Value();
  }
  size_t outside = cells.size();
  bool isDone = true;
  auto yield = [&](function_ref<Value()> make) {
    Value value = make();
    isDone &= bool(value);
    SmallVector<Value, 1> values;
    if (value)
      values.push_back(scope.broadcast(value));
    scf::YieldOp::create(b, loc, values);
    // Loads of one branch are not visible after it.
    cells.truncate(outside);
  };
  auto branch = scf::IfOp::create(
      b, loc, condition, [&](OpBuilder &, Location) { yield(yes); },
      [&](OpBuilder &, Location) { yield(no); });
  return isDone ? branch.getResult(0) : Value();
}

Value ElementEmitter::computePad(tensor::PadOp op, Point index, Value valid) {
  SmallVector<IndexExpr> inner;
  Border border{op, {}};
  for (auto [d, low] : llvm::enumerate(op.getMixedLowPad())) {
    inner.push_back(minus(index[d], offsetOf(low), scope.getExtents()));
    if (!isConstantIntValue(low, 0) ||
        !isConstantIntValue(op.getMixedHighPad()[d], 0))
      border.index.push_back({d, inner[d]});
  }
  Value padding = scope.import(op.getConstantPaddingValue());
  // Images return zeros at negative coordinates.
  auto isOfLane = [&](const auto &padded) {
    return scope.dependsOnLane(padded.second);
  };
  if ((matchPattern(padding, m_PosZeroFloat()) ||
       matchPattern(padding, m_Zero())) &&
      llvm::none_of(border.index, isOfLane))
    if (Value element = loadPadded(op.getSource(), inner, border))
      return element;
  Value inside = isInside(border);
  Value element = evaluate(op.getSource(), inner, scope.both(valid, inside));
  if (!element)
    return {};
  // Select the whole pixel at once, because other lanes are used, too.
  auto lane = element.getDefiningOp<vector::ExtractOp>();
  if (!lane || lane.hasDynamicPosition() || !inside ||
      isa<VectorType>(inside.getType()))
    return scope.select(inside, element, padding);
  Value outside =
      vector::BroadcastOp::create(b, loc, lane.getSource().getType(), padding);
  Value pixel =
      arith::SelectOp::create(b, loc, inside, lane.getSource(), outside);
  return scope.extract(pixel, lane.getStaticPosition().front());
}

Value ElementEmitter::computeSlice(tensor::ExtractSliceOp op, Point index,
                                   Value valid) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<IndexExpr> outer;
  unsigned next = 0;
  for (auto [d, offset] : llvm::enumerate(op.getMixedOffsets())) {
    IndexExpr position = offsetOf(offset);
    if (!dropped[d]) {
      IndexExpr step = index[next++];
      OpFoldResult stride = op.getMixedStrides()[d];
      std::optional<int64_t> constant = getConstantIntValue(stride);
      if (!constant)
        return fail("a stride of its slice is dynamic");
      position =
          add(position, scale(step, SizeExpr(*constant)), scope.getExtents());
    }
    outer.push_back(std::move(position));
  }
  return evaluate(op.getSource(), outer, valid);
}

Value ElementEmitter::computeInsert(tensor::InsertSliceOp op, Point index,
                                    Value valid) {
  llvm::SmallBitVector dropped = op.getDroppedDims();
  SmallVector<IndexExpr> inner;
  Value inside;
  unsigned next = 0;
  for (auto [d, offset] : llvm::enumerate(op.getMixedOffsets())) {
    std::optional<int64_t> stride =
        getConstantIntValue(op.getMixedStrides()[d]);
    if (!stride || *stride < 1)
      return fail("a stride of its slice is dynamic");
    IndexExpr position = minus(index[d], offsetOf(offset), scope.getExtents());
    // Indices between two steps of a strided slice belong to the destination.
    if (*stride > 1) {
      IndexExpr between = takeDigit(position, 1, *stride, scope.getExtents());
      inside = scope.both(inside, scope.emitInRange(between, SizeExpr(1)));
      position = takeDigit(position, *stride, 0, scope.getExtents());
    }
    SizeExpr size(1);
    if (!dropped[d])
      size = scope.getSize(op.getSource(), next++);
    inside = scope.both(inside, scope.emitInRange(position, size));
    if (!dropped[d])
      inner.push_back(std::move(position));
  }
  if (!inside)
    return evaluate(op.getSource(), inner, valid);
  return chooseIf(
      inside, [&] { return evaluate(op.getSource(), inner, valid); },
      [&] { return evaluate(op.getDest(), index, valid); });
}

Value ElementEmitter::computeConcat(tensor::ConcatOp op, Point index,
                                    Value valid) {
  unsigned dim = op.getDim();
  std::function<Value(unsigned, SizeExpr)> pick =
      [&](unsigned source, SizeExpr offset) -> Value {
    Value input = op.getInputs()[source];
    SmallVector<IndexExpr> inner(index);
    inner[dim] = minus(index[dim], IndexExpr(offset), scope.getExtents());
    auto read = [&] { return evaluate(input, inner, valid); };
    if (source + 1 == op.getInputs().size())
      return read();
    SizeExpr end = offset + scope.getSize(input, dim);
    return chooseIf(isBelow(index[dim], end), read,
                    [&] { return pick(source + 1, end); });
  };
  return pick(0, SizeExpr(0));
}

Value ElementEmitter::computeCollapse(tensor::CollapseShapeOp op, Point index,
                                      Value valid) {
  // Digits of dynamic sizes are emitted for each lane by itself.
  if (scope.dependsOnLane(index)) {
    SmallVector<Value> lanes;
    for (auto [number, one] : llvm::enumerate(scope.atLanes(index))) {
      Value isValid = valid ? scope.extract(valid, number) : Value();
      Value value = computeCollapse(op, one, isValid);
      if (!value)
        return {};
      lanes.push_back(scope.extract(value, number));
    }
    return scope.join(lanes);
  }
  SmallVector<SizeExpr> sizes = scope.getSizes(op.getSrc());
  SmallVector<IndexExpr> source;
  for (auto [d, group] : llvm::enumerate(op.getReassociationIndices())) {
    if (group.size() == 1) {
      source.push_back(index[d]);
      continue;
    }
    SmallVector<OpFoldResult> extents;
    for (int64_t dim : group)
      extents.push_back(getAsOpFoldResult(scope.emit(sizes[dim])));
    // The index is clamped because digits of an invalid one are undefined.
    Value inside =
        scope.emitClamped(index[d], scope.getSize(op.getResult(), d));
    for (auto [digit, extent] :
         llvm::zip_equal(emitDigits(b, loc, inside, extents), extents))
      source.push_back(scope.addVariable(
          digit, getConstantIntValue(extent).value_or(kUnknownSize)));
  }
  return evaluate(op.getSrc(), source, valid);
}

/// Returns the row-major index whose mixed-radix digits are `digits`, slowest
/// first.
IndexExpr ElementEmitter::joinDigits(ArrayRef<IndexExpr> digits,
                                     ArrayRef<SizeExpr> extents) {
  IndexExpr value;
  for (auto [digit, extent] : llvm::zip_equal(digits, extents))
    value = add(scale(value, extent, scope.getExtents()), digit,
                scope.getExtents());
  return value;
}

Value ElementEmitter::computeExpand(tensor::ExpandShapeOp op, Point index,
                                    Value valid) {
  SmallVector<SizeExpr> sizes = scope.getSizes(op.getResult());
  SmallVector<IndexExpr> source;
  unsigned next = 0;
  for (const ReassociationIndices &group : op.getReassociationIndices()) {
    source.push_back(joinDigits(index.slice(next, group.size()),
                                ArrayRef(sizes).slice(next, group.size())));
    next += group.size();
  }
  return evaluate(op.getSrc(), source, valid);
}

/// Emits the element at `index` of the result of `op`, a view of a laid-out
/// tensor as its plain storage, or of plain storage as a laid-out tensor.
Value ElementEmitter::computeStorageView(Operation *op, Point index,
                                         Value valid) {
  Value source = op->getOperand(0), result = op->getResult(0);
  auto from = cast<RankedTensorType>(source.getType());
  auto to = cast<RankedTensorType>(result.getType());
  if (!hasLayout(from)) {
    SmallVector<SizeExpr> sizes = scope.getSizes(result);
    SmallVector<IndexExpr> dims(index), stored;
    dims.resize(getLayoutMap(to)->getNumDims());
    for (const BoundedIndex &dim : getShownDims(to, from))
      stored.push_back(substitute(dim.value, dims, sizes, scope.getExtents()));
    return evaluate(source, stored, valid);
  }
  FailureOr<TensorStorage> storage = getTensorStorage(from, whyNot);
  if (failed(storage))
    return {};
  // Each coordinate is row-major over its dims.
  SmallVector<SizeExpr> sizes = scope.getSizes(source);
  SmallVector<IndexExpr> address;
  SmallVector<BoundedIndex> dims = getShownDims(from, to);
  ArrayRef<Coordinate> coordinates = storage->map.getCoordinates();
  bool isByCoordinate = *getStorageType(from) == to;
  for (unsigned c = 0, first = 0; c < coordinates.size(); ++c) {
    size_t count = dims.size(); // a buffer: those of the offset
    if (coordinates.size() > 1)
      count = isByCoordinate ? 1 : storage->map.getStoredAxes(c).size();
    SmallVector<SizeExpr> extents;
    for (const BoundedIndex &dim : ArrayRef(dims).slice(first, count))
      extents.push_back(dim.extent.substitute(sizes));
    address.push_back(joinDigits(index.slice(first, count), extents));
    first += count;
  }
  IndexExpr lane;
  if (storage->isImage())
    lane = address.pop_back_val();
  return fromStored(loadAddress(source, *storage, address, lane),
                    from.getElementType());
}

//===----------------------------------------------------------------------===//
// Ops that compute elements
//===----------------------------------------------------------------------===//

SmallVector<Value>
ElementEmitter::computeElementwise(Operation *op,
                                   ArrayRef<ElementPoint> points) {
  SmallVector<SmallVector<Value>> operands(points.size());
  for (Value operand : op->getOperands()) {
    SmallVector<Value> values;
    if (isa<RankedTensorType>(operand.getType()))
      values = evaluateAll(operand, points);
    else
      values.append(points.size(), scope.import(operand));
    if (values.empty())
      return {};
    for (auto [own, value] : llvm::zip_equal(operands, values))
      own.push_back(value);
  }
  SmallVector<Value> results;
  for (auto [point, own] : llvm::zip_equal(points, operands))
    results.push_back(emitOp(op, own, point.valid).front());
  return results;
}
