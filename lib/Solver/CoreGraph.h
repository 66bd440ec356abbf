//===- CoreGraph.h - The factor graph that reductions leave -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The core that the reductions leave: variables numbered from 0, factors of any
// arity with the ids of their tables, and for every variable the list of its
// factors. Factors can only be appended.
//
//     CoreGraph core;
//     unsigned x = core.addVariable(/*original=*/7, /*domain=*/3);
//     core.addFactor({x}, table);
//     core.forEachFactorOf(x, [](unsigned factor) {}); // latest first
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_COREGRAPH_H
#define LAYOUT_LIB_SOLVER_COREGRAPH_H

#include "Elimination/TableStore.h"

namespace mlir::layout {

/// An unsaturated sum of costs. Costs are below 2^63, and there are fewer than
/// 2^32 factors.
__extension__ typedef __int128 WideCost;

class CoreGraph {
public:
  unsigned addVariable(unsigned original, unsigned domain) {
    originals.push_back(original);
    domains.push_back(domain);
    heads.push_back(kEnd);
    return domains.size() - 1;
  }

  unsigned addFactor(llvm::ArrayRef<unsigned> scope, TableId table) {
    unsigned factor = tables.size();
    tables.push_back(table);
    for (unsigned variable : scope) {
      scopes.push_back(variable);
      owners.push_back(factor);
      nexts.push_back(heads[variable]);
      heads[variable] = scopes.size() - 1;
    }
    scopeEnds.push_back(scopes.size());
    return factor;
  }

  unsigned getNumVariables() const { return domains.size(); }
  unsigned getDomain(unsigned variable) const { return domains[variable]; }
  llvm::ArrayRef<unsigned> getDomains() const { return domains; }
  /// Returns the variable of the whole graph for a variable of the core.
  unsigned getOriginal(unsigned variable) const { return originals[variable]; }
  llvm::ArrayRef<unsigned> getOriginals() const { return originals; }

  unsigned getNumFactors() const { return tables.size(); }
  TableId getTable(unsigned factor) const { return tables[factor]; }
  llvm::ArrayRef<unsigned> getScope(unsigned factor) const {
    return llvm::ArrayRef(scopes).slice(
        scopeEnds[factor], scopeEnds[factor + 1] - scopeEnds[factor]);
  }

  template <typename Fn> void forEachFactorOf(unsigned variable, Fn fn) const {
    for (unsigned link = heads[variable]; link != kEnd; link = nexts[link])
      fn(owners[link]);
  }

  /// Returns the entry of a factor for the values in `assignment`.
  Cost lookUp(unsigned factor, llvm::ArrayRef<unsigned> assignment,
              const TableStore &store) const {
    size_t entry = 0;
    for (unsigned variable : getScope(factor))
      entry = entry * domains[variable] + assignment[variable];
    return store[tables[factor]].entries[entry];
  }

private:
  static constexpr unsigned kEnd = ~0u;
  llvm::SmallVector<unsigned, 0> originals, domains, heads;
  llvm::SmallVector<TableId, 0> tables;
  llvm::SmallVector<unsigned, 0> scopeEnds = {0};
  // Per mention of a variable in a scope: the variable, the factor, and the
  // next mention of the same variable.
  llvm::SmallVector<unsigned, 0> scopes, owners, nexts;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_SOLVER_COREGRAPH_H
