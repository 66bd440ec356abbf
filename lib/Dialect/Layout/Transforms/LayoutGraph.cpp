//===- LayoutGraph.cpp - A program as a graph of boxes --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutGraph.h"
#include "layout/Dialect/Layout/Transforms/Printing.h"
#include "layout/Interfaces/LayoutOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace mlir::layout;

Type LayoutGraph::Box::getType() const {
  if (argument)
    return argument.getType();
  return ops.back()->getNumResults() ? ops.back()->getResult(0).getType()
                                     : Type();
}

ConvertOp LayoutGraph::Box::getConversion() const {
  return ops.size() == 1 ? dyn_cast<ConvertOp>(ops.front()) : nullptr;
}

/// Returns true if the ops in the regions of `op` are shown in boxes of their
/// own. They are not if `op` has a layout rule, because they are then part of
/// what it computes.
static bool showsRegions(Operation *op) {
  return op->getNumRegions() && !op->getRegion(0).empty() &&
         std::holds_alternative<OpaqueRule>(getLayoutRule(op));
}

/// Returns true for ops that the graph does not show, because they cost nothing
/// in any layout, e.g. constants, tensor.empty and tensor.dim.
static bool isHidden(Operation *op) {
  OpLayoutRule rule = getLayoutRule(op);
  return op->hasTrait<OpTrait::ConstantLike>() ||
         std::holds_alternative<ShapeRule>(rule) ||
         isRematerializable(op, rule);
}

std::optional<unsigned> LayoutGraph::getBox(Value value) const {
  auto find = [](const auto &numbers, auto key) {
    auto found = numbers.find(key);
    return found == numbers.end() ? std::nullopt
                                  : std::optional<unsigned>(found->second);
  };
  Operation *op = value.getDefiningOp();
  return op ? find(boxOf, op) : find(boxOfArgument, value);
}

/// Returns the operands of `op` whose elements it reads, except those that are
/// results of ops that the graph does not show.
SmallVector<OpOperand *> LayoutGraph::getReadTensors(Operation *op) const {
  OpLayoutRule rule = getLayoutRule(op);
  auto *loops = std::get_if<LoopsRule>(&rule);
  SmallVector<OpOperand *> tensors;
  for (OpOperand &operand : op->getOpOperands())
    if (getBox(operand.get()) &&
        (!loops || loops->isRead[operand.getOperandNumber()]))
      tensors.push_back(&operand);
  return tensors;
}

/// Returns true if `op` may share a box with other ops: it has one result, a
/// tensor, shows no regions, and is not a conversion.
static bool isInRun(Operation *op) {
  return !isa<ConvertOp>(op) && !showsRegions(op) && op->getNumResults() == 1 &&
         isTensor(op->getResult(0));
}

/// Returns the number of the box that `op` joins, or std::nullopt if it begins
/// a new one. It joins the producer of the only tensor that it reads if both
/// are in one block and have results of one layout, and no other op that the
/// graph shows uses that tensor.
std::optional<unsigned> LayoutGraph::findRun(Operation *op) const {
  SmallVector<OpOperand *> tensors = getReadTensors(op);
  if (tensors.empty() || !isInRun(op))
    return std::nullopt;
  Operation *before = tensors.front()->get().getDefiningOp();
  if (!before || !isInRun(before) || before->getBlock() != op->getBlock() ||
      !llvm::all_of(tensors,
                    [&](OpOperand *operand) {
                      return operand->get().getDefiningOp() == before;
                    }) ||
      !llvm::all_of(before->getUsers(), [&](Operation *user) {
        return user == op || isHidden(user);
      }))
    return std::nullopt;
  auto getEncoding = [](Operation *op) {
    return cast<RankedTensorType>(op->getResult(0).getType()).getEncoding();
  };
  if (getEncoding(before) != getEncoding(op))
    return std::nullopt;
  return boxOf.lookup(before);
}

void LayoutGraph::collect(Operation *op) {
  if (isHidden(op))
    return;
  if (hasTensors(op)) {
    std::optional<unsigned> run = findRun(op);
    if (!run) {
      run = boxes.size();
      boxes.push_back({op->getBlock(), {}, {}});
      boxesOf[op->getBlock()].push_back(*run);
    }
    boxes[*run].ops.push_back(op);
    boxOf[op] = *run;
  }
  if (!showsRegions(op))
    return;
  framesOf[op->getBlock()].push_back(op);
  for (Region &region : op->getRegions())
    for (Block &block : region)
      collect(block);
}

