//===- KernelEmitter.cpp - Loops and vectors for a kernel -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelEmitter.h"
#include "ExpandDims.h"
#include "Guard.h"
#include "ParallelLoops.h"
#include "layout/Targets/CPU/LinalgToLLVM/CpuOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include <map>

using namespace mlir;
using namespace mlir::layout;

namespace {

/// One element per lane of the tile: its offset inside the tile in every dim,
/// and the number of lanes (0 for a scalar).
struct Point {
  SmallVector<int64_t> offset;
  int64_t width = 0;
};

class Emitter {
public:
  Emitter(OpBuilder &b, const Kernel &kernel, const KernelPlan &plan,
          const EmitOptions &options)
      : b(b), loc(kernel.last().op->getLoc()), kernel(kernel), plan(plan),
        options(options), base(kernel.extents.size()),
        fixed(kernel.extents.size()),
        isShared(options.parallelLoops &&
                 isWorthThreads(kernel.root.op, plan.vectorSize)) {}

  SmallVector<Value> run();

private:
  // Loops.
  void emitParallel(unsigned level);
  void emitParts(unsigned level);
  void emitSpan(unsigned level, OpFoldResult from, OpFoldResult to,
                int64_t step, bool overlaps = false);
  SmallVector<Value> emitReductions(unsigned level, ValueRange accumulators);
  SmallVector<Value> emitReductionLanes(ValueRange accumulators);
  void emitTile();
  SmallVector<Value> startTile(ArrayRef<Point> points);
  void finishTile(ArrayRef<Point> points, SmallVector<Value> values);
  Value isPartAt(int64_t position);
  AffineMap resultMap(unsigned result) const {
    return kernel.last().maps[kernel.last().numInputs() + result];
  }
  SmallVector<Value> emitStep(ValueRange accumulators);

  // Points.
  SmallVector<Point> pointsOfTile() const;
  SmallVector<Point> lanesOf(const Point &point) const;
  Type typeAt(Type element, const Point &point) const;
  Value broadcast(Value value, const Point &point);
  SmallVector<Value> subscripts(AffineMap map, const Point &point);
  Value read(Value tensor, AffineMap map, const Point &point);
  void write(Value value, Value buffer, AffineMap map, const Point &point);
  Value startValue(const Start &start, const Stage &stage, unsigned result,
                   Value current, const Point &point);
  void addBuffer(Value tensor);
  Value bufferOf(Value tensor);

  // Bodies.
  using ReadCache = std::map<std::vector<int64_t>, Value>;
  Operation *loadInPlace(Operation *op);
  Value readInput(const Stage &stage, unsigned input, const Point &point,
                  ReadCache &cache);
  SmallVector<Value> evaluate(const Stage &stage, ArrayRef<Value> inputs,
                              ArrayRef<Value> inits, const Point &point,
                              ArrayRef<Value> wanted, bool withEffects = true);
  OpFoldResult wholeSteps(unsigned dim, int64_t step);
  OpFoldResult coveredBy(unsigned dim, int64_t step);
  bool readsResults() const;
  Value reductionEnd(unsigned dim);
  Value indexAt(unsigned dim, const Point &point);

