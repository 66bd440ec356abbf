//===- SliceDynamicBatch.cpp - Programs for one index of a dynamic batch --===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NPU programs have static sizes. If the outermost dim of arguments is dynamic
// and no op mixes its indices, the program computes one index, and the package
// runs it for each index of the batch:
//
//   func @main(%x: tensor<?x8xf32>) -> tensor<?x4xf32>
//
// becomes
//
//   func @main(%x: tensor<1x8xf32> {npu.slice}) -> (tensor<1x4xf32>
//   {npu.slice})
//
// The analysis propagates, for each tensor, its batch dim and the number of its
// indices per index of the batch, which changes if dims are collapsed. Loops
// over the batch must be parallel and index nothing else.
//
//===----------------------------------------------------------------------===//

#include "Legalize/LegalizeLinalg.h"
#include "layout/Dialect/NPU/IR/NPU.h"
#include "layout/Interfaces/OpLayoutRule.h"
#include "layout/Targets/NPU/LayoutToNPU/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Transforms/RegionUtils.h"

namespace mlir::layout {
#define GEN_PASS_DEF_SLICEDYNAMICBATCHPASS
#include "layout/Targets/NPU/LayoutToNPU/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

namespace {
/// The dynamic dim of a tensor, which is the batch, and the number of its
/// indices per index of the batch, more than 1 after a collapse.
struct DynamicDim {
  unsigned dim = 0;
  int64_t count = 0;
  bool operator==(const DynamicDim &other) const {
    return dim == other.dim && count == other.count;
  }
};

class DynamicBatch {
public:
  explicit DynamicBatch(func::FuncOp function) : function(function) {}

  LogicalResult run();

private:
  bool visit(Operation *op);
  bool visitSize(Operation *op);
  bool visitLoops(Operation *op, const LoopsRule &rule);
  std::optional<AffineExpr> getIndex(linalg::GenericOp op, Value index);
  void readAsOperands(linalg::GenericOp op);
  bool visitEachDim(Operation *op, const PerDimRule &rule);
  bool visitReshape(Operation *op, ArrayRef<ReassociationIndices> groups,
                    bool isCollapse);
  bool takesWhole(OffsetSizeAndStrideOpInterface slice, DynamicDim batch) const;
  bool visitExtract(tensor::ExtractSliceOp op);
  bool visitInsert(tensor::InsertSliceOp op);
  bool setDynamic(Value tensor, DynamicDim batch);
  LogicalResult findArguments();
  LogicalResult report(Operation *op);
  void slice();

  func::FuncOp function;
  SmallVector<BlockArgument> arguments; // those with a dynamic dim 0
  DenseMap<Value, DynamicDim> dynamicDims;
  /// The factor of each integer value that is a constant multiple of the size
  /// of the batch.
  DenseMap<Value, int64_t> sizes;
};
} // namespace

static std::optional<unsigned> findDynamicDim(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || tensor.hasStaticShape())
    return std::nullopt;
  return llvm::find_if(tensor.getShape(), ShapedType::isDynamic) -
         tensor.getShape().begin();
}

/// Records that the batch is dim `batch.dim` of `tensor`. Returns false if
/// another dim is dynamic, that dim is static, or the tensor has a layout.
bool DynamicBatch::setDynamic(Value tensor, DynamicDim batch) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || type.getEncoding() || type.getNumDynamicDims() != 1 ||
      !type.isDynamicDim(batch.dim))
    return false;
  dynamicDims[tensor] = batch;
  return true;
}

LogicalResult DynamicBatch::findArguments() {
  for (BlockArgument argument : function.getArguments()) {
    std::optional<unsigned> dim = findDynamicDim(argument.getType());
    if (!dim)
      continue;
    if (*dim == 0 && setDynamic(argument, {*dim, 1})) {
      arguments.push_back(argument);
      continue;
    }
    auto type = cast<RankedTensorType>(argument.getType());
    unsigned last = type.getRank() - 1;
    while (!type.isDynamicDim(last))
      --last;
    return function.emitOpError()
           << "argument " << argument.getArgNumber() << " is of type " << type
           << ", whose dim " << last
           << " is dynamic: only dim 0 of a plain tensor may be dynamic, as a "
              "batch for each index of which the NPU program runs; state the "
              "other sizes, or compile a program for each";
  }
  return success();
}

