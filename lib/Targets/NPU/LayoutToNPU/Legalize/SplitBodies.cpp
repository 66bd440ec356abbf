//===- SplitBodies.cpp - Bodies of one OKKernel function each -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Splits an op whose body needs several functions into one op per function,
// before layouts are assigned, so that intermediate results are tensors like
// any other. Upstream's DecomposeLinalgOp does not recognize several ops as one
// function, and does not reuse operands for results, which halves the memory of
// a chain.
//
//===----------------------------------------------------------------------===//

#include "Legalize/LegalizeLinalg.h"
#include "Tiling/TileAndFuse.h"
#include "layout/Dialect/NPU/IR/OkkFunctionMatcher.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::layout;

namespace {
/// A tensor with the values that a value of a body has in all iterations, and
/// the map from iterations to its elements.
struct Element {
  Value tensor;
  AffineMap map;
  /// True if this pass has created the tensor and it has one use, so that the
  /// result of the next op may overwrite it.
  bool isOverwritable = false;
};

/// The ops of a body that form one OKKernel function, and the values that they
/// read from other ops.
struct BodyPattern {
  SmallVector<Operation *> ops;
  SmallVector<Value> leaves;
};

class BodySplitter {
public:
  BodySplitter(linalg::LinalgOp op)
      : op(op), builder(op), ranges(op.getStaticLoopRanges()) {}

  bool run();

private:
  bool canSplit();
  BodyPattern getPattern(Value value) const;
  bool isOneFunction(Value value);
  bool runForResults();
  std::optional<Element> get(Value value);
  std::optional<Element> make(Value value, std::optional<Element> dest);
  AffineMap getMap(const BodyPattern &pattern);

  linalg::LinalgOp op;
  OpBuilder builder;
  SmallVector<int64_t> ranges;
  DenseMap<Value, Element> elements;
};
} // namespace

//===----------------------------------------------------------------------===//
// One op per function
//===----------------------------------------------------------------------===//

static bool isConstant(Value value) {
  return matchPattern(value, m_Constant());
}

/// Returns true if an op of a body is an OKKernel function by itself, or can be
/// part of one, as a comparison whose users are selects.
static bool hasFunction(Operation &op) {
  auto isOnlySelecting = [&] {
    return llvm::all_of(op.getUses(), [](OpOperand &use) {
      return isa<arith::SelectOp>(use.getOwner()) &&
             use.getOperandNumber() == 0;
    });
  };
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    using Predicate = arith::CmpFPredicate;
    bool hasConstant =
        isConstant(compare.getLhs()) || isConstant(compare.getRhs());
    return (llvm::is_contained({Predicate::OGT, Predicate::OLT},
                               compare.getPredicate()) ||
            (compare.getPredicate() == Predicate::UEQ && !hasConstant)) &&
           isOnlySelecting();
  }
  if (isa<arith::CmpIOp>(op))
    return isOnlySelecting() && llvm::all_of(op.getUsers(), [](Operation *use) {
             return npu::selectsByEqualWords(cast<arith::SelectOp>(use));
           });
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return isa_and_nonnull<arith::CmpFOp, arith::CmpIOp>(
        select.getCondition().getDefiningOp());
  if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op))
    return isConstant(op.getOperand(1));
  return isa<arith::ConstantOp, arith::AddFOp, arith::SubFOp, arith::MulFOp,
             arith::DivFOp, arith::MaximumFOp, arith::MaxNumFOp,
             arith::MinimumFOp, arith::MinNumFOp, arith::NegFOp, arith::AndIOp,
             arith::OrIOp, arith::XOrIOp, arith::BitcastOp, math::SqrtOp,
             math::RsqrtOp, math::ExpOp, math::TanhOp>(op);
}

/// Returns true if every op of the body is an OKKernel function or a part of
/// one, on operands that are f32, i32 or comparisons, and constants if they are
/// from outside of the body. Otherwise the whole op becomes a kernel that only
/// the simulator runs.
bool BodySplitter::canSplit() {
  auto isWord = [](Type type) { return type.isF32() || type.isInteger(32); };
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (!hasFunction(inner))
      return false;
    for (Value operand : inner.getOperands())
      if ((!isWord(operand.getType()) &&
           !isa_and_nonnull<arith::CmpFOp, arith::CmpIOp>(
               operand.getDefiningOp())) ||
          (operand.getParentBlock() != op.getBlock() && !isConstant(operand)))
        return false;
  }
  return true;
}

