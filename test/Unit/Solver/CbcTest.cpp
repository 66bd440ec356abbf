//===- CbcTest.cpp - The solver against an integer program ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Graphs too large to enumerate, solved a second time by CBC, an independent
// integer programming solver: x[v, i] is 1 if variable v has value i, y[f, i,
// j] if factor f has the entry (i, j), and
//
//   sum over i of x[v, i] = 1,  sum over j of y[f, i, j] = x[v, i] and likewise
//   for the other variable of f; minimize the sum of the costs of x and y.
//
// CBC computes in doubles: costs are so small that no sum reaches 2^31, and its
// solution is evaluated in integers.
//
//===----------------------------------------------------------------------===//

#include "RandomGraphs.h"
#include "gtest/gtest.h"
#include <Cbc_C_Interface.h>
#include <cmath>

using namespace mlir::layout;

namespace {

/// An integer program to which columns are added, with entries in existing
/// rows.
class Program {
public:
  int addRow(double value) {
    rowValues.push_back(value);
    return rowValues.size() - 1;
  }
  int addColumn(double cost, bool isInteger, double limit,
                std::initializer_list<std::pair<int, double>> entries) {
    costs.push_back(cost);
    limits.push_back(limit);
    integers.push_back(isInteger);
    starts.push_back(rows.size());
    for (auto [row, coefficient] : entries)
      addEntry(row, coefficient);
    return costs.size() - 1;
  }
  /// Adds an entry to the last column.
  void addEntry(int row, double coefficient) {
    rows.push_back(row);
    coefficients.push_back(coefficient);
    starts.back() = rows.size();
  }

