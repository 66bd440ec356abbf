//===- LayoutModel.h - Layout assignment as a factor graph ------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Builds the solver's variables and tables from a program with candidates. The
// tables of a tensor class are computed once, as a pattern over roles, and
// instantiated for each tensor of the class.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_ANALYSIS_LAYOUTMODEL_H
#define LAYOUT_LIB_ANALYSIS_LAYOUTMODEL_H

#include "Memory/PeakMemory.h"
#include "Memory/Weights.h"
#include "Programs/SuffixTrie.h"
#include "layout/Solver/Budget.h"
#include <map>

namespace mlir::layout {

class LayoutModel {
public:
  LayoutModel(const Program &program, ArrayRef<Candidates> candidates,
              CostModel &costs, const WeightOptions &weights = {})
      : program(program), candidates(candidates), costs(costs),
        weights(weights) {}

  /// Enables tie-breaking between assignments of equal cost in programs with
  /// loops: by the number of executed conversions, if it is small enough to be
  /// counted, then by the number of conversions inside loops. Costs are
  /// multiplied by a factor such that all of this is less than 1. Returns false
  /// if there are no loops or numbers would overflow.
  bool breakTies();

  /// Returns a cost of the solver in the unit of the program, i.e. divided by
  /// `scale` and rounded down. Returns kInfiniteCost unchanged.
  Cost getCost(Cost ofSolver) const {
    return ofSolver == kInfiniteCost ? ofSolver : ofSolver / scale;
  }

  /// Builds the solver's graph, once per model. The first variables are those
  /// of the nodes, in order; the others represent copies.
  FactorGraph build();

  /// Adds a limit on the live bytes at each of `points` to the budget. Bytes
  /// that depend on several nodes become variables, which are appended to
  /// `graph` (the result of `build`) and to the initial assignment.
  void addPeaks(FactorGraph &graph, ArrayRef<const LivenessPoint *> points,
                MemoryModel &memory);

  /// Returns the budget: the bytes of constants, which `build` counts, and the
  /// live bytes at the points given to `addPeaks`.
  const Budget &getBudget() const { return budget; }

  /// Returns the solver's initial assignment: for each variable of the graph,
  /// the number of its value. Every node has its first configuration (value 0),
  /// usually its given types. A variable of copies has the value by which all
  /// copies that these configurations need exist: 1 for a single copy, else the
  /// number of a set of copies. A variable of live bytes has the largest
  /// amount.
  ArrayRef<unsigned> getInitial() const { return initial; }

  /// Returns the layouts in which a consumer with this configuration requests a
  /// tensor, each layout once. `operands` are the numbers of the operands by
  /// which the consumer reads it.
  static SmallVector<LayoutId, 2> getNeeds(const OpConfig &config,
                                           ArrayRef<unsigned> operands);

  /// Returns the layout in which the producer makes a tensor with the given
  /// configuration, or the layout of the tensor's type if no node makes it.
  LayoutId getMade(const TensorClass &tensor, unsigned producerConfig) const;

  /// Returns true if a copy of a tensor may overwrite it: a node makes the
  /// tensor, and isOverwritable holds for the first tensor of the class.
  static bool mayOverwrite(const TensorClass &tensor) {
    return tensor.producer && isOverwritable(tensor.first);
  }

  /// Returns how often copies of a tensor for these consumers run: the
  /// frequency of one shared copy, or the sum of those of one copy for each, if
  /// that is less.
  static int64_t
  getCopyFrequency(const TensorClass &tensor,
                   ArrayRef<const TensorClass::Consumer *> consumers);

private:
  using LayoutSet = SmallVector<LayoutId, 2>; // ascending

  /// The factors of each tensor of a class, with roles in place of variables.
  /// Role 0 is the node of the producer, followed by the nodes of the consumers
  /// and the variables of copies. Without a producer, no factor has role 0.
  struct Pattern {
    struct Entry {
      SmallVector<unsigned, 2> roles;
      TableId table;
    };
    /// The number of values of a variable that represents copies, and its value
    /// if all nodes have their first configuration.
    struct Copies {
      unsigned domain, initial;
    };
    SmallVector<Copies, 1> copies;
    std::vector<Entry> entries;
    /// If one variable represents the copies for at least kManyConsumers
    /// consumers: the layout sets that are its values, and a number per
    /// consumer that is equal for those that request the same layouts.
    /// Otherwise both are empty.
    std::vector<LayoutSet> sets;
    SmallVector<unsigned, 2> requests;
  };

