//===- IndexRanges.cpp - Indices that data may take out of range ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Indices/IndexRanges.h"
#include "layout/Support/ConstantBytes.h"
#include "mlir/Analysis/DataFlow/ConstantPropagationAnalysis.h"
#include "mlir/Analysis/DataFlow/DeadCodeAnalysis.h"
#include "mlir/Analysis/DataFlow/IntegerRangeAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace mlir::layout;
using dataflow::IntegerValueRangeLattice;

//===----------------------------------------------------------------------===//
// Dependence on data
//===----------------------------------------------------------------------===//

static bool dependsOnData(Value value, DenseSet<Value> &visited);

static bool anyDepends(ValueRange values, DenseSet<Value> &visited) {
  return llvm::any_of(
      values, [&](Value value) { return dependsOnData(value, visited); });
}

/// Returns true if the scalar `argument` depends on data. A loop index does if
/// a bound or the step of the loop does, and another argument of an scf.for if
/// a value passed to it does. An argument of a tensor.generate does not, and
/// one of any other region, e.g. of a function, does.
static bool dependsOnData(BlockArgument argument, DenseSet<Value> &visited) {
  Operation *parent = argument.getOwner()->getParentOp();
  if (auto loop = dyn_cast<scf::ForOp>(parent)) {
    if (argument == loop.getInductionVar())
      return anyDepends(
          {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()},
          visited);
    OpOperand *yielded = loop.getTiedLoopYieldedValue(argument);
    return anyDepends({loop.getTiedLoopInit(argument)->get(), yielded->get()},
                      visited);
  }
  if (auto loop = dyn_cast<scf::ForallOp>(parent))
    if (llvm::is_contained(loop.getInductionVars(), argument))
      return anyDepends(loop.getOperands(), visited);
  return !isa<tensor::GenerateOp>(parent);
}

static bool dependsOnData(Value value, DenseSet<Value> &visited) {
  // A cyclic value depends on its values from outside of the cycle.
  if (isa<ShapedType>(value.getType()) || !visited.insert(value).second)
    return false;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return ::dependsOnData(argument, visited);
  Operation *op = value.getDefiningOp();
  if (isa<linalg::IndexOp, ShapedDimOpInterface, tensor::RankOp>(op) ||
      op->hasTrait<OpTrait::ConstantLike>())
    return false;
  if (isa<tensor::ExtractOp>(op))
    return true;
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return anyDepends({select.getTrueValue(), select.getFalseValue()}, visited);
  auto number = cast<OpResult>(value).getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return anyDepends(
        {loop.getInitArgs()[number], loop.getYieldedValues()[number]}, visited);
  if (auto either = dyn_cast<scf::IfOp>(op))
    return anyDepends({either.thenYield()->getOperand(number),
                       either.elseYield()->getOperand(number)},
                      visited);
  if (!isMemoryEffectFree(op) || op->getNumRegions() != 0)
    return true;
  return anyDepends(op->getOperands(), visited);
}

bool layout::dependsOnData(Value value) {
  DenseSet<Value> visited;
  return ::dependsOnData(value, visited);
}

//===----------------------------------------------------------------------===//
// Ranges of elements
//===----------------------------------------------------------------------===//

/// Returns the range of the elements of a constant, read as signed integers.
/// Returns std::nullopt if they are not integers of whole bytes and at most 64
/// bits, or if their bytes are not available.
static std::optional<ConstantIntRanges> getElementRange(ElementsAttr constant) {
  Type type = constant.getElementType();
  std::optional<ArrayRef<char>> bytes = getConstantBytes(constant);
  if (!type.isIntOrIndex() || !bytes || bytes->empty())
    return std::nullopt;
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  if (width % 8 != 0 || width > 64)
    return std::nullopt;
  int64_t least = std::numeric_limits<int64_t>::max(), most = ~least;
  for (size_t i = 0; i + width / 8 <= bytes->size(); i += width / 8) {
    uint64_t bits = 0;
    std::memcpy(&bits, bytes->data() + i, width / 8);
    int64_t number = llvm::SignExtend64(bits, width);
    least = std::min(least, number);
    most = std::max(most, number);
  }
  return ConstantIntRanges::fromSigned(APInt(width, least, /*isSigned=*/true),
                                       APInt(width, most, /*isSigned=*/true));
}

namespace {
class ElementRangeAnalysis : public dataflow::IntegerRangeAnalysis {
public:
  using IntegerRangeAnalysis::IntegerRangeAnalysis;

  LogicalResult
  visitOperation(Operation *op,
                 ArrayRef<const IntegerValueRangeLattice *> operands,
                 ArrayRef<IntegerValueRangeLattice *> results) override;

