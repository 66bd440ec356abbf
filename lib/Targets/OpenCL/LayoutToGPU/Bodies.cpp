//===- Bodies.cpp - Emit loops and bodies of linalg ops -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementLoops.h"
#include "layout/Algebra/AffineMaps.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::layout;

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

/// Returns true for integer divisions and remainders, which trap if their
/// divisor is zero, as it may be in the padding of a tensor.
static bool isDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
             arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op);
}

Value ElementEmitter::castFloat(Value value, Type element) {
  Type from = getElementTypeOrSelf(value);
  if (from == element)
    return value;
  Type type = element;
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(element);
  if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, loc, type, value);
  return arith::TruncFOp::create(b, loc, type, value);
}

static bool isHalf(Type type) { return getElementTypeOrSelf(type).isF16(); }

/// Returns true if an op on f16 may be computed in f32: it is not a bitcast,
/// and its float results are f16.
static bool hasFloatForm(Operation *op) {
  return !isa<arith::BitcastOp>(op) &&
         llvm::all_of(op->getResultTypes(), [](Type type) {
           return isHalf(type) || !isa<FloatType>(getElementTypeOrSelf(type));
         });
}

/// If an operand of `op` is the f16 sum of a reduction, which is kept in f32,
/// casts all f16 operands to f32 if the op may be computed in it, else to f16.
/// Returns true if the op is then computed in f32. Without such a sum, changes
/// nothing and returns false.
bool ElementEmitter::computeInFloat(Operation *op,
                                    MutableArrayRef<Value> values) {
  bool hasSum = false;
  for (auto [operand, value] : llvm::zip_equal(op->getOperands(), values))
    hasSum |= isHalf(operand.getType()) && !isHalf(value.getType());
  if (!hasSum)
    return false;
  bool isFloat = hasFloatForm(op);
  for (auto [operand, value] : llvm::zip_equal(op->getOperands(), values))
    if (isHalf(operand.getType()))
      value = castFloat(value, isFloat ? b.getF32Type() : b.getF16Type());
  return isFloat;
}

/// Emits an op of the body of a linalg op, on scalars, or on vectors of four
/// lanes if an operand is a vector. If `valid` is false at run time, integers
/// are divided by 1. Returns an empty list and sets the reason if kernels do
/// not support the op.
SmallVector<Value>
ElementEmitter::emitOp(Operation *op, ArrayRef<Value> operands, Value valid) {
  SmallVector<Value> values(operands);
  if (isDivision(op) && valid) {
    Value one = arith::ConstantOp::create(
        b, loc, b.getIntegerAttr(getElementTypeOrSelf(values[1]), 1));
    values[1] = scope.select(valid, values[1], one);
  }
  bool isInFloat = computeInFloat(op, values);
  bool hasLanes = llvm::any_of(
      values, [](Value value) { return isa<VectorType>(value.getType()); });
  bool isMappable = OpTrait::hasElementwiseMappableTraits(op);
  if (hasLanes && !isMappable) {
    SmallVector<SmallVector<Value>> lanes(op->getNumResults());
    for (int64_t number = 0; number < kLanesOfPixel; ++number) {
      SmallVector<Value> scalars;
      for (Value value : values)
        scalars.push_back(scope.extract(value, number));
      SmallVector<Value> results = emitOp(op, scalars, valid);
      if (results.empty())
        return {};
      for (auto [lane, result] : llvm::zip_equal(lanes, results))
        lane.push_back(result);
    }
    return llvm::map_to_vector(
        lanes, [&](ArrayRef<Value> lane) { return scope.join(lane); });
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    Value element =
        loadDynamic(extract.getTensor(), ArrayRef(values).drop_front());
    return element ? SmallVector<Value>{element} : SmallVector<Value>();
  }
  if (op->getNumRegions() > 0 || !isMemoryEffectFree(op)) {
    fail("its body has the op '" + op->getName().getStringRef() +
         "', which kernels do not support");
    return {};
  }
  SmallVector<Type> types;
  for (Type type : op->getResultTypes()) {
    Type element = getElementTypeOrSelf(type);
    if (isInFloat && element.isF16())
      element = b.getF32Type();
    types.push_back(hasLanes ? VectorType::get({kLanesOfPixel}, element)
                             : element);
  }
  if (hasLanes)
    for (Value &value : values)
      value = scope.broadcast(value);
  OperationState state(loc, op->getName(), values, types, op->getAttrs());
  return llvm::to_vector_of<Value>(b.create(state)->getResults());
}

