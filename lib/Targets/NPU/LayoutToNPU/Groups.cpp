//===- Groups.cpp - What parts of ops need of others ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Groups.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::layout;

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

TensorBox TensorBox::getWhole(RankedTensorType type) {
  TensorBox box;
  box.firsts.assign(type.getRank(), 0);
  llvm::append_range(box.sizes, type.getShape());
  return box;
}

void TensorBox::join(const TensorBox &other) {
  for (unsigned d = 0, e = firsts.size(); d < e; ++d) {
    int64_t first = std::min(firsts[d], other.firsts[d]);
    int64_t end =
        std::max(firsts[d] + sizes[d], other.firsts[d] + other.sizes[d]);
    firsts[d] = first;
    sizes[d] = end - first;
  }
}

int64_t Reads::countPoints() const {
  int64_t points = 1;
  for (int64_t extent : extents)
    points = scaleCost(points, extent);
  return points;
}

static bool isStaticTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return !tensor || tensor.hasStaticShape();
}

static bool canHaveParts(Operation *op) {
  if (llvm::any_of(op->getOperandTypes(), hasLayout) ||
      !llvm::all_of(op->getOperandTypes(), isStaticTensor) ||
      !llvm::all_of(op->getResultTypes(), isStaticTensor))
    return false;
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    Value number = pad.getConstantPaddingValue();
    return number && matchPattern(number, m_Constant()) && !pad.getNofold() &&
           !ShapedType::isDynamicShape(pad.getStaticLow()) &&
           !ShapedType::isDynamicShape(pad.getStaticHigh());
  }
  auto linalg = dyn_cast<linalg::LinalgOp>(op);
  if (!linalg || !isForCores(linalg) || linalg->getNumResults() == 0)
    return false;
  return llvm::all_of(linalg.getDpsInitsMutable(), [&](OpOperand &init) {
    AffineMap map = linalg.getMatchingIndexingMap(&init);
    return map.getNumResults() != 0 && map.isProjectedPermutation();
  });
}

Stage::Stage(Operation *op) : op(op), hasParts(canHaveParts(op)) {
  auto linalg = dyn_cast<linalg::LinalgOp>(op);
  if (!linalg || !hasParts)
    return;
  maps = linalg.getIndexingMapsArray();
  llvm::append_range(ranges, linalg.getStaticLoopRanges());
}

std::optional<Reads> Stage::getReadsOfPad(const TensorBox &result) const {
  auto pad = cast<tensor::PadOp>(op);
  Reads reads;
  TensorBox source;
  for (auto [d, size] : llvm::enumerate(pad.getSourceType().getShape())) {
    int64_t low = pad.getStaticLow()[d];
    int64_t first = std::clamp<int64_t>(result.firsts[d] - low, 0, size);
    int64_t end =
        std::clamp<int64_t>(result.firsts[d] + result.sizes[d] - low, 0, size);
    if (first >= end)
      return std::nullopt;
    source.firsts.push_back(first);
    source.sizes.push_back(end - first);
  }
  reads.firsts.assign(result.firsts.begin(), result.firsts.end());
  reads.extents.assign(result.sizes.begin(), result.sizes.end());
  reads.boxes.push_back({&pad.getSourceMutable(), source});
  return reads;
}

std::optional<Reads> Stage::getReads(ArrayRef<TensorBox> results) const {
  if (isa<tensor::PadOp>(op))
    return getReadsOfPad(results.front());
  Reads reads;
  reads.firsts.assign(ranges.size(), 0);
  reads.extents = ranges;
  // The loops that make all of the boxes.
  llvm::SmallBitVector isBound(ranges.size());
  for (auto [map, box] :
       llvm::zip_equal(ArrayRef(maps).take_back(results.size()), results)) {
    for (auto [d, expr] : llvm::enumerate(map.getResults())) {
      unsigned loop = cast<AffineDimExpr>(expr).getPosition();
      int64_t first = box.firsts[d], end = first + box.sizes[d];
      if (isBound.test(loop)) {
        end = std::max(end, reads.firsts[loop] + reads.extents[loop]);
        first = std::min(first, reads.firsts[loop]);
      }
      isBound.set(loop);
      reads.firsts[loop] = first;
      reads.extents[loop] = end - first;
    }
  }
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    TensorBox box;
    for (AffineExpr expr : maps[operand.getOperandNumber()].getResults()) {
      std::optional<IndexRange> range =
          getIndexRange(expr, reads.firsts, reads.extents);
      if (!range)
        return std::nullopt;
      box.firsts.push_back(range->least);
      box.sizes.push_back(range->most - range->least + 1);
    }
    reads.boxes.push_back({&operand, std::move(box)});
  }
  return reads;
}

