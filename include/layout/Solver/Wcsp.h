//===- Wcsp.h - Problems of the solver as text ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The wcsp format, which toulbar2 and other solvers of weighted constraint
// satisfaction read and write. It is words and integers between white space:
//
//     example 2 2 2 100    name, variables, largest domain, functions, bound
//     2 2                  the domain of each variable
//     1 0 0 1              arity, scope, cost of unlisted tuples, their count
//     1 5                  a listed tuple: its values, then its cost
//     2 0 1 0 2
//     0 0 7
//     0 1 1
//
// (the words on the right are not part of it). Costs are integers >= 0. The sum
// that is looked for is less than the bound, and a cost that is not is
// forbidden: it is read as kInfiniteCost. A negative arity defines a function
// whose tuples a later one takes over, where the number of its tuples is -1 for
// the first such function, -2 for the second and so on.
//
//     llvm::Expected<WcspProblem> problem = readWcsp(text);
//     if (!problem)
//       ..                      "2:3: error: .." with line and column
//     Solution solution = problem->solve();
//
// Laws:
//  * what writeWcsp writes readWcsp reads, and the two problems have the same
//    variables, factors and entries, those that the bound forbids apart;
//    writing that again gives the same text;
//  * readWcsp returns an error for every text that is not such a problem, and
//    for functions that are given by a keyword instead of tuples, variables of
//    negative domain (intervals), and problems above its limits. It needs
//    memory for as many entries as `maxEntries` says, not as the text claims.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SOLVER_WCSP_H
#define LAYOUT_SOLVER_WCSP_H

#include "layout/Solver/FactorGraph.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <string>

namespace mlir {
namespace layout {

struct WcspProblem {
  /// One word.
  std::string name = "problem";
  FactorGraph graph;
  /// Assignments must cost less; kInfiniteCost allows all that are finite.
  Cost upperBound = kInfiniteCost;

  /// An assignment of cost `upperBound` or more is none, and a lower bound that
  /// says so is kInfiniteCost.
  Solution solve(const SolveOptions &options = {}) const;
};

/// The most variables that a function may have.
constexpr unsigned kMaxWcspArity = 64;

/// What is read as a whole must fit: the values of all variables and the
/// entries of the tables of all functions together.
constexpr int64_t kMaxWcspEntries = int64_t(1) << 27;

llvm::Expected<WcspProblem> readWcsp(llvm::StringRef text,
                                     int64_t maxEntries = kMaxWcspEntries);

/// Fails, having written nothing, where the format cannot say what the problem
/// says: a name that is no word, or finite costs that add up to 2^63 - 2 or
/// more, where no bound lies above all of them. Tables that occur several times
/// are written once.
llvm::Error writeWcsp(llvm::raw_ostream &os, const WcspProblem &problem);

/// Writes what `python -m layout_mlir.certify` checks without this library: the
/// cost, the bound and the assignment of a solution that was solved with
/// `certify`, the proof, and the problem. Fails where writeWcsp does.
llvm::Error writeCertificate(llvm::raw_ostream &os, const WcspProblem &problem,
                             const Solution &solution);

/// The values of all variables between white space, as solvers of the format
/// write solutions.
llvm::Expected<std::vector<unsigned>> readAssignment(llvm::StringRef text,
                                                     const FactorGraph &graph);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_SOLVER_WCSP_H
