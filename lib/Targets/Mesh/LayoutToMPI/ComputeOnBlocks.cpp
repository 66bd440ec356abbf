//===- ComputeOnBlocks.cpp - Run ops on the blocks of a rank --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ComputeOnBlocks.h"
#include "BlockValues.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/Layout/Utils/PackConstant.h"
#include "layout/Interfaces/OpLayoutRule.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::layout;

namespace {

/// Lowers one op on tensors on a mesh to ops on the blocks of a rank. All
/// checks precede all changes.
class OpOnBlocks {
public:
  OpOnBlocks(Operation *op, const OpLayoutRule &rule, BlockValues &values)
      : op(op), rule(rule), values(values), b(op), loc(op->getLoc()) {}

  LogicalResult run();

private:
  LogicalResult findBlocks();
  LogicalResult lower();
  LogicalResult lowerLoops(const LoopsRule &rule);
  LogicalResult lowerPerDim(const PerDimRule &rule);
  LogicalResult lowerReshape();
  LogicalResult lowerConvert(ConvertOp convert);
  LogicalResult lowerConstant(arith::ConstantOp constant);
  LogicalResult lowerReader();
  LogicalResult lowerWhole();

  void findLoops(const LoopsRule &rule);
  LogicalResult checkNoParts();
  LogicalResult checkGroup(ArrayRef<int64_t> group, const DeviceRanges &folded,
                           ArrayRef<DeviceRanges> unfolded);

  Operation *cloneOnBlocks(bool isHeld = false);
  void offsetIndices(Operation *clone);
  Value makeFirst(Value block, unsigned r);
  void replace(unsigned r, Value block);
  void replaceAll(Operation *clone);

  /// Emits an error with the reason and fails.
  LogicalResult fail(const Twine &why) {
    return op->emitOpError() << "does not run on blocks: " << why;
  }

  Operation *op;
  const OpLayoutRule &rule;
  BlockValues &values;
  OpBuilder b;
  Location loc;
  SmallVector<const MeshBlocks *> operands, results; // null if not a tensor
  SetVector<Value> captured;                         // on a mesh
  SmallVector<std::optional<DeviceRanges>> loops;
  /// Per result, the mesh axes along which devices compute equal partial
  /// results, because no loop is split along them. Only that of the first
  /// device along them counts; the others are replaced by the neutral element.
  SmallVector<SmallVector<std::string, 2>> once;
};

} // namespace

bool layout::forwardsBlocks(Operation *op) {
  if (auto convert = dyn_cast<ConvertOp>(op))
    return liesOnMesh(convert.getSource().getType()) ==
               liesOnMesh(convert.getResult().getType()) &&
           !convertsBlocks(convert.getSource().getType(),
                           convert.getResult().getType());
  return isa<func::FuncOp, func::CallOp, func::ReturnOp, scf::IfOp, scf::ForOp,
             scf::WhileOp, scf::IndexSwitchOp, scf::YieldOp, scf::ConditionOp,
             cf::BranchOp, cf::CondBranchOp, UnrealizedConversionCastOp>(op);
}

