//===- Assignment.h - One layout per tensor, at the least cost --*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses a configuration for every op such that the sum of what the ops cost
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
// How it is modelled: one variable per op with its configurations as domain.
// A value with one consumer is one factor between producer and consumer. A
// value with more has, per layout that several of them may ask for, a variable
// "is there a copy in this layout": consumers demand it, the producer's layout
// prices it. So one conversion serves all consumers, and is paid once.
//
// Laws:
//  * lowerBound <= the least possible cost <= cost; exact iff they are equal;
//  * fixed types (function boundaries, types with a layout, ops without a rule)
//    are kept;
//  * values of free sources (constants, fresh storage) are never converted:
//    they are made in the layout that is asked for.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_ASSIGNMENT_H
#define LAYOUT_ANALYSIS_ASSIGNMENT_H

#include "layout/Analysis/Candidates.h"

namespace mlir {
namespace layout {

/// One conversion that the assignment needs.
struct PlannedConversion {
  Value value;
  LayoutId from = 0, to = 0;
  ConversionPlan plan;
  Cost cost = 0;
  /// The ops that ask for the layout, and why each has chosen it.
  SmallVector<std::pair<Operation *, const OpConfig *>, 2> consumers;
  /// What made the value; null for block arguments.
  const OpConfig *producer = nullptr;
};

struct LayoutAssignment {
  CandidateSet candidates;
  /// The configuration of each of `candidates.ops`.
  std::vector<unsigned> choice;
  std::vector<PlannedConversion> conversions;

  /// Of ops and conversions together, and the part of the conversions.
  Cost cost = 0, conversionCost = 0;
  Cost lowerBound = 0;
  bool exact = false;

  /// The size of the problem that was solved.
  unsigned numVariables = 0, numFactors = 0;
  /// Some type has a dynamic size, which costs as the target assumes.
  bool hasAssumedSizes = false;

  const OpConfig &getConfig(unsigned op) const {
    return candidates.ops[op].configs[choice[op]];
  }
};

/// Decides for everything below `root`.
LayoutAssignment assignLayouts(Operation *root, CostModel &costs,
                               const CandidateLimits &limits = {},
                               const SolveOptions &options = {});

/// Why an op has its layouts, for a reader: "tiles its channels for 16 lanes".
std::string describe(const OpConfig &config, CostModel &costs);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ANALYSIS_ASSIGNMENT_H
