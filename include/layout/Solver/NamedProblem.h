//===- NamedProblem.h - Ops, tensors and shared copies in JSON --*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layout assignment without IR: each op chooses one of its configurations,
// which has a cost and names the layouts in which the op produces and reads its
// tensors. A copy of a tensor in another layout has a price, and serves all
// consumers that read that layout.
//
//     {"ops": {"conv": {"plain": 90, "packed": 40}},
//      "tensors": {"x": {
//        "producer": {"layout": "NCHW"},
//        "consumers": [{"op": "conv",
//                       "layouts": {"plain": "NCHW", "packed": "NCHW16c"}}],
//        "conversions": {"NCHW": {"NCHW16c": 20}}}}}
//
//     NamedProblem problem = cantFail(readNamedProblem(text));
//     problem.makeAnswer(cantFail(problem.solve()))
//         // {"configurations": {"conv": "packed"},
//         //  "copies": {"x": ["NCHW16c"]},
//         //  "cost": 60, "lower_bound": 60, "open": [], "proven": true}
//
// docs/solver.md describes every key.
//
// Laws:
//  * Everything is sorted by name before it is solved, so the answer does not
//    depend on the order of keys, consumers or factors, to the bit.
//  * Any other text is an error with a location, including unknown keys and
//    names, and prices that are not integers from 0 to 2^63 - 3.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SOLVER_NAMEDPROBLEM_H
#define LAYOUT_SOLVER_NAMEDPROBLEM_H

#include "layout/Solver/DecisionProblem.h"
#include "llvm/Support/JSON.h"

namespace mlir::layout {

struct NamedTensor {
  std::string name;
  std::vector<std::string> layouts; // by number, sorted
};

struct NamedProblem {
  explicit NamedProblem(int64_t maxEntries) : problem(maxEntries) {}

  DecisionProblem problem;
  /// The names of the ops, and the names of the configurations of each. Op i is
  /// variable i of the problem, and its values are the indices of its
  /// configurations.
  std::vector<std::string> ops;
  std::vector<std::vector<std::string>> configurations;
  std::vector<NamedTensor> tensors;
  /// The configurations of a known assignment, or an empty list.
  std::vector<unsigned> initial;

  llvm::Expected<DecisionAnswer> solve(SolveOptions options = {}) const;
  /// Returns the answer in JSON. The key `statistics`, which differs from run
  /// to run, is included on request.
  llvm::json::Value makeAnswer(const DecisionAnswer &answer,
                               bool withStatistics = false) const;
};

/// Parses a problem from JSON. Returns an error if the text is wrong, or if the
/// tables of the problem would have `maxEntries` or more entries in total.
llvm::Expected<NamedProblem>
readNamedProblem(llvm::StringRef text, int64_t maxEntries = kMaxWcspEntries);

} // namespace mlir::layout

#endif // LAYOUT_SOLVER_NAMEDPROBLEM_H