SmallVector<Value> ElementEmitter::emitBody(Block &body, ArrayRef<Value> args,
                                            Point loops, Value valid) {
  DenseMap<Value, Value> values;
  for (auto [from, to] : llvm::zip_equal(body.getArguments(), args))
    values[from] = to;
  auto lookup = [&](Value value) -> Value {
    auto it = values.find(value);
    if (it != values.end())
      return it->second;
    // A tensor that is read at computed indices maps to itself.
    if (isa<RankedTensorType>(value.getType()))
      return value;
    return values[value] = scope.import(value);
  };
  for (Operation &op : body.without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      values[index] =
          scope.emitLanes(loops[index.getDim()], [&](ArrayRef<IndexExpr> xs) {
            return scope.emit(xs.front());
          });
      continue;
    }
    SmallVector<Value> operands = llvm::map_to_vector(op.getOperands(), lookup);
    SmallVector<Value> results = emitOp(&op, operands, valid);
    if (results.empty() && op.getNumResults() > 0)
      return {};
    for (auto [from, to] : llvm::zip_equal(op.getResults(), results))
      values[from] = to;
  }
  return llvm::map_to_vector(body.getTerminator()->getOperands(), lookup);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Finds the size of each loop of `op`: a static one, or the size of an operand
/// dim that the loop indexes alone. Fails if there is neither.
static LogicalResult findLoopSizes(KernelScope &scope, linalg::LinalgOp op,
                                   SmallVectorImpl<SizeExpr> &sizes) {
  SmallVector<int64_t> known = op.getStaticLoopRanges();
  for (auto [loop, size] : llvm::enumerate(known)) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(SizeExpr(size));
      continue;
    }
    bool isFound = false;
    for (OpOperand &operand : op->getOpOperands())
      if (isa<RankedTensorType>(operand.get().getType()))
        for (auto [d, expr] :
             llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
          if (auto dim = dyn_cast<AffineDimExpr>(expr))
            if (!isFound && dim.getPosition() == loop) {
              sizes.push_back(scope.getSize(operand.get(), d));
              isFound = true;
            }
    if (!isFound)
      return failure();
  }
  return success();
}

/// Plans the loops of `op` for the layouts of its operands, or fails if the
/// size of a loop is unknown.
static FailureOr<KernelLoops> planLoops(KernelScope &scope,
                                        linalg::LinalgOp op) {
  SmallVector<SizeExpr> sizes;
  if (failed(findLoopSizes(scope, op, sizes)))
    return failure();
  KernelLoops plan(std::move(sizes), op.getIteratorTypesArray());
  for (OpOperand *operand : op.getDpsInputOperands())
    if (auto type = dyn_cast<RankedTensorType>(operand->get().getType()))
      if (FailureOr<LayoutMap> map = getLayoutMap(type);
          succeeded(map) && op.payloadUsesValueFromOperand(operand))
        plan.addOperand(op.getMatchingIndexingMap(operand), *map);
  return plan;
}

/// Emits the reads of the operands whose index depends at most on the outermost
/// `depth` reduction loops, for all elements that the kernel computes. Operands
/// that have been read are not read again. Returns false and sets the reason on
/// failure.
bool ElementEmitter::readOperands(Loops &loops, unsigned depth, Value valid) {
  for (OpOperand *operand : loops.op.getDpsInputOperands()) {
    unsigned number = operand->getOperandNumber();
    AffineMap map = loops.op.getMatchingIndexingMap(operand);
    if (loops.items.front().operands[number] ||
        !loops.op.payloadUsesValueFromOperand(operand) ||
        loops.plan.getDepth(map) > depth)
      continue;
    if (!isa<RankedTensorType>(operand->get().getType())) {
      for (Loops::Item &item : loops.items)
        item.operands[number] = scope.import(operand->get());
      continue;
    }
    SmallVector<ElementPoint> points;
    for (Loops::Item &item : loops.items) {
      ElementPoint &point = points.emplace_back();
      point.valid = scope.both(item.valid, valid);
      for (AffineExpr expr : map.getResults()) {
        std::optional<IndexExpr> x =
            fromAffineExpr(expr, item.indices, scope.getExtents());
        if (!x)
          return bool(fail("an operand is not indexed by sums of digits"));
        point.index.push_back(*x);
      }
    }
    SmallVector<Value> read = evaluateAll(operand->get(), points);
    if (read.empty())
      return false;
    for (auto [item, value] : llvm::zip_equal(loops.items, read))
      item.operands[number] = value;
  }
  return true;
}