  Value index(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  void findExtents();
  void collapseInputs();
  Value destinationOf(unsigned result);

  OpBuilder &b;
  Location loc;
  /// A copy, which takes its inputs from views where dims are collapsed.
  Kernel kernel;
  const KernelPlan &plan;
  const EmitOptions &options;
  /// The position of the current iteration: a value per dim, or a constant.
  SmallVector<Value> base;
  SmallVector<std::optional<int64_t>> fixed;
  /// The extent of the current tile per dim.
  SmallVector<int64_t> size;
  SmallVector<OpFoldResult> extents;
  /// The body of the op, and the tensors whose buffers are its arguments: the
  /// results, then what is read.
  Region body;
  SmallVector<Value> tensors;
  std::optional<Guards> guards;
  /// Where the loop over the lanes of a reduction begins and ends, if not at
  /// the bounds of its dim.
  OpFoldResult lanesFrom, lanesTo;
  /// Where the current part of the reduction begins; null where it is whole.
  Value partBegin;
  /// Whether threads share the loops over tiles.
  bool isShared;
};

/// What the body of `stage` yields.
SmallVector<Value> yieldedBy(const Stage &stage) {
  Block *body = linalg::LinalgOp(stage.op).getBlock();
  return llvm::to_vector(body->getTerminator()->getOperands());
}

} // namespace

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

SmallVector<Point> Emitter::pointsOfTile() const {
  SmallVector<Point> points(1);
  points.front().offset.assign(size.size(), 0);
  for (unsigned dim : plan.pointOrder) {
    int64_t extent = size[dim];
    if (extent == 1)
      continue;
    SmallVector<Point> next;
    for (const Point &point : points) {
      bool lane = plan.lane == dim;
      int64_t step = lane ? plan.vectorSize : 1;
      for (int64_t at = 0; at < extent; at += step) {
        Point copy = point;
        copy.offset[dim] = at;
        int64_t width = std::min(step, extent - at);
        if (lane)
          copy.width = width == 1 ? 0 : width;
        next.push_back(copy);
      }
    }
    points = std::move(next);
  }
  return points;
}

Type Emitter::typeAt(Type element, const Point &point) const {
  return point.width == 0 ? element : VectorType::get({point.width}, element);
}

Value Emitter::broadcast(Value value, const Point &point) {
  if (point.width == 0 || isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(
      b, loc, VectorType::get({point.width}, value.getType()), value);
}

SmallVector<Value> Emitter::subscripts(AffineMap map, const Point &point) {
  MLIRContext *context = b.getContext();
  SmallVector<AffineExpr> replacement;
  for (unsigned dim = 0; dim < base.size(); ++dim) {
    AffineExpr expr = fixed[dim] ? getAffineConstantExpr(*fixed[dim], context)
                                 : getAffineDimExpr(dim, context);
    replacement.push_back(expr + point.offset[dim]);
  }
  SmallVector<Value> indices;
  for (AffineExpr result : map.getResults()) {
    AffineExpr expr = simplifyAffineExpr(result.replaceDims(replacement),
                                         map.getNumDims(), 0);
    indices.push_back(affine::expandAffineExpr(b, loc, expr, base, {}));
  }
  return indices;
}

/// The scalar points of a vector.
SmallVector<Point> Emitter::lanesOf(const Point &point) const {
  SmallVector<Point> lanes;
  for (int64_t number = 0; number < point.width; ++number) {
    Point lane = point;
    lane.width = 0;
    lane.offset[*plan.lane] += number;
    lanes.push_back(lane);
  }
  return lanes;
}

/// Gives the body the buffer of one more tensor.
void Emitter::addBuffer(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  tensors.push_back(tensor);
  body.addArgument(MemRefType::get(type.getShape(), type.getElementType()),
                   tensor.getLoc());
}

/// The buffer of a tensor that is read.
Value Emitter::bufferOf(Value tensor) {
  unsigned results = kernel.lastStarts().size();
  auto *known = std::find(tensors.begin() + results, tensors.end(), tensor);
  unsigned number = known - tensors.begin();
  if (known == tensors.end())
    addBuffer(tensor);
  return body.getArgument(number);
}

Value Emitter::read(Value value, AffineMap map, const Point &point) {
  if (isa<RankedTensorType>(value.getType()))
    value = bufferOf(value);
  auto type = dyn_cast<MemRefType>(value.getType());
  if (!type)
    return value;
  SmallVector<Value> indices = subscripts(map, point);
  bool lanes = point.width != 0 && plan.lane && map.isFunctionOfDim(*plan.lane);
  if (!lanes)
    return memref::LoadOp::create(b, loc, value, indices);
  auto wide = VectorType::get({point.width}, type.getElementType());
  if (!isWholeBytes(type.getElementType())) {
    SmallVector<Value> elements;
    for (const Point &lane : lanesOf(point))
      elements.push_back(read(value, map, lane));
    return vector::FromElementsOp::create(b, loc, wide, elements);
  }
  return vector::TransferReadOp::create(b, loc, wide, value, indices,
                                        /*padding=*/std::nullopt,
                                        ArrayRef<bool>{true});
}

void Emitter::write(Value value, Value buffer, AffineMap map,
                    const Point &point) {
  SmallVector<Value> indices = subscripts(map, point);
  if (point.width == 0) {
    memref::StoreOp::create(b, loc, value, buffer, indices);
  } else if (isWholeBytes(getElementTypeOrSelf(value))) {
    vector::TransferWriteOp::create(b, loc, broadcast(value, point), buffer,
                                    indices, ArrayRef<bool>{true});
  } else {
    value = broadcast(value, point);
    for (auto [number, lane] : llvm::enumerate(lanesOf(point)))
      write(vector::ExtractOp::create(b, loc, value, number), buffer, map,
            lane);
  }
}

Value Emitter::indexAt(unsigned dim, const Point &point) {
  Value value = fixed[dim] ? index(*fixed[dim]) : base[dim];
  if (point.offset[dim] != 0)
    value = b.createOrFold<arith::AddIOp>(loc, value, index(point.offset[dim]));
  if (point.width == 0 || plan.lane != dim)
    return value;
  auto type = VectorType::get({point.width}, b.getIndexType());
  Value step = vector::StepOp::create(b, loc, type);
  return arith::AddIOp::create(b, loc, broadcast(value, point), step);
}

//===----------------------------------------------------------------------===//
// Bodies
//===----------------------------------------------------------------------===//

Value Emitter::readInput(const Stage &stage, unsigned input, const Point &point,
                         ReadCache &cache) {
  AffineMap map = stage.maps[input];
  std::vector<int64_t> key{static_cast<int64_t>(input)};
  for (unsigned dim = 0; dim < size.size(); ++dim)
    key.push_back(map.isFunctionOfDim(dim) ? point.offset[dim] : 0);
  Value &value = cache[key];
  if (!value)
    value = read(stage.operands[input], map, point);
  return value;
}

/// What `op` and the ops in it take of tensors, from their buffers; the op that
/// stands in its place then.
Operation *Emitter::loadInPlace(Operation *op) {
  SmallVector<tensor::ExtractOp> extracts;
  op->walk([&](tensor::ExtractOp each) { extracts.push_back(each); });
  for (tensor::ExtractOp each : extracts) {
    OpBuilder inside(each);
    auto load = memref::LoadOp::create(
        inside, each.getLoc(), bufferOf(each.getTensor()), each.getIndices());
    each->replaceAllUsesWith(load);
    if (each == op)
      op = load;
    each->erase();
  }
  return op;
}

SmallVector<Value> Emitter::evaluate(const Stage &stage, ArrayRef<Value> inputs,
                                     ArrayRef<Value> inits, const Point &point,
                                     ArrayRef<Value> wanted, bool withEffects) {
  linalg::LinalgOp op = stage.op;
  Block *body = op.getBlock();
  IRMapping mapping;
  for (auto [arg, value] : llvm::zip(body->getArguments(), inputs))
    mapping.map(arg, value);
  for (auto [arg, value] : llvm::zip(op.getRegionOutputArgs(), inits))
    if (value)
      mapping.map(arg, value);

  for (Operation *needed : neededOps(body, wanted, withEffects)) {
    Operation &inner = *needed;
    if (auto indexOp = dyn_cast<linalg::IndexOp>(inner)) {
      mapping.map(indexOp.getResult(),
                  indexAt(stage.dims[indexOp.getDim()], point));
      continue;
    }
    bool vectors = llvm::any_of(inner.getOperands(), [&](Value operand) {
      return isa<VectorType>(mapping.lookupOrDefault(operand).getType());
    });
    Operation *clone;
    if (vectors) {
      // A select between vectors takes a scalar condition as it is.
      bool isSelect = isa<arith::SelectOp>(inner);
      IRMapping local(mapping);
      for (auto [i, operand] : llvm::enumerate(inner.getOperands())) {
        Value value = mapping.lookupOrDefault(operand);
        if (!(isSelect && i == 0))
          value = broadcast(value, point);
        local.map(operand, value);
      }
      if (isSelect && inner.getOperand(0) != inner.getOperand(1) &&
          inner.getOperand(0) != inner.getOperand(2))
        local.map(inner.getOperand(0),
                  mapping.lookupOrDefault(inner.getOperand(0)));
      // Two scalars chosen by a vector condition were broadcast above; a
      // scalar condition over scalars does not get here.
      clone = b.clone(inner, local);
      for (OpResult result : clone->getResults())
        result.setType(typeAt(result.getType(), point));
    } else {
      clone = b.clone(inner, mapping);
    }
    if (options.contractFMA && isa<arith::MulFOp, arith::AddFOp>(clone)) {
      auto fast = cast<arith::ArithFastMathInterface>(clone);
      auto flags = fast.getFastMathFlagsAttr().getValue() |
                   arith::FastMathFlags::contract;
      clone->setAttr(fast.getFastMathAttrName(),
                     arith::FastMathFlagsAttr::get(b.getContext(), flags));
    }
    clone = loadInPlace(clone);
    for (auto [from, to] :
         llvm::zip_equal(inner.getResults(), clone->getResults()))
      mapping.map(from, to);
  }
  SmallVector<Value> results;
  for (Value yielded : wanted)
    results.push_back(broadcast(mapping.lookupOrDefault(yielded), point));
  return results;
}

Value Emitter::startValue(const Start &start, const Stage &stage,
                          unsigned result, Value current, const Point &point) {
  AffineMap map = stage.maps[stage.numInputs() + result];
  if (auto *splat = std::get_if<SplatStart>(&start))
    return broadcast(splat->scalar, point);
  // The tensor that the loops carry holds the old elements until they are
  // overwritten; reading it instead of the original keeps one buffer.
  if (auto *old = std::get_if<TensorStart>(&start))
    return read(current ? current : old->tensor, map, point);
  auto *producer = std::get_if<Stage>(&start);
  if (!producer)
    return nullptr;
  ReadCache cache;
  SmallVector<Value> inputs;
  for (unsigned i = 0, e = producer->numInputs(); i < e; ++i)
    inputs.push_back(readInput(*producer, i, point, cache));
  return evaluate(*producer, inputs, {}, point, yieldedBy(*producer)).front();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

SmallVector<Value> Emitter::emitStep(ValueRange accumulators) {
  const Stage &root = kernel.root;
  SmallVector<Point> points = pointsOfTile();
  unsigned results = kernel.starts.size();
  SmallVector<Value> wanted = yieldedBy(root);
  if (guards)
    wanted = {guards->next};
  ReadCache cache;
  SmallVector<Value> next(accumulators.size());
  for (auto [p, point] : llvm::enumerate(points)) {
    SmallVector<Value> inputs;
    for (unsigned i = 0, e = root.numInputs(); i < e; ++i)
      inputs.push_back(readInput(root, i, point, cache));
    SmallVector<Value> inits;
    for (unsigned i = 0; i < results; ++i)
      inits.push_back(accumulators[p * results + i]);
    SmallVector<Value> values = evaluate(root, inputs, inits, point, wanted);
    for (unsigned i = 0; i < results; ++i)
      next[p * results + i] = values[i];
  }
  return next;
}

/// Where the last whole step along a dim ends.
OpFoldResult Emitter::wholeSteps(unsigned dim, int64_t step) {
  if (std::optional<int64_t> extent = getConstantIntValue(extents[dim]))
    return b.getIndexAttr(*extent - *extent % step);
  Value extent = cast<Value>(extents[dim]);
  if (step == 1)
    return extent;
  Value rest = arith::RemUIOp::create(b, loc, extent, index(step));
  return arith::SubIOp::create(b, loc, extent, rest).getResult();
}

/// The end of `dim` where a step fits into it, else its beginning.
OpFoldResult Emitter::coveredBy(unsigned dim, int64_t step) {
  Value extent = getValueOrCreateConstantIndexOp(b, loc, extents[dim]);
  Value fits = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, extent,
                                     index(step));
  return arith::SelectOp::create(b, loc, fits, extent, index(0)).getResult();
}

/// Whether a tile reads what it overwrites, and so must not be computed twice.
bool Emitter::readsResults() const {
  return llvm::any_of(kernel.lastStarts(), [](const Start &start) {
    return std::holds_alternative<TensorStart>(start);
  });
}

/// Where the loop over a reduction dim ends, its bounds included.
Value Emitter::reductionEnd(unsigned dim) {
  Value end = getValueOrCreateConstantIndexOp(b, loc, extents[dim]);
  if (!guards)
    return end;
  Point origin;
  origin.offset.assign(base.size(), 0);
  for (const LoopBound &bound : guards->bounds) {
    if (bound.dim != dim)
      continue;
    // factor * d + rest < 0 is d < ceil(-rest / factor).
    AffineExpr limit = (-bound.rest).ceilDiv(bound.factor);
    Value value = subscripts(
        AffineMap::get(base.size(), 0, limit, b.getContext()), origin)[0];
    end = arith::MinSIOp::create(b, loc, end, value);
  }
  return end;
}

SmallVector<Value> Emitter::emitReductions(unsigned level,
                                           ValueRange accumulators) {
  unsigned rank = kernel.extents.size();
  while (level < rank && kernel.isParallel(level))
    ++level;
  if (level == rank)
    return emitStep(accumulators);
  bool bounded =
      guards && llvm::any_of(guards->bounds, [&](const LoopBound &bound) {
        return bound.dim == level;
      });
  if (kernel.extents[level] == 1 && !bounded)
    return emitReductions(level + 1, accumulators);
  bool lane = plan.lane == level;
  Value begin =
      lane ? getValueOrCreateConstantIndexOp(b, loc, lanesFrom) : index(0);
  Value end = lane ? getValueOrCreateConstantIndexOp(b, loc, lanesTo)
                   : reductionEnd(level);
  bool isPart = partBegin && plan.parts->dim == level;
  if (isPart) {
    Value steps = index(plan.parts->steps);
    end = bounded ? arith::MinSIOp::create(
                        b, loc, steps,
                        arith::SubIOp::create(b, loc, end, partBegin))
                        .getResult()
                  : steps;
  }
  auto loop =
      scf::ForOp::create(b, loc, begin, end, index(size[level]), accumulators);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  base[level] = loop.getInductionVar();
  if (isPart)
    base[level] = arith::AddIOp::create(b, loc, partBegin, base[level]);
  fixed[level].reset();
  SmallVector<Value> next = emitReductions(level + 1, loop.getRegionIterArgs());
  scf::YieldOp::create(b, loc, next);
  return loop.getResults();
}

/// The whole vectors along a reduction, each lane into a part of its own, then
/// the parts, then the elements that are left.
SmallVector<Value> Emitter::emitReductionLanes(ValueRange accumulators) {
  unsigned lane = *plan.lane;
  Operation *combiner = findCombiner(kernel);
  TypedAttr neutral = *arith::getNeutralElement(combiner);
  auto type = VectorType::get({plan.vectorSize}, neutral.getType());
  Value start = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, Attribute(neutral)));
  lanesFrom = b.getIndexAttr(0);
  lanesTo = wholeSteps(lane, plan.vectorSize);
  size[lane] = plan.vectorSize;
  SmallVector<Value> parts =
      emitReductions(0, SmallVector<Value>(accumulators.size(), start));
  size[lane] = 1;
  SmallVector<Value> values;
  for (auto [part, accumulator] : llvm::zip_equal(parts, accumulators))
    values.push_back(vector::ReductionOp::create(
        b, loc, *linalg::getCombinerOpKind(combiner), part, accumulator,
        arith::FastMathFlags::reassoc));
  lanesFrom = lanesTo;
  lanesTo = extents[lane];
  if (isEqualConstantIntOrValue(lanesFrom, lanesTo))
    return values;
  return emitReductions(0, values);
}

