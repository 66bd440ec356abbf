//===- Structured.cpp - Structured ops on physical tensors ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Structured.h"
#include "layout/Algebra/AffineMaps.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/Layout/IR/Speculation.h"
#include "layout/Dialect/Layout/Utils/EmitSize.h"
#include "layout/Interfaces/ReachedStorage.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::layout;

bool layout::mayTrapOnPadding(Block &body) {
  return body
      .walk([](Operation *op) {
        // An index computed from padding may be out of bounds.
        bool safe = !isa<tensor::ExtractOp>(op) && canSpeculate(op);
        return safe || op->hasTrait<OpTrait::IsTerminator>()
                   ? WalkResult::advance()
                   : WalkResult::interrupt();
      })
      .wasInterrupted();
}

namespace {

class Emitter {
public:
  Emitter(OpBuilder &b, Location loc, const StructuredOp &op,
          ArrayRef<ValueRange> operands, IterationSpace space)
      : b(b), loc(loc), op(op), operands(operands), space(std::move(space)),
        loopSizes(op.sizes.size()) {}

  SmallVector<Value> run();

private:
  RankedTensorType typeOf(unsigned k) const { return op.operands[k].type; }
  ArrayRef<AxisAccess> axesOf(unsigned k) const { return space.operands[k]; }
  bool needsShape(unsigned k) const;
  OpFoldResult loopSize(unsigned loop);
  OpFoldResult emit(const SizeExpr &size);
  RankedTensorType shapeFor(unsigned k, bool expanded) const;
  SmallVector<OpFoldResult> sizesFor(unsigned k, Value physical, bool expanded);
  Value fit(unsigned k, Value physical);
  Value expand(unsigned k, Value fitted);
  Value prepareInit(unsigned k);
  Value finishResult(unsigned k, Value computed);
  Value buildCopy(Value input, AffineMap inputMap, Value init,
                  AffineMap initMap);
  void buildBody(OpBuilder &b, ValueRange args);
  Value buildIndex(OpBuilder &b, unsigned loop);
  Value buildValid(OpBuilder &b, ArrayRef<unsigned> loops);

  OpBuilder &b;
  Location loc;
  const StructuredOp &op;
  ArrayRef<ValueRange> operands;
  IterationSpace space;
  SmallVector<OpFoldResult> loopSizes; // computed on first use

  PaddingMasks masks;

  // State of the body under construction.
  SmallVector<Value> indices;
  DenseMap<unsigned, Value> inRange;
};

} // namespace

static SmallVector<ReassociationIndices> getGroups(ArrayRef<AxisAccess> axes) {
  SmallVector<ReassociationIndices> groups;
  int64_t next = 0;
  for (const AxisAccess &axis : axes) {
    ReassociationIndices &group = groups.emplace_back();
    for (size_t i = 0; i < std::max<size_t>(axis.digits.size(), 1); ++i)
      group.push_back(next++);
  }
  return groups;
}

static bool isExpanded(ArrayRef<AxisAccess> axes) {
  return llvm::any_of(
      axes, [](const AxisAccess &axis) { return axis.digits.size() > 1; });
}