LogicalResult DynamicBatch::report(Operation *op) {
  InFlightDiagnostic diag = op->emitError();
  diag << "'" << op->getName()
       << "' is not proven to compute each index of the dynamic batch "
          "independently, as the NPU program does: state the size, or compile "
          "a program for each";
  diag.attachNote(function.getLoc())
      << "the batch is dim 0 of argument " << arguments.front().getArgNumber();
  return diag;
}

/// Returns true if a comparison of a size with a constant has the same result
/// for all sizes, which are at least 0, e.g. "< 0". In unsigned comparisons a
/// negative constant exceeds all sizes.
static bool isSameForAllSizes(arith::CmpIOp compare) {
  std::optional<int64_t> with = getConstantIntValue(compare.getRhs());
  arith::CmpIPredicate predicate = compare.getPredicate();
  return with && (*with < 0 ||
                  (*with == 0 && (predicate == arith::CmpIPredicate::sge ||
                                  predicate == arith::CmpIPredicate::slt)));
}

/// Records in `sizes` the factor by which the result of `op`, a tensor.dim or
/// an integer op, is a multiple of the batch size, given those of its operands.
/// Static dims, and comparisons with the same result for all sizes, get no
/// factor. Returns false if the result depends on the size in another way.
bool DynamicBatch::visitSize(Operation *op) {
  auto getCount = [&](unsigned i) {
    auto found = sizes.find(op->getOperand(i));
    return found == sizes.end() ? std::nullopt
                                : std::optional<int64_t>(found->second);
  };
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> index = dim.getConstantIndex();
    if (!index)
      return false;
    if (DynamicDim batch = dynamicDims.lookup(dim.getSource());
        *index == batch.dim)
      sizes[dim.getResult()] = batch.count;
    return true;
  }
  // Comparisons of a size with itself, e.g. of dims that must be equal.
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return (getCount(0) && getCount(0) == getCount(1)) ||
           isSameForAllSizes(compare);
  // Only 64-bit integers represent every size.
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    Type type = op->getResult(0).getType();
    sizes[op->getResult(0)] = *getCount(0);
    return type.isIndex() || type.isInteger(64);
  }
  if (isa<arith::AddIOp, arith::MaxSIOp, arith::MaxUIOp, arith::MinSIOp,
          arith::MinUIOp>(op)) {
    std::optional<int64_t> a = getCount(0), b = getCount(1);
    int64_t sum;
    if (!a || !b || llvm::AddOverflow(*a, *b, sum))
      return false;
    sizes[op->getResult(0)] = isa<arith::AddIOp>(op) ? sum
                              : isa<arith::MaxSIOp, arith::MaxUIOp>(op)
                                  ? std::max(*a, *b)
                                  : std::min(*a, *b);
    return true;
  }
  if (!isa<arith::MulIOp, arith::DivUIOp, arith::DivSIOp>(op))
    return false;
  unsigned i = getCount(0) ? 0 : 1;
  std::optional<int64_t> count = getCount(i),
                         by = getConstantIntValue(op->getOperand(1 - i));
  int64_t product;
  if (!count || !by || *by < 1)
    return false;
  if (!isa<arith::MulIOp>(op)) {
    if (i != 0 || *count % *by != 0)
      return false;
    product = *count / *by;
  } else if (llvm::MulOverflow(*count, *by, product)) {
    return false;
  }
  sizes[op->getResult(0)] = product;
  return true;
}