  /// The layouts that a producer may make, and that consumers may request.
  struct Demand {
    SmallVector<LayoutId, 8> made, requested;
    /// The index in `made` for each configuration of the producer. Without a
    /// producer, one index, that of the layout of the tensor's type.
    SmallVector<unsigned, 12> madeBy;
    /// The indices in `requested` for each configuration of each consumer.
    std::vector<SmallVector<SmallVector<unsigned, 1>, 0>> requestedBy;
    /// The number of consumers that may request each layout.
    SmallVector<unsigned, 8> numConsumers;
    /// The costs of one conversion, as a matrix of `made` by `requested`.
    std::vector<Cost> costs;
  };
  Demand getDemand(const TensorClass &tensor);
  /// Computes the pattern, i.e. the cost tables of copies, of each tensor
  /// class. Returns the cost table of each node class, or std::nullopt if all
  /// of its costs are 0.
  std::vector<std::optional<TableId>> makeTables();
  Pattern makePattern(const TensorClass &tensor);
  /// Adds one variable for all copies of a tensor, whose values are sets of
  /// layouts. Returns false, with no change, if there are more than 12 layouts
  /// or 64 sets, or if a copy for one consumer alone may run less often than a
  /// shared one.
  bool addCopiesAsSets(Pattern &pattern, const TensorClass &tensor,
                       const Demand &demand);
  /// Returns a number that two consumers share iff, for every c, configuration
  /// c of the one requests the same layouts as configuration c of the other.
  unsigned getRequest(const TensorClass::Consumer &consumer);
  void addWeights();
  void addCopies(ArrayRef<Weight::Use> uses,
                 ArrayRef<SmallVector<SmallVector<unsigned, 1>, 0>> requestedBy,
                 ArrayRef<SmallVector<unsigned, 1>> kept);
  void addKept(unsigned variable, ArrayRef<SmallVector<unsigned, 1>> kept,
               ArrayRef<int64_t> bytes, ArrayRef<Cost> prices);
  SuffixTrie findCommonConsumers() const;
  void addTensors();
  TableId makeSupersetTable(const Pattern &pattern, const Pattern &part);
  /// Adds one variable for each layout that several consumers may request and
  /// whose copy may have a cost. Copies in layouts that only one consumer may
  /// request have costs without a variable.
  void addCopiesOneByOne(Pattern &pattern, const TensorClass &tensor,
                         const Demand &demand);
  /// Returns the cost, times `scale` plus tie-breaking terms, of a copy of a
  /// tensor in layout requested[i] if the producer has the given configuration.
  /// `users` has the frequency of the copy: a consumer, or the class of the
  /// tensor for a shared copy.
  template <typename Users>
  Cost getPrice(const Demand &demand, unsigned producerConfig, unsigned i,
                const Users &users) const {
    unsigned made = demand.madeBy[producerConfig];
    Cost cost = scaleCost(demand.costs[made * demand.requested.size() + i],
                          users.frequency);
    if (scale == 1 || demand.made[made] == demand.requested[i])
      return cost;
    return addCosts(scaleCost(cost, scale),
                    perMove * users.frequency + users.depth);
  }
  void addEntry(Pattern &pattern, const TensorClass &tensor,
                ArrayRef<unsigned> roles, std::vector<Cost> table);
  ArrayRef<OpConfig> getConfigs(unsigned nodeClass) const {
    return candidates[nodeClass].configs;
  }

  const Program &program;
  ArrayRef<Candidates> candidates;
  CostModel &costs;
  WeightOptions weights;
  Budget budget;
  /// The index of the budget term of each variable that has one.
  llvm::DenseMap<unsigned, unsigned> termOf;
  /// The costs of the solver that represent a cost of 1 (`scale`), and one
  /// executed conversion (`perMove`, or 0 if they are not counted). A
  /// conversion inside of d loops adds d, to break ties.
  Cost scale = 1, perMove = 0;
  FactorGraph graph;
  std::vector<unsigned> initial;
  std::vector<Pattern> patterns; // per class of tensors
  std::map<std::vector<LayoutId>, unsigned> requests;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_ANALYSIS_LAYOUTMODEL_H
