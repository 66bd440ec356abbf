//===- DualBound.h - A lower bound by moving costs --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lower bound of a core of any width, in linear time in its tables per pass.
// Costs are moved between a factor and its variables, which changes no sum:
//
//     factor'[x, y] = factor[x, y] - moved_x[x] - moved_y[y]
//     own_x'[x]     = own_x[x] + moved_x[x]     and likewise for y
//
// The sum of the least entries is a lower bound for any moves. Sequential
// tree-reweighted message passing (TRW-S) moves costs so that it rises: along
// an order, each variable takes all it can from the factors with earlier
// variables and gives equal parts to those with later ones; then the same
// backward. The limit is close to the bound of the linear relaxation.
//
// Laws:
//  * Numbers are integers, so that the bound holds exactly.
//  * A pass never lowers the bound.
//  * A value is dropped only if the bound of the assignments with it is
//    infinite, or too high for the caller.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_BOUNDS_DUALBOUND_H
#define LAYOUT_LIB_SOLVER_BOUNDS_DUALBOUND_H

#include "Bounds/SetupCosts.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace mlir::layout {

class DualBound {
public:
  DualBound(const CoreGraph &core, const TableStore &store);

  /// Moves costs along the order of the variables and back (TRW-S), and raises
  /// the bound or leaves it.
  void pass();
  /// Returns the lower bound of the cost of all assignments without dropped
  /// values, or kInfiniteCost if a variable has no value left.
  Cost getBound() const {
    return bound == kForbidden ? kInfiniteCost : unshift(bound);
  }
  /// Returns the work of one pass: the sum, over all factors of several
  /// variables, of their numbers of entries times variables.
  int64_t getWorkOfPass() const { return workOfPass; }

  /// Drops each value of each variable that the bound finds impossible, or for
  /// which isTooMuch(b) returns true, where b is a lower bound of the cost of
  /// all assignments with this value. Returns the number of dropped values.
  unsigned dropValues(llvm::function_ref<bool(Cost)> isTooMuch);

  /// Returns, for each value of a variable, by how much the lower bound rises
  /// if the variable has this value; kInfiniteCost if the value is dropped or
  /// impossible. Valid after `computeExcess`.
  llvm::ArrayRef<Cost> getExcess(unsigned variable) const {
    return llvm::ArrayRef(excess).slice(offsets[variable],
                                        core.getDomain(variable));
  }
  void computeExcess();
  /// Forbids a value of a variable from now on, e.g. because another bound
  /// excludes it.
  void drop(unsigned variable, unsigned value);
  /// Returns the variables of the graph whose costs are moved, in the order in
  /// which the forward half of a pass visits them.
  llvm::ArrayRef<unsigned> getOrder() const { return order; }
  /// Returns the number of values that are not dropped, of all variables except
  /// setup variables, which represent copies of tensors. `getNumVariables`
  /// returns the number of variables that are not setup variables.
  unsigned getNumValues() const {
    return beliefs.size() - numOther - dropped.count();
  }
  unsigned getNumVariables() const { return numVariables; }
  const SetupCosts &getSetupCosts() const { return shared; }

  /// Returns true if moves of costs preserve the cost of every assignment
  /// exactly: no cost is rounded, and there are no setup variables, whose
  /// prices are divided among consumers.
  bool keepsSums() const { return shift == 0 && shared.isEmpty(); }
  /// Returns the graph whose costs are moved: the core if it has no setup
  /// variables, which represent copies of tensors, and otherwise
  /// SetupCosts::getModel(). Variables have the same numbers in both.
  const CoreGraph &getModel() const { return core; }
  /// Returns, per value, the costs moved from a factor of `getModel()` to the
  /// variable at index `place` of its scope, in units of 2^getShift().
  /// Undefined for dropped values.
  llvm::ArrayRef<Cost> getMovedTo(unsigned factor, unsigned place) const {
    return llvm::ArrayRef(getMoved({factor, place}),
                          core.getDomain(core.getScope(factor)[place]));
  }
  unsigned getShift() const { return shift; }
  /// Returns the dropped (variable, value) pairs in the order in which they
  /// were dropped.
  llvm::ArrayRef<std::pair<unsigned, unsigned>> getDrops() const {
    return drops;
  }

  /// Sets `values` to an assignment, variable by variable: each gets the value
  /// that costs least, moved costs included, given the values of the earlier
  /// ones. Setup variables follow from the others. The order is that in which
  /// passes visit variables, or by number if `byNumber`. Returns false if a
  /// variable has no allowed value.
  bool round(std::vector<unsigned> &values, bool byNumber) const;