/// Emits the body of the linalg op at the loop indices that are set in `loops`,
/// for all elements that the kernel computes, and updates their accumulators.
/// Returns false and sets the reason on failure.
bool ElementEmitter::emitPoint(Loops &loops, Value valid) {
  SmallVector<SmallVector<Value>> outside;
  for (const Loops::Item &item : loops.items)
    outside.push_back(item.operands);
  if (!readOperands(loops, loops.plan.getNest().size(), valid))
    return false;
  for (auto [item, operands] : llvm::zip_equal(loops.items, outside)) {
    SmallVector<Value> args = std::move(item.operands);
    llvm::append_range(args, item.accumulators);
    item.operands = std::move(operands);
    SmallVector<Value> results =
        emitBody(*loops.op.getBlock(), args, item.indices,
                 scope.both(item.valid, valid));
    if (results.empty())
      return false;
    for (auto [accumulator, result] :
         llvm::zip_equal(item.accumulators, results))
      accumulator = asSum(loops, result);
  }
  return true;
}

/// Emits the body at all steps of an iteration of the loops `stepped`. At a
/// step past the end of its loop the accumulators keep their values. Returns
/// false and sets the reason on failure.
bool ElementEmitter::emitSteps(Loops &loops, ArrayRef<unsigned> stepped,
                               Value valid) {
  if (stepped.empty())
    return emitPoint(loops, valid);
  unsigned loop = stepped.front();
  IndexExpr iteration = loops.items.front().indices[loop];
  for (int64_t step = 0; step < loops.plan.getSteps(loop); ++step) {
    IndexExpr index =
        KernelLoops::getIndex(iteration, step, scope.getExtents());
    loops.setIndex(loop, index);
    Value isElement;
    if (loops.plan.mayBePastEnd(loop, step))
      isElement = scope.emitInRange(index, loops.plan.getSize(loop));
    SmallVector<Value> before = loops.getAccumulators();
    if (!emitSteps(loops, stepped.drop_front(), scope.both(valid, isElement)))
      return false;
    if (!isElement)
      continue;
    SmallVector<Value> after = loops.getAccumulators();
    for (auto [now, was] : llvm::zip_equal(after, before))
      now = scope.select(isElement, now, was);
    loops.setAccumulators(after);
  }
  loops.setIndex(loop, iteration);
  return true;
}

bool ElementEmitter::emitLoops(Loops &loops, unsigned depth) {
  ArrayRef<unsigned> nest = loops.plan.getNest();
  if (depth == nest.size())
    return emitSteps(loops, loops.plan.getSteppedLoops(), Value());
  if (!readOperands(loops, depth, Value()))
    return false;
  SizeExpr size = loops.plan.getTripCount(nest[depth]);
  std::optional<int64_t> known = size.getConstant();
  if (known && *known == 1) {
    loops.setIndex(nest[depth], IndexExpr(SizeExpr(0)));
    return emitLoops(loops, depth + 1);
  }

  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  size_t outside = cells.size();
  int64_t tripsOutside = trips;
  accesses.isPerTrip |= !known;
  Value first = zero, step = one;
  if (loops.op == parts.reduction && nest[depth] == parts.loop) {
    first = parts.number;
    step = arith::ConstantIndexOp::create(b, loc, parts.count);
    trips *= llvm::divideCeil(*known, parts.count);
  } else {
    trips *= known.value_or(1);
  }
  auto forOp = scf::ForOp::create(b, loc, first, scope.emit(size), step,
                                  loops.getAccumulators());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forOp.getBody());
  loops.setIndex(nest[depth], scope.addVariable(forOp.getInductionVar(),
                                                known.value_or(kUnknownSize)));
  loops.setAccumulators(forOp.getRegionIterArgs());
  bool done = emitLoops(loops, depth + 1);
  b.setInsertionPointToEnd(forOp.getBody());
  scf::YieldOp::create(b, loc, loops.getAccumulators());
  loops.setAccumulators(forOp.getResults());
  cells.truncate(outside);
  trips = tripsOutside;
  return done;
}