Value Emitter::isPartAt(int64_t position) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, partBegin,
                               index(position));
}

/// What the accumulators hold before the reduction, or the current part of it.
SmallVector<Value> Emitter::startTile(ArrayRef<Point> points) {
  auto start = [&] {
    SmallVector<Value> values;
    for (const Point &point : points)
      for (auto [i, each] : llvm::enumerate(kernel.starts)) {
        Value current = kernel.finish ? Value() : body.getArgument(i);
        values.push_back(startValue(each, kernel.root, i, current, point));
      }
    return values;
  };
  if (!partBegin || readsResults())
    return start();
  auto either = scf::IfOp::create(
      b, loc, isPartAt(0),
      [&](OpBuilder &, Location) { scf::YieldOp::create(b, loc, start()); },
      [&](OpBuilder &, Location) {
        scf::YieldOp::create(
            b, loc, llvm::map_to_vector(points, [&](const Point &each) {
              return read(body.getArgument(0), resultMap(0), each);
            }));
      });
  return either.getResults();
}

/// Writes what the reduction left in the accumulators, finished.
void Emitter::finishTile(ArrayRef<Point> points, SmallVector<Value> values) {
  const Stage &last = kernel.last();
  unsigned finals = kernel.lastStarts().size();
  if (kernel.finish) {
    ReadCache cache;
    SmallVector<Value> finished;
    for (auto [p, point] : llvm::enumerate(points)) {
      SmallVector<Value> inputs, inits;
      for (unsigned i = 0, e = last.numInputs(); i < e; ++i)
        inputs.push_back(i == kernel.finishOperand
                             ? values[p]
                             : readInput(last, i, point, cache));
      for (unsigned i = 0; i < finals; ++i)
        inits.push_back(startValue(kernel.finishStarts[i], last, i,
                                   body.getArgument(i), point));
      llvm::append_range(finished,
                         evaluate(last, inputs, inits, point, yieldedBy(last)));
    }
    values = std::move(finished);
  }
  for (auto [p, point] : llvm::enumerate(points))
    for (unsigned i = 0; i < finals; ++i)
      write(values[p * finals + i], body.getArgument(i), resultMap(i), point);
}

