//===- BlockSearch.cpp - Wide components of several blocks ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BlockTree.h"
#include "GraphSearch.h"

using namespace mlir::layout;
using llvm::ArrayRef;

namespace {
/// Builds the graph of a block for one value of its parent.
class BlockProblem {
public:
  BlockProblem(const CoreGraph &core, const TableStore &store)
      : core(core), store(store), index(core.getNumVariables()) {}

  FactorGraph make(const Block &block, unsigned valueOfParent,
                   ArrayRef<std::vector<Cost>> own) {
    FactorGraph graph;
    for (unsigned variable : block.variables) {
      index[variable] = graph.addVariable(core.getDomain(variable));
      graph.addFactor({index[variable]}, own[variable]);
    }
    for (unsigned factor : block.factors) {
      ArrayRef<unsigned> all = core.getScope(factor);
      const Cost *from = store[core.getTable(factor)].entries;
      llvm::SmallVector<unsigned, 4> scope;
      for (unsigned variable : all)
        if (variable != block.parent)
          scope.push_back(index[variable]);
      entries.clear();
      auto visit = [&](auto &self, unsigned place, size_t at) -> void {
        if (place == all.size())
          return entries.push_back(from[at]);
        unsigned domain = core.getDomain(all[place]);
        bool isSet = all[place] == block.parent;
        for (unsigned v = isSet ? valueOfParent : 0,
                      end = isSet ? v + 1 : domain;
             v < end; ++v)
          self(self, place + 1, at * domain + v);
      };
      visit(visit, 0, 0);
      graph.addFactor(scope, entries);
    }
    return graph;
  }

private:
  const CoreGraph &core;
  const TableStore &store;
  std::vector<unsigned> index; // in the graph of the block
  std::vector<Cost> entries;
};
} // namespace

GraphSearch::Result GraphSearch::solveBlock(const FactorGraph &graph,
                                            const Block &block,
                                            unsigned valueOfParent) {
  if (!proves())
    return solve(graph, Goal(), /*depth=*/1);
  if (block.parent == Block::kNone)
    proof->beginComponent(block.variables);
  else
    proof->beginBlockValue(block.parent, valueOfParent);
  size_t start = proof->getSize();
  ProofWriter::Names outer = proof->enter(block.variables);
  Result found = solve(graph, Goal(), /*depth=*/1);
  proof->insertWitness(start, found.assignment);
  proof->leave(std::move(outer));
  proof->end();
  return found;
}

/// Solves each block for each value of its parent, lower blocks first, so that
/// their cost is a unary factor of their parents.
GraphSearch::Result GraphSearch::searchBlocks(const CoreGraph &core,
                                              const TableStore &store,
                                              ArrayRef<Block> blocks) {
  std::vector<std::vector<Cost>> own(core.getNumVariables());
  for (unsigned v = 0; v < core.getNumVariables(); ++v) {
    own[v].assign(core.getDomain(v), 0);
    core.forEachFactorOf(v, [&](unsigned factor) {
      if (core.getScope(factor).size() == 1)
        for (auto [x, cost] : llvm::enumerate(own[v]))
          cost = addCosts(cost, store[core.getTable(factor)].entries[x]);
    });
  }
  BlockProblem problem(core, store);
  // Per block and value of its parent.
  std::vector<std::vector<std::vector<unsigned>>> choices(blocks.size());
  Result answer;
  auto outer = limits;
  for (auto [b, block] : llvm::enumerate(blocks)) {
    bool isRoot = block.parent == Block::kNone, isProven = true;
    unsigned numValues = isRoot ? 1 : core.getDomain(block.parent);
    if (proves() && !isRoot)
      proof->beginBlock(block.parent, block.variables);
    for (unsigned x = 0; x < numValues; ++x) {
      if (!isRoot && own[block.parent][x] == kInfiniteCost) {
        choices[b].emplace_back();
        continue;
      }
      shareLimits(outer, (blocks.size() - b) * numValues - x);
      Result found = solveBlock(problem.make(block, x, own), block, x);
      isProven &= found.lowerBound == found.cost;
      choices[b].push_back(std::move(found.assignment));
      Cost &sum = isRoot ? answer.lowerBound : own[block.parent][x];
      sum = addCosts(sum, found.lowerBound);
    }
    if (!isProven)
      for (unsigned variable : block.variables)
        openVariables.push_back(core.getOriginal(variable));
  }
  limits = outer;
  std::vector<unsigned> values(core.getNumVariables(), 0);
  for (size_t b = blocks.size(); b-- > 0;) {
    const Block &block = blocks[b];
    ArrayRef<unsigned> choice =
        choices[b][block.parent == Block::kNone ? 0 : values[block.parent]];
    if (choice.empty())
      return answer;
    for (auto [variable, value] : llvm::zip_equal(block.variables, choice))
      values[variable] = value;
  }
  answer.cost = 0;
  for (unsigned f = 0; f < core.getNumFactors(); ++f)
    answer.cost = addCosts(answer.cost, core.lookUp(f, values, store));
  answer.assignment = std::move(values);
  return answer;
}
