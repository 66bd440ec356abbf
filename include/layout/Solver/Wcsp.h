//===- Wcsp.h - Reader and writer of the wcsp format ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The wcsp format, which toulbar2 and other solvers of weighted constraint
// satisfaction read and write: words and integers separated by white space.
//
//     example 2 2 2 100    name, variables, largest domain, functions, bound
//     2 2                  the domain of each variable
//     1 0 0 1              arity, scope, cost of unlisted tuples, their count
//     1 5                  a listed tuple: its values, then its cost
//     2 0 1 0 2
//     0 0 7
//     0 1 1
//
// (the words on the right are not part of it). Costs are integers >= 0. A
// solution costs less than the bound, and an entry that does not is forbidden:
// it is read as kInfiniteCost. A negative arity defines a shared function. A
// later function reuses its tuples if its number of tuples is -1 for the first
// shared function, -2 for the second, and so on.
//
//     llvm::Expected<WcspProblem> problem = readWcsp(text);
//     if (!problem)
//       ..                      "2:3: error: .." with line and column
//     Solution solution = problem->solve();
//
// Laws:
//  * readWcsp reads what writeWcsp writes. The two problems have the same
//    variables, factors and entries, except those that the bound forbids;
//    writing again gives the same text.
//  * readWcsp returns an error for any other text, for functions that are named
//    by a keyword instead of tuples, for variables of negative domain
//    (intervals), and for problems above its limits. It allocates memory for at
//    most `maxEntries` entries, whatever the text claims.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SOLVER_WCSP_H
#define LAYOUT_SOLVER_WCSP_H

#include "layout/Solver/FactorGraph.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace mlir::layout {

struct WcspProblem {
  /// The name of the problem, without white space.
  std::string name = "problem";
  FactorGraph graph;
  /// The exclusive upper bound of the cost: assignments that cost this or more
  /// do not count. kInfiniteCost allows all finite costs.
  Cost upperBound = kInfiniteCost;

  /// Solves the graph, ignoring assignments of cost `upperBound` or more. A
  /// lower bound that reaches `upperBound` is reported as kInfiniteCost.
  Solution solve(const SolveOptions &options = {}) const;
};

/// The maximum number of variables of a cost function, i.e. of a table of the
/// problem.
constexpr unsigned kMaxWcspArity = 64;

/// The default limit of readers on the size of a problem: the sum of all domain
/// sizes and table entries. Larger problems are errors.
constexpr int64_t kMaxWcspEntries = int64_t(1) << 27;

llvm::Expected<WcspProblem> readWcsp(llvm::StringRef text,
                                     int64_t maxEntries = kMaxWcspEntries);

/// Writes a problem. Fails without output if the name is not one word, or if no
/// bound is given and the largest finite costs of all tables sum to 2^63 - 3 or
/// more, so that no bound is above them. Repeated tables are written once.
llvm::Error writeWcsp(llvm::raw_ostream &os, const WcspProblem &problem);

/// Writes a certificate for `python -m layout_mlir.certify`, which checks it
/// without this library: the cost, bound, assignment and proof of a solution
/// solved with `certify`, and the problem. Fails in the same cases as
/// writeWcsp.
llvm::Error writeCertificate(llvm::raw_ostream &os, const WcspProblem &problem,
                             const Solution &solution);

/// Reads an assignment: the value of each variable, separated by white space,
/// as solvers of the format write solutions. Returns an error if there are not
/// exactly as many values as variables of `graph`, or if one is not in its
/// domain.
llvm::Expected<std::vector<unsigned>> readAssignment(llvm::StringRef text,
                                                     const FactorGraph &graph);

} // namespace mlir::layout

#endif // LAYOUT_SOLVER_WCSP_H
