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
//     llvm::Expected<NamedProblem> problem = readNamedProblem(text);
//     Solution solution = problem->graph.solve();
//     problem->makeAnswer(solution)
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

#include "layout/Solver/Wcsp.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <optional>

namespace mlir::layout {

/// A producer or consumer of a tensor: an op, or a fixed layout if `op` is not
/// set.
struct NamedEnd {
  std::optional<unsigned> op;
  std::vector<std::string> layouts; // per configuration, or the fixed one

  bool operator<(const NamedEnd &other) const {
    return std::tie(op, layouts) < std::tie(other.op, other.layouts);
  }
};

struct NamedTensor {
  std::string name;
  NamedEnd producer;
  std::vector<NamedEnd> consumers;
};

struct NamedProblem {
  FactorGraph graph;
  /// The names of the ops, and the names of the configurations of each. Op i is
  /// variable i of the graph, and its values are the indices of its
  /// configurations. The variables after the ops represent copies of tensors.
  std::vector<std::string> ops;
  std::vector<std::vector<std::string>> configurations;
  std::vector<NamedTensor> tensors;

  llvm::json::Value makeAnswer(const Solution &solution) const;
};

/// Parses a problem from JSON. Returns an error if the text is wrong, or if the
/// tables of the graph would have `maxEntries` or more entries in total.
llvm::Expected<NamedProblem>
readNamedProblem(llvm::StringRef text, int64_t maxEntries = kMaxWcspEntries);

} // namespace mlir::layout

#endif // LAYOUT_SOLVER_NAMEDPROBLEM_H
