//===- WcspTest.cpp - The wcsp format, and invalid texts ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Solver/Wcsp.h"
#include "RandomGraphs.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace mlir::layout;

namespace {

constexpr unsigned kSeed = 20240611;

WcspProblem read(llvm::StringRef text) {
  llvm::Expected<WcspProblem> problem = readWcsp(text);
  EXPECT_TRUE(bool(problem)) << text.str();
  if (problem)
    return std::move(*problem);
  ADD_FAILURE() << llvm::toString(problem.takeError());
  return {};
}

/// Returns the text of a problem, or the error in brackets.
std::string write(const WcspProblem &problem) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (llvm::Error error = writeWcsp(os, problem))
    return text + "<" + llvm::toString(std::move(error)) + ">";
  return text;
}

std::string getError(llvm::StringRef text) {
  llvm::Expected<WcspProblem> problem = readWcsp(text);
  return problem ? "no error" : llvm::toString(problem.takeError());
}

TEST(Wcsp, ReadsTheExampleOfTheHeader) {
  WcspProblem problem = read("example 2 2 2 100\n2 2\n"
                             "1 0 0 1\n1 5\n"
                             "2 0 1 0 2\n0 0 7\n0 1 1\n");
  EXPECT_EQ(problem.name, "example");
  EXPECT_EQ(problem.upperBound, 100);
  ASSERT_EQ(problem.graph.getNumFactors(), 2u);
  FactorGraph::Factor pair = problem.graph.getFactor(1);
  EXPECT_EQ(pair.variables, llvm::ArrayRef<unsigned>({0, 1}));
  EXPECT_EQ(problem.graph.getTable(pair.table),
            llvm::ArrayRef<Cost>({7, 1, 0, 0}));
  Solution solution = problem.solve();
  EXPECT_EQ(solution.assignment, (std::vector<unsigned>{0, 1}));
  EXPECT_EQ(solution.cost, 1);
  EXPECT_TRUE(solution.exact);
}

TEST(Wcsp, ValuesStandInTheOrderOfTheScope) {
  WcspProblem problem = read("p 2 3 1 50 2 3 2 1 0 0 2 2 1 21 0 1 1");
  EXPECT_EQ(problem.graph.getTable(problem.graph.getFactor(0).table),
            llvm::ArrayRef<Cost>({0, 1, 0, 0, 0, 21}));
}

TEST(Wcsp, CostsFromTheBoundOnAreForbidden) {
  WcspProblem problem = read("p 1 3 2 10 3  1 0 12 2 0 9 1 10  0 1 0");
  EXPECT_EQ(problem.graph.getTable(problem.graph.getFactor(0).table),
            llvm::ArrayRef<Cost>({9, kInfiniteCost, kInfiniteCost}));
  // 9 + 1 is not below the bound.
  Solution solution = problem.solve();
  EXPECT_TRUE(solution.assignment.empty());
  EXPECT_EQ(solution.cost, kInfiniteCost);
  EXPECT_EQ(solution.lowerBound, kInfiniteCost);
  EXPECT_TRUE(solution.exact);
  problem.upperBound = 11;
  EXPECT_EQ(problem.solve().cost, 10);
}

TEST(Wcsp, ABoundBetweenTheEndsIsNoProof) {
  // For a clique with small tables and no search, the bound is below the cost.
  WcspProblem problem;
  for (unsigned v = 0; v < 6; ++v) {
    problem.graph.addVariable(2);
    for (unsigned w = 0; w < v; ++w)
      problem.graph.addFactor({w, v}, {5, 0, 0, 5});
  }
  SolveOptions options;
  options.maxTableSize = 1;
  options.maxNodes = 0;
  Solution open = problem.solve(options);
  ASSERT_LT(open.lowerBound, open.cost);
  problem.upperBound = open.cost;
  Solution none = problem.solve(options);
  EXPECT_TRUE(none.assignment.empty());
  EXPECT_EQ(none.lowerBound, open.lowerBound);
  EXPECT_FALSE(none.exact);
  EXPECT_FALSE(none.openVariables.empty());
  EXPECT_GT(open.statistics.numWideComponents, 0u);
  // An upper bound that the lower bound reaches proves that there is no
  // solution.
  problem.upperBound = open.lowerBound;
  none = problem.solve(options);
  EXPECT_EQ(none.lowerBound, kInfiniteCost);
  EXPECT_TRUE(none.exact);
  EXPECT_TRUE(none.openVariables.empty());
}