/// Returns the op that defines `value` with all ops before it that the same
/// OKKernel function computes, e.g. a select with its comparison. Most functions
/// compute only that op. Requires that every op of the body is or belongs to a
/// function (canSplit).
BodyPattern BodySplitter::getPattern(Value value) const {
  BodyPattern pattern;
  Operation *last = value.getDefiningOp();
  SmallVector<Operation *> inner{last};
  Value clamped; // the argument, if the function includes its clamps
  if (auto select = dyn_cast<arith::SelectOp>(last)) {
    if (Operation *compare = select.getCondition().getDefiningOp())
      inner.push_back(compare);
  } else if (isa<math::ExpOp, math::TanhOp>(last)) {
    clamped = last->getOperand(0);
  } else if (auto div = dyn_cast<arith::DivFOp>(last)) {
    if (clamped = npu::getSigmoidOf(div); clamped) {
      Operation *sum = div.getRhs().getDefiningOp();
      inner.push_back(sum);
      for (Value operand : sum->getOperands())
        if (auto exp = operand.getDefiningOp<math::ExpOp>()) {
          inner.push_back(exp);
          inner.push_back(exp.getOperand().getDefiningOp());
        }
    }
  }
  if (clamped)
    llvm::append_range(inner, llvm::reverse(npu::getClamped(clamped).ops));
  pattern.ops.assign(inner.rbegin(), inner.rend());
  for (Operation *part : pattern.ops)
    for (Value operand : part->getOperands())
      if (!llvm::is_contained(inner, operand.getDefiningOp()) &&
          !llvm::is_contained(pattern.leaves, operand))
        pattern.leaves.push_back(operand);
  return pattern;
}

/// Returns the indexing map of the tensor for the result of `pattern`: its dims
/// are the loops that it depends on, in ascending order. If these are all loops
/// and index the op's result, permuted or not, it is the map of that result.
AffineMap BodySplitter::getMap(const BodyPattern &pattern) {
  llvm::SmallBitVector used(op.getNumLoops());
  for (Value leaf : pattern.leaves)
    if (auto known = elements.find(leaf); known != elements.end())
      for (unsigned loop = 0; loop < used.size(); ++loop)
        if (known->second.map.isFunctionOfDim(loop))
          used.set(loop);
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (used.all() && result.isPermutation())
    return result;
  SmallVector<AffineExpr> exprs;
  for (unsigned loop : used.set_bits())
    exprs.push_back(getAffineDimExpr(loop, op.getContext()));
  return AffineMap::get(op.getNumLoops(), 0, exprs, op.getContext());
}

std::optional<Element> BodySplitter::get(Value value) {
  if (auto known = elements.find(value); known != elements.end())
    return known->second;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    OpOperand &operand = op->getOpOperand(argument.getArgNumber());
    // A scalar operand has no tensor.
    if (!isa<RankedTensorType>(operand.get().getType()))
      return std::nullopt;
    return elements[value] = {operand.get(),
                              op.getMatchingIndexingMap(&operand)};
  }
  std::optional<Element> made = make(value, std::nullopt);
  if (made)
    elements[value] = *made;
  return made;
}

std::optional<Element> BodySplitter::make(Value value,
                                          std::optional<Element> dest) {
  BodyPattern pattern = getPattern(value);
  SmallVector<Element> inputs;
  SmallVector<Value> leaves;
  for (Value leaf : pattern.leaves) {
    if (isConstant(leaf))
      continue;
    std::optional<Element> input = get(leaf);
    if (!input)
      return std::nullopt;
    inputs.push_back(*input);
    leaves.push_back(leaf);
  }
  Element result;
  result.map = dest ? dest->map : getMap(pattern);
  SmallVector<int64_t> shape;
  for (AffineExpr expr : result.map.getResults())
    shape.push_back(ranges[cast<AffineDimExpr>(expr).getPosition()]);
  auto type = RankedTensorType::get(shape, value.getType());
  // A single op overwrites an input that was created here for it alone.
  bool isSimple = pattern.ops.size() == 1 && mayOverwrite(pattern.ops[0]);
  std::optional<unsigned> replaced;
  for (auto [i, input] : llvm::enumerate(inputs))
    if (isSimple && input.isOverwritable && input.map == result.map &&
        input.tensor.getType() == type)
      replaced = i;
  Value init = replaced ? inputs[*replaced].tensor : Value();
  Location loc = value.getLoc();
  if (!init)
    init = tensor::EmptyOp::create(builder, loc, shape, value.getType());
  SmallVector<Value> ins;
  SmallVector<AffineMap> maps;
  IRMapping mapping;
  for (auto [i, input] : llvm::enumerate(inputs))
    if (i != replaced) {
      ins.push_back(input.tensor);
      maps.push_back(input.map);
    }
  maps.push_back(result.map);
  // The new op has only the loops that index its inputs or its result.
  AffineMap all = concatAffineMaps(maps, op.getContext());
  llvm::SmallBitVector used(op.getNumLoops());
  for (unsigned loop = 0; loop < used.size(); ++loop)
    if (all.isFunctionOfDim(loop))
      used.set(loop);
  SmallVector<AffineMap> compressed;
  llvm::SmallBitVector unused = used;
  unused.flip();
  for (AffineMap map : maps)
    compressed.push_back(compressDims(map, unused));
  SmallVector<utils::IteratorType> kinds(used.count(),
                                         utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      builder, loc, TypeRange(type), ins, ValueRange(init), compressed, kinds,
      [&](OpBuilder &inner, Location, ValueRange arguments) {
        unsigned next = 0;
        for (auto [i, leaf] : llvm::enumerate(leaves))
          mapping.map(leaf,
                      i == replaced ? arguments.back() : arguments[next++]);
        for (Value leaf : pattern.leaves)
          if (isConstant(leaf) && leaf.getParentBlock() == op.getBlock())
            inner.clone(*leaf.getDefiningOp(), mapping);
        Operation *last = nullptr;
        for (Operation *part : pattern.ops)
          last = inner.clone(*part, mapping);
        linalg::YieldOp::create(inner, loc, last->getResult(0));
      });
  result.tensor = generic.getResult(0);
  result.isOverwritable = value.hasOneUse();
  return result;
}

