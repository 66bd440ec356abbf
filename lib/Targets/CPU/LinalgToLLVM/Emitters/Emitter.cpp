//===- Emitter.cpp - Common parts of the loops of kernels -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emitters/Emitter.h"
#include "Kernels/ExpandDims.h"
#include "Loops/ParallelLoops.h"
#include "layout/Targets/CPU/LinalgToLLVM/CpuOps.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::layout;

Emitter::Emitter(OpBuilder &b, const Kernel &kernel, const KernelPlan &plan,
                 const EmitOptions &options)
    : b(b), loc(kernel.last().op->getLoc()), kernel(kernel), plan(plan),
      options(options), base(kernel.extents.size()),
      fixed(kernel.extents.size()),
      isShared(options.parallelLoops &&
               isWorthThreads(kernel.root.op, plan.registerSize)) {}

SmallVector<Value> layout::yieldedBy(const Stage &stage) {
  Block *body = linalg::LinalgOp(stage.op).getBlock();
  return llvm::to_vector(body->getTerminator()->getOperands());
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

Type Emitter::typeAt(Type element, const Point &point) const {
  return point.width == 0 ? element : VectorType::get({point.width}, element);
}

Value Emitter::broadcast(Value value, const Point &point) {
  if (point.width == 0 || isa<VectorType>(value.getType()))
    return value;
  auto type = VectorType::get({point.width}, value.getType());
  Block *block = b.getInsertionBlock();
  // Ops are only added at the end of a block, so a known vector is above.
  bool atEnd = b.getInsertionPoint() == block->end() ||
               b.getInsertionPoint()->hasTrait<OpTrait::IsTerminator>();
  Value &known = broadcasts[{value, block}];
  if (!known || known.getType() != type || !atEnd)
    known = vector::BroadcastOp::create(b, loc, type, value);
  return known;
}

Value Emitter::index(int64_t value) {
  Value &known = indices[value];
  if (!known) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&body.front());
    known = arith::ConstantIndexOp::create(b, loc, value);
  }
  return known;
}

Value Emitter::toValue(OpFoldResult number) {
  std::optional<int64_t> known = getConstantIntValue(number);
  return known ? index(*known) : cast<Value>(number);
}

/// Returns the value of `expr` at `positions`, as affine::expandAffineExpr, but
/// with the constants of `index`.
Value Emitter::expand(AffineExpr expr, ArrayRef<Value> positions) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return index(number.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return positions[dim.getPosition()];
  auto both = cast<AffineBinaryOpExpr>(expr);
  if (!isa<AffineConstantExpr>(both.getLHS())) {
    if (expr.getKind() == AffineExprKind::Add)
      return b.createOrFold<arith::AddIOp>(loc,
                                           expand(both.getLHS(), positions),
                                           expand(both.getRHS(), positions));
    if (expr.getKind() == AffineExprKind::Mul)
      return b.createOrFold<arith::MulIOp>(loc,
                                           expand(both.getLHS(), positions),
                                           expand(both.getRHS(), positions));
  }
  return affine::expandAffineExpr(b, loc, expr, positions, {});
}

