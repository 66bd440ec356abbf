//===- Candidates.h - The layouts that a node may choose from ---*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For every class of nodes a short list of configurations, each a layout for
// all of its tensors at once. They come from
//
//  * the types as they are, or row-major tensors if the op cannot run in the
//    layouts that its types state: always the first configuration;
//  * the op's own need, as the model of the target has it (TargetModel.h): for
//    linear memory contractions tile their channel loops by the target's lanes,
//    so a convolution offers {none, f, c, f and c};
//  * the neighbors: what a producer or a consumer offers for a shared tensor is
//    carried over the op by its rule, through views too, until nothing new
//    appears or a bound is met. A tie takes whatever its neighbors offer;
//  * the model of the target once more, where the layouts of all ops are known.
//
//   add(conv(%x), %bias), lanes = 16:
//     conv: n f/16 h w f%16;  add: %bias gets (f) in steps of 16
//
// Laws:
//  * every configuration satisfies the rule of its op and is valid for the
//    types (L1), each proven by construction;
//  * nothing depends on names, and dynamic dims are never tiled.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_CANDIDATES_H
#define LAYOUT_ANALYSIS_CANDIDATES_H

#include "layout/Analysis/CostModel.h"
#include "layout/Analysis/Program.h"

namespace mlir {
namespace layout {

inline LayoutId getLayoutAt(const OpLayouts &layouts, Slot slot) {
  return slot.isResult ? layouts.results[slot.index]
                       : layouts.operands[slot.index];
}

struct OpConfig {
  /// Why it is offered.
  enum class Origin {
    AsTyped,
    Constrained,
    Lanes,
    Carried,
    Mixed,
    Padded,
    RowMajor
  };

  /// By representatives, for comparison.
  OpLayouts layouts;
  /// As the op's rule makes them; each equal to its representative on the type.
  OpLayouts exact;
  /// The tile of every loop; empty where the layouts do not come from tiles.
  SmallVector<int64_t> tiles;
  Origin origin = Origin::AsTyped;
  /// Stores as the op's own need asks, wherever it came from first.
  bool meetsNeed = false;
  /// For Carried: a tensor whose layout it follows.
  Value from;
  /// Of one run.
  Cost cost = 0;
};

/// A tensor of an op whose best layout a target cannot hold.
struct StorageNote {
  Slot slot;
  /// What it would be, and why the target has no place for that.
  std::string whatNot;
  /// What is offered instead; else linear memory is.
  std::optional<LayoutId> instead;
};

/// What the nodes of one class may choose from.
struct Candidates {
  std::vector<OpConfig> configs;
  /// Configurations were dropped because there were too many.
  bool isTruncated = false;
  SmallVector<StorageNote, 0> notes;
  /// What the loops were given already: the map of a tensor and its layout.
  SmallVector<std::pair<AffineMap, LayoutId>, 0> carried;

  /// Whether a configuration has these layouts. It gets what `config` knows of
  /// them beyond that.
  bool merge(OpConfig &config);
};

/// What a target makes of them is `TargetModel::getLimits`.
struct CandidateLimits {
  unsigned configsPerOp = 12;
  unsigned layoutsPerTensor = 6;
};

/// Where some meet the need of their op, leaves those that do at the least
/// cost. The first is then the one that rules start from.
void keepNeeds(std::vector<Candidates> &all);

/// The candidates of every class of `program`, with the prices of `costs`.
/// Under Objective::bytes needs are kept, and ops cost nothing.
std::vector<Candidates> collectCandidates(const Program &program,
                                          CostModel &costs,
                                          const CandidateLimits &limits = {});

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ANALYSIS_CANDIDATES_H