bool Emitter::needsShape(unsigned k) const {
  return isExpanded(axesOf(k)) ||
         llvm::any_of(axesOf(k), [](const AxisAccess &axis) {
           return axis.required != axis.extent;
         });
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// Returns an operand k and its dim d that `loop` alone indexes, so that the
/// dim has the size of the loop. Returns std::nullopt if there is none.
static std::optional<std::pair<unsigned, unsigned>>
findDimOfLoop(const StructuredOp &op, unsigned loop) {
  for (auto [k, operand] : llvm::enumerate(op.operands))
    if (operand.type)
      for (auto [d, expr] : llvm::enumerate(operand.map.getResults()))
        if (auto dim = dyn_cast<AffineDimExpr>(expr))
          if (dim.getPosition() == loop)
            return std::make_pair(unsigned(k), unsigned(d));
  return std::nullopt;
}

/// Checks that the emitter can compute all sizes and pad all operands.
/// Otherwise calls `refuse` with the reason and fails.
static LogicalResult check(const StructuredOp &op, const IterationSpace &space,
                           FailureReason refuse) {
  for (unsigned loop = 0; loop < op.sizes.size(); ++loop)
    if (ShapedType::isDynamic(op.sizes[loop]) && !findDimOfLoop(op, loop))
      return refuse("the size of loop d" + Twine(loop) + " is unknown");
  for (unsigned k = 0; k < op.operands.size(); ++k)
    for (const AxisAccess &axis : space.operands[k])
      if (axis.required != axis.extent && !hasFiller(op.operands[k].type))
        return refuse([&](raw_ostream &os) {
          os << "operand " << k << " of type " << op.operands[k].type
             << " has no element to pad with";
        });
  return success();
}

OpFoldResult Emitter::loopSize(unsigned loop) {
  OpFoldResult &size = loopSizes[loop];
  if (size)
    return size;
  if (!ShapedType::isDynamic(op.sizes[loop]))
    return size = b.getIndexAttr(op.sizes[loop]);
  auto [k, d] = *findDimOfLoop(op, loop);
  return size = getLogicalSizes(b, loc, typeOf(k), operands[k])[d];
}

OpFoldResult Emitter::emit(const SizeExpr &size) {
  if (std::optional<int64_t> constant = size.getConstant())
    return b.getIndexAttr(*constant);
  SmallVector<OpFoldResult> sizes;
  for (unsigned loop = 0; loop < op.sizes.size(); ++loop)
    sizes.push_back(loopSize(loop));
  return emitSize(b, loc, size, sizes);
}

static int64_t asExtent(const SizeExpr &size) {
  return size.getConstant().value_or(ShapedType::kDynamic);
}

/// Returns the type of operand `k` after it is sliced or padded to the loops,
/// with stored axes as dims or, if `expanded`, with digits as dims.
RankedTensorType Emitter::shapeFor(unsigned k, bool expanded) const {
  SmallVector<int64_t> shape;
  for (const AxisAccess &axis : axesOf(k)) {
    if (!expanded || axis.digits.empty())
      shape.push_back(asExtent(axis.required));
    else
      for (unsigned digit : axis.digits)
        shape.push_back(asExtent(space.digits[digit].extent));
  }
  return RankedTensorType::get(shape, typeOf(k).getElementType());
}

SmallVector<OpFoldResult> Emitter::sizesFor(unsigned k, Value physical,
                                            bool expanded) {
  // Sizes that are dynamic in `shapeFor` must be values here, even if constant.
  auto emitAs = [&](const SizeExpr &extent) -> OpFoldResult {
    OpFoldResult size = emit(extent);
    if (extent.isConstant())
      return size;
    return getValueOrCreateConstantIndexOp(b, loc, size);
  };
  SmallVector<OpFoldResult> sizes;
  for (auto [a, axis] : llvm::enumerate(axesOf(k))) {
    if (expanded && !axis.digits.empty()) {
      for (unsigned digit : axis.digits)
        sizes.push_back(emitAs(space.digits[digit].extent));
    } else if (axis.required == axis.extent) {
      sizes.push_back(tensor::getMixedSize(b, loc, physical, a));
    } else {
      sizes.push_back(emitAs(axis.required));
    }
  }
  return sizes;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

static bool isBelow(const SizeExpr &a, const SizeExpr &b) {
  return a != b && b.isProvablyAtLeast(a);
}

/// Returns the physical tensor of operand `k` fitted to the loops: without
/// positions that no loop reaches, and extended by positions that loops reach
/// beyond it. These have the padding value of its type, or zero.
Value Emitter::fit(unsigned k, Value physical) {
  ArrayRef<AxisAccess> axes = axesOf(k);
  SmallVector<OpFoldResult> required = sizesFor(k, physical, false);
  SmallVector<OpFoldResult> stored = tensor::getMixedSizes(b, loc, physical);
  SmallVector<OpFoldResult> kept = stored;
  SmallVector<OpFoldResult> high(axes.size(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> zeros(axes.size(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> ones(axes.size(), b.getIndexAttr(1));
  bool cuts = false, pads = false;
  for (auto [a, axis] : llvm::enumerate(axes)) {
    if (axis.required == axis.extent)
      continue;
    if (isBelow(axis.required, axis.extent)) {
      kept[a] = required[a];
      cuts = true;
      continue;
    }
    pads = true;
    std::optional<int64_t> to = getConstantIntValue(required[a]);
    std::optional<int64_t> from = getConstantIntValue(stored[a]);
    if (to && from)
      high[a] = b.getIndexAttr(*to - *from);
    else
      high[a] =
          arith::SubIOp::create(
              b, loc, getValueOrCreateConstantIndexOp(b, loc, required[a]),
              getValueOrCreateConstantIndexOp(b, loc, stored[a]))
              .getResult();
  }
  if (cuts)
    physical =
        tensor::ExtractSliceOp::create(b, loc, physical, zeros, kept, ones);
  if (!pads)
    return physical;
  Value filler = createFiller(b, loc, typeOf(k));
  return tensor::PadOp::create(b, loc, /*resultType=*/Type(), physical, zeros,
                               high, filler);
}

Value Emitter::expand(unsigned k, Value fitted) {
  if (!isExpanded(axesOf(k)))
    return fitted;
  // The static size may come from another operand.
  RankedTensorType line = shapeFor(k, false);
  if (fitted.getType() != line)
    fitted = tensor::CastOp::create(b, loc, line, fitted);
  return tensor::ExpandShapeOp::create(b, loc, shapeFor(k, true), fitted,
                                       getGroups(axesOf(k)),
                                       sizesFor(k, fitted, true));
}

Value Emitter::prepareInit(unsigned k) {
  unsigned result = k - op.numInputs();
  Value physical = operands[k].front();
  if (!needsShape(k))
    return physical;
  // A reduction without iterations returns its init.
  bool isRead =
      op.readsInit[result] ||
      llvm::is_contained(op.iterators, utils::IteratorType::reduction);
  if (isRead)
    return expand(k, fit(k, physical));
  return tensor::EmptyOp::create(b, loc, sizesFor(k, physical, true),
                                 typeOf(k).getElementType());
}

/// Returns `computed`, whose dims are digits, as the physical tensor of result
/// operand `k`: collapsed to stored axes, and without positions that the loops
/// compute but the storage does not have. If the loops do not reach all
/// positions of the storage, it is inserted into the init.
Value Emitter::finishResult(unsigned k, Value computed) {
  if (!needsShape(k))
    return computed;
  ArrayRef<AxisAccess> axes = axesOf(k);
  Value physical = operands[k].front();
  SmallVector<OpFoldResult> required = sizesFor(k, physical, false);
  if (isExpanded(axes))
    computed = tensor::CollapseShapeOp::create(b, loc, shapeFor(k, false),
                                               computed, getGroups(axes));
  SmallVector<OpFoldResult> stored = tensor::getMixedSizes(b, loc, physical);
  SmallVector<OpFoldResult> kept = required;
  SmallVector<OpFoldResult> zeros(axes.size(), b.getIndexAttr(0));
  SmallVector<OpFoldResult> ones(axes.size(), b.getIndexAttr(1));
  bool cuts = false, leaves = false;
  for (auto [a, axis] : llvm::enumerate(axes)) {
    if (isBelow(axis.extent, axis.required)) {
      kept[a] = stored[a];
      cuts = true;
    }
    leaves |= isBelow(axis.required, axis.extent);
  }
  if (cuts)
    computed =
        tensor::ExtractSliceOp::create(b, loc, computed, zeros, kept, ones);
  if (leaves)
    return tensor::InsertSliceOp::create(b, loc, computed, physical, zeros,
                                         kept, ones);
  return computed;
}

//===----------------------------------------------------------------------===//
// Masks and the body
//===----------------------------------------------------------------------===//

Value Emitter::buildIndex(OpBuilder &b, unsigned loop) {
  Value &index = indices[loop];
  for (unsigned digit : space.digitsOf[loop]) {
    if (digit == space.digitsOf[loop].front())
      index = Value();
    Value value = linalg::IndexOp::create(b, loc, digit);
    if (int64_t weight = space.digits[digit].weight; weight != 1)
      value = arith::MulIOp::create(
          b, loc, value, arith::ConstantIndexOp::create(b, loc, weight));
    index = index ? arith::AddIOp::create(b, loc, index, value) : value;
  }
  if (!index)
    index = arith::ConstantIndexOp::create(b, loc, 0);
  return index;
}

Value Emitter::buildValid(OpBuilder &b, ArrayRef<unsigned> loops) {
  Value all;
  for (unsigned loop : loops) {
    Value &valid = inRange[loop];
    if (!valid) {
      Value size = getValueOrCreateConstantIndexOp(b, loc, loopSizes[loop]);
      valid = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                    indices[loop], size);
    }
    all = all ? arith::AndIOp::create(b, loc, all, valid) : valid;
  }
  return all;
}

void Emitter::buildBody(OpBuilder &b, ValueRange args) {
  unsigned numInputs = op.numInputs();
  SmallVector<unsigned> padded;
  for (auto [loop, isPadded] : llvm::enumerate(space.isPadded))
    if (isPadded)
      padded.push_back(loop);
  bool guards = op.mayTrap && !padded.empty();

  indices.assign(op.sizes.size(), Value());
  auto indexOf = [&](unsigned loop) {
    return indices[loop] ? indices[loop] : buildIndex(b, loop);
  };
  // Indices in masks are created here, outside of the scf.if of a guard.
  for (auto &mask : masks.loops)
    for (unsigned loop : mask)
      indexOf(loop);
  if (guards)
    for (unsigned loop = 0; loop < op.sizes.size(); ++loop)
      indexOf(loop);

  auto emitBody = [&](OpBuilder &b) -> SmallVector<Value> {
    if (!op.emitBody)
      return {args.front()};
    return op.emitBody(b, loc, args, [&](unsigned loop) {
      return indices[loop] ? indices[loop] : buildIndex(b, loop);
    });
  };
  auto before = [&](OpBuilder &b, unsigned r) -> Value {
    if (masks.instead[r])
      return arith::ConstantOp::create(b, loc, masks.instead[r]);
    return args[numInputs + r];
  };

  SmallVector<Value> values;
  if (guards) {
    Value valid = buildValid(b, padded);
    auto guarded = scf::IfOp::create(
        b, loc, valid,
        [&](OpBuilder &b, Location loc) {
          scf::YieldOp::create(b, loc, emitBody(b));
        },
        [&](OpBuilder &b, Location loc) {
          SmallVector<Value> values;
          for (unsigned r = 0; r < masks.loops.size(); ++r)
            values.push_back(before(b, r));
          scf::YieldOp::create(b, loc, values);
        });
    values = guarded.getResults();
  } else {
    values = emitBody(b);
    for (auto [r, mask] : llvm::enumerate(masks.loops))
      if (!mask.empty()) {
        Value valid = buildValid(b, mask);
        values[r] =
            arith::SelectOp::create(b, loc, valid, values[r], before(b, r));
      }
  }
  linalg::YieldOp::create(b, loc, values);
}

/// Returns a copy between permutations of the loops as linalg.transpose, which
/// later passes match by name, or `input` itself if both maps are equal.
/// Returns a null value if a map is not a permutation.
Value Emitter::buildCopy(Value input, AffineMap inputMap, Value init,
                         AffineMap initMap) {
  if (!inputMap.isPermutation() || !initMap.isPermutation())
    return {};
  if (inputMap == initMap)
    return input;
  SmallVector<int64_t> permutation;
  for (AffineExpr expr : initMap.getResults())
    permutation.push_back(*inputMap.getResultPosition(expr));
  return linalg::TransposeOp::create(b, loc, input, init, permutation)
      ->getResult(0);
}

SmallVector<Value> Emitter::run() {
  ScalarBody body = op.body;
  body.isCopy = !op.emitBody;
  masks = findPaddingMasks(op.operands, op.iterators, op.readsInit, body, space,
                           op.copyMask);
  for (auto [loop, padded] : llvm::enumerate(space.isPadded))
    if (padded)
      loopSize(loop);

  unsigned numInputs = op.numInputs();
  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> maps;
  SmallVector<Type> results;
  for (unsigned k = 0; k < op.operands.size(); ++k) {
    Value value;
    if (!typeOf(k))
      value = operands[k].front();
    else if (k < numInputs)
      value = expand(k, fit(k, operands[k].front()));
    else
      value = prepareInit(k);
    (k < numInputs ? inputs : inits).push_back(value);
    if (k >= numInputs)
      results.push_back(value.getType());
    maps.push_back(
        typeOf(k) ? getExpandedMap(space, k, b.getContext())
                  : AffineMap::get(space.digits.size(), 0, b.getContext()));
  }

  SmallVector<Value> values;
  if (!op.emitBody && masks.loops.front().empty())
    if (Value copy = buildCopy(inputs.front(), maps[0], inits.front(), maps[1]))
      values.push_back(copy);
  if (values.empty()) {
    SmallVector<utils::IteratorType> iterators;
    for (const LoopDigit &digit : space.digits)
      iterators.push_back(op.iterators[digit.loop]);
    auto generic = linalg::GenericOp::create(
        b, loc, results, inputs, inits, maps, iterators,
        [&](OpBuilder &b, Location, ValueRange args) { buildBody(b, args); },
        op.attributes);
    values = generic.getResults();
  }
  for (auto [r, value] : llvm::enumerate(values)) {
    value = finishResult(numInputs + r, value);
    Type type = operands[numInputs + r].front().getType();
    if (value.getType() != type)
      value = tensor::CastOp::create(b, loc, type, value);
  }
  return values;
}

/// Returns true if the op is known to have no iterations, so that it returns
/// its inits. Storage may have positions even if the tensor has no elements.
static bool hasNoPoints(const StructuredOp &op) {
  return llvm::is_contained(op.sizes, 0);
}

LogicalResult layout::checkStructured(const StructuredOp &op,
                                      FailureReason refuse) {
  if (hasNoPoints(op))
    return success();
  FailureOr<IterationSpace> space =
      getIterationSpace(op.operands, op.iterators, op.sizes, refuse);
  if (failed(space))
    return failure();
  return check(op, *space, refuse);
}

bool layout::coversStorage(const StructuredOp &op, unsigned result) {
  if (hasNoPoints(op))
    return false;
  FailureOr<IterationSpace> space =
      getIterationSpace(op.operands, op.iterators, op.sizes);
  return succeeded(space) && reachesAll(*space, op.numInputs() + result);
}

FailureOr<SmallVector<Value>>
layout::lowerStructured(OpBuilder &b, Location loc, const StructuredOp &op,
                        ArrayRef<ValueRange> operands, FailureReason refuse) {
  if (hasNoPoints(op)) {
    SmallVector<Value> results;
    for (ValueRange init : operands.drop_front(op.numInputs()))
      results.push_back(init.front());
    return results;
  }
  FailureOr<IterationSpace> space =
      getIterationSpace(op.operands, op.iterators, op.sizes, refuse);
  if (failed(space) || failed(check(op, *space, refuse)))
    return failure();
  return lowerStructured(b, loc, op, operands, std::move(*space));
}

SmallVector<Value> layout::lowerStructured(OpBuilder &b, Location loc,
                                           const StructuredOp &op,
                                           ArrayRef<ValueRange> operands,
                                           IterationSpace space) {
  return Emitter(b, loc, op, operands, std::move(space)).run();
}
