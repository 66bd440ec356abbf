//===- Candidates.h - Layout candidates of a node ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collects a short list of configurations for every node class. A configuration
// has a layout for each tensor of the node. Configurations come from
//
//  * the types of the op, or row-major tensors if the op cannot run in the
//    layouts of its types. This is always the first configuration;
//  * the preferences of the op under the target model (TargetModel.h). In
//    linear memory, contractions tile their channel loops by the vector width,
//    so a convolution has the candidates {none, f, c, f and c};
//  * the neighbors: a candidate of a producer or consumer for a shared tensor
//    is propagated through the op by its rule, also through views, until no new
//    layout appears or a limit is reached. Flow classes (Program.h) accept any
//    layout;
//  * the target model, once the layouts of all ops are collected.
//
//   add(conv(%x), %bias), lanes = 16:
//     conv: n f/16 h w f%16;  add: %bias gets (f) in steps of 16
//
// Laws:
//  * every configuration satisfies the rule of its op and is valid for the
//    types (L1), proven by construction;
//  * the result does not depend on names, and dynamic dims are never tiled.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_CANDIDATES_H
#define LAYOUT_ANALYSIS_CANDIDATES_H

#include "layout/Analysis/CostModel.h"
#include "layout/Analysis/Program.h"

namespace mlir::layout {

inline LayoutId getLayoutAt(const OpLayouts &layouts, OperandOrResult slot) {
  return slot.isResult ? layouts.results[slot.index]
                       : layouts.operands[slot.index];
}

struct OpConfig {
  /// The origin of a configuration: the given types, constraints, or what the
  /// target prefers (Lanes). Others follow the layout of a neighbor (Carried),
  /// combine layouts of other configurations (Mixed), or state padding
  /// (Padded). RowMajor replaces given types in which the op cannot run.
  enum class Origin {
    AsTyped,
    Constrained,
    Lanes,
    Carried,
    Mixed,
    Padded,
    RowMajor
  };

  /// The representatives of the layouts (LayoutTable.h): layouts that are known
  /// to have identical storage have the same one.
  OpLayouts layouts;
  /// The layouts as the rule of the op states them. They store the tensors as
  /// `layouts` does, but their maps may differ from these.
  OpLayouts exact;
  /// The tile size of every loop; empty if the layouts do not come from tiles.
  SmallVector<int64_t> tiles;
  Origin origin = Origin::AsTyped;
  /// True if the layouts are those that the op prefers on the target, such as
  /// channels in tiles of the vector width, whatever their origin.
  bool meetsNeed = false;
  /// The tensor whose layout a Carried configuration, one that is propagated
  /// from a neighbor, follows. Other configurations have a null value.
  Value from;
  /// The cost of one run of the op, where 1 is the time in which memory moves
  /// one byte.
  Cost cost = 0;
};

/// A tensor of an op whose best layout the target cannot store.
struct StorageNote {
  OperandOrResult slot;
  /// The preferred layout and the reason why the target cannot store it.
  std::string whatNot;
  /// The layout in which the target stores the tensor instead, or std::nullopt
  /// for linear memory.
  std::optional<LayoutId> instead;
};

/// The configurations that the nodes of one class may choose.
struct Candidates {
  std::vector<OpConfig> configs;
  /// True if some configurations were dropped, because there were more than
  /// CandidateLimits::configsPerOp.
  bool isTruncated = false;
  SmallVector<StorageNote, 0> notes;
  /// The layouts that were already propagated to an op with loops, each with
  /// the indexing map of its tensor. Equal pairs give equal configurations.
  SmallVector<std::pair<AffineMap, LayoutId>, 0> carried;

  /// Returns true if a configuration with the layouts of `config` exists. It
  /// then takes the tile sizes of `config` if it has none, and counts as
  /// preferred by the op if `config` does. Otherwise returns false and changes
  /// nothing.
  bool merge(OpConfig &config);
};

/// The maximal numbers of configurations of an op, and of layouts that are
/// propagated per tensor. `TargetModel::getLimits` adapts them.
struct CandidateLimits {
  unsigned configsPerOp = 12;
  unsigned layoutsPerTensor = 6;
};

/// In each node class with configurations that the op prefers, keeps only those
/// of them with the least cost, so that even the given types may be dropped.
/// Then sorts the configurations that remain in each class: the given types or
/// row-major first, then those with most tiled loops, because baselines start
/// from the first one.
void keepNeeds(std::vector<Candidates> &all);

/// Computes the configurations that the nodes of every class of `program` may
/// choose, with their costs under `costs`. Under Objective::bytes, keeps only
/// those that `keepNeeds` keeps, and sets op costs to 0.
std::vector<Candidates> collectCandidates(const Program &program,
                                          CostModel &costs,
                                          const CandidateLimits &limits = {});

} // namespace mlir::layout

#endif // LAYOUT_ANALYSIS_CANDIDATES_H