TEST(Wcsp, SharedTuplesKeepTheirOwnDefault) {
  WcspProblem problem = read("p 3 2 4 50 2 2 2\n"
                             "-1 0 3 1\n1 8\n"
                             "-2 0 1 0 1\n1 0 6\n"
                             "1 2 4 -1\n"
                             "2 2 1 9 -2\n");
  auto table = [&](size_t factor) {
    return problem.graph.getTable(problem.graph.getFactor(factor).table);
  };
  EXPECT_EQ(table(0), llvm::ArrayRef<Cost>({3, 8}));
  EXPECT_EQ(table(2), llvm::ArrayRef<Cost>({4, 8}));
  EXPECT_EQ(table(3), llvm::ArrayRef<Cost>({9, 9, 6, 9}));
}

TEST(Wcsp, EqualTablesAreWrittenOnce) {
  WcspProblem problem;
  for (unsigned v = 0; v < 3; ++v)
    problem.graph.addVariable(2);
  TableId table = problem.graph.addTable({0, 4, 4, 0});
  problem.graph.addFactor({0, 1}, table);
  problem.graph.addFactor({2, 1}, table);
  problem.graph.addFactor({}, {7});
  EXPECT_EQ(write(problem), "problem 3 2 3 16\n2 2 2\n"
                            "-2 0 1 0 2\n0 1 4\n1 0 4\n"
                            "2 2 1 0 -1\n"
                            "0 7 0\n");
}

TEST(Wcsp, EqualEntriesOfOtherShapesAreNotShared) {
  WcspProblem problem;
  for (unsigned domain : {2, 3, 6})
    problem.graph.addVariable(domain);
  TableId table = problem.graph.addTable({0, 0, 0, 0, 5, 0});
  problem.graph.addFactor({0, 1}, table);
  problem.graph.addFactor({1, 0}, table);
  problem.graph.addFactor({2}, table);
  EXPECT_EQ(write(problem), "problem 3 6 3 16\n2 3 6\n"
                            "2 0 1 0 1\n1 1 5\n"
                            "2 1 0 0 1\n2 0 5\n"
                            "1 2 0 1\n4 5\n");
}

TEST(Wcsp, WhatTheFormatCannotSayIsNotWritten) {
  WcspProblem problem;
  problem.name = "two words";
  EXPECT_EQ(write(problem),
            "<the name 'two words' of a problem is not one word>");
  problem.name = "";
  EXPECT_EQ(write(problem), "<the name '' of a problem is not one word>");
  problem.name = "p";
  EXPECT_EQ(write(problem), "p 0 0 0 1\n\n");
  // One more than the sum of the largest costs must be a valid bound.
  problem.graph.addFactor({}, {kInfiniteCost - 5});
  EXPECT_EQ(write(problem), "p 0 0 1 9223372036854775803\n\n"
                            "0 9223372036854775802 0\n");
  problem.graph.addFactor({}, {4});
  EXPECT_EQ(write(problem).rfind("<the costs of the problem add up to", 0), 0u);
  problem.upperBound = 100;
  EXPECT_EQ(write(problem), "p 0 0 2 100\n\n0 100 0\n0 4 0\n");
}

