//===- TileFusionGroup.cpp - Tiling of the ops of a group -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tiling/FusionGroups.h"
#include "layout/Support/StatedSizes.h"
#include "layout/Targets/NPU/NpuParts.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/IR/TensorTilingInterfaceImpl.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::layout;

/// Marks a tensor.concat that runs after all parts of a group instead of in
/// each one. Slices of it can then read its operands.
static constexpr StringLiteral kPutTogether = "npu.put_together";

namespace {
class Cutter {
public:
  Cutter(OpBuilder &builder, const Stages &stages, const GroupParts &group,
         bool keepsResults)
      : builder(builder), stages(stages), group(group),
        keepsResults(keepsResults) {}

  LogicalResult run();

private:
  SmallVector<OpFoldResult> getAttrs(ArrayRef<int64_t> values) {
    return getAsIndexOpFoldResult(builder.getContext(), values);
  }
  Value takePart(Location loc, Value tensor, const TensorBox &of,
                 const TensorBox &box);
  FailureOr<Operation *> makePart(Operation *op, const Reads &reads);
  Value readPart(OpOperand &operand, const TensorBox &box);
  Value makeMoved(Operation *op, const Reads &reads);
  LogicalResult makeStage(unsigned stage);
  LogicalResult makePiece(unsigned stage, const std::optional<Reads> &reads,
                          SmallVector<Value> &results);
  Value join(Location loc, ArrayRef<Value> parts, unsigned dim);
  Value joinAll(Value result, ArrayRef<Value> parts);
  Value store(Value joined);
  bool isBehind(unsigned stage) const {
    return !keepsResults && group.isBehind(stage);
  }
  void replaceBehind(Value result, Value by, const TensorBox &used);
  void putTogether(unsigned stage);

  OpBuilder &builder;
  const Stages &stages;
  const GroupParts &group;
  bool keepsResults;
  SmallVector<Operation *> ops;
  int64_t part = 0;
  DenseMap<Value, Value> made;                   // tensors of the current part
  DenseMap<Value, SmallVector<Value>> ofResults; // of the parts so far
  DenseMap<OpOperand *, SmallVector<Value>> ofConcats; // per part
  IRMapping behind;
};
} // namespace

/// Returns the elements in `box` of a tensor of which `tensor` holds those in
/// the box `of`.
Value Cutter::takePart(Location loc, Value tensor, const TensorBox &of,
                       const TensorBox &box) {
  if (of == box)
    return tensor;
  SmallVector<int64_t> firsts, ones(box.firsts.size(), 1);
  for (auto [first, from] : llvm::zip_equal(box.firsts, of.firsts))
    firsts.push_back(first - from);
  return tensor::ExtractSliceOp::create(builder, loc, tensor, getAttrs(firsts),
                                        getAttrs(box.sizes), getAttrs(ones));
}

/// Returns the elements `box` of an operand. If the current part has made or
/// loaded a box of the tensor, they are a slice of that. Otherwise the tensor
/// is a splat constant, fill or empty tensor, and the result is a new one.
Value Cutter::readPart(OpOperand &operand, const TensorBox &box) {
  Value tensor = operand.get();
  Location loc = operand.getOwner()->getLoc();
  if (auto known = made.find(tensor); known != made.end())
    return takePart(loc, known->second, group.getBox(tensor, part), box);
  auto part = RankedTensorType::get(box.sizes, getElementTypeOrSelf(tensor));
  if (DenseElementsAttr values; matchPattern(tensor, m_Constant(&values)))
    return arith::ConstantOp::create(builder, loc, values.resizeSplat(part));
  Value empty =
      tensor::EmptyOp::create(builder, loc, box.sizes, part.getElementType());
  auto fill = tensor.getDefiningOp<linalg::FillOp>();
  return fill ? linalg::FillOp::create(builder, loc, fill.getInputs(), empty)
                    .getResult(0)
              : empty;
}