/// Returns the index of a body as a loop or a constant, or std::nullopt. A
/// select of 0 if the batch has size 1, as for broadcast dims, counts as the
/// loop.
std::optional<AffineExpr> DynamicBatch::getIndex(linalg::GenericOp op,
                                                 Value index) {
  if (std::optional<int64_t> known = getConstantIntValue(index))
    return getAffineConstantExpr(*known, op.getContext());
  auto select = index.getDefiningOp<arith::SelectOp>();
  auto loop = (select ? select.getFalseValue() : index)
                  .getDefiningOp<linalg::IndexOp>();
  if (!loop)
    return std::nullopt;
  AffineExpr expr = getAffineDimExpr(loop.getDim(), op.getContext());
  if (!select)
    return expr;
  auto isOne = select.getCondition().getDefiningOp<arith::CmpIOp>();
  OpOperand *init = op.getDpsInitOperand(0);
  DynamicDim batch = dynamicDims.lookup(init->get());
  bool isOfBatch = isOne && isOne.getPredicate() == arith::CmpIPredicate::eq &&
                   isConstantIntValue(isOne.getRhs(), 1) && batch.count != 0 &&
                   sizes.lookup(isOne.getLhs()) == batch.count &&
                   isConstantIntValue(select.getTrueValue(), 0) &&
                   op.getMatchingIndexingMap(init).getResult(batch.dim) == expr;
  return isOfBatch ? std::make_optional(expr) : std::nullopt;
}

/// Replaces each tensor.extract in the body from a tensor with the batch by an
/// operand, if each index is a loop or a constant. Others stay.
void DynamicBatch::readAsOperands(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics())
    return;
  for (auto extract :
       llvm::to_vector(op.getBlock()->getOps<tensor::ExtractOp>())) {
    if (!dynamicDims.contains(extract.getTensor()))
      continue;
    SmallVector<AffineExpr> exprs;
    for (Value index : extract.getIndices())
      if (std::optional<AffineExpr> expr = getIndex(op, index))
        exprs.push_back(*expr);
    if (exprs.size() != extract.getIndices().size())
      continue;
    extract.replaceAllUsesWith(addOperand(
        op, extract.getTensor(),
        AffineMap::get(op.getNumLoops(), 0, exprs, op.getContext())));
    for (Operation &inner :
         llvm::make_early_inc_range(llvm::reverse(*op.getBlock())))
      if (isOpTriviallyDead(&inner))
        inner.erase();
  }
}

bool DynamicBatch::visitLoops(Operation *op, const LoopsRule &rule) {
  std::optional<unsigned> loop;
  int64_t count = 0;
  for (auto [operand, map] :
       llvm::zip_equal(op->getOperands(), rule.operandMaps)) {
    auto found = dynamicDims.find(operand);
    if (found == dynamicDims.end())
      continue;
    DynamicDim batch = found->second;
    auto index = dyn_cast_if_present<AffineDimExpr>(
        map ? map.getResult(batch.dim) : AffineExpr());
    if (!index ||
        (loop && (*loop != index.getPosition() || count != batch.count)))
      return false;
    loop = index.getPosition();
    count = batch.count;
  }
  if (!loop)
    return false;
  // The loop over the batch must index the batch of each dynamic tensor and no
  // other dim, whose size would be static. It must index every result, so it is
  // not a reduction.
  auto indexesBatchAlone = [&](AffineMap map, bool isDynamic) {
    return !map || llvm::count_if(map.getResults(), [&](AffineExpr index) {
                     return index.isFunctionOfDim(*loop);
                   }) == isDynamic;
  };
  for (auto [operand, map] :
       llvm::zip_equal(op->getOperands(), rule.operandMaps))
    if (!indexesBatchAlone(map, dynamicDims.contains(operand)))
      return false;
  for (auto [result, map] :
       llvm::zip_equal(op->getResults(), rule.resultMaps)) {
    std::optional<unsigned> dim;
    if (map && indexesBatchAlone(map, /*isDynamic=*/true))
      dim = map.getResultPosition(getAffineDimExpr(*loop, op->getContext()));
    if (!dim || !setDynamic(result, {*dim, count}))
      return false;
  }
  return !op->walk([&](linalg::IndexOp index) {
              return WalkResult(failure(index.getDim() == *loop));
            }).wasInterrupted();
}

/// Propagates the batch through a pad, concatenation or cast that keeps its dim
/// whole. Returns false for others.
bool DynamicBatch::visitEachDim(Operation *op, const PerDimRule &rule) {
  std::optional<DynamicDim> batch;
  for (Value operand : op->getOperands()) {
    if (!isa<RankedTensorType>(operand.getType()))
      continue;
    auto found = dynamicDims.find(operand);
    if (found == dynamicDims.end() || (batch && !(*batch == found->second)))
      return false;
    batch = found->second;
  }
  return batch && rule.dropped.none() &&
         rule.tileSizeMustDivide[batch->dim] == 0 &&
         llvm::all_of(op->getResults(),
                      [&](Value result) { return setDynamic(result, *batch); });
}