void Emitter::emitTile() {
  const Stage &root = kernel.root;
  SmallVector<Point> points = pointsOfTile();
  SmallVector<Value> accumulators = startTile(points), values;
  if (kernel.hasReduction()) {
    values = plan.lane && !kernel.isParallel(*plan.lane)
                 ? emitReductionLanes(accumulators)
                 : emitReductions(0, accumulators);
    if (guards)
      for (Value condition : guards->afterwards)
        for (auto [p, point] : llvm::enumerate(points)) {
          Value holds =
              evaluate(root, {}, {}, point, condition, /*withEffects=*/false)
                  .front();
          values[p] = arith::SelectOp::create(b, loc, holds, values[p],
                                              accumulators[p]);
        }
  } else {
    values = emitStep(accumulators);
  }
  if (!partBegin || !kernel.finish)
    return finishTile(points, std::move(values));
  int64_t lastPart = kernel.extents[plan.parts->dim] - plan.parts->steps;
  scf::IfOp::create(
      b, loc, isPartAt(lastPart),
      [&](OpBuilder &, Location) {
        finishTile(points, values);
        scf::YieldOp::create(b, loc);
      },
      [&](OpBuilder &, Location) {
        for (auto [value, point] : llvm::zip_equal(values, points))
          write(value, body.getArgument(0), resultMap(0), point);
        scf::YieldOp::create(b, loc);
      });
}

