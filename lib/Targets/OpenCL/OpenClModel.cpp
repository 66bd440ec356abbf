//===- OpenClModel.cpp - Cost model of devices with images ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OpenClModel.h"
#include "ImageCandidates.h"
#include "layout/Algebra/AffineMaps.h"
#include "layout/Algebra/Pack.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Targets/Registration.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

/// Returns true for images that fit the target, and for buffers. The map of a
/// buffer of dynamic size must have an inverse, because a work-item computes
/// the index from the position that it writes.
bool OpenClModel::canStore(const LayoutMap &map, RankedTensorType type) const {
  if (isImage(map))
    return bool(ImageFit::get(map, type, target));
  return type.hasStaticShape() || map == LayoutMap::rowMajor(type.getRank()) ||
         getBackwardValues(map, type.getShape());
}

std::optional<LayoutId> OpenClModel::generalize(const LayoutMap &map,
                                                RankedTensorType type,
                                                CostModel &costs) const {
  if (!isImage(map))
    return std::nullopt;
  return generalizeImage(costs.intern(map), type, costs);
}

bool OpenClModel::allowsUnalignedSlices(const LayoutMap &map) const {
  return isImage(map);
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// Sets the bytes and the overhead of a conversion. Bytes of images are those
/// of whole pixels, which kernels read and write.
void OpenClModel::countBytes(ConversionPlan &plan, RankedTensorType from,
                             RankedTensorType to) const {
  TargetModel::countBytes(plan, from, to);
  SmallVector<int64_t> sizes = assumeSizes(to.getShape());
  int64_t elementBytes = getElementBytes(to.getElementType());
  LayoutMap source = *getLayoutMap(from), dest = *getLayoutMap(to);
  ImageReads reads = countConversionReads(source, dest, sizes, elementBytes,
                                          from.getContext());
  plan.overhead = addCosts(target.getLaunchCost(), reads.getCost(target));
  if (isImage(source) && plan.kind == ConversionPlan::Kind::Relayout)
    plan.bytesRead = getStorageBytes(source, sizes, elementBytes);
  if (isImage(dest))
    plan.bytesWritten = getStorageBytes(dest, sizes, elementBytes);
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

/// Returns true if an operand that is read elementwise has the layout of the
/// result, so that the kernel of its producer also computes this op.
static bool isFusable(Operation *op, const LoopsRule &rule,
                      const OpLayouts &layouts, CostModel &costs) {
  for (auto [i, map] : llvm::enumerate(rule.operandMaps)) {
    if (!map || !rule.isRead[i] || !map.isPermutation())
      continue;
    std::optional<LayoutId> same =
        costs.project(layouts.results.front(), rule.resultMaps.front(), map);
    auto type = cast<RankedTensorType>(op->getOperand(i).getType());
    if (same && costs.getRepresentative(*same, type) == layouts.operands[i])
      return true;
  }
  return false;
}

static bool isPointwise(const LoopsRule &rule) {
  return !rule.resultMaps.empty() && rule.resultMaps.front().isPermutation() &&
         llvm::all_of(rule.loops, [](const LoopRule &loop) {
           return loop.iterator == utils::IteratorType::parallel;
         });
}

Cost OpenClModel::getLoopsCost(Operation *op, const LoopsRule &rule,
                               const OpLayouts &layouts, CostModel &costs) {
  KernelLoops loops = KernelLoops::get(rule.loops);
  Cost bytes = 0;
  SmallVector<unsigned> operands; // those that are read
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    if (!rule.operandMaps[i] || !rule.isRead[i])
      continue;
    LayoutId layout = layouts.operands[i];
    auto type = cast<RankedTensorType>(operand.getType());
    bytes = addCosts(bytes, costs.getStoredBytes(type, layout));
    loops.addOperand(rule.operandMaps[i], costs.getMap(layout));
    operands.push_back(i);
  }

  ImageReads reads;
  Cost points = 0;
  for (auto [r, tensor] : llvm::enumerate(op->getResults())) {
    auto type = cast<RankedTensorType>(tensor.getType());
    LayoutId layout = layouts.results[r];
    bytes = addCosts(bytes, costs.getStoredBytes(type, layout));
    auto [item, isNew] = items.try_emplace({type, layout});
    if (isNew)
      item->second =
          KernelItem::get(costs.getMap(layout), assumeSizes(type.getShape()));
    KernelCount kernel(loops, rule.resultMaps[r], item->second,
                       getAssumedSize());
    for (unsigned i : operands) {
      auto type = cast<RankedTensorType>(op->getOperand(i).getType());
      kernel.addOperand(rule.operandMaps[i], costs.getMap(layouts.operands[i]),
                        assumeSizes(type.getShape()),
                        getElementBytes(type.getElementType()));
    }
    PixelBlock block;
    if (mayComputeBlocks(op))
      block = kernel.chooseBlock(BlockLimits(target), findGroupCombiner(op));
    points = addCosts(points, kernel.getPoints(block));
    reads.add(kernel.getReads(block));
  }
  Cost cost = addCosts(bytes, reads.getCost(target));
  cost = addCosts(cost, scaleCost(points, rule.opsPerPoint) /
                            target.getFlopsPerByte());
  // Other launches cost the same in all layouts.
  if (isPointwise(rule) && !isFusable(op, rule, layouts, costs))
    cost = addCosts(cost, target.getLaunchCost());
  return cost;
}

/// Adds the cost of reads to the cost that every target has for an op with a
/// PerDimRule, e.g. a slice or a pad. The bytes of an image count four times if
/// the op may split its lane dim at an index that is not a multiple of four,
/// because each lane then reads a pixel of its own.
Cost OpenClModel::getPerDimCost(Operation *op, const PerDimRule &rule,
                                const OpLayouts &layouts, CostModel &costs) {
  ImageReads reads;
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    LayoutId layout = layouts.operands[i];
    if (!type || layout == kAnyLayout ||
        (!rule.isRead.empty() && !rule.isRead[i]))
      continue;
    int64_t bytes = costs.getStoredBytes(type, layout);
    const LayoutMap &map = costs.getMap(layout);
    if (!isImage(map)) {
      reads.add({/*imageBytes=*/0, bytes});
      continue;
    }
    std::optional<unsigned> laneDim = findLaneDim(map);
    bool keepsPixels = laneDim && *laneDim < rule.tileSizeMustDivide.size() &&
                       rule.tileSizeMustDivide[*laneDim] % kLanesOfPixel == 0;
    reads.add({scaleCost(bytes, keepsPixels ? 1 : kLanesOfPixel), 0});
  }
  return addCosts(TargetModel::getPerDimCost(op, rule, layouts, costs),
                  reads.getCost(target));
}

