//===- IndexMaximum.cpp - The largest index of a linalg op ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emitters/IndexMaximum.h"
#include "layout/Dialect/Layout/IR/Speculation.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::layout;

namespace {
/// Emits one step of a reduction from the index and the value before the step,
/// and returns the value after it.
using ReductionStep = function_ref<Value(OpBuilder &, Value, Value)>;

/// Emits a reduction over all values of an index in the body of a linalg op.
/// The ops that compute the index are copied to the body of a separate
/// linalg.generic.
class MaximumEmitter {
public:
  MaximumEmitter(OpBuilder &builder, linalg::LinalgOp op)
      : builder(builder), op(op), isUsed(op.getNumLoops()) {}

  std::optional<IndexMaximum> emit(Value index, Operation *user);
  std::optional<Value> emitFilter(Value index, Operation *user, int64_t size);

private:
  bool plan(Value index, Operation *user);
  bool addConditions(Operation *user);
  bool add(Value value);
  void chooseElement(Value index);
  bool setSizes(IndexMaximum &result);
  void setOperands();
  Value emitReduction(ReductionStep step);
  void emitBody(OpBuilder &body, ValueRange values, ReductionStep step);

  OpBuilder &builder;
  linalg::LinalgOp op;
  // The ops of the body that compute the index, in any order, and the arguments
  // and loops that they read.
  DenseSet<Operation *> slice;
  SmallVector<BlockArgument> arguments;
  llvm::SmallBitVector isUsed;
  // The conditions under which the index is used, and whether they are negated.
  SmallVector<std::pair<Value, bool>> conditions;
  // The index before casts, and whether they extend its sign.
  Value element;
  bool isSigned = true;
  // The sizes of the loops, the operands and the maps of the reduction.
  SmallVector<OpFoldResult> sizes;
  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
};
} // namespace

/// Adds the ops and arguments of the body that `value` depends on to those that
/// the reduction copies. Returns false if an op has effects, or is in a branch
/// and not speculatable, or if an argument is an accumulator or belongs to a
/// nested region.
bool MaximumEmitter::add(Value value) {
  if (!op->isAncestor(value.getParentBlock()->getParentOp()))
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (argument.getOwner() != op.getBlock())
      return false;
    bool isInput = argument.getArgNumber() < unsigned(op.getNumDpsInputs());
    // A reduction changes its accumulator.
    if (!isInput && op.getNumReductionLoops() != 0)
      return false;
    if (llvm::is_contained(arguments, argument))
      return true;
    arguments.push_back(argument);
    AffineMap map =
        op.getMatchingIndexingMap(op.getMatchingOpOperand(argument));
    for (unsigned d = 0; d < map.getNumDims(); ++d)
      if (map.isFunctionOfDim(d))
        isUsed.set(d);
    return true;
  }
  Operation *made = value.getDefiningOp();
  if (!slice.insert(made).second)
    return true;
  bool isBranch = made->getBlock() != op.getBlock();
  if (!isMemoryEffectFree(made) || (isBranch && !canSpeculate(made)))
    return false;
  SetVector<Value> captured;
  getUsedValuesDefinedAbove(made->getRegions(), captured);
  made->walk([&](linalg::IndexOp index) { isUsed.set(index.getDim()); });
  return llvm::all_of(made->getOperands(), [&](Value v) { return add(v); }) &&
         llvm::all_of(captured, [&](Value v) { return add(v); });
}

/// Adds the conditions of the branches that contain `user` to `conditions`.
/// Returns false if the reduction cannot copy the ops that compute them.
bool MaximumEmitter::addConditions(Operation *user) {
  for (Operation *inner = user; inner->getParentOp() != op;
       inner = inner->getParentOp()) {
    auto either = cast<scf::IfOp>(inner->getParentOp());
    bool isElse = inner->getParentRegion() == &either.getElseRegion();
    conditions.push_back({either.getCondition(), isElse});
    if (!add(either.getCondition()))
      return false;
  }
  return true;
}

