//===- BlockTree.h - Biconnected components of a graph ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The blocks of a graph, i.e. its biconnected components: sets of variables
// that stay connected if any one is removed. Two blocks share at most one
// variable, and the blocks of a component form a tree:
//
//     a - b       d - e
//     | X |       | X |      {a b c f}, {c d} and {d e g h}
//     f - c ----- h - g      (c is joined to h here by {c h})
//
// Every block but the root has one parent, a variable. The cost of a block with
// all blocks below it is a function of the value of its parent.
//
// Laws:
//  * Every factor of two or more variables is in exactly one block.
//  * Blocks precede the block that contains their parent as a variable.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_BLOCKTREE_H
#define LAYOUT_LIB_SOLVER_BLOCKTREE_H

#include "CoreGraph.h"

namespace mlir::layout {

struct Block {
  static constexpr unsigned kNone = ~0u;
  unsigned parent = kNone; // kNone for a root
  /// The variables of the block without the parent.
  std::vector<unsigned> variables;
  /// The factors of the block with two or more variables.
  std::vector<unsigned> factors;
};

/// Finds the blocks of all components of a graph.
std::vector<Block> findBlocks(const CoreGraph &core);

} // namespace mlir::layout

#endif // LAYOUT_LIB_SOLVER_BLOCKTREE_H