//===----------------------------------------------------------------------===//
// Configurations
//===----------------------------------------------------------------------===//

/// Triples the limit on candidates per op and doubles that on layouts per
/// tensor, because the tensors of a kernel have independent layouts.
CandidateLimits OpenClModel::getLimits(CandidateLimits limits) const {
  return {llvm::SaturatingMultiply(limits.configsPerOp, 3u),
          llvm::SaturatingMultiply(limits.layoutsPerTensor, 2u)};
}

void OpenClModel::seed(const NodeClass &op, CostModel &costs, Candidates &known,
                       AddConfig add) {
  for (OpConfig &config :
       ImageCandidates(op, costs, target, known.notes).getSeeds())
    add(std::move(config));
}

void OpenClModel::carry(const NodeClass &op, OperandOrResult slot,
                        LayoutId layout, CostModel &costs, Candidates &known,
                        AddConfig add) {
  if (!std::holds_alternative<LoopsRule>(op.rule))
    return TargetModel::carry(op, slot, layout, costs, known, add);
  for (OpConfig &config : ImageCandidates(op, costs, target, known.notes)
                              .carry(known.configs, slot, layout))
    add(std::move(config));
}

void OpenClModel::describe(const OpConfig &config, raw_ostream &os) const {
  os << (config.origin == OpConfig::Origin::Mixed
             ? "reads and writes images and linear memory without conversion"
             : "puts its channels on the lanes of pixels");
}

void layout::registerOpenCLTarget(DialectRegistry &registry) {
  TargetModel::attachTo<OpenClModel, OpenClTargetAttr>(registry);
}
