//===- SharedCosts.h - Costs that several variables share -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A switch is a variable of two values that others may ask to be on: a copy of
// a tensor in some layout, which its consumers ask for. What it costs to be on
// may depend on one more variable, the payer: the layout that the copy is made
// from.
//
//     switch:   on costs price(p), with p a value of the payer
//     asker c:  forbids off for some values of c
//
// Seen as variables they make a bound weak: if half of the payer has a value
// from which copies are free, half of every switch is free. So the bound has no
// switches. The price for each p is divided among the askers, and each part is
// a cost of a factor of payer and asker:
//
//     factor'(p, c) = factor(p, c) + part_c(p)   where c asks
//     sum over c of part_c(p) <= price(p)
//
// which is at most what the switch costs, whatever the parts are. What one
// asker has no use for, because its factor has slack there, the next can have.
//
// Laws:
//  * parts and what is left of a price are at least 0 and sum to the price;
//  * `release` leaves no entry of a factor below 0 that was at least 0;
//  * with `complete`, switches are on exactly where they are asked for, which
//    costs least.
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

  /// Finds the switches of a core. `convert` says how entries are counted.
  SharedCosts(const CoreGraph &core, const TableStore &store, Convert convert);

  bool isEmpty() const { return switches.empty(); }
  bool isSwitch(unsigned variable) const {
    return variable < switchOf.size() && switchOf[variable] != kNone;
  }
  /// Of a switch.
  unsigned getOn(unsigned variable) const {
    return switches[switchOf[variable]].on;
  }

  /// The core without its switches, and with the factors that the prices are
  /// divided among, which have no table of the store. Variables keep their
  /// numbers; one of a single value stands for payers that there are not.
  const CoreGraph &getModel() const { return model; }
  /// The entries of such a factor, which change; null for others.
  const Cost *getEntries(unsigned factor) const {
    return factor < firstShared ? nullptr
                                : edges[factor - firstShared].entries.data();
  }

  /// Calls fn(switch, its value `on`, asker, payer, part of the price per value
  /// of the payer); where there is no payer, that is kNone and the part a
  /// single number.
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
    llvm::SmallVector<unsigned, 2> values; // those that ask, ascending
    std::vector<Cost> part = {};           // of the price, as `left`
  };
  struct Switch {
    unsigned variable, on;
    unsigned payer = kNone;
    std::vector<Cost> price; // per value of the payer
    std::vector<Cost> left;  // of that
    std::vector<Asker> askers;
    unsigned numToCome = 0; // askers, in this sweep
  };
  llvm::ArrayRef<Switch> getSwitches() const { return switches; }

  /// Before the factors are visited one after the other.
  void beginSweep();
  /// Gives a factor its part of what prices have left, and takes back what is
  /// above the least entries when `rows` and `columns` are moved out of it.
  void fill(unsigned factor);
  void release(unsigned factor, const Cost *rows, const Cost *columns);

  /// What the values of a variable cost above what its factors say, where the
  /// variables that `isSet` names have values: who asks first pays the whole
  /// price, and those after nothing.
  void addUnpaid(unsigned variable, llvm::ArrayRef<unsigned> values,
                 llvm::function_ref<bool(unsigned)> isSet,
                 llvm::MutableArrayRef<Cost> sums) const;

  /// Sets the switches as the other variables ask.
  void complete(std::vector<unsigned> &values) const;
  /// The values that a switch may need where others have these.
  llvm::SmallVector<unsigned, 6>
  getValuesOf(unsigned variable,
              llvm::ArrayRef<llvm::SmallVector<unsigned, 6>> others) const;

private:
  /// An asker by its place in `switches` and in the askers of that; kNone
  /// instead of the latter is the payer.
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
