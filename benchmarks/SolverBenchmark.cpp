//===- SolverBenchmark.cpp - The time of exact assignment -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each benchmark builds a graph, solves it, and fails if the answer is not
// proven. Tables resemble those of layouts: a cost per op and layout, 0 for
// keeping a layout, and bytes for changing it.
//
//===----------------------------------------------------------------------===//

#include "benchmark/benchmark.h"
#include "layout/Solver/FactorGraph.h"
#include <random>

using namespace mlir::layout;

namespace {

class Builder {
public:
  explicit Builder(unsigned numValues) : numValues(numValues) {}

  unsigned addOp(TableId costs) {
    unsigned variable = graph.addVariable(numValues);
    graph.addFactor({variable}, costs);
    return variable;
  }
  TableId makeOpTable() {
    std::vector<Cost> table;
    for (unsigned v = 0; v < numValues; ++v)
      table.push_back(random() % 100000);
    return graph.addTable(table);
  }
  TableId makeConversionTable() {
    std::vector<Cost> table;
    for (unsigned from = 0; from < numValues; ++from)
      for (unsigned to = 0; to < numValues; ++to)
        table.push_back(from == to ? 0 : 20000 + random() % 60000);
    return graph.addTable(table);
  }

  FactorGraph graph;
  unsigned numValues;
  std::mt19937 random{20240607};
};

template <typename Build> void solve(benchmark::State &state, Build build) {
  for (auto _ : state) {
    FactorGraph graph = build();
    Solution solution = graph.solve();
    if (!solution.exact)
      state.SkipWithError("the answer is not proven");
    state.counters["variables"] = graph.getNumVariables();
    state.counters["tables"] = graph.getNumTables();
  }
}

/// A chain of ops: three kinds of ops on tensors of two sizes.
void chain(benchmark::State &state) {
  solve(state, [&] {
    Builder builder(state.range(1));
    TableId ops[] = {builder.makeOpTable(), builder.makeOpTable(),
                     builder.makeOpTable()};
    TableId conversions[] = {builder.makeConversionTable(),
                             builder.makeConversionTable()};
    for (unsigned i = 0, e = state.range(0); i < e; ++i) {
      unsigned op = builder.addOp(ops[i % 3]);
      if (i > 0)
        builder.graph.addFactor({op - 1, op}, conversions[i / 3 % 2]);
    }
    return std::move(builder.graph);
  });
}
BENCHMARK(chain)
    ->ArgNames({"ops", "layouts"})
    ->Args({100'000, 4})
    ->Args({1'000'000, 4})
    ->Args({100'000, 8})
    ->Args({1'000'000, 8})
    ->Unit(benchmark::kMillisecond);

/// A chain in which no two tables are equal, so that memoization never helps.
void chainOfDifferentTables(benchmark::State &state) {
  solve(state, [&] {
    Builder builder(state.range(1));
    for (unsigned i = 0, e = state.range(0); i < e; ++i) {
      unsigned op = builder.addOp(builder.makeOpTable());
      if (i > 0)
        builder.graph.addFactor({op - 1, op}, builder.makeConversionTable());
    }
    return std::move(builder.graph);
  });
}
BENCHMARK(chainOfDifferentTables)
    ->ArgNames({"ops", "layouts"})
    ->Args({100'000, 6})
    ->Args({1'000'000, 6})
    ->Unit(benchmark::kMillisecond);

/// Residual blocks: two convolutions on one path, a skip or, at the start of a
/// stage, a projection on the other, and a value with three consumers.
void residual(benchmark::State &state) {
  solve(state, [&] {
    Builder builder(state.range(1));
    TableId conv = builder.makeOpTable(), relu = builder.makeOpTable(),
            add = builder.makeOpTable(), pool = builder.makeOpTable();
    TableId large = builder.makeConversionTable(),
            small = builder.makeConversionTable();
    FactorGraph &graph = builder.graph;
    auto follow = [&](unsigned from, TableId costs, TableId conversion) {
      unsigned op = builder.addOp(costs);
      graph.addFactor({from, op}, conversion);
      return op;
    };
    unsigned last = builder.addOp(conv);
    for (unsigned block = 0; graph.getNumVariables() + 8 <= state.range(0);
         ++block) {
      TableId conversion = block % 16 < 8 ? large : small;
      unsigned main = follow(last, conv, conversion);
      main = follow(main, relu, conversion);
      main = follow(main, conv, conversion);
      unsigned gate = follow(last, pool, conversion);
      gate = follow(gate, conv, small);
      unsigned scaled = follow(main, add, conversion);
      graph.addFactor({gate, scaled}, small);
      unsigned skip = block % 4 == 0 ? follow(last, conv, conversion) : last;
      unsigned sum = follow(scaled, add, conversion);
      graph.addFactor({skip, sum}, conversion);
      last = sum;
    }
    return std::move(builder.graph);
  });
}
BENCHMARK(residual)
    ->ArgNames({"ops", "layouts"})
    ->Args({100'000, 6})
    ->Args({1'000'000, 6})
    ->Unit(benchmark::kMillisecond);

/// Independent programs of 100 ops, each a chain with skips over random
/// distances.
void components(benchmark::State &state) {
  solve(state, [&] {
    Builder builder(4);
    TableId ops[] = {builder.makeOpTable(), builder.makeOpTable()};
    TableId conversions[] = {builder.makeConversionTable(),
                             builder.makeConversionTable()};
    for (unsigned c = 0, e = state.range(0); c < e; ++c) {
      unsigned first = builder.graph.getNumVariables();
      for (unsigned i = 0; i < 100; ++i) {
        unsigned op = builder.addOp(ops[builder.random() % 2]);
        if (i > 0)
          builder.graph.addFactor({op - 1, op}, conversions[0]);
        if (i > 5 && i % 5 == 0)
          builder.graph.addFactor(
              {first + i - 2 - unsigned(builder.random() % 4), op},
              conversions[1]);
      }
    }
    return std::move(builder.graph);
  });
}
BENCHMARK(components)
    ->ArgName("components")
    ->Arg(10'000)
    ->Unit(benchmark::kMillisecond);

/// A decoder: per layer, three projections of a normalized value that meet in
/// attention, a gated product, and two residual additions.
void decoder(benchmark::State &state) {
  solve(state, [&] {
    Builder builder(4);
    TableId matmul = builder.makeOpTable(), norm = builder.makeOpTable(),
            add = builder.makeOpTable(), rope = builder.makeOpTable();
    TableId hidden = builder.makeConversionTable(),
            wide = builder.makeConversionTable();
    FactorGraph &graph = builder.graph;
    auto follow = [&](std::initializer_list<unsigned> from, TableId costs,
                      TableId conversion) {
      unsigned op = builder.addOp(costs);
      for (unsigned operand : from)
        graph.addFactor({operand, op}, conversion);
      return op;
    };
    // The sine and cosine tables that all layers read.
    unsigned sines = builder.addOp(rope), cosines = builder.addOp(rope);
    unsigned last = builder.addOp(norm);
    while (graph.getNumVariables() + 17 <= state.range(0)) {
      unsigned normal = follow({last}, norm, hidden);
      unsigned q = follow({normal}, matmul, hidden);
      unsigned k = follow({normal}, matmul, hidden);
      unsigned v = follow({normal}, matmul, hidden);
      unsigned turnedQ = follow({q, sines, cosines}, rope, hidden);
      unsigned turnedK = follow({k, sines, cosines}, rope, hidden);
      unsigned scores = follow({turnedQ, turnedK}, matmul, wide);
      unsigned weights = follow({scores}, norm, wide);
      unsigned mixed = follow({weights, v}, matmul, wide);
      unsigned out = follow({mixed}, matmul, hidden);
      unsigned sum = follow({last, out}, add, hidden);
      unsigned again = follow({sum}, norm, hidden);
      unsigned up = follow({again}, matmul, wide);
      unsigned gate = follow({again}, matmul, wide);
      unsigned product = follow({up, gate}, add, wide);
      unsigned down = follow({product}, matmul, hidden);
      last = follow({sum, down}, add, hidden);
    }
    return std::move(builder.graph);
  });
}
BENCHMARK(decoder)->ArgName("ops")->Arg(100'000)->Arg(1'000'000)->Unit(
    benchmark::kMillisecond);

/// A sequence of dense blocks, in which every op reads all previous ones; too
/// wide to eliminate.
void denseBlocks(benchmark::State &state) {
  solve(state, [&] {
    Builder builder(4);
    unsigned block = state.range(1);
    for (unsigned i = 0, e = state.range(0); i < e; ++i) {
      unsigned op = builder.addOp(builder.makeOpTable());
      unsigned first = i % block == 0 && i > 0 ? i - 1 : i / block * block;
      for (unsigned read = first; read < i; ++read)
        builder.graph.addFactor({read, op}, builder.makeConversionTable());
    }
    return std::move(builder.graph);
  });
}
BENCHMARK(denseBlocks)
    ->ArgNames({"ops", "block"})
    ->Args({96, 32})
    ->Args({6400, 32})
    ->Unit(benchmark::kMillisecond);

/// A grid with distinct tables; its width is the shorter side.
void grid(benchmark::State &state) {
  solve(state, [&] {
    Builder builder(state.range(2));
    unsigned rows = state.range(0), columns = state.range(1);
    for (unsigned i = 0; i < rows * columns; ++i) {
      unsigned op = builder.addOp(builder.makeOpTable());
      if (i % columns > 0)
        builder.graph.addFactor({op - 1, op}, builder.makeConversionTable());
      if (i >= columns)
        builder.graph.addFactor({op - columns, op},
                                builder.makeConversionTable());
    }
    return std::move(builder.graph);
  });
}
BENCHMARK(grid)
    ->ArgNames({"rows", "columns", "layouts"})
    ->Args({7, 7, 6})
    ->Args({100, 6, 4})
    ->Unit(benchmark::kMillisecond);

/// A random tree decomposition of exactly the given width: every variable has
/// distinct tables with a clique of earlier ones.
void tree(benchmark::State &state) {
  solve(state, [&] {
    unsigned width = state.range(0);
    Builder builder(state.range(1));
    std::vector<std::vector<unsigned>> cliques;
    std::vector<unsigned> clique;
    for (unsigned i = 0, e = state.range(2); i < e; ++i) {
      unsigned op = builder.addOp(builder.makeOpTable());
      if (i > width)
        clique = cliques[builder.random() % cliques.size()];
      for (unsigned other : clique)
        builder.graph.addFactor({other, op}, builder.makeConversionTable());
      clique.push_back(op);
      // The cliques to which a next variable may be attached.
      if (clique.size() > width) {
        std::vector<unsigned> next = clique;
        for (unsigned leaveOut = 0; leaveOut <= width; ++leaveOut) {
          next = clique;
          next.erase(next.begin() + leaveOut);
          cliques.push_back(next);
        }
      }
    }
    return std::move(builder.graph);
  });
}
BENCHMARK(tree)
    ->ArgNames({"width", "layouts", "ops"})
    ->Args({7, 6, 40})
    ->Args({5, 6, 1000})
    ->Unit(benchmark::kMillisecond);

} // namespace
