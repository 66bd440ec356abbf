//===- UnitRule.cpp - What execution units see ----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "UnitRule.h"

using namespace mlir;
using namespace mlir::npu;
using namespace mlir::layout;

std::optional<UnitTable> npu::getUnitTable(const Storage &storage,
                                           ArrayRef<int64_t> shape) {
  LayoutMap map = storage.map.specialize(shape);
  for (const Coordinate &coordinate : map.getCoordinates()) {
    if (coordinate.name == "offset")
      continue;
    std::optional<Tables> tables = tabulate(coordinate.value, shape);
    if (!tables)
      return std::nullopt;
    UnitTable units;
    for (auto [d, table] : llvm::enumerate(tables->dims)) {
      if (table.empty())
        continue;
      if (units.dim)
        return std::nullopt;
      units.dim = d;
    }
    units.units = std::move(*tables);
    return units;
  }
  return std::nullopt;
}

/// The unit of all elements that are read by `map`, where that is one: nothing
/// goes from unit to unit, or is read at its first index alone.
static std::optional<int64_t> getOnlyUnit(AffineMap map,
                                          const UnitTable &units) {
  if (!units.dim)
    return units.units.start;
  auto index = dyn_cast<AffineConstantExpr>(map.getResult(*units.dim));
  if (!index || index.getValue() != 0)
    return std::nullopt;
  return units.units.start + units.units.get(*units.dim, 0);
}

/// Whether the operand and the result are in one unit, or the loop that leads
/// to the operand's units is the result's, and both go in step.
static bool goInStep(AffineMap map, const UnitTable &units, AffineMap resultMap,
                     const UnitTable &result) {
  std::optional<int64_t> only = getOnlyUnit(map, units);
  std::optional<int64_t> resultOnly = getOnlyUnit(resultMap, result);
  if (only || resultOnly)
    return only == resultOnly;
  if (units.units.start != result.units.start)
    return false;
  // The two have one loop, so they have one size.
  return map.getResult(*units.dim) == resultMap.getResult(*result.dim) &&
         isa<AffineDimExpr>(map.getResult(*units.dim)) &&
         units.units.dims[*units.dim] == result.units.dims[*result.dim];
}

Reach npu::getReach(linalg::LinalgOp op, OpOperand &operand,
                    const UnitTable &units, const UnitTable &result) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  AffineMap resultMap = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (goInStep(map, units, resultMap, result))
    return Reach::Own;
  if (op.isDpsInit(&operand) || op.getNumReductionLoops() == 0)
    return Reach::Neither;
  if (!result.dim)
    return Reach::Broadcast;
  AffineExpr leading = resultMap.getResult(*result.dim);
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (leading.isFunctionOfDim(loop) &&
        llvm::any_of(map.getResults(), [&](AffineExpr expr) {
          return expr.isFunctionOfDim(loop);
        }))
      return Reach::Neither;
  return Reach::Broadcast;
}