/// The tiles of one size that cover [from, to). Unless they overlap, they do so
/// evenly.
void Emitter::emitSpan(unsigned level, OpFoldResult from, OpFoldResult to,
                       int64_t step, bool overlaps) {
  unsigned dim = plan.order[level];
  std::optional<int64_t> first = getConstantIntValue(from);
  std::optional<int64_t> last = getConstantIntValue(to);
  if (first && last && *first >= *last)
    return;
  size[dim] = step;
  if (first && last && *first + step >= *last) {
    fixed[dim] = *first;
    base[dim] = Value();
    return emitParallel(level + 1);
  }
  auto loop = scf::ForOp::create(
      b, loc, getValueOrCreateConstantIndexOp(b, loc, from),
      getValueOrCreateConstantIndexOp(b, loc, to), index(step));
  // A point of the parallel space owns its elements of the results; two threads
  // must not write an element at the same time, not even the same value.
  if (isShared && !overlaps)
    markParallel(loop);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  base[dim] = loop.getInductionVar();
  if (overlaps) // the last tile ends where the others do
    base[dim] = arith::MinSIOp::create(
        b, loc, base[dim],
        arith::SubIOp::create(b, loc, cast<Value>(to), index(step)));
  fixed[dim].reset();
  emitParallel(level + 1);
}

