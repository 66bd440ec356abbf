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

#ifndef LAYOUT_LIB_SOLVER_BOUNDS_SHAREDCOPYBOUND_H
#define LAYOUT_LIB_SOLVER_BOUNDS_SHAREDCOPYBOUND_H

#include "Bounds/ProofWriter.h"
#include "Bounds/SetupCosts.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <map>

namespace mlir::layout {

class SharedCopyBound {
public:
  /// Creates a bound for which each `pass` visits the variables in `order`;
  /// those that are not in the core are skipped. Costs are counted in fractions
  /// of 1; for a proof (`isForProof`), they are not finer than 1/8, so that the
  /// numbers fit in 64 bits.
  SharedCopyBound(const CoreGraph &core, const TableStore &store,
                  const SetupCosts &shared, llvm::ArrayRef<unsigned> order,
                  bool isForProof = false);

  /// Returns true if the bound can be computed: no factor has more than two
  /// variables, and the largest finite entries of all factors sum to less than
  /// 2^48.
  bool isUsable() const { return scale > 0; }
  /// Returns true if `writeProof` may be called. It may not if the proof of a
  /// tensor would need tables of more than 2^18 entries, if a tensor has its
  /// producer among its consumers, or if `pass` found a value to be impossible.
  bool isProvable() const { return canProve && scale >= 1; }
  /// Visits the variables in the constructor's order and in reverse. At each
  /// one, moves costs from its factors with earlier variables to itself, and
  /// parts of its costs to those with later variables. Never lowers the bound.
  void pass();
  /// Returns the work of all calls of `pass`, `round` and `dropValues` so far,
  /// a deterministic measure of their time: the number of table entries that
  /// they combined, divided by 4, because a vector operation combines 4.
  int64_t getWork() const { return work; }
  /// Returns the lower bound of the cost of all assignments without dropped
  /// values, rounded up to an integer, or kInfiniteCost if a variable has no
  /// value left.
  Cost getBound() const { return toCost(bound); }

  /// Sets values[v] for all variables v except setup variables, in the
  /// constructor's order, to the value of least cost, moved costs included,
  /// given the values set before. Returns false, with some values not set, if a
  /// variable has no allowed value.
  bool round(std::vector<unsigned> &values);
  /// Drops each value of each variable that the bound finds impossible, or for
  /// which isTooMuch(b) returns true, where b is a lower bound of the cost of
  /// all assignments with this value. Calls fn(variable, value) for each
  /// dropped value.
  void dropValues(llvm::function_ref<bool(Cost)> isTooMuch,
                  llvm::function_ref<void(unsigned, unsigned)> fn);
  /// Writes a proof of the lower bound after the last pass, and returns that
  /// bound, rounded up to an integer. Requires that `dropValues` dropped none.
  Cost writeProof(ProofWriter &writer) const;

private:
  static constexpr unsigned kNone = SetupCosts::kNone;

  /// The prices of the setup variables of a hyper-factor: a matrix with a row
  /// per value of the producer and a column per setup variable, stored by rows
  /// and by columns. Rows and columns are padded to multiples of 4 numbers, the
  /// widths.
  struct Prices {
    unsigned rows, columns, rowWidth, columnWidth;
    std::vector<double> byRow, byColumn;
  };
  struct HyperFactor {
    unsigned producer; // or kNone
    llvm::SmallVector<unsigned, 4> consumers;
    const Prices *prices;
    /// The index in SharedCopyBound::given, the list of costs that variables
    /// moved to hyper-factors, of the first one moved to this hyper-factor.
    /// They are moved from the producer per value (one number if there is
    /// none), then from each consumer per value.
    unsigned given;
    /// Per consumer and value, the column in `prices` of the setup variable
    /// that the value requires to be on, i.e. of the shared copy that it reads,
    /// or the number of columns if it requires none; concatenated over
    /// consumers.
    std::vector<unsigned> required;
    /// The index in `sets` of the setup variables. Other hyper-factors may have
    /// the same ones with other consumers. kNone for a factor of two variables.
    unsigned set;
  };
  struct Set {
    unsigned producer;
    llvm::SmallVector<unsigned, 8> setupVariables;
  };
  /// A variable of a hyper-factor, the factor of all copies of one tensor: its
  /// producer (`place` 0), or its consumer number `place`, counted from 1.
  /// `given` is the index in SharedCopyBound::given of the costs that it moved
  /// to the hyper-factor.
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

  /// Sets `result` to the min-marginals of a hyper-factor, the factor of all
  /// copies of one tensor, for one of its variables. Per value, these are the
  /// least cost of the hyper-factor with this value, including the costs moved
  /// from its other variables.
  void minimize(const Slot &slot);
  size_t gather(const HyperFactor &factor, unsigned place);
  void partition(const Prices &price, size_t numSets);
  void take(unsigned variable, llvm::ArrayRef<Slot> slots);
  void give(unsigned variable, llvm::ArrayRef<Slot> slots, size_t parts);
  double getSum() const;
  void updateBound();
  /// Sets `sums`, per value of a variable, to its unary cost plus, for each
  /// hyper-factor that contains the variable, the least cost with this value,
  /// moved costs included. A hyper-factor is the factor of all copies of one
  /// tensor, or one of two variables.
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
  /// Pairs of a variable and its values that are forbidden by unary factors, or
  /// by factors of two variables of which one has a single value. They are in
  /// the order in which a proof drops them.
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

#endif // LAYOUT_LIB_SOLVER_BOUNDS_SHAREDCOPYBOUND_H