void LayoutGraph::collect(Block &block) {
  for (BlockArgument argument : block.getArguments())
    if (isTensor(argument)) {
      boxOfArgument[argument] = boxes.size();
      boxesOf[&block].push_back(boxes.size());
      boxes.push_back({&block, {}, argument});
    }
  for (Operation &op : block)
    collect(&op);
}

bool LayoutGraph::isJoinable(const Box &box, bool isOneLayout) const {
  if (box.argument)
    return false;
  if (auto convert = box.getConversion())
    return !isOneLayout && ConversionPlan::get(convert, target).isFree();
  return isInRun(box.ops.front());
}

/// Returns for each box the number of the box that it is merged into, or its
/// own number. With `isOneLayout` connected ops of one layout are merged,
/// otherwise all ops that are connected without moving bytes; both only within
/// a block. To prevent cycles, only boxes with an equal round are merged. The
/// round is the largest number of edges on a path to the box that connect two
/// boxes that cannot be merged.
std::vector<unsigned> LayoutGraph::findConnected(bool isOneLayout) const {
  std::vector<unsigned> rounds(boxes.size(), 0), joined(boxes.size());
  std::vector<char> joinable;
  for (const Box &box : boxes)
    joinable.push_back(isJoinable(box, isOneLayout));
  auto getLayout = [](const Box &box) {
    auto tensor = dyn_cast_if_present<RankedTensorType>(box.getType());
    return tensor ? tensor.getEncoding() : Attribute();
  };
  auto canJoin = [&](unsigned a, unsigned b) {
    return boxes[a].block == boxes[b].block && joinable[a] && joinable[b] &&
           (!isOneLayout || getLayout(boxes[a]) == getLayout(boxes[b]));
  };
  for (unsigned b = 0; b < boxes.size(); ++b) {
    SmallVector<std::pair<unsigned, Value>> producers = getReads(b);
    for (auto [from, value] : producers)
      rounds[b] = std::max(rounds[b], rounds[from] + !canJoin(from, b));
    joined[b] = b;
    for (auto [from, value] : producers)
      if (canJoin(from, b) && rounds[from] == rounds[b]) {
        joined[b] = joined[from];
        break;
      }
  }
  return joined;
}

void LayoutGraph::join(ArrayRef<unsigned> joined) {
  for (auto [b, whole] : llvm::enumerate(joined)) {
    if (whole == b)
      continue;
    for (Operation *op : boxes[b].ops)
      boxOf[op] = whole;
    llvm::append_range(boxes[whole].ops, boxes[b].ops);
    boxes[b].ops.clear();
  }
  for (auto &[block, numbers] : boxesOf)
    llvm::erase_if(numbers, [&](unsigned b) { return joined[b] != b; });
}

SmallVector<std::pair<unsigned, Value>>
LayoutGraph::getReads(unsigned box) const {
  SmallVector<std::pair<unsigned, Value>> reads;
  for (Operation *op : boxes[box].ops)
    for (OpOperand *operand : getReadTensors(op))
      if (unsigned from = *getBox(operand->get()); from != box)
        reads.push_back({from, operand->get()});
  return reads;
}

ArrayRef<unsigned> LayoutGraph::getBoxes(Block *block) const {
  auto found = boxesOf.find(block);
  return found == boxesOf.end() ? ArrayRef<unsigned>()
                                : ArrayRef(found->second);
}

ArrayRef<Operation *> LayoutGraph::getFrames(Block *block) const {
  auto found = framesOf.find(block);
  return found == framesOf.end() ? ArrayRef<Operation *>()
                                 : ArrayRef(found->second);
}

LayoutGraph::LayoutGraph(Operation *root, TargetInterface target,
                         unsigned maxBoxes)
    : target(target) {
  if (isa<FunctionOpInterface>(root))
    collect(root);
  else
    for (Region &region : root->getRegions())
      for (Block &block : region)
        collect(block);
  if (boxes.size() <= maxBoxes)
    return;
  std::vector<unsigned> joined = findConnected(/*isOneLayout=*/true);
  if (llvm::DenseSet<unsigned>(joined.begin(), joined.end()).size() > maxBoxes)
    joined = findConnected(/*isOneLayout=*/false);
  join(joined);
}
