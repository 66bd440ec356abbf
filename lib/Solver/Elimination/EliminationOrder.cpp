//===- EliminationOrder.cpp - Min-width and min-fill orders ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Elimination/EliminationOrder.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"
#include <set>

using namespace mlir::layout;
using llvm::ArrayRef;

/// A variable with more neighbors is a hub. Its table is never built, because a
/// table cannot have so many variables with two or more values.
static constexpr unsigned kHubDegree = 32;

/// Returns log2(domain) in units of 2^-16, rounded down to a unit. Integer
/// arithmetic makes the order independent of the math library.
static int64_t getLog(unsigned domain) {
  unsigned whole = llvm::Log2_32(domain);
  // domain / 2^whole with 31 fractional bits, squared once per bit.
  uint64_t mantissa = (uint64_t(domain) << 31) >> whole;
  int64_t log = whole;
  for (int digit = 0; digit < 16; ++digit) {
    mantissa = (mantissa * mantissa) >> 31;
    log = log * 2 + (mantissa >> 32);
    if (mantissa >> 32)
      mantissa >>= 1;
  }
  return log;
}

/// The order of fewest new edges (min-fill) is tried only if the order of
/// smallest tables (min-width) eliminates all variables except at most this
/// number.
static constexpr unsigned kMostLeft = 256;

/// Returns log2(size), rounded up to an integer, in units of 2^-16.
static int64_t getLogOfSize(int64_t size) {
  return int64_t(llvm::Log2_64_Ceil(size)) << 16;
}

namespace {
/// The neighbors of each variable in the graph of remaining variables. A hub
/// has more than kHubDegree neighbors. Its list may contain eliminated
/// variables, until it is no longer a hub; other lists do not.
class Adjacency {
public:
  explicit Adjacency(unsigned count)
      : lists(count), degrees(count, 0), isGone(count, false),
        isHub(count, false) {}

  unsigned getDegree(unsigned v) const { return degrees[v]; }
  bool isHubNow(unsigned v) const { return isHub[v]; }

  bool contains(unsigned a, unsigned b) const {
    if (isHub[a] && isHub[b])
      return hubPairs.contains(std::minmax(a, b));
    return llvm::is_contained(lists[isHub[a] ? b : a], isHub[a] ? a : b);
  }

  /// Adds an edge between two variables and returns true, or returns false if
  /// there is one.
  bool connect(unsigned a, unsigned b) {
    if (contains(a, b))
      return false;
    for (auto [x, y] : {std::pair(a, b), std::pair(b, a)}) {
      lists[x].push_back(y);
      ++degrees[x];
    }
    // Both are in each other's lists now, so the last one to become a hub finds
    // the other.
    for (unsigned x : {a, b})
      if (!isHub[x] && degrees[x] > kHubDegree) {
        isHub[x] = true;
        for (unsigned y : lists[x])
          if (isHub[y])
            hubPairs.insert(std::minmax(x, y));
      }
    if (isHub[a] && isHub[b])
      hubPairs.insert(std::minmax(a, b));
    return true;
  }

  llvm::SmallVector<unsigned, 8> getNeighbors(unsigned v) const {
    llvm::SmallVector<unsigned, 8> result;
    for (unsigned other : lists[v])
      if (!isGone[other])
        result.push_back(other);
    return result;
  }

  void remove(unsigned v, ArrayRef<unsigned> neighbors) {
    isGone[v] = true;
    for (unsigned other : neighbors) {
      --degrees[other];
      if (!isHub[other]) {
        llvm::erase(lists[other], v);
      } else if (degrees[other] <= kHubDegree) {
        llvm::erase_if(lists[other], [&](unsigned x) { return isGone[x]; });
        isHub[other] = false;
      }
    }
    lists[v] = {};
  }

private:
  std::vector<llvm::SmallVector<unsigned, 6>> lists;
  std::vector<unsigned> degrees;
  std::vector<char> isGone, isHub;
  llvm::DenseSet<std::pair<unsigned, unsigned>> hubPairs;
};

/// Runs a simulated elimination, in which a rule selects the next variable.
class Simulation {
public:
  enum class Rule { MinWidth, MinFill };

  Simulation(const CoreGraph &core, Rule rule);
  /// Runs the elimination, which appends variables to `order`, until the next
  /// message would have more than `maxTableSize` entries, rounded up to a power
  /// of two. Returns true if all variables are eliminated.
  bool run(int64_t maxTableSize);

  std::vector<unsigned> order;
  /// The number of table entries that the elimination computes, before they are
  /// minimized over the eliminated variables; at most 2^62.
  int64_t work = 0;

private:
  using Key = std::pair<int64_t, int64_t>;
  Key getKey(unsigned v) const {
    return rule == Rule::MinWidth ? Key(widths[v], 0)
                                  : Key(fills[v], widths[v]);
  }
  int64_t countFill(unsigned v) const;
  void addWork(unsigned v, ArrayRef<unsigned> neighbors);
  void connectAll(ArrayRef<unsigned> clique, std::vector<unsigned> &changed);
  void lowerFillOfCommonNeighbors(unsigned a, unsigned b,
                                  std::vector<unsigned> &changed);

