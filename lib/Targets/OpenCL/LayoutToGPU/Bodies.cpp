//===- Bodies.cpp - Loops and bodies of linalg ops in a kernel ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementEmitter.h"
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

/// Integer divisions trap on what padding holds; on lanes that nobody uses
/// they divide by one.
static bool isDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
             arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op);
}

/// One op of a body on scalars, or on all lanes at once.
SmallVector<Value>
ElementEmitter::emitOp(Operation *op, ArrayRef<Value> operands, Value valid) {
  SmallVector<Value> values(operands);
  if (isDivision(op) && valid) {
    Value one = arith::ConstantOp::create(
        b, loc, b.getIntegerAttr(getElementTypeOrSelf(values[1]), 1));
    values[1] = scope.select(valid, values[1], one);
  }
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
         "', which has no form in a kernel");
    return {};
  }
  SmallVector<Type> types;
  for (Type type : op->getResultTypes()) {
    Type element = getElementTypeOrSelf(type);
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
    // A tensor that is read at computed indices is looked up by itself.
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

/// The loops of one reduction, while they are emitted.
struct ElementEmitter::Loops {
  linalg::LinalgOp op;
  SmallVector<IndexExpr> indices; // of all loops
  SmallVector<unsigned> nest;     // the reductions, outermost first
  SmallVector<SizeExpr> sizes;    // of all loops
  SmallVector<unsigned> inPixels; // reductions that walk through lanes
  SmallVector<IndexExpr> pixels;  // and the pixel that they are in
  SmallVector<Value> accumulators;
};

/// The size of each loop, from the operand dims that it indexes alone.
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

/// The reductions that walk through the lanes of an operand's pixels.
static SmallVector<unsigned> findLoopsInPixels(linalg::LinalgOp op) {
  llvm::SmallSetVector<unsigned, 4> found;
  SmallVector<IndexExpr> loops;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    loops.push_back(IndexExpr::dim(loop));
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (OpOperand *operand : op.getDpsInputOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand->get().getType());
    FailureOr<LayoutMap> map = failure();
    if (type)
      map = getLayoutMap(type);
    if (failed(map) || !map->getSpace().starts_with("image"))
      continue;
    SmallVector<IndexExpr> dims;
    SmallVector<SizeExpr> sizes;
    for (auto [expr, size] :
         llvm::zip_equal(op.getMatchingIndexingMap(operand).getResults(),
                         type.getShape())) {
      std::optional<IndexExpr> index = fromAffineExpr(expr, loops);
      if (!index)
        return {};
      dims.push_back(*index);
      sizes.push_back(SizeExpr(size));
    }
    dims.resize(map->getNumDims());
    IndexExpr lane =
        substitute(map->getCoordinates().back().value, dims, sizes);
    for (const DigitTerm &term : lane.terms)
      if (term.digit.isDim() && term.digit.divisor == 1 &&
          iterators[term.digit.dim] == utils::IteratorType::reduction &&
          (term.digit.modulus == kLanesOfPixel ||
           (term.digit.modulus == 0 && ranges[term.digit.dim] >= 0 &&
            ranges[term.digit.dim] <= kLanesOfPixel)))
        found.insert(term.digit.dim);
  }
  return found.takeVector();
}

/// The body at one point of the loops.
bool ElementEmitter::emitPoint(Loops &loops, Value valid) {
  linalg::LinalgOp op = loops.op;
  Block &body = *op.getBlock();
  SmallVector<Value> args;
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument arg = op.getMatchingBlockArgument(&operand);
    if (op.isDpsInit(&operand)) {
      args.push_back(loops.accumulators[operand.getOperandNumber() -
                                        op.getNumDpsInputs()]);
      continue;
    }
    if (arg.use_empty()) {
      args.push_back(Value());
      continue;
    }
    if (!isa<RankedTensorType>(operand.get().getType())) {
      args.push_back(scope.import(operand.get()));
      continue;
    }
    SmallVector<IndexExpr> index;
    for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
      std::optional<IndexExpr> x =
          fromAffineExpr(expr, loops.indices, scope.getExtents());
      if (!x)
        return bool(fail("an operand is not indexed by sums of digits"));
      index.push_back(*x);
    }
    args.push_back(evaluate(operand.get(), index, valid));
    if (!args.back())
      return false;
  }
  SmallVector<Value> results = emitBody(body, args, loops.indices, valid);
  if (results.empty())
    return false;
  for (auto [accumulator, result] :
       llvm::zip_equal(loops.accumulators, results))
    accumulator = scope.broadcast(result);
  return true;
}

