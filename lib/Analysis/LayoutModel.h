//===- LayoutModel.h - A choice of layouts as a factor graph ----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Turns a program with candidates into the variables and tables of the solver.
// What the tensors of one class add to the graph is worked out once, as a
// pattern of tables over roles, and repeated for each of them.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_ANALYSIS_LAYOUTMODEL_H
#define LAYOUT_LIB_ANALYSIS_LAYOUTMODEL_H

#include "CommonTails.h"
#include "Memory.h"
#include "Weights.h"
#include "layout/Solver/Budget.h"
#include <map>

namespace mlir {
namespace layout {

class SequenceModel;

class LayoutModel {
public:
  LayoutModel(const Program &program, ArrayRef<Candidates> candidates,
              CostModel &costs, const WeightOptions &weights = {})
      : program(program), candidates(candidates), costs(costs),
        weights(weights) {}

  /// From now on assignments of equal cost are told apart where the program has
  /// loops: by how many conversions run, where they are few enough to be
  /// counted, then by how many stand in loops. Costs are scaled so
  /// small that all of this is less than 1. False where there are no loops, or
  /// numbers would get too large.
  bool breakTies();

  /// What the solver's costs mean: the largest cost that is not above.
  Cost getCost(Cost ofSolver) const {
    return ofSolver == kInfiniteCost ? ofSolver : ofSolver / scale;
  }

  /// One variable per node comes first, in their order; the others say which
  /// copies there are.
  FactorGraph build();

  /// Adds what is alive at these points to the budget, and to the graph that
  /// `build` has made.
  void addPeaks(FactorGraph &graph, ArrayRef<const MemoryPoint *> points,
                MemoryModel &memory);

  /// Of the bytes of weights, which `build` has counted, and of peaks.
  const Budget &getBudget() const { return budget; }

  /// For the solver to start from: all as typed, with every copy.
  ArrayRef<unsigned> getInitial() const { return initial; }

  /// The layouts in which a consumer asks for a tensor, each once.
  static SmallVector<LayoutId, 2> getNeeds(const OpConfig &config,
                                           ArrayRef<unsigned> operands);

  /// The layout that a tensor is made in.
  LayoutId getMade(const TensorClass &tensor, unsigned producerConfig) const;

  /// Whether a copy of a tensor may take its place: its only user has it, and
  /// it belongs to the op that made it.
  static bool mayOverwrite(const TensorClass &tensor) {
    return tensor.producer && isOverwritable(tensor.first);
  }

  /// How often the copy that these consumers ask for is made: one for all, or
  /// one for each where that is less.
  static int64_t
  getCopyFrequency(const TensorClass &tensor,
                   ArrayRef<const TensorClass::Consumer *> askers);

private:
  friend class SequenceModel;
  using LayoutSet = SmallVector<LayoutId, 2>; // ascending

  /// Tables over roles: 0 is the producer, then the consumers, then variables
  /// that say which copies there are.
  struct Pattern {
    struct Entry {
      SmallVector<unsigned, 2> roles;
      TableId table;
    };
    /// The values of a variable, and the one for all as typed.
    struct Copies {
      unsigned domain, initial;
    };
    SmallVector<Copies, 1> copies;
    std::vector<Entry> entries;
    /// Where one variable stands for the copies that many consumers ask for:
    /// the sets of layouts that are its values, and what each consumer asks
    /// for, as a number.
    std::vector<LayoutSet> sets;
    SmallVector<unsigned, 2> asks;
  };

  /// What a tensor may be made in, and what its consumers may ask for.
  struct Demand {
    SmallVector<LayoutId, 8> made, asked;
    /// Of each configuration of the producer, the number in `made`.
    SmallVector<unsigned, 12> madeBy;
    /// Of each consumer's configurations, the numbers in `asked`.
    std::vector<SmallVector<SmallVector<unsigned, 1>, 0>> askedBy;
    /// How many consumers may ask for each.
    SmallVector<unsigned, 8> numAskers;
    /// Of one conversion, `made` by `asked`.
    std::vector<Cost> costs;
  };
  Demand getDemand(const TensorClass &tensor);
  /// The patterns; returns what the configurations of each class of nodes cost,
  /// unless that is nothing.
  std::vector<std::optional<TableId>> makeTables();
  Pattern makePattern(const TensorClass &tensor);
  /// One variable for all copies, whose values are sets of layouts; false where
  /// there would be too many.
  bool addCopiesAsSets(Pattern &pattern, const TensorClass &tensor,
                       const Demand &demand);
  /// Equal for consumers that ask for the same in each configuration.
  unsigned getAsk(const TensorClass::Consumer &consumer);
  void addWeights();
  void addCopies(ArrayRef<Weight::Use> uses,
                 ArrayRef<SmallVector<SmallVector<unsigned, 1>, 0>> askedBy,
                 ArrayRef<SmallVector<unsigned, 1>> kept);
  void addKept(unsigned variable, ArrayRef<SmallVector<unsigned, 1>> kept,
               ArrayRef<int64_t> bytes, ArrayRef<Cost> prices);
  CommonTails findCommonConsumers() const;
  void addTensors();
  TableId makeSupersetTable(const Pattern &pattern, const Pattern &part);
  /// One variable for each layout that several consumers may ask for.
  void addCopiesOneByOne(Pattern &pattern, const TensorClass &tensor,
                         const Demand &demand);
  /// Of a copy for all consumers of a tensor, or for one: from what a
  /// configuration of the producer makes to asked[i].
  template <typename Users>
  Cost getPrice(const Demand &demand, unsigned producerConfig, unsigned i,
                const Users &users) const {
    unsigned made = demand.madeBy[producerConfig];
    Cost cost = scaleCost(demand.costs[made * demand.asked.size() + i],
                          users.frequency);
    if (scale == 1 || demand.made[made] == demand.asked[i])
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
  /// The term of each variable that has one.
  llvm::DenseMap<unsigned, unsigned> termOf;
  /// A cost of 1, and a run of a conversion, in terms of a conversion in one
  /// loop.
  Cost scale = 1, perMove = 0;
  FactorGraph graph;
  std::vector<unsigned> initial;
  std::vector<Pattern> patterns; // per class of tensors
  std::map<std::vector<LayoutId>, unsigned> asks;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_ANALYSIS_LAYOUTMODEL_H
