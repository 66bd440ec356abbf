//===- NamedProblem.h - Ops, tensors and shared copies in JSON --*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The decision without IR: each op takes one of its configurations, which has a
// cost and says in which layout the op makes and reads its tensors. A copy of a
// tensor in another layout has a price, and serves all consumers that ask for
// that layout.
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
// docs/solver.md says what each key means.
//
// Laws:
//  * everything is put in the order of names before it is solved, so that the
//    answer depends on nothing that the order of keys, consumers or factors
//    changes, to the bit;
//  * a text that is no such problem is an error that says where: unknown keys
//    and names, prices that are no integers from 0 to 2^63 - 3.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SOLVER_NAMEDPROBLEM_H
#define LAYOUT_SOLVER_NAMEDPROBLEM_H

#include "layout/Solver/Wcsp.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <optional>

namespace mlir {
namespace layout {

/// The end of a tensor at an op, or with a given layout where there is no op.
struct NamedEnd {
  std::optional<unsigned> op;
  std::vector<std::string> layouts; // per configuration, or the one

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
  /// The first variables of the graph, by name, and their configurations. The
  /// others say which copies there are.
  std::vector<std::string> ops;
  std::vector<std::vector<std::string>> configurations;
  std::vector<NamedTensor> tensors;

  llvm::json::Value makeAnswer(const Solution &solution) const;
};

/// `maxEntries` bounds the tables of the graph together.
llvm::Expected<NamedProblem>
readNamedProblem(llvm::StringRef text, int64_t maxEntries = kMaxWcspEntries);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_SOLVER_NAMEDPROBLEM_H