/// The lanes of the pixels that loops walk through, one by one.
bool ElementEmitter::emitUnrolled(Loops &loops, unsigned depth, Value valid) {
  if (depth == loops.inPixels.size())
    return emitPoint(loops, valid);
  unsigned loop = loops.inPixels[depth];
  std::optional<int64_t> size = loops.sizes[loop].getConstant();
  for (int64_t number = 0; number < kLanesOfPixel; ++number) {
    if (size && number >= *size)
      break;
    loops.indices[loop] =
        add(scale(loops.pixels[depth], SizeExpr(int64_t(kLanesOfPixel)),
                  scope.getExtents()),
            IndexExpr(SizeExpr(number)), scope.getExtents());
    // The last pixel may be filled in part.
    Value isElement;
    if (!size || number >= (*size - 1) % kLanesOfPixel + 1)
      isElement = scope.emitInRange(loops.indices[loop], loops.sizes[loop]);
    SmallVector<Value> before = loops.accumulators;
    if (!emitUnrolled(loops, depth + 1, scope.both(valid, isElement)))
      return false;
    if (isElement)
      for (auto [now, was] : llvm::zip_equal(loops.accumulators, before))
        now = scope.select(isElement, now, was);
  }
  return true;
}

bool ElementEmitter::emitLoops(Loops &loops, unsigned depth, Value valid) {
  if (depth == loops.nest.size())
    return emitUnrolled(loops, 0, valid);
  unsigned loop = loops.nest[depth];
  auto inPixels = llvm::find(loops.inPixels, loop);
  bool isInPixels = inPixels != loops.inPixels.end();
  SizeExpr size = loops.sizes[loop];
  if (isInPixels)
    size = size.ceilDiv(kLanesOfPixel);
  std::optional<int64_t> known = size.getConstant();
  auto place = [&](IndexExpr index) {
    (isInPixels ? loops.pixels[inPixels - loops.inPixels.begin()]
                : loops.indices[loop]) = std::move(index);
  };
  if (known && *known == 1) {
    place(IndexExpr(SizeExpr(0)));
    return emitLoops(loops, depth + 1, valid);
  }

  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  size_t outside = cells.size();
  int64_t tripsOutside = trips;
  trips *= known.value_or(1);
  accesses.isPerTrip |= !known;
  auto forOp = scf::ForOp::create(b, loc, zero, scope.emit(size), one,
                                  loops.accumulators);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forOp.getBody());
  place(
      scope.addVariable(forOp.getInductionVar(), known.value_or(kUnknownSize)));
  loops.accumulators = llvm::to_vector_of<Value>(forOp.getRegionIterArgs());
  bool done = emitLoops(loops, depth + 1, valid);
  b.setInsertionPointToEnd(forOp.getBody());
  scf::YieldOp::create(b, loc, loops.accumulators);
  loops.accumulators = llvm::to_vector_of<Value>(forOp.getResults());
  cells.truncate(outside);
  trips = tripsOutside;
  return done;
}

Value ElementEmitter::computeLinalg(linalg::LinalgOp op, unsigned result,
                                    Point index, Value valid) {
  Loops loops;
  loops.op = op;
  loops.indices.resize(op.getNumLoops());
  if (failed(findLoopSizes(scope, op, loops.sizes)))
    return fail("the size of one of its loops is not known");
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(result));
  for (auto [expr, x] : llvm::zip_equal(map.getResults(), index))
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      loops.indices[dim.getPosition()] = x;
    else if (!isa<AffineConstantExpr>(expr))
      return fail("its result is not indexed by loops");
  op.getReductionDims(loops.nest);
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (!llvm::is_contained(loops.nest, loop) && !map.isFunctionOfDim(loop))
      return fail("a parallel loop is no dim of its result");
  loops.inPixels = findLoopsInPixels(op);
  loops.pixels.resize(loops.inPixels.size());

  for (OpOperand &init : op.getDpsInitsMutable()) {
    // What the body does not look at need not be there.
    bool isRead = op.payloadUsesValueFromOperand(&init);
    if (!isRead && loops.nest.empty()) {
      loops.accumulators.push_back(Value());
      continue;
    }
    SmallVector<IndexExpr> at;
    for (AffineExpr expr : op.getMatchingIndexingMap(&init).getResults())
      at.push_back(*fromAffineExpr(expr, loops.indices, scope.getExtents()));
    Value start = evaluate(init.get(), at, valid);
    if (!start)
      return {};
    loops.accumulators.push_back(scope.broadcast(start));
  }
  if (!emitLoops(loops, 0, valid))
    return {};
  return loops.accumulators[result];
}