TEST(Wcsp, RandomProblemsComeBack) {
  RandomModels models(kSeed);
  unsigned numWritten = 0, numShared = 0;
  for (unsigned i = 0; i < 2000; ++i) {
    SCOPED_TRACE("problem " + std::to_string(i) + " of seed " +
                 std::to_string(kSeed));
    Model model = models.drawSmall();
    WcspProblem problem;
    problem.graph = model.makeGraph();
    std::string text = write(problem);
    if (text[0] == '<')
      continue;
    ++numWritten;
    numShared += text.find(" -1\n") != std::string::npos;
    WcspProblem again = read(text);
    ASSERT_EQ(again.graph.getDomains(), problem.graph.getDomains());
    ASSERT_EQ(again.graph.getNumFactors(), problem.graph.getNumFactors());
    for (size_t f = 0; f < model.terms.size(); ++f) {
      FactorGraph::Factor factor = again.graph.getFactor(f);
      ASSERT_EQ(factor.variables, llvm::ArrayRef(model.terms[f].scope));
      ASSERT_EQ(again.graph.getTable(factor.table),
                llvm::ArrayRef(model.terms[f].table));
    }
    ASSERT_EQ(write(again), text);
    Cost least = minimizeByEnumeration(model);
    ASSERT_EQ(again.solve().cost, least);
    // With an upper bound, assignments of equal or higher cost are excluded.
    again.upperBound = models.draw(0, 30);
    ASSERT_EQ(again.solve().cost,
              least < again.upperBound ? least : kInfiniteCost);
    ASSERT_TRUE(again.solve().exact);
  }
  EXPECT_GT(numWritten, 1000u);
  EXPECT_GT(numShared, 100u);
}

TEST(Wcsp, NamesWhatIsWrongAndWhere) {
  const std::pair<const char *, const char *> texts[] = {
      {"", "1:1: error: the text is empty"},
      {" \n\t ", "2:3: error: the text is empty"},
      {"p 2\n", "2:1: error: the text ends where the largest domain"},
      {"p x 2 1 9",
       "1:3: error: expected the number of variables, an integer from 0 to "
       "2147483647, found 'x'"},
      {"p 1 2 1 9223372036854775807 2 1 0 0 0",
       "1:9: error: expected the upper"},
      {"p 1 2 1 -1 2 1 0 0 0", "1:9: error: expected the upper bound"},
      {"p 2 2 0 9 2",
       "1:12: error: the text ends where the domain of variable 1"},
      {"p 1 2 0 9 3", "1:11: error: expected the domain of variable 0, an "
                      "integer from 1 to 2, found '3'"},
      {"p 1 2 0 9 0", "1:11: error: expected the domain of variable 0"},
      {"p 1 2 0 9 -2", "1:11: error: expected the domain of variable 0"},
      {"p 1 2 1 9 2\n65", "2:1: error: expected the arity of a function, an "
                          "integer from -64 to 64"},
      {"p 1 2 1 9 2\n1 1 0 0", "2:3: error: expected a variable of the scope"},
      {"p 1 2 1 9 2\n2 0 0 0 0",
       "2:5: error: variable 0 is repeated in the scope"},
      {"p 1 2 1 9 2\n1 0 -1 salldiff var 1",
       "2:8: error: the function 'salldiff' is given by a keyword"},
      {"p 1 2 1 9 2\n1 0 0 3", "2:7: error: expected the number of tuples, an "
                               "integer from 0 to 2, found '3'"},
      {"p 1 2 1 9 2\n1 0 0 -1", "2:7: error: expected the number of tuples"},
      {"p 1 2 2 9 2\n-1 0 0 0 -1 0 0 -1",
       "2:17: error: a function whose tuples are shared must list"},
      {"p 2 2 2 9 2 2\n-1 0 0 0\n2 0 1 0 -1",
       "3:9: error: the tuples of this function have 1 variables, but the "
       "function has "
       "2"},
      {"p 2 2 2 9 2 1\n-1 0 0 1 1 4\n1 1 0 -1",
       "3:7: error: the tuples of this function have the value 1, but variable "
       "1 has 1 values"},
      {"p 1 2 1 9 2\n1 0 0 2\n1 4\n1 5", "4:1: error: this tuple is repeated"},
      {"p 1 2 1 9 2\n1 0 0 1\n2 4",
       "3:1: error: expected a value of variable 0"},
      {"p 1 2 1 9 2\n1 0 0 1\n1 -4",
       "3:3: error: expected the cost of a tuple"},
      {"p 1 2 1 9 2\n1 0 0 1\n1 4.5",
       "3:3: error: expected the cost of a tuple"},
      {"p 1 2 1 9 2\n1 0 0 1\n1 9223372036854775808",
       "3:3: error: expected the cost of a tuple"},
      {"p 0 0 0 9\n\n1", "3:1: error: there is text after the last of 0"},
  };
  for (auto [text, message] : texts)
    EXPECT_EQ(getError(text).rfind(message, 0), 0u) << text << "\n"
                                                    << getError(text);
  // Unprintable characters are not repeated, and long words are truncated.
  EXPECT_EQ(
      getError("p \x01" + std::string(50, 'x')),
      "1:3: error: expected the number of variables, an integer from 0 to "
      "2147483647, found '?" +
          std::string(39, 'x') + "..'");
}