LogicalResult OpOnBlocks::findBlocks() {
  auto find = [&](Type type, const MeshBlocks *&found) -> LogicalResult {
    found = nullptr;
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return success();
    found =
        values.getBlocks(tensor, [&](const Twine &why) { (void)fail(why); });
    if (!found)
      return failure();
    int64_t kept = values.keepDevices(*found);
    if (found->numDevices && found->numDevices != kept)
      return fail("the function has tensors on " + Twine(kept) + " and on " +
                  Twine(found->numDevices) + " devices: state one mesh");
    return success();
  };
  for (auto [types, blocks] :
       {std::pair(TypeRange(op->getOperandTypes()), &operands),
        std::pair(TypeRange(op->getResultTypes()), &results)})
    for (Type type : types)
      if (failed(find(type, blocks->emplace_back())))
        return failure();
  SetVector<Value> above;
  getUsedValuesDefinedAbove(op->getRegions(), above);
  for (Value value : above) {
    if (!liesOnMesh(value.getType()))
      continue;
    const MeshBlocks *blocks = nullptr;
    if (failed(find(value.getType(), blocks)))
      return failure();
    if (!blocks->isWhole())
      return fail("its body reads a tensor at arbitrary indices, but devices "
                  "have only blocks or partial sums of it: convert it to a "
                  "#layout.mesh that splits nothing first");
    captured.insert(value);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Finds the index range of each loop on each device: that of the dims that the
/// loop indexes alone, which are equal in all tensors. A loop without such a
/// dim has none. Also finds the mesh axes along which devices compute equal
/// partial results (`once`).
void OpOnBlocks::findLoops(const LoopsRule &rule) {
  loops.resize(rule.loops.size());
  auto find = [&](ArrayRef<AffineMap> maps, ArrayRef<const MeshBlocks *> all) {
    for (auto [map, blocks] : llvm::zip_equal(maps, all))
      if (map && blocks)
        for (auto [index, range] :
             llvm::zip_equal(map.getResults(), blocks->dims))
          if (auto loop = dyn_cast<AffineDimExpr>(index)) {
            std::optional<DeviceRanges> &found = loops[loop.getPosition()];
            assert((!found || found->isSameAs(range)) && "one split of a loop");
            found = range;
          }
  };
  find(rule.operandMaps, operands);
  find(rule.resultMaps, results);
  once.resize(results.size());
  for (auto [result, axes] : llvm::zip_equal(results, once))
    if (result)
      llvm::copy_if(result->partial, std::back_inserter(axes),
                    [&](const std::string &axis) {
                      return llvm::none_of(loops, [&](const auto &loop) {
                        return loop && llvm::is_contained(loop->axes, axis);
                      });
                    });
}

/// Emits an error and fails if an operand or result of the op, which only moves
/// elements, has partial results.
LogicalResult OpOnBlocks::checkNoParts() {
  for (const auto &all : {operands, results})
    for (const MeshBlocks *blocks : all)
      if (blocks && !blocks->partial.empty())
        return fail(
            "it has partial sums (P4): reduce them by layout.convert first");
  return success();
}

/// Clones the op on the blocks of its operands or, if `isHeld`, on row-major
/// slices of them without positions beyond the end of the tensor.
Operation *OpOnBlocks::cloneOnBlocks(bool isHeld) {
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand,
                isHeld ? values.getHeld(operand) : values.getBlock(operand));
  for (Value value : captured)
    mapping.map(value, values.getBlock(value));
  Operation *clone = b.clone(*op, mapping);
  for (auto [result, blocks] : llvm::zip(clone->getResults(), results))
    if (blocks && blocks->numDevices)
      result.setType(isHeld ? blocks->held : blocks->block);
  return clone;
}

/// Adds the first index of the rank's block to each linalg.index of a split
/// loop in the body of `clone`: bodies use global indices.
void OpOnBlocks::offsetIndices(Operation *clone) {
  clone->walk([&](linalg::IndexOp index) {
    const std::optional<DeviceRanges> &loop = loops[index.getDim()];
    if (index->getParentOfType<linalg::LinalgOp>() != clone || !loop ||
        loop->isWhole())
      return;
    Value begin = values.getValue(loop->begins);
    OpBuilder inside(index->getBlock(), std::next(index->getIterator()));
    Value whole = arith::AddIOp::create(inside, loc, index, begin);
    index.getResult().replaceAllUsesExcept(whole, whole.getDefiningOp());
  });
}

/// Returns `block`, a partial result for result `r`, on the devices where it
/// counts, and the neutral element of the reduction on the others. If all
/// devices along an axis compute the same, it counts on the first one.
Value OpOnBlocks::makeFirst(Value block, unsigned r) {
  if (r >= once.size() || once[r].empty())
    return block;
  const MeshBlocks &blocks = *results[r];
  TypedAttr neutral = getNeutralElement(b, loc, *blocks.reduction,
                                        blocks.type.getElementType());
  // A neutral fill needs no selection; in sums the sign of zero is irrelevant.
  Attribute filled;
  if (auto fill = block.getDefiningOp<linalg::FillOp>();
      fill && matchPattern(fill.getInputs()[0], m_Constant(&filled)) &&
      (filled == neutral ||
       (blocks.reduction == Reduction::Sum &&
        matchPattern(fill.getInputs()[0], m_AnyZeroFloat()))))
    return block;
  Value first = values.getValue(blocks.findFirst(once[r]));
  Value isFirst =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, first,
                            arith::ConstantIndexOp::create(b, loc, 0));
  Value other = arith::ConstantOp::create(b, loc, neutral);
  unsigned rank = blocks.block.getRank();
  SmallVector<AffineMap> maps(2, b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, block.getType(), block, values.makeEmpty(b, loc, blocks),
             maps, iterators,
             [&](OpBuilder &inside, Location at, ValueRange elements) {
               Value chosen = arith::SelectOp::create(inside, at, isFirst,
                                                      elements[0], other);
               linalg::YieldOp::create(inside, at, chosen);
             })
      .getResult(0);
}