//===----------------------------------------------------------------------===//
// Cuts
//===----------------------------------------------------------------------===//

std::optional<TensorBox> Cut::getPart(RankedTensorType type,
                                      int64_t part) const {
  unsigned rank = type.getRank();
  TensorBox box = TensorBox::getWhole(type);
  auto take = [&](int64_t dim, int64_t parts, int64_t index) {
    if (parts == 1)
      return true;
    if (dim < 0 || type.getDimSize(dim) < parts)
      return false;
    int64_t size = type.getDimSize(dim);
    box.firsts[dim] = index * size / parts;
    box.sizes[dim] = (index + 1) * size / parts - box.firsts[dim];
    return true;
  };
  if (!take(rank > 2 ? 0 : -1, batches, part / (rows * channels)) ||
      !take(getRowDim(rank), rows, part / channels % rows) ||
      !take(getChannelDim(rank), channels, part % channels))
    return std::nullopt;
  return box;
}

//===----------------------------------------------------------------------===//
// Stages
//===----------------------------------------------------------------------===//

Stages::Stages(func::FuncOp function) {
  for (Operation &op : function.getBody().front()) {
    // What is made where it is needed is no stage, nor are numbers.
    bool hasTensor = llvm::any_of(op.getResultTypes(), [](Type type) {
      return isa<RankedTensorType>(type);
    });
    if (!hasTensor || op.hasTrait<OpTrait::ConstantLike>() ||
        isa<tensor::EmptyOp, linalg::FillOp>(op))
      continue;
    for (Value operand : op.getOperands())
      lastUses[operand] = all.size();
    numbers[&op] = all.size();
    all.emplace_back(&op);
  }
}

std::optional<unsigned> Stages::findMaker(Value tensor) const {
  Operation *op = tensor.getDefiningOp();
  auto found = op ? numbers.find(op) : numbers.end();
  return found == numbers.end() ? std::nullopt
                                : std::optional<unsigned>(found->second);
}

unsigned Stages::getLastUse(Value tensor) const {
  auto found = lastUses.find(tensor);
  return found == lastUses.end() ? findMaker(tensor).value_or(0)
                                 : found->second;
}

bool Stages::isReturned(Value tensor) const {
  return llvm::any_of(tensor.getUsers(), [](Operation *user) {
    return user->hasTrait<OpTrait::ReturnLike>();
  });
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

bool GroupParts::isResult(Value tensor) const {
  return stages.isReturned(tensor) || stages.getLastUse(tensor) > last;
}

/// The boxes of an op's results, and what they take of its operands.
bool GroupParts::addReads(const Stage &stage) {
  SmallVector<Reads, 0> &ofParts = reads.emplace_back();
  DenseMap<Value, SmallVector<TensorBox, 0>> madeBoxes;
  for (int64_t part = 0, e = cut.count(); part < e; ++part) {
    SmallVector<TensorBox> made;
    for (Value result : stage.op->getResults()) {
      auto type = cast<RankedTensorType>(result.getType());
      auto known = boxes.find(result);
      std::optional<TensorBox> box;
      if (known != boxes.end())
        box = known->second[part];
      if (isResult(result)) {
        std::optional<TensorBox> own = cut.getPart(type, part);
        if (!own)
          return false;
        if (box)
          box->join(*own);
        else
          box = own;
      }
      if (!box) // nobody needs it
        return false;
      made.push_back(*box);
    }
    std::optional<Reads> needed = stage.getReads(made);
    if (!needed)
      return false;
    ofParts.push_back(std::move(*needed));
    for (auto [result, box] : llvm::zip_equal(stage.op->getResults(), made))
      madeBoxes[result].push_back(box);
  }
  for (auto &[result, all] : madeBoxes)
    boxes[result] = std::move(all);
  return true;
}

bool GroupParts::addStage() {
  if (first == 0)
    return false;
  const Stage &stage = stages.all[first - 1];
  if (!stage.hasParts || !addReads(stage))
    return false;
  --first;
  if (!stage.ranges.empty()) {
    int64_t points = 1;
    for (int64_t range : stage.ranges)
      points = scaleCost(points, range);
    repeated -= points;
    for (const Reads &ofPart : reads.back())
      repeated += ofPart.countPoints();
  }
  for (unsigned operand = 0, e = reads.back().front().boxes.size(); operand < e;
       ++operand) {
    Value tensor = reads.back().front().boxes[operand].first->get();
    auto &all = boxes[tensor];
    bool isNew = all.empty();
    all.resize(cut.count());
    for (auto [part, ofPart] : llvm::enumerate(reads.back()))
      if (isNew)
        all[part] = ofPart.boxes[operand].second;
      else
        all[part].join(ofPart.boxes[operand].second);
  }
  return true;
}
