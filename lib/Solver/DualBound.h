//===- DualBound.h - A lower bound by moving costs --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A lower bound of a core of any width, in time linear in its tables per pass.
// Costs are moved between a factor and its variables, which changes no sum:
//
//     factor'[x, y] = factor[x, y] - moved_x[x] - moved_y[y]
//     own_x'[x]     = own_x[x] + moved_x[x]     and so for y
//
// The sum of the least entries of all is a lower bound, whatever was moved.
// Moving costs so that it rises is sequential tree-reweighted message passing:
// in an order of the variables, each takes what it can from the factors with
// earlier ones and hands equal parts of it to those with later ones; then the
// same backwards. Its limit is close to the bound of the linear relaxation.
//
// Laws:
//  * numbers are integers, so that the bound holds exactly;
//  * no pass lowers the bound;
//  * a value is dropped where every assignment that has it costs `upper` or
//    more, by the bound that it gives.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_DUALBOUND_H
#define LAYOUT_LIB_SOLVER_DUALBOUND_H

#include "SharedCosts.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <optional>

namespace mlir {
namespace layout {

class DualBound {
public:
  DualBound(const CoreGraph &core, const TableStore &store);

  /// One pass over the variables forward, and one back.
  void pass();
  /// kInfiniteCost where some variable has no value left.
  Cost getBound() const {
    return bound == kForbidden ? kInfiniteCost : unshift(bound);
  }
  /// Entries of tables that a pass looks at.
  int64_t getWorkOfPass() const { return workOfPass; }

  /// Drops values for which isTooMuch(bound of the assignments that have it);
  /// returns how many.
  unsigned dropValues(llvm::function_ref<bool(Cost)> isTooMuch);

  /// Of the values of a variable, by how much each raises the bound;
  /// kInfiniteCost for those dropped.
  llvm::ArrayRef<Cost> getExcess(unsigned variable) const {
    return llvm::ArrayRef(excess).slice(offsets[variable],
                                        core.getDomain(variable));
  }
  void computeExcess();
  /// Takes a value out of which something else knows that it is too expensive.
  void drop(unsigned variable, unsigned value);
  /// The variables of the model as passes go.
  llvm::ArrayRef<unsigned> getOrder() const { return order; }
  /// Values that are left of the variables that are no switches, and how many
  /// such variables there are.
  unsigned getNumValues() const {
    return beliefs.size() - numOther - dropped.count();
  }
  unsigned getNumVariables() const { return numVariables; }
  const SharedCosts &getSharedCosts() const { return shared; }

  /// Factors as they are with what was moved have the sums of those as they
  /// were.
  bool keepsSums() const { return shift == 0 && shared.isEmpty(); }
  /// What costs are moved in: the core without switches. Its variables have the
  /// numbers of those of the core; one more may be there that has one value.
  const CoreGraph &getModel() const { return core; }
  /// What was moved from a factor of the model to its variable at `place`, in
  /// units of 2^getShift(); of no meaning for values that are dropped.
  llvm::ArrayRef<Cost> getMovedTo(unsigned factor, unsigned place) const {
    return llvm::ArrayRef(getMoved({factor, place}),
                          core.getDomain(core.getScope(factor)[place]));
  }
  unsigned getShift() const { return shift; }
  /// Variables and values, the first that was dropped first.
  llvm::ArrayRef<std::pair<unsigned, unsigned>> getDrops() const {
    return drops;
  }

  /// Gives values to all variables by what is moved, one after the other as
  /// passes go or by number. False at a dead end.
  bool round(std::vector<unsigned> &values, bool byNumber) const;
  /// Changes one value after the other while that makes the sum smaller.
  void descend(std::vector<unsigned> &values) const;

  bool isDropped(unsigned variable, unsigned value) const {
    return dropped[offsets[variable] + value];
  }
  /// What all factors of the variable alone have for a value after moving;
  /// unless costs are shifted or shared, which leaves them as they were.
  Cost getOwn(unsigned variable, unsigned value) const;
  /// The same for the entries of a factor of two variables or more.
  void getEntries(unsigned factor, std::vector<Cost> &entries) const;

private:
  /// Larger than what moving makes of finite entries, and small enough for
  /// sums.
  static constexpr Cost kForbidden = Cost(1) << 60;
  static constexpr Cost kThreshold = Cost(1) << 59;
  /// What finite entries may add up to.
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
  /// What a factor allows its variable at `place` to take, per value.
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
  /// Calls fn(entry, place -> value) for the entries of a factor after moving.
  template <typename Fn> void forEachEntry(unsigned factor, Fn fn) const;
  /// Calls fn(slot) for each factor of a variable.
  template <typename Fn> void forEachSlot(unsigned variable, Fn fn) const;

  const CoreGraph &original;
  const TableStore &store;
  /// Costs are counted in 2^shift, so that sums stay small. 0 unless they are
  /// huge; with more, bounds are rounded down.
  unsigned shift = 0;
  SharedCosts shared;
  const CoreGraph &core; // without switches
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

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_SOLVER_DUALBOUND_H