  bool isDropped(unsigned variable, unsigned value) const {
    return dropped[offsets[variable] + value];
  }
  /// Returns the sum of the entries of a value in all unary factors,
  /// kInfiniteCost if it is forbidden: with moved costs if moves preserve the
  /// cost of every assignment exactly (`keepsSums()`), and otherwise the
  /// original costs.
  Cost getOwn(unsigned variable, unsigned value) const;
  /// Sets `entries` to the table of a factor of two or more variables, with
  /// kInfiniteCost for forbidden entries: with moved costs if moves preserve
  /// the cost of every assignment exactly (`keepsSums()`), and otherwise the
  /// original table.
  void getEntries(unsigned factor, std::vector<Cost> &entries) const;

private:
  /// Replaces kInfiniteCost in the tables of the bound: above any finite entry
  /// after moving, but small enough that sums of a few do not overflow. Entries
  /// from kThreshold on are forbidden.
  static constexpr Cost kForbidden = Cost(1) << 60;
  static constexpr Cost kThreshold = Cost(1) << 59;
  /// The sum of the largest finite entries of all factors stays below this
  /// number; `shift` makes costs smaller for it.
  static constexpr Cost kLargest = Cost(1) << 56;

  struct Slot {
    unsigned factor;
    unsigned place; // of the variable in the scope
  };
  struct Factor {
    const Cost *entries;
    unsigned firstMoved; // per place of the scope, in `moved`
  };

  void addPlaces(unsigned factor);
  void addEntries(Slot slot, llvm::ArrayRef<unsigned> values,
                  llvm::function_ref<bool(unsigned)> isSet,
                  llvm::MutableArrayRef<Cost> sums) const;
  std::optional<unsigned>
  choose(unsigned variable, llvm::ArrayRef<unsigned> values,
         llvm::function_ref<bool(unsigned)> isSet) const;
  void findOrder();
  void linkFactors();
  Cost *getMoved(Slot slot) const {
    return const_cast<Cost *>(moved.data()) +
           movedOffsets[factors[slot.factor].firstMoved + slot.place];
  }
  /// Sets `least` to the min-marginals of a factor for the variable at index
  /// `slot.place` of its scope: per value, the least entry with this value,
  /// after costs have been moved to the other variables of the factor.
  void minimize(Slot slot, llvm::MutableArrayRef<Cost> least) const;
  void take(unsigned variable, llvm::ArrayRef<Slot> slots);
  void give(unsigned variable, llvm::ArrayRef<Slot> slots, unsigned parts);
  void updateBound();

  unsigned findShift() const;
  Cost convert(Cost cost) const {
    return cost == kInfiniteCost ? kForbidden : cost >> shift;
  }
  Cost unshift(Cost cost) const {
    return cost > (kInfiniteCost - 1) >> shift ? kInfiniteCost - 1
                                               : cost << shift;
  }
  /// Calls fn(entry, values) for all entries of a factor, less the costs moved
  /// to its variables; `values` has the value of each variable of its scope.
  template <typename Fn> void forEachEntry(unsigned factor, Fn fn) const;
  /// Calls fn once for each factor of two or more variables, one of which is
  /// `variable`, with the factor and the index of the variable in its scope.
  template <typename Fn> void forEachSlot(unsigned variable, Fn fn) const;

  const CoreGraph &original;
  const TableStore &store;
  /// The exponent of the unit of costs, 2^shift, which keeps sums small. 0
  /// unless costs are huge; otherwise bounds are rounded down.
  unsigned shift = 0;
  SetupCosts shared;
  const CoreGraph &core; // without setup variables
  unsigned numVariables = 0, numOther = 0;
  std::vector<std::vector<Cost>> tables; // with kForbidden
  std::vector<Factor> factors;           // per factor of the core
  std::vector<unsigned> offsets;         // per variable
  std::vector<Cost> beliefs, excess;     // per value
  llvm::BitVector dropped;
  std::vector<std::pair<unsigned, unsigned>> drops;
  std::vector<unsigned> movedOffsets;
  std::vector<Cost> moved;

  std::vector<unsigned> order, ranks;
  std::vector<llvm::SmallVector<Slot, 4>> before, after; // per variable
  Cost bound = 0;
  int64_t workOfPass = 0;
  mutable std::vector<Cost> scratch;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_SOLVER_BOUNDS_DUALBOUND_H