void Emitter::emitParallel(unsigned level) {
  if (level == plan.order.size())
    return emitTile();
  if (plan.parts && plan.parts->level == level && !partBegin)
    return emitParts(level);
  unsigned dim = plan.order[level];
  int64_t step = plan.tile[dim];
  OpFoldResult zero = b.getIndexAttr(0);
  if (!ShapedType::isDynamic(kernel.extents[dim])) {
    int64_t extent = kernel.extents[dim];
    int64_t rest = extent % step;
    OpFoldResult whole = wholeSteps(dim, step);
    emitSpan(level, zero, whole, step);
    return emitSpan(level, whole, extents[dim], rest);
  }
  // Unknown extent: whole tiles, then single vectors, the last one over
  // elements that others have written, then single elements. Where threads
  // share the whole tiles, the last one comes after them.
  bool canOverlap = step != 1 && !readsResults();
  SmallVector<int64_t> steps{step};
  if (plan.lane == dim && step > plan.vectorSize)
    steps.push_back(plan.vectorSize);
  else if (isShared && canOverlap)
    steps.push_back(step);
  OpFoldResult from = zero;
  for (auto [i, current] : llvm::enumerate(steps)) {
    bool overlaps = canOverlap && i + 1 == steps.size();
    OpFoldResult to =
        overlaps ? coveredBy(dim, current) : wholeSteps(dim, current);
    emitSpan(level, from, to, current, overlaps);
    from = to;
  }
  if (step != 1)
    emitSpan(level, from, extents[dim], 1);
}

