//===- GraphReduction.h - Reduction of low-degree variables -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reduces a factor graph in linear time. A variable without neighbors takes its
// cheapest value (R0). A variable with one neighbor becomes a unary factor of
// it (RI), and one with two neighbors a binary factor between them (RII), which
// may make the neighbors reducible in turn. Trees and series-parallel graphs,
// which most programs are, are solved completely.
//
//     a - b - c       b is eliminated:  a - c, which is merged with the edge
//      \_____/                          a - c that was there; then a, then c
//
// Factors with equal scopes are merged, variables with one value are removed
// from their factors, and a binary factor that is a sum of two unary ones is
// replaced by these, which leaves no edge.
//
// Laws:
//  * The constant plus the least cost of the core is the least cost of the
//    graph, both saturated below kInfiniteCost.
//  * Every variable of the core has three neighbors or a factor of three or
//    more variables, unless `maxTableSize` prevented a reduction.
//  * `substituteBack` extends an optimal assignment of the core to one of the
//    graph.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_GRAPHREDUCTION_H
#define LAYOUT_LIB_SOLVER_GRAPHREDUCTION_H

#include "CoreGraph.h"
#include "TableAlgebra.h"

namespace mlir::layout {

class GraphReduction {
public:
  GraphReduction(const FactorGraph &graph, TableAlgebra &algebra,
                 int64_t maxTableSize, bool hasMoves = false);

  /// Applies reductions until none is possible, or until the constant is
  /// infinite because no assignment is allowed.
  void run();

  Cost getConstant() const { return constant; }
  /// Returns the eliminated variables, in order.
  llvm::ArrayRef<unsigned> getOrder() const { return order; }

  /// A move of costs, after `numEliminated` eliminations: the least cost of
  /// each value of one end is moved from an edge to the variable.
  struct Move {
    size_t numEliminated;
    unsigned ends[2];
    unsigned place; // index in `ends` of the variable
  };
  /// Returns the moves, if the constructor was called with `hasMoves`.
  llvm::ArrayRef<Move> getMoves() const { return moves; }
  CoreGraph getCore() const;

  /// Sets the values of all variables outside the core.
  void substituteBack(std::vector<unsigned> &assignment) const;

private:
  static constexpr unsigned kNone = ~0u;

  /// A binary factor, dead if it has no table. The table has a row per value of
  /// ends[0]. `next` links the edge lists of both ends; a link is twice the
  /// index of an edge, plus the index of the end.
  struct Edge {
    unsigned ends[2];
    unsigned next[2];
    TableId table;
  };
  struct Neighbor {
    unsigned edge = kNone, variable = kNone;
  };
  enum class State : unsigned { Reducible, InLargeFactor, Gone };
  /// A variable. The data before and after its elimination share memory,
  /// because memory traffic dominates with millions of variables.
  struct Node {
    struct Left {
      TableId unary;
      unsigned head;   // of the list of its edges
      unsigned degree; // how many of these are live
    };
    /// The value is among the choices of the elimination, which have a row per
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
  /// Adds to an end of an edge the costs taken out of the edge's table.
  void moveToEnd(unsigned edge, unsigned end, TableId part);
  /// Adds a live edge to the list of one of its ends.
  void link(unsigned edge, unsigned end);
  /// Sets the table of a live edge, or moves it to the ends if possible.
  void setTable(unsigned edge, TableId table);
  void kill(unsigned edge);
  void enqueue(unsigned variable);
  /// Gets a variable with at most `limit` neighbors from a worklist, or returns
  /// false if there is none.
  bool takeNext(unsigned &variable, unsigned limit);
  /// Calls fn(neighbor) for the live edges of a variable until it returns
  /// false, and unlinks dead edges on the way.
  template <typename Fn> void forEachNeighbor(unsigned variable, Fn fn);
  unsigned findEdge(unsigned a, unsigned b);
  void reduce(unsigned variable);
  void reduceToEdge(unsigned variable, Neighbor a, Neighbor b);
  /// Eliminates a variable and returns the table of its message plus `base`.
  TableId eliminate(unsigned variable, Neighbor first, Neighbor second,
                    TableId base);

  const FactorGraph &graph;
  TableAlgebra &algebra;
  int64_t maxTableSize;
  Cost constant = 0;
  unsigned numLeft = 0; // variables not eliminated

  std::vector<Node> nodes; // per variable
  std::vector<Edge> edges;
  std::vector<unsigned> order; // of elimination
  bool hasMoves;
  std::vector<Move> moves;
  /// Factors of three or more variables, with their normalized tables.
  std::vector<std::pair<unsigned, TableId>> others;
  /// The edges between hubs. Degrees never grow, so the set of hubs never does.
  llvm::DenseMap<std::pair<unsigned, unsigned>, unsigned> hubEdges;
  /// Worklists of variables by degree, last in, first out.
  std::vector<unsigned> atMostOne, two;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_SOLVER_GRAPHREDUCTION_H