SmallVector<Value> Emitter::subscripts(AffineMap map, const Point &point) {
  MLIRContext *context = b.getContext();
  // The maps of packed weights divide loops by the tile size (floordiv), so
  // that they index tiles by number.
  bool hasBlocks = false;
  for (AffineExpr result : map.getResults())
    result.walk([&](AffineExpr expr) {
      hasBlocks |= expr.getKind() == AffineExprKind::FloorDiv;
    });
  SmallVector<AffineExpr> replacement;
  SmallVector<Value> positions(base);
  for (unsigned dim = 0; dim < base.size(); ++dim) {
    AffineExpr expr = fixed[dim] ? getAffineConstantExpr(*fixed[dim], context)
                                 : getAffineDimExpr(dim, context);
    int64_t tile = plan.tile[dim];
    if (hasBlocks && !fixed[dim] && tile != 1 && kernel.isParallel(dim) &&
        map.isFunctionOfDim(dim)) {
      positions[dim] = arith::DivUIOp::create(b, loc, base[dim], index(tile));
      expr = expr * tile;
    }
    replacement.push_back(expr + point.offset[dim]);
  }
  SmallVector<Value> indices;
  for (AffineExpr result : map.getResults()) {
    // Most results are dims, which need no uniqued expressions.
    auto plain = dyn_cast<AffineDimExpr>(result);
    if (plain && positions[plain.getPosition()] == base[plain.getPosition()]) {
      unsigned dim = plain.getPosition();
      int64_t offset = point.offset[dim];
      indices.push_back(fixed[dim]    ? index(*fixed[dim] + offset)
                        : offset == 0 ? base[dim]
                                      : arith::AddIOp::create(b, loc, base[dim],
                                                              index(offset))
                                            .getResult());
      continue;
    }
    AffineExpr expr = simplifyAffineExpr(result.replaceDims(replacement),
                                         map.getNumDims(), 0);
    indices.push_back(expand(expr, positions));
  }
  return indices;
}

/// Returns one scalar point for each lane of the vector at `point`.
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

/// Adds an argument to the body of the cpu.kernel: the memref of `tensor`.
void Emitter::addBuffer(Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  tensors.push_back(tensor);
  body.addArgument(MemRefType::get(type.getShape(), type.getElementType()),
                   tensor.getLoc());
}

/// Returns the argument of the cpu.kernel's body that is the memref of
/// `tensor`, an input of the kernel. Adds the argument if there is none.
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
  bool lanes = point.width != 0 && plan.lane && map.isFunctionOfDim(*plan.lane);
  if (!lanes)
    return memref::LoadOp::create(b, loc, value, subscripts(map, point));
  auto wide = VectorType::get({point.width}, type.getElementType());
  if (!isWholeBytes(type.getElementType())) {
    SmallVector<Value> elements;
    for (const Point &lane : lanesOf(point))
      elements.push_back(read(value, map, lane));
    return vector::FromElementsOp::create(b, loc, wide, elements);
  }
  if (std::optional<LanePattern> pattern = findLanePattern(map, *plan.lane))
    return readPattern(value, map, *pattern, point);
  // The map of packed weights is not linear, but a vector is in one block,
  // whose elements are contiguous.
  int64_t stride = findLaneStride(map, *plan.lane).value_or(1);
  return readStrided(value, subscripts(map, point), stride, point);
}

/// Widens a load of `count` elements, from `first` elements after the first lane
/// on, to a power of two, if a row of `size` elements has as many at every index
/// of the kernel: after the last one, or else before the first one. `position`
/// is the subscript of the first lane of a period, in the dims of the kernel,
/// of which `lane` counts periods.
static void widenLoad(const Kernel &kernel, AffineExpr position, unsigned lane,
                      int64_t period, int64_t size, int64_t &first,
                      int64_t &count) {
  int64_t more = llvm::PowerOf2Ceil(count) - count;
  SmallVector<std::optional<int64_t>> least(kernel.extents.size(), 0), most;
  for (int64_t extent : kernel.extents) {
    if (ShapedType::isDynamic(extent))
      return;
    most.push_back(std::max<int64_t>(extent, 1) - 1);
  }
  *most[lane] /= period;
  auto getBound = [&](bool isUpper) {
    return getBoundForAffineExpr(position, least.size(), 0, least, most,
                                 isUpper);
  };
  std::optional<int64_t> from = getBound(false), to = getBound(true);
  if (ShapedType::isDynamic(size) || !from || !to)
    return;
  bool hasAfter = *to + first + count + more <= size;
  if (!hasAfter && *from + first < more)
    return;
  first -= hasAfter ? 0 : more;
  count += more;
}

