//===- DecisionProblemTest.cpp - Tests of problems of several parts -------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Solver/DecisionProblem.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir::layout;
using llvm::cantFail;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

static SharedTensor makeTensor() {
  SharedTensor tensor;
  tensor.producer.layouts = {0};
  tensor.consumers = {{0u, {0, 1}}, {1u, {0, 1}}};
  tensor.numLayouts = 2;
  tensor.prices = {0, 20, kInfiniteCost, 0};
  return tensor;
}

TEST(DecisionProblem, Prologue) {
  DecisionProblem problem;
  EXPECT_EQ(cantFail(problem.addVariable({90, 75})), 0u);
  EXPECT_EQ(cantFail(problem.addVariable({60, 45})), 1u);
  cantFail(problem.addTensor(makeTensor()));
  DecisionAnswer answer = cantFail(problem.solve());
  EXPECT_EQ(answer.solution.cost, 140);
  EXPECT_TRUE(answer.solution.exact);
  EXPECT_THAT(answer.solution.assignment, ElementsAre(1, 1));
  EXPECT_THAT(problem.getCopies(0, {1, 1}), ElementsAre(1));
  EXPECT_FALSE(answer.amount);
}

/// Variables that are added after a tensor keep their numbers in tables,
/// budgets, tensors and assignments, although copies are variables of the
/// graph.
TEST(DecisionProblem, VariablesAfterCopies) {
  DecisionProblem problem;
  cantFail(problem.addVariable({90, 75}));
  cantFail(problem.addVariable({60, 45}));
  cantFail(problem.addTensor(makeTensor()));
  EXPECT_EQ(cantFail(problem.addVariable({7, 0, 3})), 2u);
  EXPECT_EQ(cantFail(problem.addVariable({0, 9})), 3u);
  cantFail(problem.addTable({3, 2}, {0, kInfiniteCost, 0, 0, 0, 0}));
  Budget budget;
  budget.terms = {{2, {1, 5, 4}}, {3, {3, 0}}};
  budget.limit = 5;
  cantFail(problem.setBudget(budget));
  DecisionAnswer answer = cantFail(problem.solve());
  // The last two variables: (2, 0) costs 3 but uses 7, (1, 0) is forbidden,
  // (0, 0) costs 7 and uses 4, and (1, 1) costs 9.
  EXPECT_EQ(answer.solution.cost, 140 + 7);
  EXPECT_THAT(answer.solution.assignment, ElementsAre(1, 1, 0, 0));
  EXPECT_EQ(answer.amount, 4);
  EXPECT_EQ(problem.getNumVariables(), 4u);
  EXPECT_EQ(problem.getDomainSize(2), 3u);

  SolveOptions options;
  std::vector<unsigned> initial = {1, 0, 1, 1};
  options.initial = initial;
  options.maxNodes = 0;
  EXPECT_EQ(cantFail(problem.solve(options)).solution.cost, 147);
}

template <typename T> static std::string getError(llvm::Expected<T> result) {
  return result ? "" : llvm::toString(result.takeError());
}
static std::string getError(llvm::Error error) {
  return error ? llvm::toString(std::move(error)) : "";
}

TEST(DecisionProblem, Errors) {
  DecisionProblem problem(64);
  cantFail(problem.addVariable({1, 2}));
  cantFail(problem.addVariable({1, 2, 3}));
  EXPECT_THAT(getError(problem.addVariable({})), HasSubstr("at least one"));
  EXPECT_THAT(getError(problem.addVariable({-1})),
              HasSubstr("cost -1 of entry 0"));
  EXPECT_THAT(getError(problem.addTable({0, 2}, {1})),
              HasSubstr("variable 2 does not exist; there are 2"));
  EXPECT_THAT(getError(problem.addTable({0, 0}, {1, 2, 3, 4})),
              HasSubstr("variable 0 is repeated"));
  EXPECT_THAT(getError(problem.addTable({0, 1}, {1, 2, 3, 4})),
              HasSubstr("4 costs, but its variables have 6"));
  EXPECT_THAT(getError(problem.addVariable(std::vector<Cost>(64))),
              HasSubstr("too many entries"));
  SharedTensor tensor = makeTensor();
  EXPECT_THAT(getError(problem.addTensor(tensor)),
              HasSubstr("consumer 1: there are 2 layouts, but variable 1"));
  tensor.consumers[1] = {1u, {0, 1, 2}};
  EXPECT_THAT(getError(problem.addTensor(tensor)),
              HasSubstr("layout 2 does not exist"));
  tensor.consumers[1].layouts = {0, 1, 0};
  tensor.prices[0] = 1;
  EXPECT_THAT(getError(problem.addTensor(tensor)),
              HasSubstr("from layout 0 to itself"));
  tensor.prices = {0};
  EXPECT_THAT(getError(problem.addTensor(tensor)),
              HasSubstr("1 prices, but 2 x 2"));
  tensor = makeTensor();
  tensor.producer = {0u, {0, 0}};
  tensor.consumers.pop_back();
  EXPECT_THAT(getError(problem.addTensor(tensor)),
              HasSubstr("consumer 0 is variable 0, the producer"));
  Budget budget;
  budget.terms = {{0, {1}}};
  EXPECT_THAT(getError(problem.setBudget(budget)), HasSubstr("but 1 amounts"));
  budget.terms = {{0, {1, 2}}, {0, {1, 2}}};
  EXPECT_THAT(getError(problem.setBudget(budget)), HasSubstr("amounts twice"));
  SolveOptions options;
  std::vector<unsigned> initial = {0, 3};
  options.initial = initial;
  EXPECT_THAT(getError(problem.solve(options)),
              HasSubstr("initial value 3 of variable 1 does not exist"));
  // Calls that fail leave the problem as it was.
  EXPECT_EQ(cantFail(problem.solve()).solution.cost, 2);
}