bool BodySplitter::isOneFunction(Value value) {
  return npu::getElementFunction(value).has_value();
}

/// Replaces an op with several results, which share the ops for common values.
/// Returns false, after creating ops without use at most, if a result is
/// not computed or not indexed by all loops.
bool BodySplitter::runForResults() {
  SmallVector<Value> made;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    Value yielded = op.getMatchingYieldValue(&init)->get();
    AffineMap map = op.getMatchingIndexingMap(&init);
    if (isa<BlockArgument>(yielded) || isConstant(yielded) ||
        !map.isPermutation())
      return false;
    auto known = elements.find(yielded);
    if (known == elements.end() || known->second.map != map) {
      std::optional<Element> element = make(yielded, Element{{}, map});
      if (!element)
        return false;
      elements[yielded] = *element;
    }
    elements[yielded].isOverwritable = false;
    made.push_back(elements[yielded].tensor);
  }
  op->replaceAllUsesWith(made);
  op->erase();
  return true;
}

bool BodySplitter::run() {
  if (!canSplit())
    return false;
  if (op.getNumDpsInits() > 1)
    return runForResults();
  Value yielded = op.getBlock()->getTerminator()->getOperand(0);
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (isa<BlockArgument>(yielded) || isConstant(yielded))
    return false;
  if (op.getNumReductionLoops() == 0) {
    if (isOneFunction(yielded) || !result.isPermutation())
      return false;
    std::optional<Element> made = make(yielded, Element{{}, result});
    if (!made)
      return false;
    op->getResult(0).replaceAllUsesWith(made->tensor);
    op->erase();
    return true;
  }
  // A reduction keeps its last op, the sum or maximum; only its term is split.
  Operation *last = yielded.getDefiningOp();
  if (!isa<arith::AddFOp, arith::MaximumFOp, arith::MinimumFOp,
           arith::MaxNumFOp, arith::MinNumFOp>(last))
    return false;
  auto isOut = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    return argument && int(argument.getArgNumber()) == op.getNumDpsInputs();
  };
  unsigned term = isOut(last->getOperand(0)) ? 1 : 0;
  Value summed = last->getOperand(term);
  if (!isOut(last->getOperand(1 - term)) || isa<BlockArgument>(summed) ||
      isConstant(summed))
    return false;
  // The multiplication of a matmul or a convolution is part of its function and
  // stays in the reduction, but that of a dot product, without rows and
  // columns, is split off.
  FailureOr<linalg::ContractionDimensions> dims = npu::getProductDims(op);
  bool isOfRows = succeeded(dims) && dims->m.empty() && dims->n.empty();
  SmallPtrSet<Value, 4> leaves;
  for (Value leaf : summed.getDefiningOp()->getOperands())
    leaves.insert(leaf);
  if (!isOfRows && isa<arith::MulFOp>(summed.getDefiningOp()) &&
      leaves.size() == 2 && llvm::all_of(leaves, llvm::IsaPred<BlockArgument>))
    return false;
  std::optional<Element> inner = get(summed);
  if (!inner)
    return false;
  SmallVector<AffineMap> maps{inner->map, result};
  auto generic = linalg::GenericOp::create(
      builder, op.getLoc(), op->getResultTypes(), ValueRange(inner->tensor),
      op.getDpsInits(), maps, op.getIteratorTypesArray(),
      [&](OpBuilder &body, Location loc, ValueRange arguments) {
        IRMapping mapping;
        mapping.map(summed, arguments[0]);
        mapping.map(last->getOperand(1 - term), arguments[1]);
        Operation *sum = body.clone(*last, mapping);
        linalg::YieldOp::create(body, loc, sum->getResult(0));
      });
  op->replaceAllUsesWith(generic);
  op->erase();
  return true;
}