/// The loops from `level` on for each part of the reduction.
void Emitter::emitParts(unsigned level) {
  auto loop = scf::ForOp::create(b, loc, index(0),
                                 index(kernel.extents[plan.parts->dim]),
                                 index(plan.parts->steps));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  partBegin = loop.getInductionVar();
  emitParallel(level);
  partBegin = Value();
}

/// The extents of the loops; merged ones have other extents than the op's.
void Emitter::findExtents() {
  linalg::LinalgOp root = kernel.root.op;
  SmallVector<Range> ranges = root.createLoopRanges(b, loc);
  for (auto [dim, extent] : llvm::enumerate(kernel.extents)) {
    if (!ShapedType::isDynamic(extent)) {
      extents.push_back(b.getIndexAttr(extent));
      continue;
    }
    OpFoldResult size = ranges[dim].size;
    for (unsigned outer : kernel.merged[dim])
      size = arith::MulIOp::create(
                 b, loc, getValueOrCreateConstantIndexOp(b, loc, size),
                 getValueOrCreateConstantIndexOp(b, loc, ranges[outer].size))
                 .getResult();
    extents.push_back(size);
  }
}

/// Replaces the operands that stages read by views with their collapsed dims.
void Emitter::collapseInputs() {
  auto collapse = [&](Value &value, ArrayRef<ReassociationIndices> groups) {
    if (!groups.empty())
      value = tensor::CollapseShapeOp::create(b, loc, value, groups);
  };
  for (Stage *stage : kernel.stages())
    for (unsigned i = 0, e = stage->numInputs(); i < e; ++i)
      // What the root gives to the finish is in no memory.
      if (!kernel.finish || stage != &*kernel.finish ||
          i != kernel.finishOperand)
        collapse(stage->operands[i], stage->groups[i]);
  if (!kernel.finish)
    return;
  for (auto [i, start] : llvm::enumerate(kernel.starts))
    if (auto *old = std::get_if<TensorStart>(&start))
      collapse(old->tensor, kernel.root.groups[kernel.root.numInputs() + i]);
}