bool DynamicBatch::visitReshape(Operation *op,
                                ArrayRef<ReassociationIndices> groups,
                                bool isCollapse) {
  DynamicDim batch = dynamicDims.lookup(op->getOperand(0));
  auto unfolded = cast<RankedTensorType>(
      (isCollapse ? op->getOperand(0) : op->getResult(0)).getType());
  for (auto [folded, group] : llvm::enumerate(groups)) {
    if (isCollapse ? !llvm::is_contained(group, int64_t(batch.dim))
                   : folded != batch.dim)
      continue;
    // The batch must be the first, i.e. outermost, dim of its group.
    int64_t inner = 1;
    for (int64_t dim : ArrayRef(group).drop_front()) {
      if (unfolded.isDynamicDim(dim) ||
          llvm::MulOverflow(inner, unfolded.getDimSize(dim), inner))
        return false;
    }
    if (inner == 0 || !unfolded.isDynamicDim(group.front()))
      return false;
    if (!isCollapse)
      return batch.count % inner == 0 &&
             setDynamic(op->getResult(0),
                        {unsigned(group.front()), batch.count / inner});
    int64_t count;
    return !llvm::MulOverflow(batch.count, inner, count) &&
           setDynamic(op->getResult(0), {unsigned(folded), count});
  }
  return false;
}

/// Returns true if a slice of a tensor with dynamic dim `batch` contains all
/// indices of that dim.
bool DynamicBatch::takesWhole(OffsetSizeAndStrideOpInterface slice,
                              DynamicDim batch) const {
  auto size = dyn_cast<Value>(slice.getMixedSizes()[batch.dim]);
  return size && sizes.lookup(size) == batch.count &&
         isConstantIntValue(slice.getMixedOffsets()[batch.dim], 0) &&
         isConstantIntValue(slice.getMixedStrides()[batch.dim], 1);
}

/// Returns the dim of a rank-reduced slice that is `dim` of the whole tensor,
/// given the dims `dropped` of the whole, of which `dim` is none.
static unsigned getDimOfPart(const llvm::SmallBitVector &dropped,
                             unsigned dim) {
  unsigned before = 0;
  for (unsigned d = 0; d < dim; ++d)
    before += dropped[d];
  return dim - before;
}

bool DynamicBatch::visitExtract(tensor::ExtractSliceOp op) {
  auto found = dynamicDims.find(op.getSource());
  return found != dynamicDims.end() && takesWhole(op, found->second) &&
         setDynamic(op.getResult(),
                    {getDimOfPart(op.getDroppedDims(), found->second.dim),
                     found->second.count});
}

bool DynamicBatch::visitInsert(tensor::InsertSliceOp op) {
  auto whole = dynamicDims.find(op.getDest()),
       part = dynamicDims.find(op.getSource());
  if (whole == dynamicDims.end() || part == dynamicDims.end())
    return false;
  DynamicDim batch = whole->second,
             inPart = {getDimOfPart(op.getDroppedDims(), batch.dim),
                       batch.count};
  return part->second == inPart && takesWhole(op, batch) &&
         setDynamic(op.getResult(), batch);
}

