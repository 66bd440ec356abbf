//===- Assignment.h - One layout per tensor, at the least cost --*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses a configuration for every node such that the sum of what the ops cost
// in their layouts and of what the conversions between them cost is least. The
// IR is only read; the answer is a value.
//
//   %0 = conv(%x)      offers n f h w, n f/16 h w f%16
//   %1 = relu(%0)      offers both
//   %2 = conv(%1)      offers both
//   return %2          takes n f h w
//
//   -> all blocked, one conversion, of %2, for the return
//
// How it is modeled: one variable per node with its configurations as domain.
// A tensor with one consumer is one factor between producer and consumer. A
// tensor with more has, per layout that several of them may ask for, a variable
// "is there a copy in this layout": consumers demand it, the producer's layout
// prices it. So one conversion serves all consumers, and is paid once. Costs
// count as often as the op, or the block in which the copy is made, runs.
//
// Laws:
//  * lowerBound <= the least possible cost <= cost; exact iff they are equal;
//  * fixed types (public functions, types with a layout, ops without a rule)
//    are kept;
//  * values of free sources (constants, fresh storage) are never converted:
//    they are made in the layout that is asked for. What that takes is counted
//    where `WeightOptions` say so, once for each constant and layout;
//  * of assignments that cost the same one with the fewest conversions in loops
//    is taken; before that counts, in small programs with loops, how many
//    conversions run at all;
//  * the same IR gives the same assignment.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_ASSIGNMENT_H
#define LAYOUT_ANALYSIS_ASSIGNMENT_H

#include "layout/Analysis/Candidates.h"
#include "layout/Solver/FactorGraph.h"

namespace mlir {
namespace layout {

/// One conversion that the assignment needs.
struct PlannedConversion {
  Value value;
  LayoutId from = 0, to = 0;
  ConversionPlan plan;
  /// How often it runs; `cost` is of all runs.
  int64_t frequency = 1;
  Cost cost = 0;
  /// The nodes that ask for the layout, and why each has chosen it.
  SmallVector<std::pair<unsigned, const OpConfig *>, 2> consumers;
  /// What made the value; null where its layout is fixed.
  const OpConfig *producer = nullptr;
};

/// The attribute of a module that holds the figures of its assignment.
inline constexpr StringLiteral kAssignmentAttr = "layout.assignment";

/// What constants count. A constant that is wanted in several layouts is kept
/// in each, for all functions together.
struct WeightOptions {
  /// Bytes that all of them may take, padding included; on a mesh, of one
  /// device.
  std::optional<int64_t> budget;
  /// What a byte that is kept costs, in hundredths of one that is moved, and
  /// which share of its price a conversion of a constant costs, which happens
  /// once, when a program is compiled or loaded.
  unsigned costPercent = 0, packingPercent = 0;
  /// Bytes of one memory, which all that is alive at once may take: constants,
  /// and what Memory.h finds. A budget counts instead.
  std::optional<int64_t> memory;

  bool areCounted() const {
    return budget || memory || costPercent || packingPercent;
  }
};

struct LayoutAssignment {
  Program program;
  /// Per class of nodes.
  std::vector<Candidates> candidates;
  /// The configuration of each node.
  std::vector<unsigned> choice;
  std::vector<PlannedConversion> conversions;

  /// Of ops and conversions together, and the part of the conversions.
  Cost cost = 0, conversionCost = 0;
  Cost lowerBound = 0;
  bool exact = false;

  /// What constants count, with this choice or another one.
  WeightOptions weights;
  /// Of constants, where these are counted: what is kept, and the part of the
  /// cost that this has.
  std::optional<int64_t> weightBytes;
  Cost weightCost = 0;
  /// Nothing that keeps to the budget was found, and then nothing is chosen.
  /// Proven is that at least so many bytes are taken: where these are more than
  /// the budget, that nothing keeps to it.
  std::optional<int64_t> leastWeightBytes;
  /// The same of all that is alive at once, and where that is.
  std::optional<int64_t> leastMemoryBytes;
  /// Where the target has a memory: the most bytes that are alive at once in
  /// it, and the op at which, or behind which, they are.
  std::optional<int64_t> memoryBytes;
  Operation *memoryOp = nullptr;

  /// The size of the problem that was solved.
  unsigned numVariables = 0, numFactors = 0;
  /// That problem with its solution and a proof (`writeCertificate` in Wcsp.h),
  /// where the options ask for it. Empty where the format cannot say it.
  std::string certificate;
  /// Some type has a dynamic size, which costs as the target assumes.
  bool hasAssumedSizes = false;

  const OpConfig &getConfig(unsigned node) const {
    return candidates[program.nodes[node].nodeClass].configs[choice[node]];
  }
  /// The op that chooses, or the first use of a tie.
  Operation *getAnchor(unsigned node) const;
};

/// Decides for everything below `root`, keeping `constraints`.
LayoutAssignment
assignLayouts(Operation *root, CostModel &costs,
              const CandidateLimits &limits = {},
              const SolveOptions &options = {},
              const LayoutConstraints &constraints = LayoutConstraints(),
              const WeightOptions &weights = {});

/// The bytes that the memory of the target has, where it states them.
std::optional<int64_t> getMemoryLimit(const CostModel &costs);

/// Emits the error of an assignment with `leastMemoryBytes`: at the op at which
/// most is taken, or at `root`.
void reportMemory(Operation *root, const LayoutAssignment &assignment);

/// Takes the configuration `choice[u]` for each node u, with the conversions
/// that this makes necessary and what they, the ops and constants cost. The
/// lower bound is of the program, so it stays.
void setChoice(LayoutAssignment &assignment, std::vector<unsigned> choice,
               CostModel &costs);

/// Why an op has its layouts, for a reader: "tiles its channels for 16 lanes".
std::string describe(const OpConfig &config, CostModel &costs);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ANALYSIS_ASSIGNMENT_H