void OpOnBlocks::replace(unsigned r, Value block) {
  const MeshBlocks *blocks = results[r];
  if (blocks && blocks->numDevices)
    block = values.getOnMesh(b, loc, *blocks, makeFirst(block, r));
  op->getResult(r).replaceAllUsesWith(block);
}

void OpOnBlocks::replaceAll(Operation *clone) {
  for (unsigned r = 0; r < op->getNumResults(); ++r)
    replace(r, clone->getResult(r));
  op->erase();
}

LogicalResult OpOnBlocks::lowerLoops(const LoopsRule &rule) {
  if (failed(checkLoopsOnMesh(
          rule, op->getOperandTypes(), op->getResultTypes(),
          [&](const Twine &why) { op->emitOpError() << why; })))
    return failure();
  findLoops(rule);
  bool isHeld = !computesWholeBlocks(op, this->rule, op->getOperandTypes(),
                                     op->getResultTypes());
  Operation *clone = cloneOnBlocks(isHeld);
  offsetIndices(clone);
  if (!isHeld) {
    replaceAll(clone);
    return success();
  }
  auto dest = dyn_cast<DestinationStyleOpInterface>(op);
  for (auto [r, blocks] : llvm::enumerate(results)) {
    Value result = clone->getResult(r);
    if (blocks && blocks->numDevices)
      result = values.putHeld(b, loc, *blocks, result,
                              dest ? values.getBlock(dest.getDpsInits()[r])
                                   : Value());
    replace(r, result);
  }
  op->erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Dims
//===----------------------------------------------------------------------===//

/// Returns the sizes of a slice, with the sizes of the largest block for dims
/// that are split.
template <typename SliceOp>
static SmallVector<OpFoldResult> getSliceSizes(SliceOp slice,
                                               const MeshBlocks &large) {
  SmallVector<OpFoldResult> sizes = slice.getMixedSizes();
  for (auto [d, range] : llvm::enumerate(large.dims))
    if (!range.isWhole())
      sizes[d] =
          Builder(slice.getContext()).getIndexAttr(large.block.getDimSize(d));
  return sizes;
}

LogicalResult OpOnBlocks::lowerPerDim(const PerDimRule &rule) {
  for (unsigned d = 0; d < rule.tileSizeMustDivide.size(); ++d) {
    // Compares dim `d` of all tensors that have it.
    const DeviceRanges *first = nullptr;
    std::string name;
    auto check = [&](const MeshBlocks *blocks,
                     std::string own) -> LogicalResult {
      if (!blocks)
        return success();
      bool lacks = blocks->dims.size() < rule.tileSizeMustDivide.size();
      if (lacks && d < rule.dropped.size() && rule.dropped[d])
        return success();
      unsigned dim = d;
      for (unsigned before = 0; lacks && before < d; ++before)
        dim -= rule.dropped[before];
      const DeviceRanges &range = blocks->dims[dim];
      own = "dim " + std::to_string(dim) + " of " + own;
      if (rule.tileSizeMustDivide[d] && !range.isWhole())
        return fail(own + ", which it cuts, is split: convert it to a "
                          "#layout.mesh that does not split it first");
      if (!rule.tileSizeMustDivide[d] && first && !first->isSameAs(range))
        return fail(own + " has different indices on a device than " + name +
                    ": split both in the same way by layout.convert");
      if (!first)
        name = own;
      first = &range;
      return success();
    };
    for (auto [k, blocks] : llvm::enumerate(operands))
      if (failed(check(blocks, "operand " + std::to_string(k))))
        return failure();
    for (auto [r, blocks] : llvm::enumerate(results))
      if (failed(check(blocks, "result " + std::to_string(r))))
        return failure();
  }
  if (failed(checkNoParts()))
    return failure();
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    replace(0,
            tensor::ExtractSliceOp::create(
                b, loc, results[0]->block, values.getBlock(slice.getSource()),
                slice.getMixedOffsets(), getSliceSizes(slice, *operands[0]),
                slice.getMixedStrides()));
  } else if (auto slice = dyn_cast<tensor::InsertSliceOp>(op)) {
    replace(0,
            tensor::InsertSliceOp::create(
                b, loc, values.getBlock(slice.getSource()),
                values.getBlock(slice.getDest()), slice.getMixedOffsets(),
                getSliceSizes(slice, *operands[1]), slice.getMixedStrides()));
  } else if (isa<tensor::PadOp, tensor::ConcatOp, tensor::CastOp>(op)) {
    replaceAll(cloneOnBlocks());
    return success();
  } else {
    return lowerWhole();
  }
  op->erase();
  return success();
}