/// Converts a value to the type of an accumulator: f32 if it is the f16 sum of
/// a reduction, and a vector of four lanes if the kernel stores an image.
Value ElementEmitter::asSum(const Loops &loops, Value value) {
  if (isHalf(value.getType()) && !loops.plan.getNest().empty())
    value = castFloat(value, b.getF32Type());
  return scope.broadcast(value);
}

/// Emits the initial accumulators of element `number` of the result, whose loop
/// indices are set: the inits of the op. Without reduction loops, an init that
/// the body does not use gets a null accumulator. If work-items divide the
/// reduction, all but the first start with the neutral element. Returns false
/// on failure.
bool ElementEmitter::startItem(Loops &loops, unsigned number) {
  Loops::Item &item = loops.items[number];
  for (OpOperand &init : loops.op.getDpsInitsMutable()) {
    // Without reduction loops, an init that the body does not use needs no
    // value.
    if (!loops.op.payloadUsesValueFromOperand(&init) &&
        loops.plan.getNest().empty()) {
      item.accumulators.push_back(Value());
      continue;
    }
    SmallVector<IndexExpr> at;
    for (AffineExpr expr : loops.op.getMatchingIndexingMap(&init).getResults())
      at.push_back(*fromAffineExpr(expr, item.indices, scope.getExtents()));
    Value start = evaluate(init.get(), at, item.valid);
    if (!start)
      return false;
    if (loops.op == parts.reduction)
      start = startPart(start);
    item.accumulators.push_back(asSum(loops, start));
  }
  return true;
}

SmallVector<Value>
ElementEmitter::computeLinalg(linalg::LinalgOp op, unsigned result,
                              ArrayRef<ElementPoint> points) {
  auto refuse = [&](const Twine &why) {
    fail(why);
    return SmallVector<Value>();
  };
  FailureOr<KernelLoops> plan = planLoops(scope, op);
  if (failed(plan))
    return refuse("the size of one of its loops is unknown");
  if (op == unrolled.first)
    plan->unroll(unrolled.second);
  Loops loops{op, *plan, {}};
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  ArrayRef<unsigned> nest = loops.plan.getNest();
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (!llvm::is_contained(nest, loop) && !map.isFunctionOfDim(loop))
      return refuse("a parallel loop is not a dim of its result");
  for (const ElementPoint &point : points) {
    Loops::Item &item = loops.items.emplace_back();
    item.indices.resize(op.getNumLoops());
    item.operands.resize(op.getNumDpsInputs());
    item.valid = point.valid;
    for (auto [expr, x] : llvm::zip_equal(map.getResults(), point.index))
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        item.indices[dim.getPosition()] = x;
      else if (!isa<AffineConstantExpr>(expr))
        return refuse("its result is not indexed by loops");
    if (!startItem(loops, loops.items.size() - 1))
      return {};
  }
  AccessCount before = accesses;
  if (!emitLoops(loops, 0) || (op == parts.reduction && !combineParts(loops)))
    return {};
  if (!nest.empty()) {
    accesses.imageReadsInLoops += accesses.imageReads - before.imageReads;
    accesses.bufferReadsInLoops += accesses.bufferReads - before.bufferReads;
  }
  Type element = getElementTypeOrSelf(op->getResult(result));
  return llvm::map_to_vector(loops.items, [&](const Loops::Item &item) {
    Value value = item.accumulators[result];
    return element.isF16() ? castFloat(value, element) : value;
  });
}