/// Reads a vector of `point.width` lanes by `pattern`: loads all elements from
/// the first to the last of these, and shuffles them, or does so for each half
/// if there are more elements than lanes. Reads lane by lane if the first lane
/// may not be the first of a period.
Value Emitter::readPattern(Value buffer, AffineMap map,
                           const LanePattern &pattern, const Point &point) {
  unsigned lane = *plan.lane;
  int64_t period = pattern.offsets.size();
  auto memory = cast<MemRefType>(buffer.getType());
  int64_t start = fixed[lane] ? *fixed[lane] : plan.tile[lane];
  if (start % period != 0 || point.offset[lane] % period != 0) {
    SmallVector<Value> elements;
    for (const Point &each : lanesOf(point))
      elements.push_back(read(buffer, map, each));
    return vector::FromElementsOp::create(
        b, loc, VectorType::get({point.width}, memory.getElementType()),
        elements);
  }
  SmallVector<int64_t> lanes;
  for (int64_t number = 0; number < point.width; ++number)
    lanes.push_back(pattern.getOffset(number));
  auto [least, most] = std::minmax_element(lanes.begin(), lanes.end());
  int64_t first = *least, count = *most - *least + 1;
  if (count > point.width && point.width % (2 * period) == 0) {
    Point half = point;
    half.width /= 2;
    Value low = readPattern(buffer, map, pattern, half);
    half.offset[lane] += half.width;
    Value high = readPattern(buffer, map, pattern, half);
    return vector::ShuffleOp::create(
        b, loc, low, high, llvm::to_vector(llvm::seq<int64_t>(0, point.width)));
  }
  MLIRContext *context = b.getContext();
  AffineExpr dim = getAffineDimExpr(lane, context);
  AffineExpr position =
      map.getResults().back().replace(dim, getAffineConstantExpr(0, context)) +
      dim * pattern.step;
  widenLoad(kernel, simplifyAffineExpr(position, map.getNumDims(), 0), lane,
            period, memory.getShape().back(), first, count);
  for (int64_t &number : lanes)
    number -= first;
  SmallVector<Value> at = subscripts(map, point);
  if (first != 0)
    at.back() = arith::AddIOp::create(b, loc, at.back(), index(first));
  Value loaded =
      readVector(VectorType::get({count}, memory.getElementType()), buffer, at);
  return vector::ShuffleOp::create(b, loc, loaded, loaded, lanes);
}

/// Reads `point.width` elements of a row of `buffer` that are `stride` apart,
/// from `indices` on. Loads whole vectors and shuffles them. The last vector
/// ends with the last element, so that nothing after it is read.
///
///   8 lanes, stride 2   loads of 8 elements at 0 and at 7, a shuffle of both
Value Emitter::readStrided(Value buffer, ArrayRef<Value> indices,
                           int64_t stride, const Point &point) {
  int64_t width = point.width, span = (width - 1) * stride + 1;
  auto type = VectorType::get(
      {width}, cast<MemRefType>(buffer.getType()).getElementType());
  Value collected;
  SmallVector<int64_t> lanes(width, vector::ShuffleOp::kPoisonIndex);
  for (int64_t next = 0; next < width;) {
    int64_t from = std::min(next * stride, span - width);
    SmallVector<Value> at(indices);
    if (from != 0)
      at.back() = arith::AddIOp::create(b, loc, at.back(), index(from));
    Value loaded = readVector(type, buffer, at);
    for (; next < width && next * stride < from + width; ++next)
      lanes[next] = next * stride - from + (collected ? width : 0);
    if (stride == 1)
      return loaded;
    if (collected || next == width)
      collected = vector::ShuffleOp::create(
          b, loc, collected ? collected : loaded, loaded, lanes);
    else
      collected = loaded;
    if (from != 0)
      for (int64_t lane = 0; lane < next; ++lane)
        lanes[lane] = lane;
  }
  return collected;
}

