//===- SetupCosts.h - Setup costs that variables share ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A setup-cost variable (`SetupVariable`) has two values and models a shared
// copy of a tensor: it is on if any consumer requires it. Its price may depend
// on one more variable, the producer: the layout that the copy is made from.
//
//     setup variable:  on costs price(p), with p a value of the producer
//     consumer c:      forbids off for some values of c
//
// Kept as variables, setup variables weaken the bound: if half of the producer
// has a value whose copies are free, half of every setup variable is free. The
// bound has no setup variables instead. The price for each p is divided among
// the consumers, and each part is a cost in a factor of producer and consumer:
//
//     factor'(p, c) = factor(p, c) + part_c(p)   if c requires the copy
//     sum over c of part_c(p) <= price(p)
//
// The sum is at most the price of the setup variable for any division. A part
// that a consumer cannot use, because its factor has slack, is available to the
// next.
//
// Laws:
//  * Parts and the rest of a price are >= 0 and sum to the price.
//  * `release` makes no entry of a factor negative that was >= 0.
//  * `complete` sets exactly the required setup variables to on, at least cost.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_BOUNDS_SETUPCOSTS_H
#define LAYOUT_LIB_SOLVER_BOUNDS_SETUPCOSTS_H

#include "CoreGraph.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::layout {

class SetupCosts {
public:
  using Convert = llvm::function_ref<Cost(Cost)>;

  /// Finds the setup variables of `core`, which represent copies of tensors:
  /// variables of two values, on and off, where on has a price and is required
  /// by values of at least two other variables. Finds none if their tables
  /// would have more than 2^24 entries. `convert` maps a cost of the core to a
  /// cost of the bound.
  SetupCosts(const CoreGraph &core, const TableStore &store, Convert convert);

  bool isEmpty() const { return setupVariables.empty(); }
  bool isSetupVariable(unsigned variable) const {
    return variable < setupVariableOf.size() &&
           setupVariableOf[variable] != kNone;
  }
  /// Returns the value of a setup variable, 0 or 1, with which the copy exists.
  unsigned getOn(unsigned variable) const {
    return setupVariables[setupVariableOf[variable]].on;
  }

  /// Returns a graph of the variables of the core and of those factors that
  /// have no setup variable. Each pair of a producer and a consumer of a copy
  /// has one more factor, which replaces those of the core between the two;
  /// `getEntries` returns its table. One more variable, with one value, stands
  /// for missing producers. The graph is empty if the core has no setup
  /// variables.
  const CoreGraph &getModel() const { return model; }
  /// Returns the current entries of a factor of a producer and a consumer in
  /// `getModel()`, with a row per value of the producer, or nullptr for other
  /// factors.
  const Cost *getEntries(unsigned factor) const {
    return factor < firstShared ? nullptr
                                : edges[factor - firstShared].entries.data();
  }

  /// Calls fn(setup variable, its value `on`, consumer, producer, part) for
  /// each consumer of each copy. `part` is the amount of the price of the copy
  /// that the consumer pays, per value of the producer. Without a producer,
  /// `producer` is kNone and `part` has one amount.
  static constexpr unsigned kNone = ~0u;
  void forEachPart(llvm::function_ref<void(unsigned, unsigned, unsigned,
                                           unsigned, llvm::ArrayRef<Cost>)>
                       fn) const {
    for (const SetupVariable &each : setupVariables)
      for (const Consumer &consumer : each.consumers)
        fn(each.variable, each.on, consumer.variable, each.producer,
           consumer.part);
  }

  struct Consumer {
    unsigned variable;
    llvm::SmallVector<unsigned, 2> values; // that require it, ascending
    std::vector<Cost> part = {};           // of the price, as `left`
  };
  struct SetupVariable {
    unsigned variable, on;
    unsigned producer = kNone;
    std::vector<Cost> price; // per value of the producer
    std::vector<Cost> left;  // of the price, not divided
    std::vector<Consumer> consumers;
    unsigned numToCome = 0; // consumers, in this sweep
  };
  llvm::ArrayRef<SetupVariable> getSetupVariables() const {
    return setupVariables;
  }

  /// Begins a sweep over the factors, in which `fill` is called once for each
  /// factor of a producer and a consumer. Resets, per copy, the number of
  /// consumers for which it was not yet called.
  void beginSweep();
  /// For each copy that a producer and a consumer share, adds part of its price
  /// to those entries of their factor in which the consumer requires it. The
  /// part is what no consumer pays yet, divided by the number of consumers for
  /// which `fill` was not yet called in this sweep.
  void fill(unsigned factor);
  /// Lowers the entries of a factor in which a consumer requires a copy by the
  /// part of the price that the factor cannot use, which other consumers can
  /// then pay. For value p of the producer, this is the least amount by which
  /// an entry that contains the price exceeds rows[p] + columns[c], the costs
  /// moved out of the factor; at most what the consumer pays.
  void release(unsigned factor, const Cost *rows, const Cost *columns);

  /// Corrects sums[v], the cost of value v of `variable` in which each consumer
  /// pays only its part of a price, so that each copy that the assignment
  /// requires costs its whole price once. Leaves out copies whose producer has
  /// no value yet. Only variables for which `isSet` is true have a value in
  /// `values`; others require no copy.
  void addUnpaid(unsigned variable, llvm::ArrayRef<unsigned> values,
                 llvm::function_ref<bool(unsigned)> isSet,
                 llvm::MutableArrayRef<Cost> sums) const;

  /// Sets each setup variable to on if a consumer requires it, and to off
  /// otherwise.
  void complete(std::vector<unsigned> &values) const;
  /// Returns the values that a setup variable can need, on, off or both, if
  /// each other variable v has one of the values others[v].
  llvm::SmallVector<unsigned, 6>
  getValuesOf(unsigned variable,
              llvm::ArrayRef<llvm::SmallVector<unsigned, 6>> others) const;

private:
  /// How a variable takes part in a copy: the index of the copy in
  /// `setupVariables`, and the index of the variable in the consumers of the
  /// copy, or kNone for its producer.
  struct Role {
    unsigned owner, consumer;
  };
  /// The table of a factor of a producer and a consumer, with a row per value
  /// of the producer. `shares` lists the copies between the two; its entries
  /// contain a part of the price of each.
  struct Edge {
    unsigned numRows, numColumns;
    std::vector<Cost> entries;
    llvm::SmallVector<Role, 4> shares;
  };

  bool readSetupVariable(unsigned variable, unsigned on, const CoreGraph &core,
                         const TableStore &store, Convert convert,
                         SetupVariable &result);
  void buildModel(const CoreGraph &core, const TableStore &store,
                  Convert convert);

  std::vector<unsigned> setupVariableOf; // per variable
  std::vector<SetupVariable> setupVariables;
  CoreGraph model;
  unsigned firstShared = ~0u; // factor of the model
  std::vector<Edge> edges;
  std::vector<llvm::SmallVector<Role, 4>> rolesOf; // per variable
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_SOLVER_BOUNDS_SETUPCOSTS_H
