//===- BlockTree.cpp - Biconnected components of a graph ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockTree.h"

using namespace mlir::layout;

namespace {
/// Depth-first search by Hopcroft and Tarjan, without recursion, because
/// programs may be too deep for the stack.
class BlockFinder {
public:
  explicit BlockFinder(const CoreGraph &core)
      : core(core), neighbors(core.getNumVariables()),
        times(core.getNumVariables(), 0), lows(core.getNumVariables(), 0) {
    for (unsigned f = 0; f < core.getNumFactors(); ++f)
      for (unsigned a : core.getScope(f))
        for (unsigned b : core.getScope(f))
          if (a != b)
            neighbors[a].push_back(b);
  }

  std::vector<Block> run() {
    for (unsigned v = 0; v < core.getNumVariables(); ++v)
      if (times[v] == 0)
        visit(v);
    addFactors();
    return std::move(blocks);
  }

private:
  struct Frame {
    unsigned variable;
    size_t next; // of its neighbors
  };

  void open(unsigned variable) {
    times[variable] = lows[variable] = ++time;
    path.push_back({variable, 0});
    unfinished.push_back(variable);
  }
  /// Makes a block below `parent` of the variables found since `last`.
  void close(unsigned parent, unsigned last) {
    Block block;
    block.parent = parent;
    do {
      block.variables.push_back(unfinished.back());
      unfinished.pop_back();
    } while (block.variables.back() != last);
    blocks.push_back(std::move(block));
  }
  void visit(unsigned root);
  void addFactors();

  const CoreGraph &core;
  std::vector<std::vector<unsigned>> neighbors;
  std::vector<unsigned> times, lows; // per variable; 0 before it is found
  unsigned time = 0;
  std::vector<Frame> path;
  std::vector<unsigned> unfinished;
  std::vector<Block> blocks;
};
} // namespace

void BlockFinder::visit(unsigned root) {
  open(root);
  while (!path.empty()) {
    Frame &frame = path.back();
    unsigned variable = frame.variable;
    if (frame.next < neighbors[variable].size()) {
      unsigned other = neighbors[variable][frame.next++];
      if (times[other] == 0)
        open(other);
      else
        lows[variable] = std::min(lows[variable], times[other]);
      continue;
    }
    path.pop_back();
    if (path.empty())
      break;
    unsigned parent = path.back().variable;
    lows[parent] = std::min(lows[parent], lows[variable]);
    if (lows[variable] >= times[parent])
      close(parent, variable);
  }
  // The root is a block of its own, the parent of the others.
  close(Block::kNone, root);
}

void BlockFinder::addFactors() {
  std::vector<unsigned> blockOf(core.getNumVariables());
  for (auto [b, block] : llvm::enumerate(blocks))
    for (unsigned variable : block.variables)
      blockOf[variable] = b;
  // If a variable of a factor is the parent of its block, it is in a later
  // block than the others.
  for (unsigned f = 0; f < core.getNumFactors(); ++f) {
    if (core.getScope(f).size() < 2)
      continue;
    unsigned first = ~0u;
    for (unsigned variable : core.getScope(f))
      first = std::min(first, blockOf[variable]);
    blocks[first].factors.push_back(f);
  }
}

std::vector<Block> mlir::layout::findBlocks(const CoreGraph &core) {
  return BlockFinder(core).run();
}
