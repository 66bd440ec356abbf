//===- GraphReduction.h - Variables of degree at most two -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part of a factor graph that is solved in linear time. A variable with no
// neighbor takes its least value (R0), one with one neighbor becomes a unary
// factor of it (RI), one with two a binary factor between them (RII), which may
// make neighbors reducible in turn. Trees and series-parallel graphs, which
// most programs are, vanish.
//
//     a - b - c       b is eliminated:  a - c, which is merged with the edge
//      \_____/                          a - c that was there; then a, then c
//
// On the way factors of one scope are merged, variables with one value leave
// their factors, and a binary factor that is a sum of two unary ones becomes
// these, which leaves no edge.
//
// Laws:
//  * the constant plus the least cost of the core is the least cost of the
//    graph, both cut off below kInfiniteCost;
//  * in the core every variable has three neighbors or a factor of three or
//    more variables, unless `maxTableSize` stopped a reduction;
//  * `substituteBack` extends a best assignment of the core to one of the
//    graph.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_GRAPHREDUCTION_H
#define LAYOUT_LIB_SOLVER_GRAPHREDUCTION_H

#include "CoreGraph.h"
#include "TableAlgebra.h"

namespace mlir {
namespace layout {

class GraphReduction {
public:
  GraphReduction(const FactorGraph &graph, TableAlgebra &algebra,
                 int64_t maxTableSize, bool hasMoves = false);

  /// Reduces until nothing can be reduced. Stops early where the constant
  /// becomes infinite: nothing is allowed then.
  void run();

  Cost getConstant() const { return constant; }
  /// The variables that were eliminated, first to last.
  llvm::ArrayRef<unsigned> getOrder() const { return order; }

  /// After so many variables were eliminated, what the values of one end cost
  /// at least was taken out of an edge and added to the variable.
  struct Move {
    size_t numEliminated;
    unsigned ends[2];
    unsigned place; // of the variable among the ends
  };
  /// These, if the constructor was told to remember them.
  llvm::ArrayRef<Move> getMoves() const { return moves; }
  CoreGraph getCore() const;

  /// Sets the values of all variables outside the core.
  void substituteBack(std::vector<unsigned> &assignment) const;

private:
  static constexpr unsigned kNone = ~0u;

  /// A binary factor; dead where it has no table. Its table has a row per value
  /// of ends[0]. `next` continues the list of either end: twice the number of
  /// an edge, plus the end of it that is meant.
  struct Edge {
    unsigned ends[2];
    unsigned next[2];
    TableId table;
  };
  struct Neighbor {
    unsigned edge = kNone, variable = kNone;
  };
  enum class State : unsigned { Reducible, InLargeFactor, Gone };
  /// A variable. What it needs before it is eliminated and what afterwards
  /// share their place: with millions of variables, memory is time.
  struct Node {
    struct Left {
      TableId unary;
      unsigned head;   // of the list of its edges
      unsigned degree; // how many of these are live
    };
    /// Its value is among the choices of its elimination, which have a row per
    /// value of `first`.
    struct Eliminated {
      unsigned elimination, first, second;
    };
    State state = State::Reducible;
    union {
      Left left = {kNoTable, kNone, 0};
      Eliminated eliminated;
    };
  };

  void readFactors();
  /// Merges the edges of a variable that have the same other end.
  void mergeParallelEdges(unsigned variable);
  bool areHubs(unsigned a, unsigned b) const;
  unsigned getDegree(unsigned variable) const {
    return nodes[variable].left.degree;
  }
  void addUnary(unsigned variable, TableId table);
  /// Adds to an end of an edge what is no longer in the table of the edge.
  void moveToEnd(unsigned edge, unsigned end, TableId part);
  /// Puts a live edge into the list of one of its ends.
  void link(unsigned edge, unsigned end);
  /// Makes `table` the table of a live edge, or of its ends if it can be.
  void setTable(unsigned edge, TableId table);
  void kill(unsigned edge);
  void enqueue(unsigned variable);
  /// Takes a variable of at most this degree off a worklist, if there is one.
  bool takeNext(unsigned &variable, unsigned limit);
  /// Calls fn(neighbor), which returns whether to go on, for the live edges of
  /// a variable, and unlinks the dead ones that it meets.
  template <typename Fn> void forEachNeighbor(unsigned variable, Fn fn);
  unsigned findEdge(unsigned a, unsigned b);
  void reduce(unsigned variable);
  void reduceToEdge(unsigned variable, Neighbor a, Neighbor b);
  /// Takes a variable out; returns the table of its message, onto another.
  TableId eliminate(unsigned variable, Neighbor first, Neighbor second,
                    TableId base);

  const FactorGraph &graph;
  TableAlgebra &algebra;
  int64_t maxTableSize;
  Cost constant = 0;
  unsigned numLeft = 0; // variables that are not gone

  std::vector<Node> nodes; // per variable
  std::vector<Edge> edges;
  std::vector<unsigned> order; // of elimination
  bool hasMoves;
  std::vector<Move> moves;
  /// Factors of three variables or more, with their normalized tables.
  std::vector<std::pair<unsigned, TableId>> others;
  /// Edges between variables that both had many neighbors from the start;
  /// degrees never grow, so no others can become such.
  llvm::DenseMap<std::pair<unsigned, unsigned>, unsigned> hubEdges;
  /// Worklists of variables by degree; the last goes first.
  std::vector<unsigned> atMostOne, two;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_SOLVER_GRAPHREDUCTION_H