TEST(Wcsp, MemoryFollowsTheLimitAndNotTheText) {
  // 2^31 - 1 variables, none of which is listed.
  EXPECT_EQ(getError("p 2147483647 2 0 9").rfind("1:19: error", 0), 0u);
  // A domain, a table, and several tables that are too large.
  std::string large = "p 1 2000000000 0 9 2000000000";
  EXPECT_EQ(getError(large).rfind("1:20: error: domains and tables", 0), 0u);
  std::string cube = "p 3 2000000 1 9 2000000 2000000 2000000 3 0 1 2 0 0";
  EXPECT_EQ(getError(cube).rfind("1:49: error: domains and tables", 0), 0u);
  llvm::Expected<WcspProblem> problem =
      readWcsp("p 2 4 2 9 4 4 1 0 0 0 1 1 1 0", 4 + 4 + 4 + 4);
  EXPECT_TRUE(bool(problem));
  problem = readWcsp("p 2 4 2 9 4 4 1 0 0 0 1 1 1 0", 4 + 4 + 4 + 3);
  ASSERT_FALSE(bool(problem));
  EXPECT_EQ(llvm::toString(problem.takeError()).rfind("1:27: error", 0), 0u);
}

TEST(Wcsp, DamagedTextsAreReadOrRefused) {
  RandomModels models(kSeed);
  const char *words[] = {
      "0", "1", "-1", "2", "7", "-64", "99999", "9223372036854775807", "x"};
  unsigned numRead = 0, numRefused = 0;
  for (unsigned i = 0; i < 8000; ++i) {
    SCOPED_TRACE("text " + std::to_string(i) + " of seed " +
                 std::to_string(kSeed));
    WcspProblem problem;
    problem.graph = models.drawSmall().makeGraph();
    std::string written = write(problem);
    llvm::SmallVector<llvm::StringRef> parts;
    llvm::SplitString(written, parts);
    for (unsigned change = models.draw(1, 3); change > 0; --change) {
      size_t place = models.draw(0, parts.size() - 1);
      if (models.draw(0, 3) == 0)
        parts.erase(parts.begin() + place);
      else
        parts[place] = words[models.draw(0, std::size(words) - 1)];
      if (parts.empty())
        break;
    }
    llvm::Expected<WcspProblem> damaged =
        readWcsp(llvm::join(parts, " "), 100000);
    if (!damaged) {
      llvm::consumeError(damaged.takeError());
      ++numRefused;
      continue;
    }
    ++numRead;
    // Any text that is read is a valid problem.
    std::string text = write(*damaged);
    ASSERT_EQ(write(read(text)), text);
    ASSERT_TRUE(damaged->solve().exact);
  }
  EXPECT_GT(numRead, 200u);
  EXPECT_GT(numRefused, 2000u);
}

TEST(Wcsp, ReadsAssignments) {
  FactorGraph graph;
  graph.addVariable(2);
  graph.addVariable(3);
  auto get = [&](llvm::StringRef text) {
    llvm::Expected<std::vector<unsigned>> values = readAssignment(text, graph);
    return values ? llvm::join(llvm::map_range(*values,
                                               [](unsigned v) {
                                                 return std::to_string(v);
                                               }),
                               ",")
                  : llvm::toString(values.takeError());
  };
  EXPECT_EQ(get("1\n2\n"), "1,2");
  EXPECT_EQ(get("1"),
            "1:2: error: the text ends where the value of variable 1 was "
            "expected");
  EXPECT_EQ(get("1 3"), "1:3: error: expected the value of variable 1, an "
                        "integer from 0 to 2, found '3'");
  EXPECT_EQ(get("1 2 0"),
            "1:5: error: there is text after the values of all 2 variables");
}

} // namespace