/// Emits an error and fails unless each device has the same elements on both
/// sides of a reshape: of `folded`, one dim, and of `group`, the dims of the
/// other tensor that correspond to it. Among these, only the first one of size
/// more than 1 may be split.
LogicalResult OpOnBlocks::checkGroup(ArrayRef<int64_t> group,
                                     const DeviceRanges &folded,
                                     ArrayRef<DeviceRanges> unfolded) {
  while (group.size() > 1 && unfolded[group.front()].isWhole() &&
         unfolded[group.front()].size == 1)
    group = group.drop_front();
  int64_t inner = 1;
  for (int64_t d : group.drop_front()) {
    if (!unfolded[d].isWhole())
      return fail(
          "dim " + Twine(d) +
          " of the reshape is split, but other dims of its group come before "
          "it: convert it to a #layout.mesh that does not split it");
    inner *= unfolded[d].size;
  }
  DeviceRanges expected = unfolded[group.front()];
  expected.size *= inner;
  for (int64_t &begin : expected.begins)
    begin *= inner;
  for (int64_t &size : expected.sizes)
    size *= inner;
  if (expected.isSameAs(folded) && expected.size == folded.size)
    return success();
  return fail("dim " + Twine(group.front()) +
              " of the reshape has different indices on a device than the dim "
              "that it is a part of: convert one of them first");
}