/// Reads a vector whose lanes are all in `buffer`.
Value Emitter::readVector(VectorType type, Value buffer,
                          ArrayRef<Value> indices) {
  Value &padding = paddings[type.getElementType()];
  if (!padding) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(&body.front());
    padding = ub::PoisonOp::create(b, loc, type.getElementType());
  }
  return vector::TransferReadOp::create(b, loc, type, buffer, indices, padding,
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

Value Emitter::readOnce(const Stage &stage, unsigned operand, Value tensor,
                        const Point &point, ReadCache &cache) {
  AffineMap map = stage.maps[operand];
  std::vector<int64_t> key{static_cast<int64_t>(operand)};
  for (unsigned dim = 0; dim < base.size(); ++dim)
    key.push_back(map.isFunctionOfDim(dim) ? point.offset[dim] : 0);
  Value &value = cache[key];
  if (!value)
    value = read(tensor, map, point);
  return value;
}

Value Emitter::readInput(const Stage &stage, unsigned input, const Point &point,
                         ReadCache &cache) {
  return readOnce(stage, input, stage.operands[input], point, cache);
}

/// Replaces every tensor.extract in `op` by a load from the buffer of its
/// tensor. Returns `op`, or the load if `op` is itself a tensor.extract.
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

/// Reads the elements of `extract` for the lanes of `point`: as one vector if
/// they are contiguous, otherwise one by one at the indices of each lane.
Value Emitter::readLanes(const Stage &stage, tensor::ExtractOp extract,
                         const Point &point) {
  linalg::LinalgOp op = stage.op;
  SmallVector<bool> isNeeded(op->getNumOperands());
  for (Operation *needed :
       neededOps(op.getBlock(), extract.getResult(), /*withEffects=*/false))
    for (Value operand : needed->getOperands())
      if (auto argument = dyn_cast<BlockArgument>(operand);
          argument && argument.getOwner() == op.getBlock())
        isNeeded[argument.getArgNumber()] = true;
  auto evaluateAt = [&](const Point &lane, ValueRange wanted) {
    ReadCache cache;
    SmallVector<Value> inputs(stage.numInputs());
    for (auto [i, input] : llvm::enumerate(inputs))
      if (isNeeded[i])
        input = readInput(stage, i, lane, cache);
    return evaluate(stage, inputs, {}, lane, SmallVector<Value>(wanted),
                    /*withEffects=*/false);
  };
  SmallVector<Point> lanes = lanesOf(point);
  if (classifyExtract(stage, extract, *plan.lane) == LaneAccess::Contiguous) {
    SmallVector<Value> first = evaluateAt(lanes.front(), extract.getIndices());
    return readStrided(bufferOf(extract.getTensor()), first, 1, point);
  }
  SmallVector<Value> elements;
  for (const Point &lane : lanes)
    elements.push_back(evaluateAt(lane, extract->getResults()).front());
  return vector::FromElementsOp::create(
      b, loc, VectorType::get({point.width}, extract.getType()), elements);
}

SmallVector<Value> Emitter::evaluate(const Stage &stage, ArrayRef<Value> inputs,
                                     ArrayRef<Value> inits, const Point &point,
                                     ArrayRef<Value> wanted, bool withEffects) {
  linalg::LinalgOp op = stage.op;
  Block *body = op.getBlock();
  IRMapping mapping;
  for (auto [arg, value] : llvm::zip(body->getArguments(), inputs))
    if (value)
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
    auto extract = dyn_cast<tensor::ExtractOp>(inner);
    if (extract && point.width != 0 && plan.lane &&
        classifyExtract(stage, extract, *plan.lane) != LaneAccess::Invariant) {
      mapping.map(extract.getResult(), readLanes(stage, extract, point));
      continue;
    }
    bool vectors = llvm::any_of(inner.getOperands(), [&](Value operand) {
      return isa<VectorType>(mapping.lookupOrDefault(operand).getType());
    });
    Operation *clone;
    if (vectors) {
      // A vector select may have a scalar condition.
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
      // If the condition is a vector, the scalar operands were broadcast above.
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
                          unsigned result, Value current, const Point &point,
                          ReadCache &cache) {
  if (auto *splat = std::get_if<SplatStart>(&start))
    return broadcast(splat->scalar, point);
  // The output buffer holds the old elements until they are overwritten.
  // Reading them from there needs no second buffer.
  if (auto *old = std::get_if<TensorStart>(&start))
    return readOnce(stage, stage.numInputs() + result,
                    current ? current : old->tensor, point, cache);
  auto *producer = std::get_if<Stage>(&start);
  if (!producer)
    return nullptr;
  ReadCache own;
  SmallVector<Value> inputs;
  for (unsigned i = 0, e = producer->numInputs(); i < e; ++i)
    inputs.push_back(readInput(*producer, i, point, own));
  return evaluate(*producer, inputs, {}, point, yieldedBy(*producer)).front();
}

SmallVector<Value> Emitter::start(ArrayRef<Point> points) {
  SmallVector<Value> values;
  ReadCache cache;
  for (const Point &point : points)
    for (auto [i, each] : llvm::enumerate(kernel.starts)) {
      Value current = kernel.finish ? Value() : body.getArgument(i);
      values.push_back(startValue(each, kernel.root, i, current, point, cache));
    }
  return values;
}

void Emitter::finish(ArrayRef<Point> points, SmallVector<Value> values) {
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
                                   body.getArgument(i), point, cache));
      llvm::append_range(finished,
                         evaluate(last, inputs, inits, point, yieldedBy(last)));
    }
    values = std::move(finished);
  }
  for (auto [p, point] : llvm::enumerate(points))
    for (unsigned i = 0; i < finals; ++i)
      write(values[p * finals + i], body.getArgument(i), resultMap(i), point);
}

