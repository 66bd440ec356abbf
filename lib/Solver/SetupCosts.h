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

#ifndef LAYOUT_LIB_SOLVER_SETUPCOSTS_H
#define LAYOUT_LIB_SOLVER_SETUPCOSTS_H

#include "CoreGraph.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::layout {

class SetupCosts {
public:
  using Convert = llvm::function_ref<Cost(Cost)>;

  /// Finds the setup variables of a core. `convert` maps entries to bound
  /// costs.
  SetupCosts(const CoreGraph &core, const TableStore &store, Convert convert);

  bool isEmpty() const { return setupVariables.empty(); }
  bool isSetupVariable(unsigned variable) const {
    return variable < setupVariableOf.size() &&
           setupVariableOf[variable] != kNone;
  }
  /// Returns the value that means on for a setup variable.
  unsigned getOn(unsigned variable) const {
    return setupVariables[setupVariableOf[variable]].on;
  }

  /// Returns the core without setup variables, plus a factor without a table
  /// for each pair that shares prices. Variables keep their numbers. A variable
  /// with one value replaces missing producers.
  const CoreGraph &getModel() const { return model; }
  /// Returns the current entries of a shared factor, or nullptr for others.
  const Cost *getEntries(unsigned factor) const {
    return factor < firstShared ? nullptr
                                : edges[factor - firstShared].entries.data();
  }

  /// Calls fn(setup variable, its value `on`, consumer, producer, part of the
  /// price per value of the producer). Without a producer, producer is kNone
  /// and there is one part.
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

  /// Prepares a pass over the factors.
  void beginSweep();
  /// Adds to a shared factor its part of the remaining prices.
  void fill(unsigned factor);
  /// Returns to the remaining prices the part of them that a shared factor does
  /// not need if `rows` and `columns` are moved out of it: its slack.
  void release(unsigned factor, const Cost *rows, const Cost *columns);

  /// Adds to `sums` the price of the copies that each value of `variable` would
  /// be the first to require, given the variables already set (`isSet`).
  void addUnpaid(unsigned variable, llvm::ArrayRef<unsigned> values,
                 llvm::function_ref<bool(unsigned)> isSet,
                 llvm::MutableArrayRef<Cost> sums) const;

  /// Sets each setup variable to on if a consumer requires it, and to off
  /// otherwise.
  void complete(std::vector<unsigned> &values) const;
  /// Returns the values that a setup variable may need if the others have
  /// these.
  llvm::SmallVector<unsigned, 6>
  getValuesOf(unsigned variable,
              llvm::ArrayRef<llvm::SmallVector<unsigned, 6>> others) const;

private:
  /// A consumer, by its index in `setupVariables` and in the consumers of the
  /// setup variable; kNone as the second index means the producer.
  struct Role {
    unsigned owner, consumer;
  };
  /// A factor of producer and consumer, with a row per value of the producer.
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

#endif // LAYOUT_LIB_SOLVER_SETUPCOSTS_H
