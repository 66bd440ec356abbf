//===- CutGroup.cpp - The ops of a group, part by part --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Groups.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/IR/TensorTilingInterfaceImpl.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::layout;

namespace {
class Cutter {
public:
  Cutter(OpBuilder &builder, const Stages &stages, const GroupParts &group)
      : builder(builder), stages(stages), group(group) {}

  LogicalResult run();

private:
  SmallVector<OpFoldResult> getAttrs(ArrayRef<int64_t> values) {
    return getAsIndexOpFoldResult(builder.getContext(), values);
  }
  Value takePart(Location loc, Value tensor, const TensorBox &of,
                 const TensorBox &box);
  FailureOr<Operation *> makePart(Operation *op, const Reads &reads);
  LogicalResult makeStage(unsigned stage, int64_t part);
  Value join(Location loc, ArrayRef<Value> parts, unsigned dim);
  Value joinAll(Value result);

  OpBuilder &builder;
  const Stages &stages;
  const GroupParts &group;
  DenseMap<Value, Value> made;                   // of the part
  DenseMap<Value, SmallVector<Value>> ofResults; // of all parts
};
} // namespace

/// A box of the tensor, of which `tensor` has the elements of another one.
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

LogicalResult Cutter::makeStage(unsigned stage, int64_t part) {
  Operation *op = stages.all[stage].op;
  const Reads &reads = group.getReadsOf(stage, part);
  FailureOr<Operation *> of = makePart(op, reads);
  if (failed(of))
    return failure();
  // What the group makes is read where this part has it.
  for (auto &[operand, box] : reads.boxes) {
    auto known = made.find(operand->get());
    if (known == made.end())
      continue;
    OpOperand &read = (*of)->getOpOperand(operand->getOperandNumber());
    auto sliced = read.get().getDefiningOp<tensor::ExtractSliceOp>();
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(*of);
    read.set(takePart(op->getLoc(), known->second,
                      group.getBox(operand->get(), part), box));
    if (sliced && sliced->use_empty())
      sliced->erase();
  }
  for (auto [result, value] :
       llvm::zip_equal(op->getResults(), (*of)->getResults()))
    made[result] = value;
  return success();
}

Value Cutter::join(Location loc, ArrayRef<Value> parts, unsigned dim) {
  if (parts.size() == 1)
    return parts.front();
  return tensor::ConcatOp::create(builder, loc, dim, parts);
}

/// The parts of a result, side by side.
Value Cutter::joinAll(Value result) {
  const Cut &cut = group.getCut();
  unsigned rank = cast<RankedTensorType>(result.getType()).getRank();
  Location loc = result.getLoc();
  ArrayRef<Value> parts = ofResults[result];
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

LogicalResult Cutter::run() {
  SmallVector<Operation *> ops;
  for (unsigned s = group.getFirst(); s <= group.getLast(); ++s)
    ops.push_back(stages.all[s].op);
  SmallVector<Value> results;
  for (Operation *op : ops)
    llvm::copy_if(op->getResults(), std::back_inserter(results),
                  [&](Value result) { return group.isResult(result); });
  builder.setInsertionPointAfter(ops.back());
  for (int64_t part = 0, e = group.getCut().count(); part < e; ++part) {
    made.clear();
    for (unsigned s = group.getFirst(); s <= group.getLast(); ++s)
      if (failed(makeStage(s, part)))
        return failure();
    for (Value result : results)
      ofResults[result].push_back(
          takePart(result.getLoc(), made[result], group.getBox(result, part),
                   *group.getCut().getPart(
                       cast<RankedTensorType>(result.getType()), part)));
  }
  for (Value result : results)
    result.replaceUsesWithIf(joinAll(result), [&](OpOperand &use) {
      return !llvm::is_contained(ops, use.getOwner());
    });
  for (Operation *op : llvm::reverse(ops))
    op->erase();
  return success();
}

LogicalResult layout::cutGroup(OpBuilder &builder, const Stages &stages,
                               const Group &group) {
  GroupParts parts(stages, group.last, group.cut);
  while (parts.getFirst() > group.first)
    if (!parts.addStage())
      return failure();
  return Cutter(builder, stages, parts).run();
}