//===----------------------------------------------------------------------===//
// The frame
//===----------------------------------------------------------------------===//

/// Computes the extents of the loops. Merged loops have products of extents.
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

/// Replaces the inputs of all stages, and the initial tensors of a root that
/// has a finish, by tensor.collapse_shape ops if their dims are collapsed
/// (`groups`).
void Emitter::collapseInputs() {
  auto collapse = [&](Value &value, ArrayRef<ReassociationIndices> groups) {
    if (!groups.empty())
      value = tensor::CollapseShapeOp::create(b, loc, value, groups);
  };
  for (Stage *stage : kernel.stages())
    for (unsigned i = 0, e = stage->numInputs(); i < e; ++i)
      // The root's result is passed to the finish in registers.
      if (!kernel.finish || stage != &*kernel.finish ||
          i != kernel.finishOperand)
        collapse(stage->operands[i], stage->groups[i]);
  if (!kernel.finish)
    return;
  for (auto [i, start] : llvm::enumerate(kernel.starts))
    if (auto *old = std::get_if<TensorStart>(&start))
      collapse(old->tensor, kernel.root.groups[kernel.root.numInputs() + i]);
}

/// Returns the tensor whose memory result `i` overwrites. If the kernel reads
/// the elements of the init, this is the init. Otherwise it is the last tensor
/// of the chain that starts with the init and continues by overwrittenBy.
/// Returns a new tensor.empty instead of it if a tensor of the chain has other
/// users, or if the last one is a block argument.
Value Emitter::destinationOf(unsigned i) {
  linalg::LinalgOp op = kernel.last().op;
  Value init = op.getDpsInitOperand(i)->get();
  if (std::holds_alternative<TensorStart>(kernel.lastStarts()[i]))
    return init;
  // Memory with other users must not be overwritten.
  bool owned = init.hasOneUse();
  while (Value older = overwrittenBy(init)) {
    init = older;
    owned &= init.hasOneUse();
  }
  if (owned && init.getDefiningOp())
    return init;
  auto type = cast<RankedTensorType>(init.getType());
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, init);
  return tensor::EmptyOp::create(b, loc, sizes, type.getElementType());
}

SmallVector<Value> Emitter::run() {
  for (auto [dim, extent] : llvm::enumerate(kernel.extents))
    if (extent == 1)
      fixed[dim] = 0;
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
    emitLoops();
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