bool DynamicBatch::visit(Operation *op) {
  if (isa<func::ReturnOp>(op))
    return llvm::all_of(op->getOperands(), [&](Value value) {
      auto found = dynamicDims.find(value);
      return found != dynamicDims.end() && found->second.dim == 0;
    });
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    readAsOperands(generic);
  llvm::SetVector<Value> above;
  getUsedValuesDefinedAbove(op->getRegions(), above);
  auto isOfBatch = [&](Value value) {
    return dynamicDims.contains(value) || sizes.contains(value);
  };
  if (llvm::any_of(above, isOfBatch))
    return false;
  if (llvm::none_of(op->getOperands(), isOfBatch))
    return llvm::none_of(op->getResultTypes(), [](Type type) {
      return findDynamicDim(type).has_value();
    });
  if (llvm::none_of(op->getResultTypes(), llvm::IsaPred<TensorType>))
    return visitSize(op);
  if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
    std::optional<unsigned> dim = findDynamicDim(empty.getType());
    return dim &&
           setDynamic(empty, {*dim, sizes.lookup(empty.getDynamicSizes()[0])});
  }
  if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op))
    return visitExtract(extract);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return visitInsert(insert);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return visitReshape(op, collapse.getReassociationIndices(), true);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return dynamicDims.contains(expand.getSrc()) &&
           visitReshape(op, expand.getReassociationIndices(), false);
  OpLayoutRule rule = getLayoutRule(op);
  if (isa<linalg::LinalgOp>(op))
    if (auto *loops = std::get_if<LoopsRule>(&rule))
      return visitLoops(op, *loops);
  auto *each = std::get_if<PerDimRule>(&rule);
  return each && visitEachDim(op, *each);
}

/// Gives the dynamic dim of arguments, results and concatenations its size for
/// one index of the batch, with casts in between. The canonicalizer propagates
/// the sizes to other ops.
void DynamicBatch::slice() {
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  auto getSlice = [](Value tensor, DynamicDim batch) {
    auto type = cast<RankedTensorType>(tensor.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[batch.dim] = batch.count;
    return RankedTensorType::get(shape, type.getElementType());
  };
  // Set the types of concatenations here, because the canonicalizer does not
  // fold casts of their operands.
  for (auto concat : llvm::to_vector(function.getOps<tensor::ConcatOp>())) {
    if (!dynamicDims.contains(concat))
      continue;
    OpBuilder inner(concat);
    Location loc = concat.getLoc();
    for (OpOperand &part : concat->getOpOperands())
      part.set(tensor::CastOp::create(
          inner, loc, getSlice(part.get(), dynamicDims.lookup(part.get())),
          part.get()));
    Value whole = concat;
    inner.setInsertionPointAfter(concat);
    auto cast = tensor::CastOp::create(inner, loc, whole.getType(), whole);
    whole.replaceAllUsesExcept(cast, cast);
    whole.setType(getSlice(whole, dynamicDims.lookup(whole)));
    dynamicDims[cast] = dynamicDims.lookup(whole);
  }
  UnitAttr unit = builder.getUnitAttr();
  for (BlockArgument argument : arguments) {
    Type whole = argument.getType();
    argument.setType(getSlice(argument, dynamicDims.lookup(argument)));
    auto cast =
        tensor::CastOp::create(builder, argument.getLoc(), whole, argument);
    argument.replaceAllUsesExcept(cast, cast);
    function.setArgAttr(argument.getArgNumber(), npu::kSliceArgument, unit);
  }
  Operation *end = function.getBody().front().getTerminator();
  builder.setInsertionPoint(end);
  for (OpOperand &result : end->getOpOperands()) {
    DynamicDim batch = dynamicDims.lookup(result.get());
    result.set(tensor::CastOp::create(
        builder, end->getLoc(), getSlice(result.get(), batch), result.get()));
    function.setResultAttr(result.getOperandNumber(), npu::kSliceArgument,
                           unit);
  }
  function.setType(FunctionType::get(function.getContext(),
                                     function.getBody().getArgumentTypes(),
                                     end->getOperandTypes()));
}

LogicalResult DynamicBatch::run() {
  if (failed(findArguments()))
    return failure();
  if (arguments.empty())
    return success();
  // Functions with several blocks are reported by the lowering.
  if (!function.getBody().hasOneBlock())
    return success();
  for (Operation &op : function.getBody().front())
    if (!visit(&op))
      return report(&op);
  slice();
  return success();
}

namespace {
struct SliceDynamicBatchPass
    : layout::impl::SliceDynamicBatchPassBase<SliceDynamicBatchPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    // The types of a function with callers cannot change.
    if (!function.isExternal() &&
        SymbolTable::symbolKnownUseEmpty(function, function->getParentOp()) &&
        failed(DynamicBatch(function).run()))
      signalPassFailure();
  }
};
} // namespace