/// Creates the op for the current part of a concatenation, reshape, slice or
/// insertion, and returns the part of its result.
Value Cutter::makeMoved(Operation *op, const Reads &reads) {
  Location loc = op->getLoc();
  SmallVector<Value> parts;
  for (auto &[operand, box] : reads.boxes)
    parts.push_back(readPart(*operand, box));
  if (auto concat = dyn_cast<tensor::ConcatOp>(op))
    return join(loc, parts, concat.getDim());
  if (auto dims = getReshapedDims(op)) {
    auto type = RankedTensorType::get(reads.extents,
                                      getElementTypeOrSelf(parts.front()));
    if (isa<tensor::ExpandShapeOp>(op))
      return tensor::ExpandShapeOp::create(builder, loc, type, parts.front(),
                                           *dims);
    return tensor::CollapseShapeOp::create(builder, loc, type, parts.front(),
                                           *dims);
  }
  SmallVector<int64_t> firsts(reads.firsts.size(), 0);
  const TensorBox &source = reads.boxes.front().second;
  if (auto extract = dyn_cast<tensor::ExtractSliceOp>(op)) {
    if (extract.hasUnitStride())
      return parts.front();
    return tensor::ExtractSliceOp::create(
        builder, loc, parts.front(), getAttrs(firsts), getAttrs(reads.extents),
        getAttrs(extract.getStaticStrides()));
  }
  auto insert = cast<tensor::InsertSliceOp>(op);
  for (auto [d, first] : llvm::enumerate(firsts))
    first = insert.getStaticOffset(d) +
            source.firsts[d] * insert.getStaticStride(d) - reads.firsts[d];
  return tensor::InsertSliceOp::create(builder, loc, parts[0], parts[1],
                                       getAttrs(firsts), getAttrs(source.sizes),
                                       getAttrs(insert.getStaticStrides()));
}

FailureOr<Operation *> Cutter::makePart(Operation *op, const Reads &reads) {
  if (auto linalg = dyn_cast<linalg::LinalgOp>(op)) {
    FailureOr<linalg::LinalgOp> part =
        makeBox(builder, linalg, reads.firsts, reads.extents);
    if (failed(part))
      return failure();
    return part->getOperation();
  }
  FailureOr<TilingResult> part = tensor::bubbleUpPadSlice(
      builder, cast<tensor::PadOp>(op), getAttrs(reads.firsts),
      getAttrs(reads.extents), /*generateZeroSliceGuard=*/false);
  if (failed(part) || part->tiledOps.size() != 1 ||
      !isa<tensor::PadOp>(part->tiledOps.front()))
    return failure();
  return part->tiledOps.front();
}

LogicalResult Cutter::makeStage(unsigned stage) {
  Operation *op = stages.all[stage].op;
  const Reads &reads = group.getReadsOf(stage, part);
  // Slice each tensor from outside once per part, also if several stages read
  // it.
  for (auto &[operand, box] : reads.boxes) {
    Value tensor = operand->get();
    if (!made.contains(tensor) && !isFresh(tensor) && !group.isStreamed(tensor))
      made[tensor] = takePart(
          tensor.getLoc(), tensor,
          TensorBox::getWhole(cast<RankedTensorType>(tensor.getType())),
          group.getBox(tensor, part));
  }
  if (!isa<linalg::LinalgOp, tensor::PadOp>(op)) {
    made[op->getResult(0)] = makeMoved(op, reads);
    return success();
  }
  int64_t pieces = group.countPieces(stage);
  SmallVector<int64_t> firsts(ArrayRef<int64_t>(reads.firsts));
  SmallVector<int64_t> extents(ArrayRef<int64_t>(reads.extents));
  SmallVector<Value> results;
  for (int64_t piece = 0; piece < pieces; ++piece) {
    if (std::optional<unsigned> loop = stages.all[stage].summed) {
      int64_t size = reads.extents[*loop];
      firsts[*loop] = reads.firsts[*loop] + piece * size / pieces;
      extents[*loop] =
          reads.firsts[*loop] + (piece + 1) * size / pieces - firsts[*loop];
    }
    if (failed(makePiece(
            stage,
            pieces == 1 ? std::optional(reads)
                        : stages.all[stage].getReadsOfLoops(firsts, extents),
            results)))
      return failure();
  }
  for (auto [result, value] : llvm::zip_equal(op->getResults(), results))
    made[result] = value;
  return success();
}