  void
  visitNonControlFlowArguments(Operation *op, const RegionSuccessor &successor,
                               ArrayRef<IntegerValueRangeLattice *> arguments,
                               unsigned firstIndex) override;

private:
  void join(IntegerValueRangeLattice *lattice, const IntegerValueRange &range);
  void visitResults(linalg::LinalgOp op,
                    ArrayRef<IntegerValueRangeLattice *> results);

  // The number of times that each range has grown.
  DenseMap<Value, unsigned> growths;
};
} // namespace

/// Joins `range` to `lattice`. A range that keeps growing, e.g. that of a
/// counter in a loop, becomes the range of its type.
void ElementRangeAnalysis::join(IntegerValueRangeLattice *lattice,
                                const IntegerValueRange &range) {
  constexpr unsigned kMostGrowths = 8;
  ChangeResult changed = lattice->join(range);
  if (changed == ChangeResult::Change &&
      ++growths[lattice->getAnchor()] > kMostGrowths)
    changed |=
        lattice->join(IntegerValueRange::getMaxRange(lattice->getAnchor()));
  propagateIfChanged(lattice, changed);
}

/// Joins the ranges of the yielded values to those of the results and, if `op`
/// has reductions, which may have no iteration, the ranges of the inits.
void ElementRangeAnalysis::visitResults(
    linalg::LinalgOp op, ArrayRef<IntegerValueRangeLattice *> results) {
  ProgramPoint *point = getProgramPointAfter(op);
  for (auto [result, init, yielded] :
       llvm::zip_equal(results, op.getDpsInits(),
                       op.getBlock()->getTerminator()->getOperands())) {
    join(result, getLatticeElementFor(point, yielded)->getValue());
    if (op.getNumReductionLoops() != 0)
      join(result, getLatticeElementFor(point, init)->getValue());
  }
}

LogicalResult ElementRangeAnalysis::visitOperation(
    Operation *op, ArrayRef<const IntegerValueRangeLattice *> operands,
    ArrayRef<IntegerValueRangeLattice *> results) {
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
      linalgOp && linalgOp.hasPureTensorSemantics()) {
    visitResults(linalgOp, results);
    return success();
  }
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    auto parent = cast<linalg::LinalgOp>(op->getParentOp());
    int64_t extent = parent.getStaticLoopRanges()[index.getDim()];
    int64_t last = ShapedType::isDynamic(extent)
                       ? std::numeric_limits<int64_t>::max()
                       : std::max<int64_t>(extent - 1, 0);
    join(results[0], ConstantIntRanges::fromSigned(APInt(64, 0), //
                                                   APInt(64, last)));
    return success();
  }
  ElementsAttr constant;
  if (matchPattern(op, m_Constant(&constant))) {
    std::optional<ConstantIntRanges> range = getElementRange(constant);
    join(results[0], range ? IntegerValueRange(*range)
                           : IntegerValueRange::getMaxRange(op->getResult(0)));
    return success();
  }
  // Ops whose result elements are all elements of operands.
  if (isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ConcatOp,
          tensor::ExpandShapeOp, tensor::ExtractOp, tensor::ExtractSliceOp,
          tensor::FromElementsOp, tensor::InsertOp, tensor::InsertSliceOp,
          tensor::ReshapeOp, tensor::SplatOp>(op)) {
    Type element = getElementTypeOrSelf(op->getResult(0));
    for (auto [operand, lattice] :
         llvm::zip_equal(op->getOperands(), operands)) {
      bool isTensor = isa<TensorType>(operand.getType());
      bool holdsElements =
          isTensor
              ? !isa<tensor::ReshapeOp>(op) || operand == op->getOperand(0)
              : isa<tensor::FromElementsOp, tensor::SplatOp>(op) ||
                    (isa<tensor::InsertOp>(op) && operand == op->getOperand(0));
      if (holdsElements && element.isIntOrIndex())
        join(results[0], lattice->getValue());
    }
    return success();
  }
  return IntegerRangeAnalysis::visitOperation(op, operands, results);
}

void ElementRangeAnalysis::visitNonControlFlowArguments(
    Operation *op, const RegionSuccessor &successor,
    ArrayRef<IntegerValueRangeLattice *> arguments, unsigned firstIndex) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || !linalgOp.hasPureTensorSemantics())
    return IntegerRangeAnalysis::visitNonControlFlowArguments(
        op, successor, arguments, firstIndex);
  ProgramPoint *point = getProgramPointBefore(linalgOp.getBlock());
  auto get = [&](Value value) {
    return getLatticeElementFor(point, value)->getValue();
  };
  Operation *terminator = linalgOp.getBlock()->getTerminator();
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = linalgOp.getMatchingBlockArgument(&operand);
    if (!argument.getType().isIntOrIndex())
      continue;
    IntegerValueRangeLattice *lattice = arguments[argument.getArgNumber()];
    join(lattice, get(operand.get()));
    // Iterations of a reduction read the previously yielded value.
    if (linalgOp.isDpsInit(&operand) && linalgOp.getNumReductionLoops() != 0)
      join(lattice, get(terminator->getOperand(argument.getArgNumber() -
                                               linalgOp.getNumDpsInputs())));
  }
}

