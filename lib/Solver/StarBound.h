//===- StarBound.h - A lower bound with whole shared costs ------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dividing what a switch costs among those who ask for it, as SharedCosts does,
// leaves a bound that many passes raise slowly, and values from which nothing
// can be rounded. Here all switches of one payer, the copies of one tensor, are
// one factor of the payer and of all who ask:
//
//     star(p, c1, c2, ..) = sum of price(p, s) over the switches s that some
//                           c asks for
//
// What it allows one of its variables to take is found without a table. With
// the askers as bits of a set, and for a value p of the payer,
//
//     alone[T] = least price(p, s) + what those of T have where they ask for s
//     least[T] = the least sum of `alone` over a partition of T
//
// and an asker that opens s takes any of the others along. That takes
// 2^askers * switches + 3^askers steps per value of the payer. A factor of two
// variables is a star with one asker, each value of which has a switch of its
// own.
//
// Costs are moved as in DualBound. They are doubles that hold integers, units
// of 1 / `scale`, so that sums are exact.
//
// As a proof, all of this is steps that every bound has: costs are moved into
// the factors of a tensor, and its switches become a part of its own, with
// copies of who makes and who asks, out of which all is eliminated. That takes
// 2^switches steps for each asker.
//
// Laws:
//  * no assignment of the core costs less than `getBound`;
//  * a value is dropped where every assignment that has it is too expensive by
//    the bound that it gives.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_STARBOUND_H
#define LAYOUT_LIB_SOLVER_STARBOUND_H

#include "ProofWriter.h"
#include "SharedCosts.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <map>

namespace mlir {
namespace layout {

class StarBound {
public:
  /// Passes visit the variables in `order`, some of which may be none of the
  /// core. A proof counts in larger parts of a cost.
  StarBound(const CoreGraph &core, const TableStore &store,
            const SharedCosts &shared, llvm::ArrayRef<unsigned> order,
            bool isForProof = false);

  /// Where factors have three variables or costs are huge, there is no bound.
  bool isUsable() const { return scale > 0; }
  /// Where too many switches are in one factor, or where values turned out to
  /// be impossible on the way, there is no proof.
  bool isProvable() const { return canProve && scale >= 1; }
  /// One pass over the variables forward, and one back.
  void pass();
  /// Steps that were taken, in entries of tables.
  int64_t getWork() const { return work; }
  /// kInfiniteCost where some variable has no value left.
  Cost getBound() const { return toCost(bound); }

  /// Gives values to all variables, one after the other, each the best where
  /// those before have theirs. False at a dead end.
  bool round(std::vector<unsigned> &values);
  /// Drops values for which isTooMuch(bound of the assignments that have it),
  /// and calls fn(variable, value) for each.
  void dropValues(llvm::function_ref<bool(Cost)> isTooMuch,
                  llvm::function_ref<void(unsigned, unsigned)> fn);
  /// Proves the bound after the last pass, which it returns. Nothing may have
  /// been dropped.
  Cost writeProof(ProofWriter &writer) const;

private:
  static constexpr unsigned kNone = SharedCosts::kNone;

  /// What the switches of a star cost, per value of the payer and switch, and
  /// the other way round. Lines of numbers are filled up to widths.
  struct Prices {
    unsigned rows, columns, rowWidth, columnWidth;
    std::vector<double> byRow, byColumn;
  };
  struct Star {
    unsigned payer; // or kNone
    llvm::SmallVector<unsigned, 4> askers;
    const Prices *prices;
    /// Where what was moved to the star from its variables begins: first from
    /// the payer, one number if there is none, then from each asker per value.
    unsigned given;
    /// Per asker and value the switch that it asks for, or as many as there
    /// are; behind those of the asker before.
    std::vector<unsigned> asked;
    /// Of `sets`, for whose switches other stars may have other askers; kNone
    /// for a factor of two variables.
    unsigned set;
  };
  struct Set {
    unsigned payer;
    llvm::SmallVector<unsigned, 8> switches;
  };
  /// A variable of a star: its payer (0) or an asker.
  struct Slot {
    unsigned star, place, given;
  };
  struct Group;

  void addTo(unsigned variable, const Cost *entries, unsigned step);
  void addPair(unsigned a, unsigned b, llvm::ArrayRef<Cost> entries,
               const CoreGraph &core);
  void addStars(const CoreGraph &core, const SharedCosts &shared);
  void addStar(unsigned payer, llvm::ArrayRef<unsigned> askers,
               std::vector<unsigned> asked, unsigned rows, unsigned columns,
               std::vector<double> prices, unsigned set, const CoreGraph &core);
  void noteImpossible();
  void writeMoves(const Star &star, ProofWriter &writer) const;
  void linkStars(llvm::ArrayRef<unsigned> order, unsigned numVariables);

  /// What a star allows a variable of it to take, per value.
  void minimize(const Slot &slot);
  size_t gather(const Star &star, unsigned place);
  void partition(const Prices &price, size_t numSets);
  void take(unsigned variable, llvm::ArrayRef<Slot> slots);
  void give(unsigned variable, llvm::ArrayRef<Slot> slots, size_t parts);
  double getSum() const;
  void updateBound();
  /// What each value of a variable costs beyond what was moved, in `sums`.
  void addUp(unsigned variable);
  void forbid(unsigned variable, unsigned value);
  unsigned getDomain(unsigned variable) const {
    return offsets[variable + 1] - offsets[variable];
  }
  double fromCost(Cost cost) const;
  Cost toCost(double sum) const;

  double scale = 0, bound = 0;
  int64_t work = 0;
  bool canProve = true;
  /// In the order in which it follows.
  std::vector<std::pair<unsigned, llvm::SmallVector<unsigned, 8>>> impossible;
  std::vector<Set> sets;
  std::vector<unsigned> offsets; // per variable
  std::vector<double> beliefs;   // per value
  std::vector<double> given;
  std::vector<Star> stars;
  std::map<std::vector<double>, Prices> prices;
  std::vector<unsigned> order; // of those with a value
  std::vector<llvm::SmallVector<Slot, 4>> before, after, all; // per variable

  // Of `minimize`: what sets of askers have per switch, what they cost per
  // value of the payer, each of them without any, and what is least beyond such
  // a set per value of the payer and per switch.
  std::vector<double> asking, alone, least, asksNone, paid, rest, opened;
  std::vector<double> result, sums;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_SOLVER_STARBOUND_H
