//===- NpuCommands.cpp - Configurations that have commands ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NpuCandidates.h"
#include "layout/Dialect/NPU/IR/DmaPlanning.h"
#include "layout/Dialect/NPU/IR/OkkFunctionMatcher.h"
#include "layout/Dialect/NPU/Utils/Commands.h"

using namespace mlir;
using namespace mlir::layout;

bool NpuCandidates::resultLiesAs(const OpConfig &config, NpuMode mode) const {
  NpuScatterAttr layout = getScatter(config.exact.results.front());
  return layout && liesAs(layout, builder.getType(/*isResult=*/true, 0), mode);
}

/// Returns true if elementwise commands, one per summed index, compute the op
/// on its local tensors; also if a tensor is not local, or if sizes or the chip
/// are unknown.
bool NpuCandidates::isCommandsOfElements(const OpConfig &config) const {
  auto attr = dyn_cast<npu::ChipAttr>(chip);
  auto compute = cast<linalg::LinalgOp>(node.op);
  if (!attr || compute.hasDynamicShape())
    return true;
  SmallVector<npu::CommandOperand> operands;
  auto add = [&](bool isResult, unsigned index, LayoutId layout) {
    RankedTensorType type = builder.getType(isResult, index);
    operands.push_back({costs.getMap(layout),
                        SmallVector<int64_t>(type.getShape()),
                        builder.getMap(isResult, index),
                        getElementBytes(type.getElementType())});
    return bool(getScatter(layout));
  };
  if (!add(/*isResult=*/true, 0, config.exact.results[0]))
    return true;
  for (OpOperand *input : compute.getDpsInputOperands()) {
    unsigned i = input->getOperandNumber();
    if (builder.getMap(/*isResult=*/false, i) &&
        !add(/*isResult=*/false, i, config.exact.operands[i]))
      return true;
  }
  return npu::planCommands(operands, compute.getStaticLoopRanges(),
                           npu::getComputeLimits(attr), nullptr)
      .has_value();
}

/// Returns true if an operand or the first result of the op is in the matrix
/// layout with several columns per channel. With one column, a matrix is placed
/// as an aligned tensor.
bool NpuCandidates::isMatrix(const OpConfig &config) const {
  auto lies = [&](bool isResult, unsigned index, LayoutId id) {
    NpuScatterAttr layout = getScatter(id);
    return layout && layout.getMode() == NpuMode::Matrix &&
           !liesAs(layout, builder.getType(isResult, index), NpuMode::Aligned);
  };
  bool found = lies(/*isResult=*/true, 0, config.exact.results[0]);
  for (auto [index, id] : llvm::enumerate(config.exact.operands))
    found |= lies(/*isResult=*/false, index, id);
  return found;
}

/// Returns true if a reduction loop of more than one iteration indexes a dim of
/// a local operand whose axis is the letter that `getAxis` returns for the
/// layout of the operand.
bool NpuCandidates::sumsAlong(
    const OpConfig &config,
    llvm::function_ref<char(NpuScatterAttr)> getAxis) const {
  const LoopsRule &rule = std::get<LoopsRule>(node.rule);
  for (unsigned i = 0, e = node.op->getNumOperands(); i < e; ++i) {
    AffineMap map = builder.getMap(/*isResult=*/false, i);
    auto layout = getScatter(config.exact.operands[i]);
    if (!map || !layout)
      continue;
    for (unsigned loop : getAxisLoops(map, layout, getAxis(layout)).set_bits())
      if (rule.loops[loop].iterator == utils::IteratorType::reduction &&
          rule.loops[loop].size > 1)
        return true;
  }
  return false;
}

/// Returns true if a sum that the window functions compute is over elements of
/// several cores. Returns false for other ops.
bool NpuCandidates::sumsOverCores(const OpConfig &config) const {
  auto compute = dyn_cast<linalg::LinalgOp>(node.op);
  return compute && npu::prefersAligned(compute) &&
         chip.getParams().npus != 1 &&
         sumsAlong(config, [](NpuScatterAttr layout) {
           return getChannelAxis(layout.getMode());
         });
}

/// Returns true if commands compute a matrix product with these layouts. If the
/// result and all operands are placed as matrices, the columns of each operand
/// must be the channel of the result, if that indexes the operand, or else
/// summed loops. Otherwise elementwise commands must compute it. Returns true
/// for other ops.
bool NpuCandidates::isCommandOfMatrices(const OpConfig &config,
                                        const Contraction &contraction) const {
  auto compute = dyn_cast<linalg::LinalgOp>(node.op);
  std::optional<unsigned> channel = findChannel(config);
  if (!compute || !npu::isProductOfMatrices(compute) || !channel)
    return true;
  if (!resultLiesAs(config, NpuMode::Matrix))
    return isCommandsOfElements(config);
  for (unsigned i = 0, e = node.op->getNumOperands(); i < e; ++i) {
    AffineMap map = builder.getMap(/*isResult=*/false, i);
    if (!map || isDest(i))
      continue;
    NpuScatterAttr layout = getScatter(config.exact.operands[i]);
    if (!layout || !liesAs(layout, builder.getType(/*isResult=*/false, i),
                           NpuMode::Matrix))
      return resultLiesAs(config, NpuMode::Aligned) &&
             isCommandsOfElements(config);
    llvm::SmallBitVector columns = getChannelLoops(map, layout);
    if (columns.none())
      return false;
    bool isRight = map.isFunctionOfDim(*channel);
    for (unsigned loop : columns.set_bits())
      if (isRight ? loop != *channel
                  : !llvm::is_contained(contraction.summed, loop))
        return false;
  }
  return true;
}

/// Removes from `configs` those that need many commands if `known` has one that
/// needs few: products not in the matrix layout, windows not in the aligned
/// layout, and sums over several cores. Products that spread a batch over the
/// cores stay.
void NpuCandidates::keepPreferred(
    SmallVectorImpl<OpConfig> &configs, ArrayRef<OpConfig> known,
    const std::optional<Contraction> &contraction) const {
  auto compute = dyn_cast<linalg::LinalgOp>(node.op);
  if (!compute || compute->getNumResults() == 0 ||
      !getElementTypeOrSelf(compute->getResult(0).getType()).isF32())
    return;
  bool isMatrix = contraction && !contraction->isWindowed;
  if (!isMatrix && !npu::prefersAligned(compute))
    return;
  NpuMode preferred = isMatrix ? NpuMode::Matrix : NpuMode::Aligned;
  // Strided results are slices of a larger tensor, computed in place.
  auto isPreferred = [&](const OpConfig &config) {
    return (resultLiesAs(config, preferred) ||
            (!isMatrix && resultLiesAs(config, NpuMode::Strided))) &&
           !sumsOverCores(config);
  };
  auto isShared = [&](const OpConfig &config) {
    std::optional<unsigned> channel = findChannel(config);
    return isMatrix && channel &&
           llvm::is_contained(contraction->shared, *channel);
  };
  if (llvm::any_of(known, isPreferred))
    llvm::erase_if(configs, [&](const OpConfig &config) {
      return !isPreferred(config) && !isShared(config);
    });
}