/// Returns true if the op may be split: it is on tensors of static sizes, has
/// iterations, one result or no reduction, no linalg.index and no layouts, which
/// new tensors would need too. Fills, copies and transposes are not split.
static bool isCuttable(linalg::LinalgOp op) {
  auto hasLayout = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getEncoding();
  };
  return llvm::none_of(op->getOperandTypes(), hasLayout) &&
         op.hasPureTensorSemantics() && !op.hasDynamicShape() &&
         (op.getNumDpsInits() == 1 || op.getNumReductionLoops() == 0) &&
         !op.hasIndexSemantics() &&
         !llvm::is_contained(op.getStaticLoopRanges(), 0) &&
         !isa<linalg::FillOp, linalg::CopyOp, linalg::TransposeOp>(*op);
}

void layout::generalizeBodies(func::FuncOp function) {
  SmallVector<linalg::LinalgOp> ops;
  function.walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::GenericOp>(*op) && isCuttable(op) &&
        op.getNumReductionLoops() == 0 && op.getNumDpsInits() == 1 &&
        getElementTypeOrSelf(op->getResultTypes()[0]).isF32() &&
        !llvm::all_of(op.getBlock()->without_terminator(), hasFunction))
      ops.push_back(op);
  });
  for (linalg::LinalgOp op : ops) {
    IRRewriter rewriter(op);
    // A named op without a generic form is not changed.
    (void)linalg::generalizeNamedOp(rewriter, op);
  }
}

/// Copies operands that do not depend on all loops of the result to the shape
/// of the result, if the OKKernel function has no strides: such functions
/// traverse all operands alike.
static void copyAlongLoops(linalg::GenericOp op) {
  std::optional<npu::ElementFunction> function = npu::getElementFunction(op);
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!function || op.getNumReductionLoops() != 0 || !result.isPermutation() ||
      function->kind == npu::ElementFunction::Strided ||
      function->kind == npu::ElementFunction::FromBytes)
    return;
  OpBuilder builder(op);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto kinds = op.getIteratorTypesArray();
  DenseMap<std::pair<Value, AffineMap>, Value> copied;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap &map = maps[input->getOperandNumber()];
    bool hasAll = llvm::all_of(llvm::enumerate(ranges), [&](auto loop) {
      return loop.value() == 1 || map.isFunctionOfDim(loop.index());
    });
    if (hasAll || !isa<RankedTensorType>(input->get().getType()) ||
        !op.payloadUsesValueFromOperand(input))
      continue;
    Value &copy = copied[{input->get(), map}];
    if (!copy) {
      Value empty = tensor::EmptyOp::create(
          builder, op.getLoc(), applyPermutationMap(result, ArrayRef(ranges)),
          getElementTypeOrSelf(input->get()));
      copy = linalg::GenericOp::create(
                 builder, op.getLoc(), TypeRange(empty.getType()), input->get(),
                 empty, ArrayRef{map, result}, kinds,
                 [](OpBuilder &body, Location loc, ValueRange values) {
                   linalg::YieldOp::create(body, loc, values[0]);
                 })
                 .getResult(0);
    }
    input->set(copy);
    map = result;
  }
  op.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
}

void layout::splitBodies(func::FuncOp function) {
  SmallVector<linalg::LinalgOp> ops;
  function.walk([&](linalg::LinalgOp op) {
    if (isCuttable(op))
      ops.push_back(op);
  });
  for (linalg::LinalgOp op : ops)
    if (auto generic = dyn_cast<linalg::GenericOp>(*op))
      composeBody(generic);
  boundArguments(function);
  ops.clear();
  function.walk([&](linalg::LinalgOp op) {
    if (isCuttable(op))
      ops.push_back(op);
  });
  for (linalg::LinalgOp op : ops)
    BodySplitter(op).run();
  function.walk([&](linalg::GenericOp op) {
    if (isCuttable(op) && op.getNumDpsInits() == 1)
      copyAlongLoops(op);
  });
}
