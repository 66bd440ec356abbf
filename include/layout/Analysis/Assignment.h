//===- Assignment.h - Minimum-cost assignment of layouts --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses a configuration (a layout for each tensor of an op) for every node
// such that the total cost of the ops in their layouts and of the conversions
// between them is minimal. The IR is only read; the result is a value.
//
//   %0 = conv(%x)      candidates n f h w, n f/16 h w f%16
//   %1 = relu(%0)      both candidates
//   %2 = conv(%1)      both candidates
//   return %2          requires n f h w
//
//   -> all blocked, with one conversion of %2 for the return
//
// The model has one variable per node, whose domain is the node's
// configurations. A tensor with one consumer is one factor between producer and
// consumer. A tensor with several consumers has a 0/1 variable for the copy in
// each layout that more than one of them may request. Consumers require the
// copy, and the producer's layout sets the price of the copy, so a shared
// conversion is counted once. Costs count as often as the op, or the block that
// makes the copy, runs.
//
// Laws:
//  * lowerBound <= minimal cost <= cost; `exact` is true iff they are equal;
//  * fixed types (public functions, types with a layout, ops without a rule)
//    are kept;
//  * rematerializable values (constants, fresh storage) are never converted,
//    but made in the layout that is requested. The memory of constants is
//    counted if `WeightOptions` says so, once per constant and layout;
//  * among assignments of equal cost, one with the fewest conversions inside
//    loops is chosen. In small programs with loops, the number of executed
//    conversions is compared first;
//  * equal IR has equal assignments.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_ASSIGNMENT_H
#define LAYOUT_ANALYSIS_ASSIGNMENT_H

#include "layout/Analysis/Candidates.h"
#include "layout/Solver/FactorGraph.h"

namespace mlir::layout {

/// A conversion of a tensor to another layout that the assignment requires.
struct PlannedConversion {
  Value value;
  LayoutId from = 0, to = 0;
  ConversionPlan plan;
  /// The number of times the conversion runs. `cost` covers all runs.
  int64_t frequency = 1;
  Cost cost = 0;
  /// The consumers of `value` that request it in the layout `to`: the number of
  /// each node, and the configuration that it chose.
  SmallVector<std::pair<unsigned, const OpConfig *>, 2> consumers;
  /// The configuration of the node that makes `value`, or null without such a
  /// node; the type of `value` then fixes its layout.
  const OpConfig *producer = nullptr;
};

/// Holds, as an attribute of the op that is assigned (usually a module), the
/// cost, the lower bound and further statistics of the assignment.
inline constexpr StringLiteral kAssignmentAttr = "layout.assignment";

/// The options for counting the memory and the cost of constants. A constant
/// that is requested in several layouts is stored once in each of them, shared
/// by all functions.
struct WeightOptions {
  /// The maximal bytes of all stored constants, padding included, or
  /// std::nullopt if unlimited. On a mesh, the bytes on one device.
  std::optional<int64_t> budget;
  /// Two percentages, for constants only. A stored byte costs `costPercent`
  /// percent of a moved byte. A conversion costs `packingPercent` percent of
  /// its price, because it runs once, at compile or load time.
  unsigned costPercent = 0, packingPercent = 0;
  /// The maximal peak of live bytes in the memory of one device, or
  /// std::nullopt if unlimited. Live bytes are those of all constants, and of
  /// the tensors and conversion buffers that are live at one point. Ignored if
  /// `budget` is set.
  std::optional<int64_t> memory;

  bool areCounted() const {
    return budget || memory || costPercent || packingPercent;
  }
};

struct LayoutAssignment {
  Program program;
  /// The configurations that the nodes of each class may choose, by class.
  std::vector<Candidates> candidates;
  /// Per node, the index of its configuration in the candidates of its class.
  std::vector<unsigned> choice;
  std::vector<PlannedConversion> conversions;

  /// The total cost of ops, conversions and stored constants, and the part of
  /// it that is the cost of the conversions.
  Cost cost = 0, conversionCost = 0;
  Cost lowerBound = 0;
  bool exact = false;

  /// The options by which the bytes and the cost of constants are counted. They
  /// also apply if `setChoice` replaces the configurations.
  WeightOptions weights;
  /// The bytes of all stored constants, and the cost of storing them. Unset and
  /// 0 if `weights` does not count constants.
  std::optional<int64_t> weightBytes;
  Cost weightCost = 0;
  /// A proven lower bound on the bytes of constants in any assignment. Set only
  /// if no assignment within the weight budget was found; `choice` is then
  /// empty. A bound above the budget proves that none exists.
  std::optional<int64_t> leastWeightBytes;
  /// A proven lower bound on the peak of live bytes of any assignment. Set only
  /// if no assignment within the memory limit was found; `choice` is then
  /// empty, and `memoryOp` is the op at the peak if all tensors keep their
  /// types.
  std::optional<int64_t> leastMemoryBytes;
  /// The peak of live bytes on one device, or std::nullopt if the target does
  /// not measure it. `memoryOp` is the op at which, or after which, the peak
  /// occurs; null if it is unknown.
  std::optional<int64_t> memoryBytes;
  Operation *memoryOp = nullptr;

  /// The numbers of variables and factors (cost tables) of the problem that was
  /// solved.
  unsigned numVariables = 0, numFactors = 0;
  /// The problem, its solution and a proof (`writeCertificate` in Wcsp.h).
  /// Empty if the options did not request them, or if the format cannot express
  /// the problem.
  std::string certificate;
  /// True if a tensor of a node with several candidates has a dynamic size.
  /// Costs then use the target's assumed size.
  bool hasAssumedSizes = false;

  const OpConfig &getConfig(unsigned node) const {
    return candidates[program.nodes[node].nodeClass].configs[choice[node]];
  }
  /// Returns the op of a node. For a node that is an equivalence class, returns
  /// the op that has its first operand or, without operands, the op that makes
  /// its first value or has it as a block argument.
  Operation *getAnchor(unsigned node) const;
};

/// Computes the configurations of all ops below `root` at the least total cost
/// that is found. Each tensor with a constraint has the layout that
/// `constraints` states. Without an assignment within the limits of `weights`,
/// `choice` is empty, and leastWeightBytes or leastMemoryBytes is set.
LayoutAssignment
assignLayouts(Operation *root, CostModel &costs,
              const CandidateLimits &limits = {},
              const SolveOptions &options = {},
              const LayoutConstraints &constraints = LayoutConstraints(),
              const WeightOptions &weights = {});

/// Returns the target's memory limit in bytes, or std::nullopt if the memory is
/// unlimited or not measured.
std::optional<int64_t> getMemoryLimit(const CostModel &costs);

/// Emits the error that no assignment within the memory limit was found, at the
/// op with the highest peak, or at `root` if it is unknown. Requires that
/// `leastMemoryBytes` is set.
void reportMemory(Operation *root, const LayoutAssignment &assignment);

/// Sets the configuration of each node u to `choice[u]`, and computes the
/// conversions and costs that follow. Keeps the lower bound, which does not
/// depend on the choice, and does not update `memoryBytes`.
void setChoice(LayoutAssignment &assignment, std::vector<unsigned> choice,
               CostModel &costs);

/// Returns why an op has its layouts, e.g. "tiles its channels for 16 lanes".
std::string describe(const OpConfig &config, CostModel &costs);

} // namespace mlir::layout

#endif // LAYOUT_ANALYSIS_ASSIGNMENT_H
