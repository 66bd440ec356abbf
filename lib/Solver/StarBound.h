//===- StarBound.h - A bound for groups of shared copies --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dividing prices among askers, as SharedCosts does, gives a bound that rises
// slowly over many passes, and values that round badly. Here all switches of
// one payer, the copies of one tensor, are one factor of the payer and all
// askers:
//
//     star(p, c1, c2, ..) = sum of price(p, s) over the switches s that some
//                           c requires
//
// The min-marginals of this factor are computed without its table. With sets T
// of askers as bits and a value p of the payer,
//
//     alone[T] = min over s of price(p, s) + sum over c in T of cost(c, s)
//     least[T] = min over partitions of T of the sum of `alone`
//
// where cost(c, s) is the least cost of a value of c that requires s. This
// takes 2^askers * switches + 3^askers steps per value of the payer. A factor
// of two variables is a star with one asker, each value of which has a switch
// of its own.
//
// Costs are moved as in DualBound. They are doubles with integral values, in
// units of 1 / `scale`, so that sums are exact.
//
// In a proof, costs are moved into the tables of a tensor, and its switches
// become a component with copies of payer and askers, which is eliminated. That
// takes 2^switches steps per asker.
//
// Laws:
//  * No assignment of the core costs less than `getBound`.
//  * A value is dropped only if the bound of the assignments with it is too
//    high.
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
  /// Creates a bound whose passes visit the variables in `order`, which may
  /// contain variables that are not in the core. Proofs use coarser units.
  StarBound(const CoreGraph &core, const TableStore &store,
            const SharedCosts &shared, llvm::ArrayRef<unsigned> order,
            bool isForProof = false);

  /// Returns false if a factor has three variables or if costs are huge.
  bool isUsable() const { return scale > 0; }
  /// Returns false if a factor has too many switches, or if values turned out
  /// to be impossible during passes.
  bool isProvable() const { return canProve && scale >= 1; }
  /// Runs one pass over the variables forward and one backward.
  void pass();
  /// Returns the work so far, in table entries.
  int64_t getWork() const { return work; }
  /// Returns the bound, or kInfiniteCost if a variable has no value left.
  Cost getBound() const { return toCost(bound); }

  /// Assigns all variables one by one, each with the best value given the
  /// previous ones. Returns false at a dead end.
  bool round(std::vector<unsigned> &values);
  /// Drops values for which isTooMuch(bound of the assignments with it), and
  /// calls fn(variable, value) for each.
  void dropValues(llvm::function_ref<bool(Cost)> isTooMuch,
                  llvm::function_ref<void(unsigned, unsigned)> fn);
  /// Writes a proof of the bound after the last pass, and returns that bound.
  /// Requires that no value was dropped.
  Cost writeProof(ProofWriter &writer) const;

private:
  static constexpr unsigned kNone = SharedCosts::kNone;

  /// The prices of the switches of a star, per value of the payer and switch,
  /// in both orders. Rows are padded to the widths.
  struct Prices {
    unsigned rows, columns, rowWidth, columnWidth;
    std::vector<double> byRow, byColumn;
  };
  struct Star {
    unsigned payer; // or kNone
    llvm::SmallVector<unsigned, 4> askers;
    const Prices *prices;
    /// The offset in the costs moved to the star: from the payer (one number if
    /// there is none), then from each asker per value.
    unsigned given;
    /// Per asker and value, the switch that it requires, or the number of
    /// switches if none; concatenated over askers.
    std::vector<unsigned> asked;
    /// The index in `sets`, because other stars may have other askers of the
    /// switches; kNone for a factor of two variables.
    unsigned set;
  };
  struct Set {
    unsigned payer;
    llvm::SmallVector<unsigned, 8> switches;
  };
  /// A variable of a star: its payer (place 0) or an asker.
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

  /// Computes the min-marginals of a variable of a star, per value.
  void minimize(const Slot &slot);
  size_t gather(const Star &star, unsigned place);
  void partition(const Prices &price, size_t numSets);
  void take(unsigned variable, llvm::ArrayRef<Slot> slots);
  void give(unsigned variable, llvm::ArrayRef<Slot> slots, size_t parts);
  double getSum() const;
  void updateBound();
  /// Sets `sums` to the unmoved costs of each value of a variable.
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
  /// The impossible values of variables, in the order of their derivation.
  std::vector<std::pair<unsigned, llvm::SmallVector<unsigned, 8>>> impossible;
  std::vector<Set> sets;
  std::vector<unsigned> offsets; // per variable
  std::vector<double> beliefs;   // per value
  std::vector<double> given;
  std::vector<Star> stars;
  std::map<std::vector<double>, Prices> prices;
  std::vector<unsigned> order; // of the variables with values
  std::vector<llvm::SmallVector<Slot, 4>> before, after, all; // per variable

  // Scratch of `minimize`. `asking`: cost per set of askers and switch;
  // `alone`, `least`: cost per set and value of the payer; `asksNone`: cost per
  // asker that requires nothing; `paid`, `rest`, `opened`: the minimum of all
  // else, per value of the payer or per switch.
  std::vector<double> asking, alone, least, asksNone, paid, rest, opened;
  std::vector<double> result, sums;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_SOLVER_STARBOUND_H