/// The tensor that result `i` is written to.
Value Emitter::destinationOf(unsigned i) {
  linalg::LinalgOp op = kernel.last().op;
  Value init = op.getDpsInitOperand(i)->get();
  if (std::holds_alternative<TensorStart>(kernel.lastStarts()[i]))
    return init;
  // All of it is overwritten: what filled it before is not needed, and memory
  // that somebody else sees is not touched.
  bool owned = init.hasOneUse();
  while (auto fill = init.getDefiningOp<linalg::FillOp>()) {
    init = fill.output();
    owned &= init.hasOneUse();
  }
  if (owned && init.getDefiningOp())
    return init;
  auto type = cast<RankedTensorType>(init.getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, init);
  return tensor::EmptyOp::create(b, loc, sizes, type.getElementType());
}

SmallVector<Value> Emitter::run() {
  size.assign(kernel.extents.size(), 1);
  for (auto [dim, extent] : llvm::enumerate(kernel.extents))
    if (extent == 1)
      fixed[dim] = 0;
  guards = findGuards(kernel, plan.tile);
  findExtents();
  SmallVector<Value> dests;
  SmallVector<SmallVector<OpFoldResult>> shapes;
  linalg::LinalgOp last = kernel.last().op;
  auto groups =
      ArrayRef(kernel.last().groups).drop_front(last.getNumDpsInputs());
  for (unsigned i = 0, e = last.getNumDpsInits(); i < e; ++i) {
    dests.push_back(destinationOf(i));
    shapes.emplace_back();
    if (groups[i].empty())
      continue;
    shapes[i] = tensor::getMixedSizes(b, loc, dests[i]);
    dests[i] = tensor::CollapseShapeOp::create(b, loc, dests[i], groups[i]);
  }
  collapseInputs();
  body.emplaceBlock();
  llvm::for_each(dests, [&](Value dest) { addBuffer(dest); });
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&body.front());
    emitParallel(0);
  }
  auto op = cpu::KernelOp::create(b, loc, ValueRange(dests).getTypes(), dests,
                                  ArrayRef(tensors).drop_front(dests.size()));
  op.getBody().takeBody(body);
  SmallVector<Value> results = op.getResults();
  for (auto [i, result] : llvm::enumerate(results))
    if (!groups[i].empty())
      result = expandDims(b, loc,
                          cast<RankedTensorType>(last->getResult(i).getType()),
                          result, groups[i], shapes[i]);
  return results;
}

SmallVector<Value> layout::emitKernel(OpBuilder &builder, const Kernel &kernel,
                                      const KernelPlan &plan,
                                      const EmitOptions &options) {
  assert(plan.tile.size() == kernel.extents.size() && "a tile for each loop");
  return Emitter(builder, kernel, plan, options).run();
}
