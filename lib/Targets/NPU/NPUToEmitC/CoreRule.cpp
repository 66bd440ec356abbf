//===- CoreRule.cpp - Access of cores to operands -------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CoreRule.h"

using namespace mlir;
using namespace mlir::npu;
using namespace mlir::layout;

std::optional<CoreTable> npu::getCoreTable(const Storage &storage,
                                           ArrayRef<int64_t> shape) {
  LayoutMap map = storage.map.specialize(shape);
  for (const Coordinate &coordinate : map.getCoordinates()) {
    if (coordinate.name == "offset")
      continue;
    std::optional<Tables> tables = tabulate(coordinate.value, shape);
    if (!tables)
      return std::nullopt;
    CoreTable cores;
    for (auto [d, table] : llvm::enumerate(tables->dims)) {
      if (table.empty())
        continue;
      if (cores.dim)
        return std::nullopt;
      cores.dim = d;
    }
    cores.cores = std::move(*tables);
    return cores;
  }
  return std::nullopt;
}

/// Returns the core that holds all elements that `map` indexes, or std::nullopt
/// if they are in several: a dim is spread over cores, and `map` does not index
/// it by the constant 0.
static std::optional<int64_t> getOnlyCore(AffineMap map,
                                          const CoreTable &cores) {
  if (!cores.dim)
    return cores.cores.start;
  auto index = dyn_cast<AffineConstantExpr>(map.getResult(*cores.dim));
  if (!index || index.getValue() != 0)
    return std::nullopt;
  return cores.cores.start + cores.cores.get(*cores.dim, 0);
}

/// Returns true if all elements that operand and result index are in one core.
/// Also if the same loop indexes the dims of both that are spread over the
/// cores, from the same start core.
static bool goInStep(AffineMap map, const CoreTable &cores, AffineMap resultMap,
                     const CoreTable &result) {
  std::optional<int64_t> only = getOnlyCore(map, cores);
  std::optional<int64_t> resultOnly = getOnlyCore(resultMap, result);
  if (only || resultOnly)
    return only == resultOnly;
  if (cores.cores.start != result.cores.start)
    return false;
  // Both dims are indexed by the same loop, so they have the same size.
  return map.getResult(*cores.dim) == resultMap.getResult(*result.dim) &&
         isa<AffineDimExpr>(map.getResult(*cores.dim)) &&
         cores.cores.dims[*cores.dim] == result.cores.dims[*result.dim];
}

CoreVisibility npu::getCoreVisibility(linalg::LinalgOp op, OpOperand &operand,
                                      const CoreTable &cores,
                                      const CoreTable &result) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  AffineMap resultMap = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (goInStep(map, cores, resultMap, result))
    return CoreVisibility::Own;
  if (op.isDpsInit(&operand) || op.getNumReductionLoops() == 0)
    return CoreVisibility::Neither;
  if (!result.dim)
    return CoreVisibility::Broadcast;
  llvm::SmallBitVector channels(op.getNumLoops());
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    channels[loop] = resultMap.getResult(*result.dim).isFunctionOfDim(loop);
  // The operand is not in the cores of the result, so a loop over the channels
  // of the result must not index it.
  return getCoreVisibility(map, channels) == CoreVisibility::Broadcast
             ? CoreVisibility::Broadcast
             : CoreVisibility::Neither;
}