LogicalResult OpOnBlocks::lowerReshape() {
  auto collapse = dyn_cast<tensor::CollapseShapeOp>(op);
  auto expand = dyn_cast<tensor::ExpandShapeOp>(op);
  if (!collapse && !expand)
    return lowerWhole();
  const MeshBlocks &source = *operands[0], &result = *results[0];
  const MeshBlocks &folded = collapse ? result : source;
  const MeshBlocks &unfolded = collapse ? source : result;
  auto groups = collapse ? collapse.getReassociationIndices()
                         : expand.getReassociationIndices();
  if (failed(checkNoParts()))
    return failure();
  for (auto [d, group] : llvm::enumerate(groups))
    if (failed(checkGroup(group, folded.dims[d], unfolded.dims)))
      return failure();
  if (groups.empty() && !unfolded.isWhole())
    return fail("a dim of size 1 is split: convert it to a #layout.mesh that "
                "does not split it first");
  Value block = values.getBlock(op->getOperand(0));
  if (collapse)
    replace(0, tensor::CollapseShapeOp::create(b, loc, result.block, block,
                                               groups));
  else
    replace(0,
            tensor::ExpandShapeOp::create(b, loc, result.block, block, groups));
  op->erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Constants, conversions and whole tensors
//===----------------------------------------------------------------------===//

/// Lowers a constant to its distinct blocks, packed one after another, of which
/// each rank reads its own. A splat becomes a fill. Emits an error and fails if
/// the value is not an ElementsAttr, or if its elements cannot be packed.
LogicalResult OpOnBlocks::lowerConstant(arith::ConstantOp constant) {
  const MeshBlocks &blocks = *results[0];
  auto value = dyn_cast<ElementsAttr>(constant.getValue());
  if (!value)
    return fail("its value has no elements");
  once = {blocks.partial};
  if (auto splat = dyn_cast<SplatElementsAttr>(value)) {
    Value element = arith::ConstantOp::create(
        b, loc, cast<TypedAttr>(splat.getSplatValue<Attribute>()));
    replace(0, linalg::FillOp::create(b, loc, element,
                                      values.makeEmpty(b, loc, blocks))
                   .getResult(0));
    op->erase();
    return success();
  }
  // Replicas are stored once.
  MeshAttr layout = getMeshLayout(blocks.type);
  Mesh mesh = layout.getMesh();
  for (auto [a, axis] : llvm::enumerate(mesh.axes))
    if (!mesh.isSplit(a))
      axis.size = 1;
  auto distinct = RankedTensorType::get(
      blocks.type.getShape(), blocks.type.getElementType(),
      MeshAttr::get(op->getContext(), mesh, layout.getLocal()));
  std::string why;
  FailureOr<ElementsAttr> packed =
      packConstant(retypeElements(value, distinct), distinct, why);
  if (failed(packed))
    return fail(why);
  Value all = arith::ConstantOp::create(b, loc, cast<TypedAttr>(*packed));
  replace(0, values.readOf(b, loc, blocks, all));
  op->erase();
  return success();
}

LogicalResult OpOnBlocks::lowerConvert(ConvertOp convert) {
  const MeshBlocks &source = *operands[0], &result = *results[0];
  if (source.numDevices && result.numDevices) {
    replace(0, convertLayout(b, loc, values.getBlock(convert.getSource()),
                             result.block));
    op->erase();
    return success();
  }
  if (!(source.numDevices ? source : result).partial.empty())
    return fail("it has partial sums (P4), but its source or its result is not "
                "on a mesh: convert between two #layout.mesh");
  if (!source.numDevices) {
    Value plain =
        convertLayout(b, loc, convert.getSource(), withoutLayout(source.type));
    replace(0, values.takeBlock(b, loc, result, plain));
  } else {
    if (!source.isWhole())
      return fail("its result is not on a mesh, so all devices need all of it: "
                  "convert to a #layout.mesh that splits nothing first");
    replace(0, convertLayout(b, loc, values.getBlock(convert.getSource()),
                             result.type));
  }
  op->erase();
  return success();
}

/// Lowers an op whose layouts no rule describes to a clone that every device
/// runs on whole tensors. Emits an error and fails if an operand or a result is
/// split or has partial results.
LogicalResult OpOnBlocks::lowerReader() {
  for (auto [r, blocks] : llvm::enumerate(results))
    if (blocks && !blocks->isWhole())
      return fail("how result " + Twine(r) +
                  " follows from blocks is unknown: write it as an op of "
                  "linalg or tensor");
  for (auto [k, blocks] : llvm::enumerate(operands))
    if (blocks && !blocks->isWhole())
      return fail(
          "it reads operand " + Twine(k) +
          " at arbitrary indices, but devices have only blocks or partial sums "
          "of it: convert it to a #layout.mesh that splits nothing first");
  return lowerWhole();
}

/// Lowers the op to a clone that every device runs on whole tensors. Emits an
/// error and fails if a tensor is not whole on each device, or if a body has
/// tensors on a mesh.
LogicalResult OpOnBlocks::lowerWhole() {
  auto isWhole = [](const MeshBlocks *blocks) {
    return !blocks || blocks->isWhole();
  };
  if (!llvm::all_of(operands, isWhole) || !llvm::all_of(results, isWhole))
    return fail(
        "it has no lowering on a mesh: write it as an op of linalg or tensor");
  // Types in bodies are not converted.
  bool makesSome = false;
  op->walk([&](Block *block) {
    makesSome |= llvm::any_of(block->getArgumentTypes(), liesOnMesh);
    for (Operation &inner : *block)
      makesSome |= llvm::any_of(inner.getResultTypes(), liesOnMesh);
  });
  if (makesSome)
    return fail("its body has a tensor on a different mesh: write it as an op "
                "of linalg or tensor");
  replaceAll(cloneOnBlocks());
  return success();
}

LogicalResult OpOnBlocks::lower() {
  if (auto convert = dyn_cast<ConvertOp>(op))
    return lowerConvert(convert);
  if (isa<BranchOpInterface>(op))
    return fail("it passes a tensor on a mesh: branch with 'cf.cond_br'");
  if (isa<StorageViewOp>(op))
    return fail("storage is spread over the devices: functions must take and "
                "return the tensor itself");
  if (auto *loopsRule = std::get_if<LoopsRule>(&rule))
    return lowerLoops(*loopsRule);
  if (auto *perDim = std::get_if<PerDimRule>(&rule))
    return lowerPerDim(*perDim);
  if (std::holds_alternative<ViewRule>(rule))
    return lowerReshape();
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return lowerConstant(constant);
  if (isa<tensor::EmptyOp>(op)) {
    replace(0, values.makeEmpty(b, loc, *results[0]));
    op->erase();
    return success();
  }
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> d = dim.getConstantIndex();
    if (d && *d < int64_t(operands[0]->dims.size())) {
      replace(0, arith::ConstantIndexOp::create(
                     b, loc, operands[0]->type.getDimSize(*d)));
      op->erase();
      return success();
    }
  }
  return lowerReader();
}