//===----------------------------------------------------------------------===//
// Proofs
//===----------------------------------------------------------------------===//

IndexRanges::IndexRanges(Operation *root) {
  solver.load<dataflow::DeadCodeAnalysis>();
  solver.load<dataflow::SparseConstantPropagation>();
  solver.load<ElementRangeAnalysis>();
  isAnalyzed = succeeded(solver.initializeAndRun(root));
}

std::optional<ConstantIntRanges> IndexRanges::getRange(Value value) const {
  auto *lattice = solver.lookupState<IntegerValueRangeLattice>(value);
  if (!isAnalyzed || !lattice || lattice->getValue().isUninitialized())
    return std::nullopt;
  return lattice->getValue().getValue();
}

/// Returns true if `size` is proven to be the size of `dim` of `tensor`.
static bool isSize(Value size, Value tensor, unsigned dim) {
  while (auto cast = size.getDefiningOp<arith::IndexCastOp>())
    size = cast.getIn();
  if (auto op = size.getDefiningOp<tensor::DimOp>();
      op && op.getSource() == tensor && op.getConstantIndex() == dim)
    return true;
  if (!size.getType().isIndex())
    return false;
  FailureOr<bool> areEqual = ValueBoundsConstraintSet::areEqual(
      ValueBoundsConstraintSet::Variable(size),
      ValueBoundsConstraintSet::Variable(tensor, int64_t(dim)));
  return succeeded(areEqual) && *areEqual;
}

/// Returns the scalar that the producer of an operand yields for each element.
/// `argument` is the block argument of the operand in the body of its linalg
/// op. Returns a null value if the operand is not an input, or if its producer
/// is not a linalg op or has reductions.
static Value getYielded(BlockArgument argument) {
  auto op = dyn_cast<linalg::LinalgOp>(argument.getOwner()->getParentOp());
  if (!op || argument.getArgNumber() >= unsigned(op.getNumDpsInputs()))
    return {};
  Value operand = op->getOperand(argument.getArgNumber());
  auto producer = operand.getDefiningOp<linalg::LinalgOp>();
  if (!producer || producer.getNumReductionLoops() != 0)
    return {};
  return producer.getBlock()->getTerminator()->getOperand(
      cast<OpResult>(operand).getResultNumber());
}

/// Returns true if the ops that compute `index` prove that it is below the
/// dynamic size of `dim`, e.g. `x mod size` or `min(x, size - 1)`. That it is
/// not negative is proven separately.
bool IndexRanges::isBelowSize(Value index, Value tensor, unsigned dim) const {
  auto isBelow = [&](Value value) { return isBelowSize(value, tensor, dim); };
  if (auto argument = dyn_cast<BlockArgument>(index)) {
    Value yielded = getYielded(argument);
    return yielded && isBelow(yielded);
  }
  Operation *op = index.getDefiningOp();
  if (isa<arith::IndexCastOp, arith::ExtSIOp>(op))
    return isBelow(op->getOperand(0));
  if (isa<arith::MinSIOp>(op))
    return isBelow(op->getOperand(0)) || isBelow(op->getOperand(1));
  if (isa<arith::MaxSIOp>(op))
    return isBelow(op->getOperand(0)) && isBelow(op->getOperand(1));
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return isBelow(select.getTrueValue()) && isBelow(select.getFalseValue());
  if (isa<arith::RemSIOp, arith::RemUIOp>(op))
    return isSize(op->getOperand(1), tensor, dim);
  if (isa<arith::SubIOp, arith::AddIOp>(op)) {
    std::optional<ConstantIntRanges> step = getRange(op->getOperand(1));
    return step && isSize(op->getOperand(0), tensor, dim) &&
           (isa<arith::SubIOp>(op) ? step->smin().isStrictlyPositive()
                                   : step->smax().isNegative());
  }
  return false;
}

bool IndexRanges::isInRange(Value index, int64_t last, Value tensor,
                            unsigned dim) const {
  std::optional<ConstantIntRanges> range = getRange(index);
  if (!range || range->smin().isNegative())
    return false;
  int64_t size = cast<RankedTensorType>(tensor.getType()).getDimSize(dim);
  if (!ShapedType::isDynamic(size))
    return last < size && range->smax().getSExtValue() < size - last;
  return last == 0 && isBelowSize(index, tensor, dim);
}
