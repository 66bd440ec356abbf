//===- GraphReduction.cpp - Reduction of low-degree variables -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphReduction.h"

using namespace mlir::layout;
using llvm::ArrayRef;

/// A variable with more neighbors is a hub. An edge between two hubs is found
/// in a hash table, without scanning the edges of a hub.
static constexpr unsigned kMostScannedDegree = 16;

GraphReduction::GraphReduction(const FactorGraph &graph, TableAlgebra &algebra,
                               int64_t maxTableSize, bool hasMoves)
    : graph(graph), algebra(algebra), maxTableSize(maxTableSize),
      hasMoves(hasMoves) {
  unsigned count = graph.getNumVariables();
  nodes.resize(count);
  readFactors();
  // After this merge, `v` has one edge to each later variable, whose table is
  // final.
  for (unsigned v = 0; v < count; ++v) {
    if (nodes[v].state == State::Gone)
      continue;
    if (getDegree(v) > 1)
      mergeParallelEdges(v);
    forEachNeighbor(v, [&](Neighbor neighbor) {
      if (neighbor.variable < v)
        return true;
      setTable(neighbor.edge, edges[neighbor.edge].table);
      if (edges[neighbor.edge].table != kNoTable &&
          areHubs(v, neighbor.variable))
        hubEdges[std::minmax(v, neighbor.variable)] = neighbor.edge;
      return true;
    });
  }
}

void GraphReduction::readFactors() {
  for (unsigned v = 0, count = graph.getNumVariables(); v < count; ++v)
    if (graph.getDomainSize(v) == 1)
      nodes[v].state = State::Gone;
    else
      ++numLeft;
  order.reserve(numLeft);
  edges.reserve(graph.getNumFactors()); // most of them, or untouched memory
  llvm::SmallVector<unsigned, 4> scope;
  for (size_t f = 0, count = graph.getNumFactors(); f < count; ++f) {
    FactorGraph::Factor factor = graph.getFactor(f);
    // Removing variables with one value leaves the table unchanged.
    scope.clear();
    for (unsigned variable : factor.variables)
      if (nodes[variable].state != State::Gone)
        scope.push_back(variable);
    const TableStore::Table &table = algebra.store[factor.table];
    if (table.isUniform()) {
      constant = addCosts(constant, table.smallest);
      continue;
    }
    // A unary factor is normalized when it is added to another one.
    if (scope.size() == 1) {
      addUnary(scope[0], factor.table);
      continue;
    }
    TableAlgebra::Result normal = algebra.normalize(factor.table);
    constant = addCosts(constant, normal.constant);
    if (scope.size() == 2) {
      edges.push_back({{scope[0], scope[1]}, {kNone, kNone}, normal.table});
      link(edges.size() - 1, 0);
      link(edges.size() - 1, 1);
      ++nodes[scope[0]].left.degree;
      ++nodes[scope[1]].left.degree;
    } else {
      others.push_back({f, normal.table});
      for (unsigned variable : scope)
        nodes[variable].state = State::InLargeFactor;
    }
  }
}

void GraphReduction::mergeParallelEdges(unsigned variable) {
  llvm::SmallVector<Neighbor, 8> neighbors;
  forEachNeighbor(variable, [&](Neighbor neighbor) {
    neighbors.push_back(neighbor);
    return true;
  });
  if (neighbors.size() == 2 && neighbors[0].variable != neighbors[1].variable)
    return;
  llvm::sort(neighbors, [](Neighbor a, Neighbor b) {
    return std::tie(a.variable, a.edge) < std::tie(b.variable, b.edge);
  });
  for (size_t i = 1; i < neighbors.size(); ++i) {
    if (neighbors[i - 1].variable != neighbors[i].variable)
      continue;
    Edge &into = edges[neighbors[i].edge], &from = edges[neighbors[i - 1].edge];
    TableId table = from.table;
    if (from.ends[0] != into.ends[0])
      table = algebra.transpose(table, graph.getDomainSize(from.ends[0]));
    TableAlgebra::Result sum = algebra.add(into.table, table);
    constant = addCosts(constant, sum.constant);
    into.table = sum.table;
    kill(neighbors[i - 1].edge);
    bool isLast = i + 1 == neighbors.size() ||
                  neighbors[i + 1].variable != neighbors[i].variable;
    if (isLast && into.table == kNoTable)
      kill(neighbors[i].edge);
  }
}

