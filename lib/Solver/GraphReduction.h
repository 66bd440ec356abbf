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
//  * Every variable of the core has at least three neighbors, or a factor of
//    three or more variables, unless `maxTableSize` prevented a reduction.
//  * `substituteBack` extends an optimal assignment of the core to one of the
//    graph.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_SOLVER_GRAPHREDUCTION_H
#define LAYOUT_LIB_SOLVER_GRAPHREDUCTION_H

#include "CoreGraph.h"
#include "Elimination/TableAlgebra.h"

namespace mlir::layout {

class GraphReduction {
public:
  GraphReduction(const FactorGraph &graph, TableAlgebra &algebra,
                 int64_t maxTableSize, bool hasMoves = false);

  /// Applies reductions until none is possible, or until the constant is
  /// infinite because no assignment is allowed.
  void run();

  Cost getConstant() const { return constant; }
  /// Returns the eliminated variables in the order of their elimination,
  /// without those of one value, which are not in any edge.
  llvm::ArrayRef<unsigned> getOrder() const { return order; }

  /// A move of costs after the first `numEliminated` eliminations, from the
  /// edge between `ends` to its variable ends[place]: for each value of this
  /// variable, the least entry of the edge becomes a unary cost.
  struct Move {
    size_t numEliminated;
    unsigned ends[2];
    unsigned place; // index in `ends` of the variable
  };
  /// Returns the moves of costs so far, in their order. Empty unless the
  /// constructor was called with `hasMoves`.
  llvm::ArrayRef<Move> getMoves() const { return moves; }
  CoreGraph getCore() const;

  /// Sets the variables in `getOrder()`, in reverse order, to optimal values
  /// for those of the core, which the caller has set. Variables of one value
  /// stay as they are.
  void substituteBack(std::vector<unsigned> &assignment) const;

private:
  static constexpr unsigned kNone = ~0u;

  /// A factor of two variables, with a row of the table per value of ends[0].
  /// It is removed (dead) if it has no table. next[e] is the next link in the
  /// edge list of ends[e]; a link is twice the index of an edge, plus the index
  /// of the end.
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
    /// The number of the elimination, by which `TableAlgebra::getChoice`
    /// returns the value for the values of the neighbors, row-major; and the
    /// neighbors, kNone if there are fewer than two.
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
  /// Replaces parallel edges, between the variable and the same neighbor, by
  /// one edge with the sum of their tables. Removes that edge, too, if all
  /// entries of the sum are equal; adds the least entry to `constant`.
  void mergeParallelEdges(unsigned variable);
  bool areHubs(unsigned a, unsigned b) const;
  unsigned getDegree(unsigned variable) const {
    return nodes[variable].left.degree;
  }
  void addUnary(unsigned variable, TableId table);
  /// Adds `part`, costs that were taken out of the table of an edge, to the
  /// unary costs of its variable ends[end].
  void moveToEnd(unsigned edge, unsigned end, TableId part);
  /// Adds an edge in front of the edge list of its variable ends[end].
  void link(unsigned edge, unsigned end);
  /// Sets the table of an edge. First moves the largest possible part of it to
  /// each end that is a hub, i.e. has more than 16 neighbors. If the rest is a
  /// sum of a row and a column table, moves these to the two variables. Then,
  /// or if the rest is 0, removes the edge.
  void setTable(unsigned edge, TableId table);
  void kill(unsigned edge);
  void enqueue(unsigned variable);
  /// Removes the last variable of the worklist `atMostOne`, or of `two` if that
  /// one is empty and `limit` is 2, and sets `variable` to it. Returns false if
  /// there is none. The variable may have been eliminated meanwhile.
  bool takeNext(unsigned &variable, unsigned limit);
  /// Calls fn(neighbor) for the edges of a variable that are not removed, until
  /// it returns false. Unlinks removed edges from the list on the way.
  template <typename Fn> void forEachNeighbor(unsigned variable, Fn fn);
  unsigned findEdge(unsigned a, unsigned b);
  void reduce(unsigned variable);
  void reduceToEdge(unsigned variable, Neighbor a, Neighbor b);
  /// Eliminates a variable, and returns the table of its message, a function of
  /// its neighbors, plus `base`. The table is normalized: its least entry is
  /// added to `constant` instead. Neighbors that do not exist have edge kNone.
  /// The caller stores the table and removes the edges.
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
  /// The factors of three or more variables, each with its index in `graph` and
  /// its table, less the least entry, which is part of `constant`.
  std::vector<std::pair<unsigned, TableId>> others;
  /// Per pair of hubs, i.e. variables with more than 16 neighbors, the index of
  /// the edge between them. An entry is out of date if its edge was removed or
  /// became that of another pair. Degrees never grow, so no variable becomes a
  /// hub later.
  llvm::DenseMap<std::pair<unsigned, unsigned>, unsigned> hubEdges;
  /// Stacks of variables that became reducible: with at most one neighbor, and
  /// with two. Some may have been eliminated since.
  std::vector<unsigned> atMostOne, two;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_SOLVER_GRAPHREDUCTION_H