  /// Solves the program. Returns the values of the columns, or an empty list if
  /// CBC did not prove optimality.
  std::vector<double> solve() const {
    Cbc_Model *model = Cbc_newModel();
    Cbc_setParameter(model, "log", "0");
    Cbc_setParameter(model, "slog", "0");
    // Requires optimality to the unit.
    Cbc_setParameter(model, "ratioGap", "0");
    Cbc_setParameter(model, "allowableGap", "0");
    Cbc_setParameter(model, "increment", "0.99");
    std::vector<double> zeros(costs.size(), 0);
    Cbc_loadProblem(model, costs.size(), rowValues.size(), starts.data(),
                    rows.data(), coefficients.data(), zeros.data(),
                    limits.data(), costs.data(), rowValues.data(),
                    rowValues.data());
    for (size_t column = 0; column < costs.size(); ++column)
      if (integers[column])
        Cbc_setInteger(model, column);
    Cbc_solve(model);
    std::vector<double> values;
    if (Cbc_isProvenOptimal(model)) {
      const double *solution = Cbc_getColSolution(model);
      values.assign(solution, solution + costs.size());
    }
    Cbc_deleteModel(model);
    return values;
  }

private:
  std::vector<double> rowValues, costs, limits, coefficients;
  std::vector<char> integers;
  std::vector<int> starts = {0}, rows; // column i ends at starts[i + 1]
};

/// Returns an optimal assignment according to CBC, or an empty list if it is
/// not proven. Factors must have one or two variables.
std::vector<unsigned> solveWithCbc(const Model &model) {
  Program program;
  std::vector<std::vector<double>> costs;
  for (unsigned domain : model.domains)
    costs.emplace_back(domain, 0.0);
  auto limit = [](Cost cost) { return cost == kInfiniteCost ? 0.0 : 1.0; };
  std::vector<std::vector<double>> limits;
  for (unsigned domain : model.domains)
    limits.emplace_back(domain, 1.0);
  for (const Model::Term &term : model.terms)
    if (term.scope.size() == 1)
      for (size_t i = 0; i < term.table.size(); ++i) {
        if (term.table[i] != kInfiniteCost)
          costs[term.scope[0]][i] += double(term.table[i]);
        else
          limits[term.scope[0]][i] = 0;
      }

  // The rows of a factor, one per value of either variable.
  struct PairRows {
    int first, second;
  };
  std::vector<PairRows> pairRows;
  for (const Model::Term &term : model.terms) {
    PairRows rows = {0, 0};
    if (term.scope.size() == 2)
      for (int *first : {&rows.first, &rows.second}) {
        unsigned domain = model.domains[term.scope[first == &rows.second]];
        *first = program.addRow(0);
        for (unsigned i = 1; i < domain; ++i)
          program.addRow(0);
      }
    pairRows.push_back(rows);
  }
  std::vector<int> firstColumns;
  for (unsigned v = 0; v < model.domains.size(); ++v) {
    int sum = program.addRow(1);
    for (unsigned i = 0; i < model.domains[v]; ++i) {
      int column = program.addColumn(costs[v][i], true, limits[v][i], {});
      if (i == 0)
        firstColumns.push_back(column);
      program.addEntry(sum, 1);
      for (size_t t = 0; t < model.terms.size(); ++t)
        if (model.terms[t].scope.size() == 2)
          for (unsigned end : {0, 1})
            if (model.terms[t].scope[end] == v)
              program.addEntry(
                  (end ? pairRows[t].second : pairRows[t].first) + int(i), -1);
    }
  }
  for (size_t t = 0; t < model.terms.size(); ++t) {
    const Model::Term &term = model.terms[t];
    if (term.scope.size() != 2)
      continue;
    unsigned columns = model.domains[term.scope[1]];
    for (size_t entry = 0; entry < term.table.size(); ++entry) {
      Cost cost = term.table[entry];
      program.addColumn(cost == kInfiniteCost ? 0 : double(cost), false,
                        limit(cost),
                        {{pairRows[t].first + int(entry / columns), 1},
                         {pairRows[t].second + int(entry % columns), 1}});
    }
  }

  std::vector<double> values = program.solve();
  std::vector<unsigned> assignment;
  for (unsigned v = 0; v < model.domains.size() && !values.empty(); ++v)
    for (unsigned i = 0; i < model.domains[v]; ++i)
      if (values[firstColumns[v] + i] > 0.5) {
        EXPECT_EQ(assignment.size(), v) << "a variable has two values";
        assignment.push_back(i);
      }
  return assignment;
}

/// Makes a part of a tree of cliques of the given width: ops with costs, and
/// conversions that are free for equal layouts and sometimes forbidden.
/// `exchanges` percent of the edges exchange layouts.
Model makeProgram(RandomModels &models, unsigned count, unsigned width,
                  unsigned exchanges) {
  Model model;
  std::vector<std::vector<unsigned>> cliques;
  std::vector<unsigned> clique;
  for (unsigned v = 0; v < count; ++v) {
    model.domains.push_back(models.draw(2, width > 4 ? 4 : 6));
    Model::Term costs = {{v}, {}};
    for (unsigned i = 0; i < model.domains[v]; ++i)
      costs.table.push_back(models.draw(0, 30000));
    model.terms.push_back(costs);
    // Usually attached to the latest cliques, so that the tree is long.
    if (v > width)
      clique = cliques[cliques.size() - 1 -
                       models.draw(
                           0, std::min<size_t>(cliques.size() - 1, 4 * width))];
    for (size_t c = 0; c < clique.size(); ++c) {
      if (models.draw(0, 3) == 0)
        continue;
      // The corresponding layout of the other variable: an op in between may
      // have exchanged dims.
      unsigned from = model.domains[clique[c]], to = model.domains[v];
      std::vector<unsigned> same = models.drawScope(to, to);
      if (models.draw(0, 99) >= exchanges)
        llvm::sort(same);
      Model::Term conversion = {{clique[c], v}, {}};
      Cost bytes = models.draw(1000, 20000);
      for (unsigned i = 0; i < from; ++i)
        for (unsigned j = 0; j < to; ++j)
          conversion.table.push_back(i < to && same[i] == j ? 0
                                     : models.draw(0, 39) == 0
                                         ? kInfiniteCost
                                         : bytes + models.draw(0, 5000));
      model.terms.push_back(std::move(conversion));
    }
    clique.push_back(v);
    for (unsigned out = 0; out < clique.size() && v >= width; ++out) {
      cliques.push_back(clique);
      cliques.back().erase(cliques.back().begin() + out);
    }
  }
  return model;
}

TEST(Cbc, FindsTheSameCosts) {
  constexpr unsigned kSeed = 20240607;
  RandomModels models(kSeed);
  unsigned numGraphs = 0;
  for (unsigned width : {2, 3, 4, 5, 6})
    for (unsigned count : {50, 60, 80, 100, 150, 200, 300}) {
      // Exchanges make the integer program branch.
      unsigned exchanges = count <= 80 ? 10 : 1;
      Model model = makeProgram(models, count, width, exchanges);
      SCOPED_TRACE(std::to_string(count) + " variables of width " +
                   std::to_string(width));
      std::vector<unsigned> best = solveWithCbc(model);
      ASSERT_EQ(best.size(), count) << "CBC has no answer";
      FactorGraph graph = model.makeGraph();
      Solution solution = graph.solve();
      EXPECT_TRUE(solution.exact);
      EXPECT_EQ(solution.cost, model.evaluate(best));
      EXPECT_EQ(model.evaluate(solution.assignment), solution.cost);
      // Also with small tables and few nodes.
      SolveOptions options;
      options.maxTableSize = 16;
      options.maxNodes = 2000;
      Solution relaxed = graph.solve(options);
      EXPECT_LE(relaxed.lowerBound, solution.cost);
      EXPECT_GE(relaxed.cost, solution.cost);
      ++numGraphs;
    }
  EXPECT_EQ(numGraphs, 35u);
}

} // namespace
