//===- ProofWriter.h - Proofs of lower bounds as text -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Writes the steps that prove a lower bound in the language of certificates
// (docs/certificates.md), one per line:
//
//     m 2 4 7 0 1 5   moves 5 from the entries of the function of 4 and 7 in
//                     which 4 has the value 1 to that value
//     d 7 0 2         drops the values 0 and 2 of variable 7
//     e 4 7           eliminates the variables 4 and 7, in this order
//
// Subproblems of the search have their own variables and values; `enter` maps
// those of the next one, and lines use the numbers of the whole problem.
//
// A step states the operation and not its result, so that a checker computes
// every bound itself.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_BOUNDS_PROOFWRITER_H
#define LAYOUT_LIB_SOLVER_BOUNDS_PROOFWRITER_H

#include "CoreGraph.h"
#include <string>

namespace mlir::layout {

class GraphReduction;

class ProofWriter {
public:
  explicit ProofWriter(const FactorGraph &graph);

  std::string take() { return std::move(text); }

  /// The numbers that the variables of a subgraph, and the values of each, have
  /// in the whole problem.
  struct Names {
    std::vector<unsigned> variables;
    std::vector<std::vector<unsigned>> values;
  };
  /// Makes later steps number variables and values as in a subgraph: of the
  /// given variables of the current graph, or of all its variables, with
  /// values[v] as the only values of variable v. Returns the previous
  /// numbering, which the caller passes to `leave`.
  Names enter(llvm::ArrayRef<unsigned> variables);
  Names enter(llvm::ArrayRef<llvm::SmallVector<unsigned, 6>> values);
  void leave(Names outer) { names = std::move(outer); }

  /// Returns the length of the proof in bytes, to which `truncate` can return.
  size_t getSize() const { return text.size(); }
  void truncate(size_t size) { text.resize(size); }

  // In the functions below, variables and values are those of the current
  // subgraph.
  void eliminate(llvm::ArrayRef<unsigned> variables);
  void reduce(const GraphReduction &reduction);
  void move(llvm::ArrayRef<unsigned> scope, unsigned place,
            llvm::ArrayRef<Cost> amounts);
  void charge(unsigned variable, unsigned on, unsigned consumer,
              unsigned producer, llvm::ArrayRef<Cost> amounts);
  void drop(unsigned variable, llvm::ArrayRef<unsigned> values);
  void branch(unsigned variable, llvm::ArrayRef<unsigned> values);
  void beginComponent(llvm::ArrayRef<unsigned> variables);
  /// Inserts a line at byte `start` of the proof with an assignment of the
  /// current variables. The steps after it need not prove a lower bound above
  /// the cost of this assignment. An empty assignment inserts no line.
  void insertWitness(size_t start, llvm::ArrayRef<unsigned> assignment);
  /// Ends the component or branch of the proof that began last.
  void end() { text += "end\n"; }
  /// The maximum factor by which a trial multiplies costs. A trial, between
  /// beginTrial and endTrial, multiplies all costs by `parts`, so that
  /// fractions of them can be moved. At its end, moves of costs are undone; the
  /// bound and the dropped values stay.
  static constexpr unsigned kMostParts = 8;
  void beginTrial(unsigned parts = 1) {
    text += parts == 1 ? "t\n" : "t " + std::to_string(parts) + "\n";
  }
  void endTrial() { text += "u\n"; }

private:
  unsigned getName(unsigned variable) const {
    return names.variables[variable];
  }
  void write(Cost number) {
    text += ' ';
    text += std::to_string(number);
  }
  void writeNames(llvm::ArrayRef<unsigned> variables);
  void writeValues(unsigned variable, llvm::ArrayRef<unsigned> values);
  void writeAmounts(unsigned variable, llvm::ArrayRef<Cost> amounts);

  std::string text;
  Names names;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_SOLVER_BOUNDS_PROOFWRITER_H