/// Sets `element` to the index before its extensions, because vectors have more
/// lanes of narrow integers. Extensions preserve unsigned order.
void MaximumEmitter::chooseElement(Value index) {
  element = index;
  while (Operation *cast = element.getDefiningOp()) {
    bool isUnsigned = isa<arith::IndexCastUIOp, arith::ExtUIOp>(cast);
    if (!isUnsigned && !isa<arith::IndexCastOp, arith::ExtSIOp>(cast))
      return;
    Type from = cast->getOperand(0).getType(), to = element.getType();
    unsigned width = to.isIndex() ? 64 : to.getIntOrFloatBitWidth();
    // Stops at a truncation, at an index, at less than 8 bits, and if
    // extensions of both kinds are mixed.
    if (from.isIndex() || from.getIntOrFloatBitWidth() > width ||
        from.getIntOrFloatBitWidth() < 8 ||
        (element != index && isSigned == isUnsigned))
      return;
    isSigned = !isUnsigned;
    element = cast->getOperand(0);
  }
}

/// Sets `sizes` to the sizes of the loops that the index depends on, and
/// `result.extents` to the dynamic ones. Returns false if a loop is known to
/// have no iteration.
bool MaximumEmitter::setSizes(IndexMaximum &result) {
  SmallVector<Range> ranges = op.createLoopRanges(builder, op.getLoc());
  for (unsigned d : isUsed.set_bits()) {
    OpFoldResult size = ranges[d].size;
    if (isZeroInteger(size))
      return false;
    sizes.push_back(size);
    if (auto dynamic = dyn_cast<Value>(size))
      result.extents.push_back(dynamic);
  }
  return true;
}

/// Sets the operands of the reduction and their maps. A loop that is not a dim
/// of any operand becomes a dim of an additional tensor.empty, which gives it a
/// size.
void MaximumEmitter::setOperands() {
  MLIRContext *context = op.getContext();
  SmallVector<AffineExpr> dims(op.getNumLoops(),
                               getAffineConstantExpr(0, context));
  for (auto [i, d] : llvm::enumerate(isUsed.set_bits()))
    dims[d] = getAffineDimExpr(i, context);
  unsigned rank = sizes.size();
  llvm::SmallBitVector isShaped(rank);
  for (BlockArgument argument : arguments) {
    OpOperand *operand = op.getMatchingOpOperand(argument);
    AffineMap map = op.getMatchingIndexingMap(operand).replaceDimsAndSymbols(
        dims, {}, rank, 0);
    operands.push_back(operand->get());
    maps.push_back(map);
    for (AffineExpr result : map.getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(result))
        isShaped.set(dim.getPosition());
  }
  SmallVector<OpFoldResult> missing;
  SmallVector<AffineExpr> exprs;
  for (unsigned i = 0; i < rank; ++i)
    if (!isShaped.test(i)) {
      missing.push_back(sizes[i]);
      exprs.push_back(getAffineDimExpr(i, context));
    }
  if (missing.empty())
    return;
  operands.push_back(tensor::EmptyOp::create(builder, op.getLoc(), missing,
                                             builder.getI8Type()));
  maps.push_back(AffineMap::get(rank, 0, exprs, context));
}

void MaximumEmitter::emitBody(OpBuilder &body, ValueRange values,
                              ReductionStep step) {
  Location loc = op.getLoc();
  IRMapping mapping;
  for (auto [argument, value] : llvm::zip(arguments, values))
    mapping.map(argument, value);
  SmallVector<unsigned> numbers(op.getNumLoops());
  for (auto [i, d] : llvm::enumerate(isUsed.set_bits()))
    numbers[d] = i;
  // Clones in program order, including ops in branches.
  op.getBlock()->walk<WalkOrder::PreOrder>([&](Operation *inner) {
    if (!slice.contains(inner))
      return WalkResult::advance();
    Operation *clone = body.clone(*inner, mapping);
    clone->walk(
        [&](linalg::IndexOp index) { index.setDim(numbers[index.getDim()]); });
    return WalkResult::skip();
  });
  Value found = mapping.lookupOrDefault(element);
  if (found.getType().isIndex())
    found = arith::IndexCastOp::create(body, loc, body.getI64Type(), found);
  Value zero =
      arith::ConstantOp::create(body, loc, body.getZeroAttr(found.getType()));
  for (auto [condition, isElse] : conditions) {
    Value reached = mapping.lookupOrDefault(condition);
    found = arith::SelectOp::create(body, loc, reached, isElse ? zero : found,
                                    isElse ? found : zero);
  }
  linalg::YieldOp::create(body, loc, step(body, found, values.back()));
}