bool GraphReduction::areHubs(unsigned a, unsigned b) const {
  return getDegree(a) > kMostScannedDegree && getDegree(b) > kMostScannedDegree;
}

void GraphReduction::addUnary(unsigned variable, TableId table) {
  TableId &unary = nodes[variable].left.unary;
  TableAlgebra::Result sum = algebra.add(unary, table);
  unary = sum.table;
  constant = addCosts(constant, sum.constant);
}

void GraphReduction::moveToEnd(unsigned edge, unsigned end, TableId part) {
  auto [a, b] = edges[edge].ends;
  addUnary(end == 0 ? a : b, part);
  if (hasMoves && part != kNoTable)
    moves.push_back({order.size(), {a, b}, end});
}

void GraphReduction::link(unsigned edge, unsigned end) {
  unsigned &head = nodes[edges[edge].ends[end]].left.head;
  edges[edge].next[end] = head;
  head = edge * 2 + end;
}

void GraphReduction::setTable(unsigned edge, TableId table) {
  auto [a, b] = edges[edge].ends;
  unsigned numRows = graph.getDomainSize(a);
  // The costs that neighbors add to a hub grow with their number. If they
  // stayed in the edges, every edge table would be different.
  for (bool ofRows : {true, false})
    if (getDegree(ofRows ? a : b) > kMostScannedDegree) {
      TableAlgebra::Extraction parts = algebra.extract(table, numRows, ofRows);
      moveToEnd(edge, ofRows ? 0 : 1, parts.part);
      table = parts.rest;
    }
  edges[edge].table = table;
  if (table == kNoTable)
    return kill(edge);
  TableAlgebra::Separation parts = algebra.separate(table, numRows);
  if (!parts.isPossible)
    return;
  moveToEnd(edge, 0, parts.rows);
  moveToEnd(edge, 1, parts.columns);
  kill(edge);
}

void GraphReduction::kill(unsigned edge) {
  edges[edge].table = kNoTable;
  for (unsigned end : edges[edge].ends)
    if (nodes[end].state != State::Gone) {
      --nodes[end].left.degree;
      enqueue(end);
    }
}

void GraphReduction::enqueue(unsigned variable) {
  unsigned degree = getDegree(variable);
  if (nodes[variable].state == State::Reducible && degree <= 2)
    (degree == 2 ? two : atMostOne).push_back(variable);
}

template <typename Fn>
void GraphReduction::forEachNeighbor(unsigned variable, Fn fn) {
  unsigned *link = &nodes[variable].left.head;
  while (*link != kNone) {
    unsigned index = *link / 2, end = *link % 2;
    Edge &edge = edges[index];
    if (edge.table == kNoTable) {
      *link = edge.next[end];
      continue;
    }
    link = &edge.next[end];
    if (!fn(Neighbor{index, edge.ends[1 - end]}))
      return;
  }
}

unsigned GraphReduction::findEdge(unsigned a, unsigned b) {
  if (areHubs(a, b)) {
    auto it = hubEdges.find(std::minmax(a, b));
    // The edge may be dead, or reused for another pair.
    if (it == hubEdges.end() || edges[it->second].table == kNoTable ||
        std::minmax(edges[it->second].ends[0], edges[it->second].ends[1]) !=
            std::minmax(a, b))
      return kNone;
    return it->second;
  }
  if (getDegree(b) < getDegree(a))
    std::swap(a, b);
  unsigned found = kNone;
  forEachNeighbor(a, [&](Neighbor neighbor) {
    if (neighbor.variable == b)
      found = neighbor.edge;
    return found == kNone;
  });
  return found;
}

TableId GraphReduction::eliminate(unsigned variable, Neighbor first,
                                  Neighbor second, TableId base) {
  auto getSide = [&](Neighbor neighbor) -> TableAlgebra::Side {
    if (neighbor.edge == kNone)
      return {};
    const Edge &edge = edges[neighbor.edge];
    return {edge.table, edge.ends[0] != variable};
  };
  Node &node = nodes[variable];
  unsigned elimination =
      algebra.eliminate({graph.getDomainSize(variable), node.left.unary,
                         getSide(first), getSide(second), base});
  node.state = State::Gone;
  node.eliminated = {elimination, first.variable, second.variable};
  order.push_back(variable);
  --numLeft;
  TableAlgebra::Result sum = algebra.getSum(elimination);
  constant = addCosts(constant, sum.constant);
  return sum.table;
}