  const CoreGraph &core;
  Rule rule;
  Adjacency adjacency;
  std::vector<int64_t> logs;
  std::vector<int64_t> widths; // log2 of the table before the minimum
  std::vector<int64_t> fills;  // pairs of neighbors without an edge
};
} // namespace

Simulation::Simulation(const CoreGraph &core, Rule rule)
    : core(core), rule(rule), adjacency(core.getNumVariables()) {
  for (unsigned domain : core.getDomains())
    logs.push_back(getLog(domain));
  widths = logs;
  for (unsigned f = 0; f < core.getNumFactors(); ++f) {
    ArrayRef<unsigned> scope = core.getScope(f);
    for (unsigned i = 0; i < scope.size(); ++i)
      for (unsigned j = 0; j < i; ++j)
        if (adjacency.connect(scope[i], scope[j])) {
          widths[scope[i]] += logs[scope[j]];
          widths[scope[j]] += logs[scope[i]];
        }
  }
  if (rule == Rule::MinFill)
    for (unsigned v = 0; v < core.getNumVariables(); ++v)
      fills.push_back(countFill(v));
}

int64_t Simulation::countFill(unsigned v) const {
  // For a hub, new edges are not counted. This number is above all counts, so
  // that hubs come last.
  if (adjacency.isHubNow(v))
    return int64_t(adjacency.getDegree(v)) << 32;
  llvm::SmallVector<unsigned, 8> neighbors = adjacency.getNeighbors(v);
  int64_t fill = 0;
  for (unsigned i = 0; i < neighbors.size(); ++i)
    for (unsigned j = 0; j < i; ++j)
      fill += !adjacency.contains(neighbors[i], neighbors[j]);
  return fill;
}

void Simulation::addWork(unsigned v, ArrayRef<unsigned> neighbors) {
  constexpr int64_t kMost = int64_t(1) << 62;
  int64_t size = core.getDomain(v);
  for (unsigned other : neighbors)
    size = size > kMost / core.getDomain(other) ? kMost
                                                : size * core.getDomain(other);
  work = work > kMost - size ? kMost : work + size;
}

/// Lowers fills[c], the number of edges that eliminating c would add, by 1 for
/// each common neighbor c of `a` and `b`, because these are adjacent from now
/// on. Appends each c to `changed`. Leaves out hubs.
void Simulation::lowerFillOfCommonNeighbors(unsigned a, unsigned b,
                                            std::vector<unsigned> &changed) {
  if (adjacency.getDegree(b) < adjacency.getDegree(a))
    std::swap(a, b);
  if (adjacency.isHubNow(a))
    return;
  for (unsigned c : adjacency.getNeighbors(a))
    if (c != b && !adjacency.isHubNow(c) && adjacency.contains(c, b)) {
      --fills[c];
      changed.push_back(c);
    }
}

void Simulation::connectAll(ArrayRef<unsigned> clique,
                            std::vector<unsigned> &changed) {
  for (unsigned i = 0; i < clique.size(); ++i)
    for (unsigned j = 0; j < i; ++j) {
      unsigned a = clique[i], b = clique[j];
      if (!adjacency.connect(a, b))
        continue;
      widths[a] += logs[b];
      widths[b] += logs[a];
      if (rule == Rule::MinFill)
        lowerFillOfCommonNeighbors(a, b, changed);
    }
}

bool Simulation::run(int64_t maxTableSize) {
  const int64_t widest = getLogOfSize(maxTableSize);
  std::vector<Key> keys;
  std::set<std::pair<Key, unsigned>> queue; // least key, then least number
  for (unsigned v = 0; v < core.getNumVariables(); ++v) {
    keys.push_back(getKey(v));
    queue.insert({keys[v], v});
  }
  std::vector<unsigned> changed;
  while (!queue.empty()) {
    unsigned v = queue.begin()->second;
    queue.erase(queue.begin());
    // Logarithms are rounded down, so that a message that fits is never
    // rejected.
    if (widths[v] - logs[v] > widest)
      return false;
    order.push_back(v);
    llvm::SmallVector<unsigned, 8> neighbors = adjacency.getNeighbors(v);
    addWork(v, neighbors);
    adjacency.remove(v, neighbors);
    for (unsigned other : neighbors)
      widths[other] -= logs[v];
    changed.assign(neighbors.begin(), neighbors.end());
    if (neighbors.size() <= kHubDegree)
      connectAll(neighbors, changed);
    if (rule == Rule::MinFill)
      for (unsigned other : neighbors)
        fills[other] = countFill(other);
    for (unsigned other : changed)
      if (keys[other] != getKey(other)) {
        queue.erase({keys[other], other});
        keys[other] = getKey(other);
        queue.insert({keys[other], other});
      }
  }
  return true;
}

std::vector<unsigned> mlir::layout::getEliminationOrder(const CoreGraph &core,
                                                        int64_t maxTableSize) {
  Simulation first(core, Simulation::Rule::MinWidth);
  bool fits = first.run(maxTableSize);
  // Counting new edges costs as much as thousands of additions.
  if ((fits && first.work / 4096 < core.getNumVariables()) ||
      core.getNumVariables() - first.order.size() > kMostLeft)
    return std::move(first.order);
  Simulation second(core, Simulation::Rule::MinFill);
  bool isBetter =
      second.run(maxTableSize) && (!fits || second.work < first.work);
  return std::move(isBetter ? second.order : first.order);
}