LogicalResult OpOnBlocks::run() {
  return failed(findBlocks()) ? failure() : lower();
}

/// Returns true if an operand or a result of the op is on a mesh, or a value
/// from outside that its regions use.
static bool usesMesh(Operation *op) {
  if (llvm::any_of(op->getOperandTypes(), liesOnMesh) ||
      llvm::any_of(op->getResultTypes(), liesOnMesh))
    return true;
  SetVector<Value> above;
  getUsedValuesDefinedAbove(op->getRegions(), above);
  return llvm::any_of(above,
                      [](Value value) { return liesOnMesh(value.getType()); });
}

/// Returns true for functions and control flow, in whose regions ops are
/// lowered one by one.
static bool hasBlocks(Operation *op) {
  return isa<func::FuncOp, scf::IfOp, scf::ForOp, scf::WhileOp,
             scf::IndexSwitchOp>(op);
}

LogicalResult layout::computeOnBlocks(func::FuncOp function,
                                      MessageSymbols &symbols) {
  if (function.isExternal())
    return success();
  // Compute all rules first, because some depend on the producer of an operand.
  std::vector<std::pair<Operation *, OpLayoutRule>> ops;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (hasBlocks(op))
      return WalkResult::advance();
    if (!forwardsBlocks(op) && usesMesh(op))
      ops.push_back({op, getLayoutRule(op)});
    return WalkResult::skip();
  });
  if (ops.empty())
    return success();
  {
    BlockValues values(function, symbols);
    for (const auto &[op, rule] : ops)
      if (failed(OpOnBlocks(op, rule, values).run()))
        return failure();
    if (values.hasFailed())
      return failure();
  }
  // Erases unused memory of blocks.
  function->walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
  return success();
}
