//===- ProofWriter.h - Why a bound holds, step by step ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the solver has done to find a lower bound, as text in the language of
// certificates (docs/solver.md), with a line per step:
//
//     m 2 4 7 0 1 5   5 is moved from the entries of the function of 4 and 7
//                     in which 4 has the value 1 to that value itself
//     d 7 0 2         the values 0 and 2 of variable 7 cost too much
//     e 4 7           variables 4 and 7 are eliminated, in this order
//
// Graphs inside of the search have variables and values of their own; `enter`
// says which those of the next one are, and lines have the numbers of the whole
// problem.
//
// A step says what was done and not what follows, so that a checker computes
// every bound itself.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_PROOFWRITER_H
#define LAYOUT_LIB_SOLVER_PROOFWRITER_H

#include "CoreGraph.h"
#include <string>

namespace mlir {
namespace layout {

class GraphReduction;

class ProofWriter {
public:
  explicit ProofWriter(const FactorGraph &graph);

  std::string take() { return std::move(text); }

  /// Of the variables of a graph, and of the values of each, the numbers in the
  /// whole problem.
  struct Names {
    std::vector<unsigned> variables;
    std::vector<std::vector<unsigned>> values;
  };
  /// The graph at hand is from now on one of these variables, or of all with
  /// these values alone, until what is returned is put back by `leave`.
  Names enter(llvm::ArrayRef<unsigned> variables);
  Names enter(llvm::ArrayRef<llvm::SmallVector<unsigned, 6>> values);
  void leave(Names outer) { names = std::move(outer); }

  /// Drops what was written since `getSize` was `size`.
  size_t getSize() const { return text.size(); }
  void truncate(size_t size) { text.resize(size); }

  // Variables and values are those of the graph at hand.
  void eliminate(llvm::ArrayRef<unsigned> variables);
  void reduce(const GraphReduction &reduction);
  void move(llvm::ArrayRef<unsigned> scope, unsigned place,
            llvm::ArrayRef<Cost> amounts);
  void charge(unsigned variable, unsigned on, unsigned asker, unsigned payer,
              llvm::ArrayRef<Cost> amounts);
  void drop(unsigned variable, llvm::ArrayRef<unsigned> values);
  void branch(unsigned variable, llvm::ArrayRef<unsigned> values);
  void beginComponent(llvm::ArrayRef<unsigned> variables);
  void beginBlock(unsigned parent, llvm::ArrayRef<unsigned> variables);
  void beginBlockValue(unsigned parent, unsigned value);
  /// What was written since `getSize` was `start` uses that the component or
  /// the block costs no more than this assignment of the variables at hand,
  /// unless that is empty.
  void insertWitness(size_t start, llvm::ArrayRef<unsigned> assignment);
  /// Of what began last.
  void end() { text += "end\n"; }
  /// Between these, steps serve to bound all and to drop values, and amounts
  /// are in parts of a cost.
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

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_SOLVER_PROOFWRITER_H
