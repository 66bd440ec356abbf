//===- SharedCopyBound.h - A bound for groups of shared copies --*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Dividing prices among consumers, as SetupCosts does, gives a bound that rises
// slowly over many passes, and values that round badly. Here all setup
// variables of one producer, the copies of one tensor, are one factor of the
// producer and all consumers:
//
//     factor(p, c1, c2, ..) = sum of price(p, s) over the copies s that some
//                             c requires
//
// The min-marginals of this factor are computed without its table. With sets T
// of consumers as bits and a value p of the producer,
//
//     alone[T] = min over s of price(p, s) + sum over c in T of cost(c, s)
//     least[T] = min over partitions of T of the sum of `alone`
//
// where cost(c, s) is the least cost of a value of c that requires s. This
// takes 2^n * m + 3^n steps for n consumers and m setup variables per value of
// the producer. A factor of two variables is a hyper-factor with one consumer,
// each value of which has a setup variable of its own.
//
// Costs are moved as in DualBound. They are doubles with integral values, in
// units of 1 / `scale`, so that sums are exact.
//
// In a proof, costs are moved into the tables of a tensor, and its setup
// variables become a component with copies of producer and consumers, which is
// eliminated. That takes 2^m steps per consumer.
//
// Laws:
//  * No assignment of the core costs less than `getBound`.
//  * A value is dropped only if the bound of the assignments with it is too
//    high.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_SHAREDCOPYBOUND_H
#define LAYOUT_LIB_SOLVER_SHAREDCOPYBOUND_H

#include "ProofWriter.h"
#include "SetupCosts.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <map>

namespace mlir::layout {

class SharedCopyBound {
public:
  /// Creates a bound whose passes visit the variables in `order`, which may
  /// contain variables that are not in the core. Proofs use coarser units.
  SharedCopyBound(const CoreGraph &core, const TableStore &store,
                  const SetupCosts &shared, llvm::ArrayRef<unsigned> order,
                  bool isForProof = false);

  /// Returns false if a factor has three variables or if costs are huge.
  bool isUsable() const { return scale > 0; }
  /// Returns false if a factor has too many setup variables, or if values
  /// turned out to be impossible during passes.
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
  static constexpr unsigned kNone = SetupCosts::kNone;

  /// The prices of the setup variables of a hyper-factor, per value of the
  /// producer and setup variable, in both orders. Rows are padded to the
  /// widths.
  struct Prices {
    unsigned rows, columns, rowWidth, columnWidth;
    std::vector<double> byRow, byColumn;
  };
  struct HyperFactor {
    unsigned producer; // or kNone
    llvm::SmallVector<unsigned, 4> consumers;
    const Prices *prices;
    /// The offset in the costs moved to the hyper-factor: from the producer
    /// (one number if there is none), then from each consumer per value.
    unsigned given;
    /// Per consumer and value, the setup variable that it requires, or the
    /// number of setup variables if none; concatenated over consumers.
    std::vector<unsigned> required;
    /// The index in `sets`, because other hyper-factors may have other
    /// consumers of the setup variables; kNone for a factor of two variables.
    unsigned set;
  };
  struct Set {
    unsigned producer;
    llvm::SmallVector<unsigned, 8> setupVariables;
  };
  /// A variable of a hyper-factor: its producer (place 0) or a consumer.
  struct Slot {
    unsigned factor, place, given;
  };
  struct Group;

  void addTo(unsigned variable, const Cost *entries, unsigned step);
  void addPair(unsigned a, unsigned b, llvm::ArrayRef<Cost> entries,
               const CoreGraph &core);
  void addHyperFactors(const CoreGraph &core, const SetupCosts &shared);
  void addHyperFactor(unsigned producer, llvm::ArrayRef<unsigned> consumers,
                      std::vector<unsigned> required, unsigned rows,
                      unsigned columns, std::vector<double> prices,
                      unsigned set, const CoreGraph &core);
  void noteImpossible();
  void writeMoves(const HyperFactor &factor, ProofWriter &writer) const;
  void linkHyperFactors(llvm::ArrayRef<unsigned> order, unsigned numVariables);

  /// Computes the min-marginals of a variable of a hyper-factor, per value.
  void minimize(const Slot &slot);
  size_t gather(const HyperFactor &factor, unsigned place);
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
  std::vector<HyperFactor> hyperFactors;
  std::map<std::vector<double>, Prices> prices;
  std::vector<unsigned> order; // of the variables with values
  std::vector<llvm::SmallVector<Slot, 4>> before, after, all; // per variable

  // Scratch of `minimize`. `requiring`: cost per set of consumers and setup
  // variable; `alone`, `least`: cost per set and value of the producer;
  // `requiresNone`: cost per consumer that requires nothing; `paid`, `rest`,
  // `shared`: the minimum of all else, per value of the producer or per setup
  // variable.
  std::vector<double> requiring, alone, least, requiresNone, paid, rest, shared;
  std::vector<double> result, sums;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_SOLVER_SHAREDCOPYBOUND_H
