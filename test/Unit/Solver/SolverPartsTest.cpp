//===- SolverPartsTest.cpp - The steps of solving in isolation ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Elimination/EliminationOrder.h"
#include "Elimination/TableAlgebra.h"
#include "Elimination/TableSum.h"
#include "GraphReduction.h"
#include "gtest/gtest.h"
#include <random>
#include <set>

using namespace mlir::layout;

namespace {

class SolverParts : public ::testing::Test {
protected:
  unsigned draw(unsigned low, unsigned high) {
    return low + random() % (high - low + 1);
  }
  std::vector<Cost> drawTable(size_t size, Cost scale, unsigned forbidden) {
    std::vector<Cost> table;
    for (size_t i = 0; i < size; ++i)
      table.push_back(draw(0, 99) < forbidden ? kInfiniteCost
                                              : Cost(draw(0, 7)) * scale);
    return table;
  }
  std::mt19937 random{20240607};
};

/// Terms over random parts of the scope, in random order.
TEST_F(SolverParts, SumsOfLargeTables) {
  SumBuffers buffers;
  size_t largest = 0;
  for (unsigned round = 0; round < 1500; ++round) {
    SumShape shape = {draw(1, 6), {}};
    // A few that exceed the copy size, and many small ones.
    bool isLarge = round % 50 == 0;
    for (unsigned d = draw(isLarge ? 6 : 0, isLarge ? 7 : 5); d > 0; --d)
      shape.scope.push_back(draw(1, 6));
    const Cost scales[] = {1, 1000, kInfiniteCost / 60, kInfiniteCost / 7};
    Cost scale = scales[std::max(0, int(draw(0, 6)) - 3)];
    unsigned forbidden = draw(0, 1) * draw(0, 40);

    TableStore store;
    std::vector<TableId> ids;
    std::vector<SumTerm> terms;
    for (unsigned t = draw(1, 5); t > 0; --t) {
      // The variables of the term; the last number is the minimized variable.
      std::vector<unsigned> scope;
      for (unsigned d = 0; d <= shape.scope.size(); ++d)
        if (draw(0, 3) > 0 || (isLarge && t > 1))
          scope.push_back(d);
      if (draw(0, 1))
        std::shuffle(scope.begin(), scope.end(), random);
      SumTerm term = {nullptr, 0, {}};
      term.steps.assign(shape.scope.size(), 0);
      size_t size = 1;
      for (unsigned d : llvm::reverse(scope)) {
        bool isMinimized = d == shape.scope.size();
        (isMinimized ? term.step : term.steps[d]) = size;
        size *= isMinimized ? shape.domain : shape.scope[d];
      }
      ids.push_back(store.intern(drawTable(size, scale, forbidden)));
      terms.push_back(term);
    }
    for (auto [term, id] : llvm::zip_equal(terms, ids))
      term.table = &store[id];

    llvm::ArrayRef<Cost> out = minimizeSum(shape, terms, buffers);
    ASSERT_EQ(out.size(), shape.getSize());
    largest = std::max(largest, out.size());
    std::vector<unsigned> index(shape.scope.size(), 0);
    for (size_t i = 0; i < out.size(); ++i) {
      Cost least = kInfiniteCost;
      for (unsigned v = 0; v < shape.domain; ++v) {
        Cost sum = 0;
        for (const SumTerm &term : terms) {
          size_t entry = v * term.step;
          for (unsigned d = 0; d < index.size(); ++d)
            entry += index[d] * term.steps[d];
          sum = addCosts(sum, term.table->get()[entry]);
        }
        least = std::min(least, sum);
      }
      ASSERT_EQ(out[i], least) << "entry " << i << " of round " << round;
      for (unsigned d = index.size(); d-- > 0;) {
        if (++index[d] < shape.scope[d])
          break;
        index[d] = 0;
      }
    }
  }
  EXPECT_GT(largest, size_t(1) << 15);
}

TEST_F(SolverParts, StoresShareTheTablesOfTheirBase) {
  TableStore base;
  TableId a = base.intern({1, 2}), b = base.intern({kInfiniteCost, 0});
  TableStore store(&base);
  EXPECT_EQ(store[a].entries, base[a].entries);
  TableId c = store.intern({5, 5}), d = store.intern({7, 7, 7});
  EXPECT_EQ(store.intern({5, 5}), c);
  EXPECT_EQ((std::set<TableId>{a, b, c, d}.size()), 4u);
  EXPECT_EQ(base.getNumTables(), 2u);
  EXPECT_TRUE(store[c].isUniform());
  EXPECT_FALSE(store[a].isUniform());
  EXPECT_TRUE(store[b].hasForbidden);
  EXPECT_EQ(store[b].largest, 0);
  TableStore top(&store);
  EXPECT_EQ(top[a].entries, base[a].entries);
  EXPECT_EQ(top[d].get(), llvm::ArrayRef<Cost>({7, 7, 7}));
}

/// Tables that are separated or extracted recompose to the original.
TEST_F(SolverParts, PartsOfTables) {
  unsigned numSeparated = 0;
  for (unsigned round = 0; round < 3000; ++round) {
    TableStore base;
    TableAlgebra algebra(base);
    unsigned rows = draw(1, 4), columns = draw(1, 4);
    std::vector<Cost> table =
        drawTable(rows * columns, 1 + draw(0, 1) * 1000, draw(0, 1) * 30);
    // Half of them are separable.
    if (draw(0, 1)) {
      std::vector<Cost> ofRows = drawTable(rows, 3, 20);
      std::vector<Cost> ofColumns = drawTable(columns, 5, 20);
      for (unsigned i = 0; i < table.size(); ++i)
        table[i] = addCosts(ofRows[i / columns], ofColumns[i % columns]);
    }
    auto [id, constant] = algebra.normalize(algebra.store.intern(table));
    auto at = [&](TableId part, size_t entry) {
      return part == kNoTable ? 0 : algebra.store[part].get()[entry];
    };
    for (unsigned i = 0; i < table.size(); ++i)
      ASSERT_EQ(addCosts(constant, at(id, i)), table[i]);
    if (id == kNoTable)
      continue;

    ASSERT_EQ(algebra.transpose(algebra.transpose(id, rows), columns), id);
    for (bool ofRows : {false, true}) {
      TableAlgebra::Extraction parts = algebra.extract(id, rows, ofRows);
      for (unsigned i = 0; i < table.size(); ++i)
        ASSERT_EQ(addCosts(at(parts.part, ofRows ? i / columns : i % columns),
                           at(parts.rest, i)),
                  at(id, i));
      // No further part can be extracted.
      TableAlgebra::Extraction again =
          algebra.extract(parts.rest, rows, ofRows);
      ASSERT_EQ(again.part, kNoTable);
    }
    TableAlgebra::Separation parts = algebra.separate(id, rows);
    numSeparated += parts.isPossible;
    for (unsigned i = 0; i < table.size() && parts.isPossible; ++i)
      ASSERT_EQ(
          addCosts(at(parts.rows, i / columns), at(parts.columns, i % columns)),
          at(id, i));
    // With finite entries it is possible iff all second differences are 0.
    if (!llvm::is_contained(table, kInfiniteCost)) {
      bool isPossible = true;
      for (unsigned i = 0; i < table.size(); ++i)
        isPossible &= table[i] + table[0] ==
                      table[i / columns * columns] + table[i % columns];
      ASSERT_EQ(parts.isPossible, isPossible);
    }
  }
  EXPECT_GT(numSeparated, 1000u);
}

/// Returns the number of variables that the reductions leave.
unsigned getCoreSize(const FactorGraph &graph) {
  TableStore store; // with the same ids as that of the graph
  for (size_t t = 0; t < graph.getNumTables(); ++t)
    store.intern(graph.getTable(TableId(t)));
  TableAlgebra algebra(store);
  GraphReduction reduction(graph, algebra, 1 << 20);
  reduction.run();
  return reduction.getCore().getNumVariables();
}

/// Series-parallel graphs, built by serial and parallel composition of edges.
TEST_F(SolverParts, ReductionsLeaveNothingOfSeriesParallelGraphs) {
  for (unsigned round = 0; round < 300; ++round) {
    FactorGraph graph;
    for (unsigned v = 0; v < 2; ++v)
      graph.addVariable(draw(1, 3));
    std::vector<std::pair<unsigned, unsigned>> edges = {{0, 1}};
    for (unsigned step = draw(0, 60); step > 0; --step) {
      auto &edge = edges[draw(0, edges.size() - 1)];
      if (draw(0, 1)) {
        edges.push_back({edge.second, edge.first});
        continue;
      }
      unsigned middle = graph.addVariable(draw(1, 3));
      unsigned end = edge.second;
      edge.second = middle;
      edges.push_back({middle, end});
    }
    for (auto [a, b] : edges)
      graph.addFactor(
          {a, b},
          drawTable(graph.getDomainSize(a) * graph.getDomainSize(b), 1, 0));
    ASSERT_EQ(getCoreSize(graph), 0u);
  }
}

TEST_F(SolverParts, ReductionsKeepWhatIsWide) {
  auto addClique = [](FactorGraph &graph, unsigned size, auto getTable) {
    for (unsigned v = 0; v < size; ++v) {
      graph.addVariable(2);
      for (unsigned other = 0; other < v; ++other)
        graph.addFactor({other, v}, getTable(other, v));
    }
  };
  FactorGraph wide;
  addClique(wide, 4,
            [](unsigned, unsigned) { return std::vector<Cost>{0, 1, 1, 0}; });
  EXPECT_EQ(getCoreSize(wide), 4u);
  // With a tail, and with one edge that is a sum of two vectors.
  wide.addVariable(2);
  wide.addFactor({3, 4}, {0, 1, 1, 0});
  EXPECT_EQ(getCoreSize(wide), 4u);
  FactorGraph separable;
  addClique(separable, 4, [](unsigned a, unsigned b) {
    return a + b == 1 ? std::vector<Cost>{5, 8, 7, 10}
                      : std::vector<Cost>{0, 1, 1, 0};
  });
  EXPECT_EQ(getCoreSize(separable), 0u);
  // Two edges whose sum is constant.
  FactorGraph canceled;
  addClique(canceled, 4,
            [](unsigned, unsigned) { return std::vector<Cost>{0, 1, 1, 0}; });
  canceled.addFactor({1, 0}, {1, 0, 0, 1});
  EXPECT_EQ(getCoreSize(canceled), 0u);
  // A factor of three variables.
  FactorGraph large;
  for (unsigned v = 0; v < 3; ++v)
    large.addVariable(2);
  large.addFactor({0, 1, 2}, {0, 1, 1, 0, 1, 0, 0, 1});
  EXPECT_EQ(getCoreSize(large), 3u);
}

/// Returns the size of the largest message for an elimination order.
size_t getLargestMessage(const CoreGraph &core,
                         llvm::ArrayRef<unsigned> order) {
  std::vector<std::set<unsigned>> neighbors(core.getNumVariables());
  auto connect = [&](auto &&clique) {
    for (unsigned a : clique)
      for (unsigned b : clique)
        if (a != b)
          neighbors[a].insert(b);
  };
  for (unsigned f = 0; f < core.getNumFactors(); ++f)
    connect(core.getScope(f));
  size_t largest = 1;
  for (unsigned variable : order) {
    size_t size = 1;
    for (unsigned other : neighbors[variable]) {
      size *= core.getDomain(other);
      neighbors[other].erase(variable);
    }
    largest = std::max(largest, size);
    connect(std::set<unsigned>(neighbors[variable]));
  }
  return largest;
}

/// Trees of cliques, for which both rules find the known width.
TEST_F(SolverParts, OrderOfTreesOfCliques) {
  for (unsigned width : {1u, 3u, 6u})
    for (unsigned count : {10u, 400u}) {
      CoreGraph core;
      std::vector<std::vector<unsigned>> cliques;
      std::vector<unsigned> clique;
      for (unsigned v = 0; v < count; ++v) {
        core.addVariable(v, 3);
        if (v > width)
          clique = cliques[draw(0, cliques.size() - 1)];
        for (unsigned other : clique)
          core.addFactor({other, v}, TableId(0));
        clique.push_back(v);
        for (unsigned out = 0; out < clique.size() && v >= width; ++out) {
          cliques.push_back(clique);
          cliques.back().erase(cliques.back().begin() + out);
        }
      }
      std::vector<unsigned> order = getEliminationOrder(core, 1 << 20);
      EXPECT_EQ(order, getEliminationOrder(core, 1 << 20));
      size_t largest = 1;
      for (unsigned v = 0; v < width; ++v)
        largest *= 3;
      EXPECT_EQ(getLargestMessage(core, order), largest);
      llvm::sort(order);
      for (unsigned v = 0; v < count; ++v)
        ASSERT_EQ(order[v], v);
    }
}

/// A variable adjacent to all others is eliminated last.
TEST_F(SolverParts, OrderWithAHub) {
  CoreGraph core;
  constexpr unsigned kCount = 300;
  for (unsigned v = 0; v < kCount; ++v) {
    core.addVariable(v, 2);
    for (unsigned back : {1u, 2u, 3u})
      if (v > back)
        core.addFactor({v - back, v}, TableId(0));
    if (v > 0)
      core.addFactor({0, v}, TableId(0));
  }
  EXPECT_EQ(getLargestMessage(core, getEliminationOrder(core, 1 << 20)), 16u);
}

} // namespace