/// Creates the op of one piece of a stage: a range of its reduction loop, or
/// the whole part if that loop is not divided. `reads` has the boxes of the
/// operands. A piece accumulates into `results`, the results of the pieces
/// before it, if there are any, and replaces them by its own. Fails if the
/// boxes are unknown (std::nullopt) or the op cannot be sliced to them.
LogicalResult Cutter::makePiece(unsigned stage,
                                const std::optional<Reads> &reads,
                                SmallVector<Value> &results) {
  Operation *op = stages.all[stage].op;
  if (!reads)
    return failure();
  FailureOr<Operation *> of = makePart(op, *reads);
  if (failed(of))
    return failure();
  auto replace = [&](OpOperand &read, Value by) {
    auto sliced = read.get().getDefiningOp<tensor::ExtractSliceOp>();
    read.set(by);
    if (sliced && sliced->use_empty())
      sliced->erase();
  };
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(*of);
  for (auto &[operand, box] : reads->boxes)
    if (made.contains(operand->get()))
      replace((*of)->getOpOperand(operand->getOperandNumber()),
              readPart(*operand, box));
  if (!results.empty())
    for (auto [init, result] : llvm::zip_equal(
             cast<linalg::LinalgOp>(*of).getDpsInitsMutable(), results))
      replace(init, result);
  results.assign((*of)->result_begin(), (*of)->result_end());
  return success();
}

/// Concatenates the tensors of `parts` along `dim`. Null values, parts that no
/// op after the group needs, are skipped. Returns a null value if all are.
Value Cutter::join(Location loc, ArrayRef<Value> parts, unsigned dim) {
  SmallVector<Value> needed;
  llvm::copy_if(parts, std::back_inserter(needed),
                [](Value part) { return bool(part); });
  if (needed.size() < 2)
    return needed.empty() ? Value() : needed.front();
  return tensor::ConcatOp::create(builder, loc, dim, needed);
}

/// Concatenates the parts of a result along channels, rows and batches. Skips
/// null parts, which no op after the group needs.
Value Cutter::joinAll(Value result, ArrayRef<Value> parts) {
  const Cut &cut = group.getCut();
  unsigned rank = cast<RankedTensorType>(result.getType()).getRank();
  Location loc = result.getLoc();
  SmallVector<Value> batches;
  for (int64_t b = 0; b < cut.batches; ++b) {
    SmallVector<Value> rows;
    for (int64_t r = 0; r < cut.rows; ++r) {
      rows.push_back(
          join(loc, parts.take_front(cut.channels), Cut::getChannelDim(rank)));
      parts = parts.drop_front(cut.channels);
    }
    batches.push_back(join(loc, rows, Cut::getRowDim(rank)));
  }
  return join(loc, batches, 0);
}

/// Marks `joined`, if it is a concatenation, to be in system memory, unless the
/// group keeps its results in local memory. Returns `joined`.
Value Cutter::store(Value joined) {
  if (auto concat = joined.getDefiningOp<tensor::ConcatOp>();
      concat && !keepsResults)
    concat->setAttr(kStored, builder.getUnitAttr());
  return joined;
}

/// Replaces the uses of `result` after the group by `by`, which holds only its
/// elements in the box `used`. Offsets of slices become relative to that box.
void Cutter::replaceBehind(Value result, Value by, const TensorBox &used) {
  result.replaceUsesWithIf(by, [&](OpOperand &use) {
    if (llvm::is_contained(ops, use.getOwner()))
      return false;
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(use.getOwner())) {
      SmallVector<int64_t> offsets(slice.getStaticOffsets());
      for (auto [offset, first] : llvm::zip_equal(offsets, used.firsts))
        offset -= ShapedType::isDynamic(offset) ? 0 : first;
      slice.setStaticOffsets(offsets);
    }
    return true;
  });
}

/// Creates, after all parts, the concatenation or slice of stage number
/// `stage`, which does not run in each part, and replaces its uses after the
/// group. Its operands from the group are the joined parts.
void Cutter::putTogether(unsigned stage) {
  Operation *op = stages.all[stage].op;
  for (OpOperand &operand : op->getOpOperands())
    if (auto parts = ofConcats.find(&operand); parts != ofConcats.end())
      behind.map(operand.get(), store(joinAll(operand.get(), parts->second)));
  Operation *whole = builder.clone(*op, behind);
  if (isa<tensor::ConcatOp>(whole))
    whole->setAttr(kPutTogether, builder.getUnitAttr());
  Value result = whole->getResult(0);
  replaceBehind(op->getResult(0), result,
                TensorBox::getWhole(cast<RankedTensorType>(result.getType())));
}