/// Emits the reduction, which starts at 0 and applies `step` to each index, or
/// to 0 if `user` does not run in the iteration. Returns its final value: an
/// integer of the type of `element`, or an i64 if that is `index`.
Value MaximumEmitter::emitReduction(ReductionStep step) {
  Location loc = op.getLoc();
  Type type = element.getType();
  if (type.isIndex())
    type = builder.getI64Type();
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  Value empty =
      tensor::EmptyOp::create(builder, loc, ArrayRef<int64_t>(), type);
  Value start = linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
  maps.push_back(AffineMap::get(sizes.size(), 0, builder.getContext()));
  SmallVector<utils::IteratorType> kinds(sizes.size(),
                                         utils::IteratorType::reduction);
  auto reduction = linalg::GenericOp::create(
      builder, loc, start.getType(), operands, start, maps, kinds,
      [&](OpBuilder &body, Location, ValueRange values) {
        emitBody(body, values, step);
      });
  return tensor::ExtractOp::create(builder, loc, reduction.getResult(0),
                                   ValueRange());
}

/// Collects the ops of the body that compute `index` and the conditions under
/// which `user` runs. Returns false if the reduction cannot copy them (see
/// add), or if the index comes from outside of the op.
bool MaximumEmitter::plan(Value index, Operation *user) {
  chooseElement(index);
  // A value from outside of the op is a single index and needs no reduction.
  return op->isAncestor(element.getParentBlock()->getParentOp()) &&
         addConditions(user) && add(element);
}

std::optional<IndexMaximum> MaximumEmitter::emit(Value index, Operation *user) {
  if (!plan(index, user))
    return std::nullopt;
  IndexMaximum result;
  if (!setSizes(result)) {
    result.isNever = true;
    return result;
  }
  setOperands();
  Location loc = op.getLoc();
  result.index =
      emitReduction([&](OpBuilder &body, Value found, Value most) -> Value {
        return arith::MaxUIOp::create(body, loc, found, most);
      });
  Type word = builder.getI64Type();
  if (result.index.getType() != word)
    result.index =
        isSigned
            ? Value(arith::ExtSIOp::create(builder, loc, word, result.index))
            : arith::ExtUIOp::create(builder, loc, word, result.index);
  return result;
}

std::optional<Value> MaximumEmitter::emitFilter(Value index, Operation *user,
                                                int64_t size) {
  IndexMaximum loops;
  if (!plan(index, user) || !isSigned || !setSizes(loops))
    return std::nullopt;
  setOperands();
  Location loc = op.getLoc();
  // The sign bit is set if an index is negative or above the last one.
  Value signs =
      emitReduction([&](OpBuilder &body, Value found, Value before) -> Value {
        Type type = found.getType();
        int64_t largest = llvm::maxIntN(type.getIntOrFloatBitWidth());
        Value last = arith::ConstantOp::create(
            body, loc, body.getIntegerAttr(type, std::min(size - 1, largest)));
        Value left = arith::SubIOp::create(body, loc, last, found);
        Value sign = arith::OrIOp::create(body, loc, found, left);
        return arith::OrIOp::create(body, loc, sign, before);
      });
  Value zero = arith::ConstantOp::create(builder, loc,
                                         builder.getZeroAttr(signs.getType()));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt, signs,
                               zero);
}

std::optional<IndexMaximum> layout::computeIndexMaximum(OpBuilder &builder,
                                                        linalg::LinalgOp op,
                                                        Value index,
                                                        Operation *user) {
  return MaximumEmitter(builder, op).emit(index, user);
}

std::optional<Value> layout::filterIndices(OpBuilder &builder,
                                           linalg::LinalgOp op, Value index,
                                           Operation *user, int64_t size) {
  return MaximumEmitter(builder, op).emitFilter(index, user, size);
}
