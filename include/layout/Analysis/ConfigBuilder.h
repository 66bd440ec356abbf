//===- ConfigBuilder.h - Configurations of one op from its rule -*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns the rule of an op into configurations. All functions give nothing
// where the rule, or the validity of a layout for a type, does not allow one.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_CONFIGBUILDER_H
#define LAYOUT_ANALYSIS_CONFIGBUILDER_H

#include "layout/Analysis/Candidates.h"

namespace mlir {
namespace layout {

/// Whether the slice `part` that an op with this rule takes of `whole` is a
/// slice of the storage of `whole`, where both are stored by `map`.
bool isSliceOfStorage(const LayoutMap &map, RankedTensorType whole,
                      RankedTensorType part, const PerDimRule &rule);

class ConfigBuilder {
public:
  /// `node` is an op, not a tie.
  ConfigBuilder(const NodeClass &node, CostModel &costs)
      : node(node), op(node.op), costs(costs) {}

  /// Every tensor as its type says; uses of ties are left to those.
  OpConfig getAsTyped() const;

  /// Every tensor row-major, whatever its type says.
  std::optional<OpConfig> getRowMajor() const;

  /// The loop tiles that put channels on lanes.
  SmallVector<SmallVector<int64_t>> getLaneTiles(int64_t lanes) const;

  /// The configuration of a tiling of the loops.
  std::optional<OpConfig> getTiled(ArrayRef<int64_t> tiles) const;

  /// The layout that a tiling of the loops gives one tensor.
  LayoutId getTiledLayout(ArrayRef<int64_t> tiles, Slot slot) const;

  /// Loops and the tiles that the layout of one tensor gives them.
  using LoopTiles = SmallVector<std::pair<unsigned, int64_t>, 6>;
  std::optional<LoopTiles> findLoopTiles(Slot slot, LayoutId layout) const;

  /// The configuration that follows from the layout of one tensor alone.
  std::optional<OpConfig> carry(Slot slot, LayoutId layout) const;

  /// The configuration with a layout for every ranked tensor, which the target
  /// can store. The arguments are those of a Slot.
  std::optional<OpConfig>
  assign(function_ref<std::optional<LayoutId>(bool, unsigned)> getLayout) const;

  /// Null where there is no ranked tensor.
  RankedTensorType getType(bool isResult, unsigned index) const;
  /// Of an op with loops; null where there is no ranked tensor.
  AffineMap getMap(bool isResult, unsigned index) const;

private:
  std::optional<OpConfig> carryLoops(AffineMap map, LayoutId layout) const;
  std::optional<OpConfig> carryView(const ViewRule &view, bool isResult,
                                    LayoutId layout) const;
  std::optional<OpConfig> carryPerDim(const PerDimRule &rule, Slot slot,
                                      LayoutId layout) const;

  const NodeClass &node;
  Operation *op;
  CostModel &costs;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ANALYSIS_CONFIGBUILDER_H
