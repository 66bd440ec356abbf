//===- NpuPartsCost.cpp - Costs of slices, pads and concatenations --------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Slices, pads and concatenations are copies of boxes. Their costs are those of
// the transfers that the lowering emits. If the DMA engine cannot address a
// box, the cores copy it if both sides are in the same cores.
//
//===----------------------------------------------------------------------===//

#include "NpuModel.h"
#include "layout/Algebra/Views.h"
#include "layout/Targets/NPU/NpuLayouts.h"
#include "layout/Targets/NPU/NpuParts.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::layout;

namespace {
/// The slice of a larger tensor that tensor.extract_slice reads, or that
/// tensor.insert_slice, tensor.pad or tensor.concat writes from an operand.
struct Part {
  unsigned operand;
  bool isOfResult; // true: slice of the result, false: of the operand
  SmallVector<int64_t> offsets, sizes, strides, dropped;
};
} // namespace

static SmallVector<int64_t> getDims(const llvm::SmallBitVector &dims) {
  return SmallVector<int64_t>(dims.set_bits_begin(), dims.set_bits_end());
}

static SmallVector<Part, 2> getParts(Operation *op) {
  SmallVector<Part, 2> parts;
  llvm::TypeSwitch<Operation *>(op)
      .Case<tensor::ExtractSliceOp, tensor::InsertSliceOp>([&](auto slice) {
        parts.push_back({0, isa<tensor::InsertSliceOp>(op),
                         SmallVector<int64_t>(slice.getStaticOffsets()),
                         SmallVector<int64_t>(slice.getStaticSizes()),
                         SmallVector<int64_t>(slice.getStaticStrides()),
                         getDims(slice.getDroppedDims())});
      })
      .Case<tensor::PadOp>([&](tensor::PadOp pad) {
        ArrayRef<int64_t> shape = pad.getSourceType().getShape();
        parts.push_back({0,
                         true,
                         SmallVector<int64_t>(pad.getStaticLow()),
                         SmallVector<int64_t>(shape),
                         SmallVector<int64_t>(shape.size(), 1),
                         {}});
      })
      .Case<tensor::ConcatOp>([&](tensor::ConcatOp concat) {
        for (auto [i, input, offsets] :
             llvm::enumerate(concat.getInputs(), getPartOffsets(concat))) {
          auto shape = cast<RankedTensorType>(input.getType()).getShape();
          parts.push_back({unsigned(i),
                           true,
                           offsets,
                           SmallVector<int64_t>(shape),
                           SmallVector<int64_t>(shape.size(), 1),
                           {}});
        }
      });
  llvm::erase_if(parts, [](const Part &part) {
    return ShapedType::isDynamicShape(part.offsets) ||
           ShapedType::isDynamicShape(part.sizes) ||
           ShapedType::isDynamicShape(part.strides);
  });
  return parts;
}

/// Returns the direction of a transfer from operand `i` of an op to its result.
/// An unknown layout is in system memory.
static Direction getDirection(const OpLayouts &layouts, unsigned i,
                              CostModel &costs) {
  auto isLocal = [&](LayoutId layout) {
    return layout != kAnyLayout && costs.getMap(layout).getSpace() == "npu";
  };
  return getCopyDirection(isLocal(layouts.operands[i]),
                          isLocal(layouts.results[0]));
}

/// Returns the cost of the transfers of a slice, an insertion, a pad or a
/// concatenation. Ops with one operand in system memory, e.g. a slice that is
/// read in place, cost nothing. Operands of a concatenation that are computed
/// or stored in their slices of the result are not moved. A slice for which
/// there are no transfers costs more than all others.
Cost NpuModel::getPerDimCost(Operation *op, const PerDimRule &rule,
                             const OpLayouts &layouts, CostModel &costs) {
  SmallVector<Part, 2> parts = getParts(op);
  Cost cost = 0;
  bool isAllLinear = true;
  for (ArrayRef<LayoutId> all : {ArrayRef<LayoutId>(layouts.operands),
                                 ArrayRef<LayoutId>(layouts.results)})
    for (LayoutId layout : all)
      isAllLinear &=
          layout == kAnyLayout || costs.getMap(layout).getSpace() != "npu";
  bool isView = isAllLinear && op->getNumOperands() == 1;
  auto isInPlace = [&](const Part &p) -> bool {
    auto concat = dyn_cast<tensor::ConcatOp>(op);
    auto part = dyn_cast_if_present<NpuScatterAttr>(
        costs.getSpelling(layouts.operands[p.operand]));
    auto whole = dyn_cast_if_present<NpuScatterAttr>(
        costs.getSpelling(layouts.results[0]));
    // An operand that is stored directly in system memory has cost 1, so that
    // local memory wins if both take the same time.
    if (concat && !part && !whole &&
        isStoredAtOnce(op->getOpOperand(p.operand))) {
      cost = addCosts(cost, 1);
      return true;
    }
    return concat && part && whole &&
           mayBeMadeInPlace(op->getOpOperand(p.operand)) &&
           findNpuPlace(
               part,
               cast<RankedTensorType>(concat.getInputs()[p.operand].getType()),
               whole, concat.getResultType(), p.offsets);
  };
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    auto part =
        llvm::find_if(parts, [&](const Part &p) { return p.operand == i; });
    bool isRead = part != parts.end() || rule.isRead.empty() || rule.isRead[i];
    if (!type || !type.hasStaticShape() || layouts.operands[i] == kAnyLayout ||
        !isRead)
      continue;
    int64_t elementBytes = getElementBytes(type.getElementType());
    auto result = cast<RankedTensorType>(op->getResult(0).getType());
    if (part == parts.end() || layouts.results[0] == kAnyLayout) {
      // Without a known slice or layout, the smaller side determines the bytes.
      Cost bytes =
          scaleCost(std::min(type.getNumElements(), result.getNumElements()),
                    elementBytes);
      if (!isView)
        cost = addCosts(cost, times.getTransfers(
                                  getDirection(layouts, i, costs), 1, bytes));
      continue;
    }
    if (isInPlace(*part))
      continue;
    RankedTensorType whole = part->isOfResult ? result : type;
    RankedTensorType box = part->isOfResult ? type : result;
    LayoutMap from = costs.getMap(layouts.operands[i]);
    LayoutMap to = costs.getMap(layouts.results[0]);
    LayoutMap &cut = part->isOfResult ? to : from;
    std::optional<LayoutMap> sliced =
        slice(cut, whole.getShape(), part->offsets, part->sizes, part->strides,
              part->dropped);
    std::optional<Cost> moved;
    if (sliced) {
      cut = *sliced;
      if (std::optional<TensorMovePlan> move = getNpuMove(
              from, to, box.getShape(), elementBytes, target.getChip(), times))
        moved = move->time;
    }
    if (!moved) // no transfers: a cost above all others
      cost = addCosts(
          cost,
          scaleCost(1 + times.getTransfers(Direction::S2L, 0,
                                           box.getNumElements() * elementBytes),
                    kNotOnCores));
    else if (!isView)
      cost = addCosts(cost, *moved);
  }
  return cost;
}