void GraphReduction::reduce(unsigned variable) {
  Neighbor neighbors[2];
  unsigned degree = 0;
  forEachNeighbor(variable, [&](Neighbor neighbor) {
    neighbors[degree++] = neighbor;
    return degree < 2;
  });
  if (degree == 0) {
    eliminate(variable, {}, {}, kNoTable);
    return;
  }
  if (degree == 2)
    return reduceToEdge(variable, neighbors[0], neighbors[1]);
  auto [edge, neighbor] = neighbors[0];
  if (graph.getDomainSize(neighbor) > maxTableSize)
    return;
  TableId &unary = nodes[neighbor].left.unary;
  unary = eliminate(variable, neighbors[0], {}, unary);
  kill(edge);
}

void GraphReduction::reduceToEdge(unsigned variable, Neighbor a, Neighbor b) {
  if (int64_t(graph.getDomainSize(a.variable)) *
          graph.getDomainSize(b.variable) >
      maxTableSize)
    return;
  // The message is stored in an edge and has a row per value of its ends[0].
  // The edge is the existing one of the neighbors, or the one between the
  // variable and neighbor `a`, in which neighbor `b` then replaces the
  // variable.
  unsigned known = findEdge(a.variable, b.variable);
  unsigned target = known == kNone ? a.edge : known;
  if (edges[target].ends[0] == variable || edges[target].ends[0] == b.variable)
    std::swap(a, b);
  TableId base = known == kNone ? kNoTable : edges[known].table;
  TableId sum = eliminate(variable, a, b, base);
  if (known != kNone || sum == kNoTable) {
    kill(a.edge);
    kill(b.edge);
    if (known != kNone)
      setTable(known, sum);
    return;
  }
  // No degree changes: each neighbor loses the variable and gets the other
  // neighbor.
  unsigned other = target == a.edge ? b.edge : a.edge;
  unsigned end = edges[target].ends[0] == variable ? 0 : 1;
  edges[other].table = kNoTable;
  edges[target].ends[end] = target == a.edge ? b.variable : a.variable;
  link(target, end);
  if (areHubs(a.variable, b.variable))
    hubEdges[std::minmax(a.variable, b.variable)] = target;
  setTable(target, sum);
}

void GraphReduction::run() {
  // Newly reducible variables come before later ones, so that a program is
  // reduced in its own order. Degree one comes before degree two, which needs
  // larger tables.
  for (unsigned limit : {1, 2})
    for (unsigned v = 0; v < nodes.size(); ++v) {
      unsigned next = v;
      do {
        if (constant == kInfiniteCost)
          return;
        if (nodes[next].state == State::Reducible && getDegree(next) <= limit)
          reduce(next);
      } while (takeNext(next, limit));
    }
}

bool GraphReduction::takeNext(unsigned &variable, unsigned limit) {
  std::vector<unsigned> &list =
      atMostOne.empty() && limit > 1 ? two : atMostOne;
  if (list.empty())
    return false;
  variable = list.back();
  list.pop_back();
  return true;
}

CoreGraph GraphReduction::getCore() const {
  CoreGraph core;
  if (numLeft == 0)
    return core;
  std::vector<unsigned> indices(nodes.size(), kNone);
  for (unsigned v = 0; v < nodes.size(); ++v) {
    if (nodes[v].state == State::Gone)
      continue;
    indices[v] = core.addVariable(v, graph.getDomainSize(v));
    if (TableId unary = nodes[v].left.unary; unary != kNoTable)
      core.addFactor(indices[v], unary);
  }
  for (const Edge &edge : edges)
    if (edge.table != kNoTable)
      core.addFactor({indices[edge.ends[0]], indices[edge.ends[1]]},
                     edge.table);
  llvm::SmallVector<unsigned, 4> scope;
  for (auto [factor, table] : others) {
    scope.clear();
    for (unsigned variable : graph.getFactor(factor).variables)
      if (indices[variable] != kNone)
        scope.push_back(indices[variable]);
    core.addFactor(scope, table);
  }
  return core;
}

void GraphReduction::substituteBack(std::vector<unsigned> &assignment) const {
  for (unsigned variable : llvm::reverse(order)) {
    auto [elimination, first, second] = nodes[variable].eliminated;
    size_t index = first == kNone ? 0 : assignment[first];
    if (second != kNone)
      index = index * graph.getDomainSize(second) + assignment[second];
    assignment[variable] = algebra.getChoice(elimination, index);
  }
}
