//===- IncrementalChainSolverTest.cpp - Incremental solver of chains ------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Solver/IncrementalChainSolver.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir::layout;

namespace {

using Kind = IncrementalChainSolver::Kind;

/// Makes the graph of all steps.
FactorGraph makeGraph(IncrementalChainSolver &solver,
                      llvm::ArrayRef<Kind> steps,
                      llvm::ArrayRef<std::vector<Cost>> tables,
                      llvm::ArrayRef<TableId> ids) {
  FactorGraph graph;
  for (const Kind &step : steps) {
    int before = graph.getNumVariables();
    for (unsigned domain : step.domains)
      graph.addVariable(domain);
    for (const IncrementalChainSolver::Factor &factor : step.factors) {
      llvm::SmallVector<unsigned> variables;
      for (int place : factor.variables)
        variables.push_back(before + place);
      graph.addFactor(variables,
                      tables[llvm::find(ids, factor.table) - ids.begin()]);
    }
  }
  return graph;
}

TEST(IncrementalChainSolverTest, Chain) {
  IncrementalChainSolver solver;
  TableId pair = solver.addTable({7, 1, 0, 0}), own = solver.addTable({0, 5});
  unsigned first = solver.addKind({{2}, {{{0}, own}}, {}});
  unsigned last = solver.addKind({{2}, {{{-1, 0}, pair}}, {-1, 0}});
  EXPECT_EQ(last, solver.addKind({{2}, {{{-1, 0}, pair}}, {-1, 0}}));
  auto answer = solver.solve({first, last});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->cost, 1);
  EXPECT_EQ(answer->assignment.vec(), (std::vector<unsigned>{0, 1}));
}

TEST(IncrementalChainSolverTest, NothingWhereSomethingIsLeftOrForbidden) {
  IncrementalChainSolver solver;
  unsigned open = solver.addKind({{2}, {}, {}});
  EXPECT_FALSE(solver.solve({open}));
  TableId never = solver.addTable({kInfiniteCost, kInfiniteCost});
  unsigned forbidden = solver.addKind({{2}, {{{0}, never}}, {0}});
  EXPECT_FALSE(solver.solve({forbidden}));
  auto none = solver.solve({});
  ASSERT_TRUE(none);
  EXPECT_EQ(none->cost, 0);
}

TEST(IncrementalChainSolverTest, NothingWhereStepsDoNotRepeat) {
  IncrementalChainSolver solver;
  std::vector<unsigned> kinds;
  for (unsigned i = 0; i < 300; ++i)
    kinds.push_back(
        solver.addKind({{2}, {{{0}, solver.addTable({0, 1 + i})}}, {0}}));
  EXPECT_FALSE(solver.solve(kinds));
  kinds.resize(200);
  EXPECT_TRUE(solver.solve(kinds));
  std::vector<unsigned> repeated;
  for (unsigned i = 0; i < 20000; ++i)
    repeated.push_back(kinds[i % 200]);
  EXPECT_TRUE(solver.solve(repeated));
}

/// Chains of few kinds of steps, with a variable that stays open for a few
/// steps.
TEST(IncrementalChainSolverTest, AgreesWithTheWholeGraph) {
  std::mt19937 random(5);
  IncrementalChainSolver remembers;
  for (unsigned round = 0; round < 300; ++round) {
    unsigned domains[] = {1 + unsigned(random() % 3),
                          1 + unsigned(random() % 3)};
    std::vector<std::vector<Cost>> tables;
    auto addTable = [&](size_t size) {
      std::vector<Cost> table(size);
      // Small numbers create ties.
      for (Cost &entry : table)
        entry = random() % 8 == 0 ? kInfiniteCost : Cost(random() % 6);
      tables.push_back(std::move(table));
    };
    for (unsigned a : domains)
      addTable(a);
    for (unsigned a : domains)
      for (unsigned b : domains)
        addTable(a * b);

    IncrementalChainSolver fresh;
    std::vector<std::optional<IncrementalChainSolver::Result>> answers;
    FactorGraph graph;
    for (IncrementalChainSolver *solver : {&fresh, &remembers}) {
      std::vector<TableId> ids;
      for (const std::vector<Cost> &table : tables)
        ids.push_back(solver->addTable(table));
      unsigned length = 2 + round % 30, period = 2 + round % 4;
      std::vector<Kind> steps;
      std::vector<unsigned> kinds;
      for (unsigned i = 0; i < length; ++i) {
        unsigned d = i % 2, last = (i + 1) % 2;
        Kind kind = {{domains[d]}, {{{0}, ids[d]}}, {}};
        if (i > 0)
          kind.factors.push_back({{-1, 0}, ids[2 + last * 2 + d]});
        if (i >= period && i % period == 0) { // a skip
          unsigned from = (i - period) % 2;
          kind.factors.push_back({{0, -int(period)}, ids[2 + d * 2 + from]});
          kind.complete.push_back(-int(period));
        }
        bool staysOpen = (i - 1) % period == 0 && i - 1 + period < length;
        if (i > 0 && !staysOpen)
          kind.complete.push_back(-1);
        if (i + 1 == length)
          kind.complete.push_back(0);
        steps.push_back(kind);
        kinds.push_back(solver->addKind(kind));
      }
      answers.push_back(solver->solve(kinds));
      graph = makeGraph(*solver, steps, tables, ids);
    }
    Solution whole = graph.solve();
    ASSERT_TRUE(whole.exact);
    ASSERT_EQ(answers[0].has_value(), answers[1].has_value());
    ASSERT_EQ(answers[0].has_value(), whole.cost != kInfiniteCost);
    if (!answers[0])
      continue;
    EXPECT_EQ(answers[0]->cost, whole.cost);
    EXPECT_EQ(answers[0]->assignment, answers[1]->assignment);
    EXPECT_EQ(graph.evaluate(answers[0]->assignment), whole.cost);
  }
}

} // namespace
