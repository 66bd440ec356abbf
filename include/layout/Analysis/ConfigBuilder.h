//===- ConfigBuilder.h - Configurations of an op from its rule --*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds configurations of an op from its rule. Functions return std::nullopt
// if the rule or the validity of a layout for a type forbids one.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_CONFIGBUILDER_H
#define LAYOUT_ANALYSIS_CONFIGBUILDER_H

#include "layout/Analysis/Candidates.h"

namespace mlir::layout {

/// Returns true if the storage of the slice `part` is a slice of the storage of
/// `whole` when `map` stores both. `rule` describes the slice.
bool isSliceOfStorage(const LayoutMap &map, RankedTensorType whole,
                      RankedTensorType part, const PerDimRule &rule);

class ConfigBuilder {
public:
  /// Creates a builder for `node`, which must be an op.
  ConfigBuilder(const NodeClass &node, CostModel &costs)
      : node(node), op(node.op), costs(costs) {}

  /// Returns the configuration of the types that constraints state, and
  /// otherwise of the given types. Operands and results whose layouts an
  /// equivalence class of control flow chooses get kAnyLayout.
  OpConfig getAsTyped() const;

  /// Returns the configuration in which every tensor is row-major, or
  /// std::nullopt if the target cannot store one of them.
  std::optional<OpConfig> getRowMajor() const;

  /// Returns tilings of the loops of a sum of products. In each, an output
  /// channel loop, a summed loop, one of each, or a channel loop of a depthwise
  /// convolution has the tile size `lanes`, and all others have 1. Only tiles
  /// tileable loops of more than one iteration. Empty for other ops, or if
  /// `lanes` is 1.
  SmallVector<SmallVector<int64_t>> getLaneTiles(int64_t lanes) const;

  /// Builds the configuration in which each dim that a loop indexes has the
  /// tile size of the loop. Returns std::nullopt if a loop with a tile size
  /// above 1 is not tileable, or if the target cannot store a tensor.
  std::optional<OpConfig> getTiled(ArrayRef<int64_t> tiles) const;

  /// Returns the layout of the tensor at `slot` under a tiling of the loops.
  LayoutId getTiledLayout(ArrayRef<int64_t> tiles, OperandOrResult slot) const;

  /// Pairs of a loop and its tile size, as implied by the layout of one tensor:
  /// one for each dim that a loop indexes by itself.
  using LoopTiles = SmallVector<std::pair<unsigned, int64_t>, 6>;
  std::optional<LoopTiles> findLoopTiles(OperandOrResult slot,
                                         LayoutId layout) const;

  /// Builds the configuration in which the tensor at `slot` has `layout`, and
  /// those of the other tensors follow from it by the rule of the op. Returns
  /// std::nullopt if the rule forbids the layout, or if a tensor cannot be
  /// stored in the layout that follows.
  std::optional<OpConfig> carry(OperandOrResult slot, LayoutId layout) const;

  /// Builds the configuration with `getLayout(isResult, index)` for every
  /// ranked tensor, and kAnyLayout for other operands and results. Returns
  /// std::nullopt if `getLayout` does, if a layout is not valid for its type,
  /// or if the target cannot store it.
  std::optional<OpConfig>
  assign(function_ref<std::optional<LayoutId>(bool, unsigned)> getLayout) const;

  /// Returns the type of an operand or result, or a null type if it is not a
  /// ranked tensor type.
  RankedTensorType getType(bool isResult, unsigned index) const;
  /// Returns the indexing map of an operand or result of an op with loops, or a
  /// null map if it is not a ranked tensor.
  AffineMap getMap(bool isResult, unsigned index) const;

private:
  std::optional<OpConfig> carryLoops(AffineMap map, LayoutId layout) const;
  std::optional<OpConfig> carryView(const ViewRule &view, bool isResult,
                                    LayoutId layout) const;
  std::optional<OpConfig> carryPerDim(const PerDimRule &rule,
                                      OperandOrResult slot,
                                      LayoutId layout) const;

  const NodeClass &node;
  Operation *op;
  CostModel &costs;
};

} // namespace mlir::layout

#endif // LAYOUT_ANALYSIS_CONFIGBUILDER_H
