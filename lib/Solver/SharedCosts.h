//===- SharedCosts.h - Setup costs that variables share ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A setup-cost variable (`Switch`) has two values and models a shared copy of a
// tensor: it is on if any consumer (`Asker`) requires it. Its price may depend
// on one more variable, the producer (`payer`): the layout that the copy is
// made from.
//
//     switch:   on costs price(p), with p a value of the payer
//     asker c:  forbids off for some values of c
//
// Kept as variables, switches weaken the bound: if half of the payer has a
// value whose copies are free, half of every switch is free. The bound has no
// switches instead. The price for each p is divided among the askers, and each
// part is a cost in a factor of payer and asker:
//
//     factor'(p, c) = factor(p, c) + part_c(p)   if c requires the switch
//     sum over c of part_c(p) <= price(p)
//
// The sum is at most the price of the switch for any division. A part that an
// asker cannot use, because its factor has slack, is available to the next.
//
// Laws:
//  * Parts and the rest of a price are >= 0 and sum to the price.
//  * `release` makes no entry of a factor negative that was >= 0.
//  * `complete` switches on exactly the required switches, at least cost.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_SHAREDCOSTS_H
#define LAYOUT_LIB_SOLVER_SHAREDCOSTS_H

#include "CoreGraph.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir {
namespace layout {

class SharedCosts {
public:
  using Convert = llvm::function_ref<Cost(Cost)>;

  /// Finds the switches of a core. `convert` maps entries to bound costs.
  SharedCosts(const CoreGraph &core, const TableStore &store, Convert convert);

  bool isEmpty() const { return switches.empty(); }
  bool isSwitch(unsigned variable) const {
    return variable < switchOf.size() && switchOf[variable] != kNone;
  }
  /// Returns the value that means on for a switch.
  unsigned getOn(unsigned variable) const {
    return switches[switchOf[variable]].on;
  }

  /// Returns the core without switches, plus a factor without a table for each
  /// pair that shares prices. Variables keep their numbers. A variable with one
  /// value replaces missing payers.
  const CoreGraph &getModel() const { return model; }
  /// Returns the current entries of a shared factor, or nullptr for others.
  const Cost *getEntries(unsigned factor) const {
    return factor < firstShared ? nullptr
                                : edges[factor - firstShared].entries.data();
  }

  /// Calls fn(switch, its value `on`, asker, payer, part of the price per value
  /// of the payer). Without a payer, payer is kNone and there is one part.
  static constexpr unsigned kNone = ~0u;
  void forEachPart(llvm::function_ref<void(unsigned, unsigned, unsigned,
                                           unsigned, llvm::ArrayRef<Cost>)>
                       fn) const {
    for (const Switch &each : switches)
      for (const Asker &asker : each.askers)
        fn(each.variable, each.on, asker.variable, each.payer, asker.part);
  }

  struct Asker {
    unsigned variable;
    llvm::SmallVector<unsigned, 2> values; // that require it, ascending
    std::vector<Cost> part = {};           // of the price, as `left`
  };
  struct Switch {
    unsigned variable, on;
    unsigned payer = kNone;
    std::vector<Cost> price; // per value of the payer
    std::vector<Cost> left;  // of the price, not divided
    std::vector<Asker> askers;
    unsigned numToCome = 0; // askers, in this sweep
  };
  llvm::ArrayRef<Switch> getSwitches() const { return switches; }

  /// Prepares a pass over the factors.
  void beginSweep();
  /// `fill` adds to a factor its part of the remaining prices. `release`
  /// returns the part that exceeds the least entries if `rows` and `columns`
  /// are moved out of the factor.
  void fill(unsigned factor);
  void release(unsigned factor, const Cost *rows, const Cost *columns);

  /// Adds to `sums` the price of the copies that each value of `variable` would
  /// be the first to require, given the variables already set (`isSet`).
  void addUnpaid(unsigned variable, llvm::ArrayRef<unsigned> values,
                 llvm::function_ref<bool(unsigned)> isSet,
                 llvm::MutableArrayRef<Cost> sums) const;

  /// Sets each switch to on if an asker requires it, and to off otherwise.
  void complete(std::vector<unsigned> &values) const;
  /// Returns the values that a switch may need if the others have these.
  llvm::SmallVector<unsigned, 6>
  getValuesOf(unsigned variable,
              llvm::ArrayRef<llvm::SmallVector<unsigned, 6>> others) const;

private:
  /// An asker, by its index in `switches` and in the askers of the switch;
  /// kNone as the second index means the payer.
  struct Role {
    unsigned owner, asker;
  };
  /// A factor of payer and asker, with a row per value of the payer.
  struct Edge {
    unsigned numRows, numColumns;
    std::vector<Cost> entries;
    llvm::SmallVector<Role, 4> shares;
  };

  bool readSwitch(unsigned variable, unsigned on, const CoreGraph &core,
                  const TableStore &store, Convert convert, Switch &result);
  void buildModel(const CoreGraph &core, const TableStore &store,
                  Convert convert);

  std::vector<unsigned> switchOf; // per variable
  std::vector<Switch> switches;
  CoreGraph model;
  unsigned firstShared = ~0u; // factor of the model
  std::vector<Edge> edges;
  std::vector<llvm::SmallVector<Role, 4>> rolesOf; // per variable
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_SOLVER_SHAREDCOSTS_H