LogicalResult Cutter::run() {
  SmallVector<Value> results;
  for (unsigned s = group.getFirst(); s <= group.getLast(); ++s) {
    ops.push_back(stages.all[s].op);
    if (!isBehind(s))
      llvm::copy_if(ops.back()->getResults(), std::back_inserter(results),
                    [&](Value result) { return group.isResult(result); });
  }
  builder.setInsertionPointAfter(ops.back());
  for (int64_t e = group.getCut().count(); part < e; ++part) {
    made.clear();
    for (unsigned s = group.getFirst(); s <= group.getLast(); ++s) {
      if (!isBehind(s)) {
        if (failed(makeStage(s)))
          return failure();
        continue;
      }
      // A concatenation after the group needs, of each part, the boxes of the
      // operands that the group computes.
      for (auto &[operand, box] : group.getReadsOf(s, part).boxes)
        if (Value of = made.lookup(operand->get());
            of && group.isMadeHere(operand->get()))
          ofConcats[operand].push_back(takePart(
              of.getLoc(), of, group.getBox(operand->get(), part), box));
    }
    for (Value result : results) {
      std::optional<TensorBox> own = group.getOwn(result, part);
      ofResults[result].push_back(own ? takePart(result.getLoc(), made[result],
                                                 group.getBox(result, part),
                                                 *own)
                                      : Value());
    }
  }
  for (Value result : results)
    replaceBehind(result, store(joinAll(result, ofResults[result])),
                  stages.getUsedBehind(result, group.getLast()));
  for (unsigned s = group.getFirst(); s <= group.getLast(); ++s)
    if (isBehind(s))
      putTogether(s);
  for (Operation *op : llvm::reverse(ops))
    op->erase();
  return success();
}

LogicalResult layout::tileFusionGroup(OpBuilder &builder, const Stages &stages,
                                      const FusionGroup &group) {
  GroupParts parts(stages, group.last, group.cut);
  while (parts.getFirst() > group.first)
    if (!parts.addStage())
      return failure();
  return Cutter(builder, stages, parts, group.keepsResults).run();
}

/// Replaces a slice of a concatenation by a slice of the operand that it reads,
/// or by a concatenation of slices of several operands.
static void readParts(tensor::ExtractSliceOp slice, tensor::ConcatOp concat) {
  OpBuilder builder(slice);
  TensorBox read;
  llvm::append_range(read.firsts, slice.getStaticOffsets());
  llvm::append_range(read.sizes, slice.getStaticSizes());
  SmallVector<Value> parts;
  for (auto [operand, offsets] :
       llvm::zip_equal(concat.getInputs(), getPartOffsets(concat))) {
    TensorBox part =
        TensorBox::getWhole(cast<RankedTensorType>(operand.getType()));
    llvm::copy(offsets, part.firsts.begin());
    std::optional<TensorBox> both = part.meet(read);
    if (!both)
      continue;
    for (auto [first, offset] : llvm::zip_equal(both->firsts, offsets))
      first -= offset;
    SmallVector<OpFoldResult> ones(offsets.size(), builder.getIndexAttr(1));
    parts.push_back(tensor::ExtractSliceOp::create(
        builder, slice.getLoc(), operand,
        getAsIndexOpFoldResult(builder.getContext(), both->firsts),
        getAsIndexOpFoldResult(builder.getContext(), both->sizes), ones));
  }
  Value whole = parts.front();
  if (parts.size() > 1)
    whole = tensor::ConcatOp::create(builder, slice.getLoc(), concat.getDim(),
                                     parts);
  slice.replaceAllUsesWith(whole);
  slice.erase();
}

void layout::readPartsOfConcats(func::FuncOp function) {
  SmallVector<tensor::ConcatOp> concats;
  function.walk([&](tensor::ConcatOp concat) {
    if (concat->hasAttr(kPutTogether))
      concats.push_back(concat);
  });
  for (tensor::ConcatOp concat : concats) {
    concat->removeAttr(kPutTogether);
    auto isSlice = [](Operation *user) {
      auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
      return slice && slice.hasUnitStride() &&
             slice.getType().getRank() == slice.getSourceType().getRank() &&
             slice.getType().hasStaticShape() &&
             !hasNoElements(slice.getType()) &&
             !ShapedType::isDynamicShape(slice.getStaticOffsets());
    };
    // If other ops read the concatenation as well, it stays, and the assignment
    // of layouts chooses its memory.
    if (!llvm::all_of(concat->getUsers(), isSlice)) {
      concat->removeAttr(kStored);
      continue;
    }
    for (Operation *user : llvm::to_vector(concat->getUsers()))
      readParts(cast<tensor::ExtractSliceOp>(user), concat);
    concat.erase();
  }
}
