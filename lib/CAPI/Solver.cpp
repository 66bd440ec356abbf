//===- Solver.cpp - C API of the solver -----------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout-c/Solver.h"
#include "layout/Solver/NamedProblem.h"
#include "llvm/Support/FormatVariadic.h"
#include <limits>

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::Twine;

static_assert(LAYOUT_FORBIDDEN == kInfiniteCost, "the C API states this value");

struct LayoutProblem {
  DecisionProblem problem;
  std::string error;
  // The answer, and the memory to which it points.
  LayoutSolution answer = {};
  std::vector<int64_t> values, open, copies;
  std::string certificate;
};

/// Stores the message of a failed call in the problem. Returns 0, or -1 if
/// there is an error.
static int finish(LayoutProblem *problem, Error error) {
  if (!error)
    return 0;
  problem->error = llvm::toString(std::move(error));
  return -1;
}

static Error checkCount(const Twine &what, int64_t count) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  if (count < 0 || count > most)
    return createStringError(what + " is " + Twine(count) +
                             ", but must be from 0 to " + Twine(most));
  return Error::success();
}

/// Converts numbers to unsigned ones. Returns an error that calls a negative or
/// too large one `what`.
static Expected<std::vector<unsigned>> toUnsigned(llvm::StringRef what,
                                                  ArrayRef<int64_t> numbers) {
  std::vector<unsigned> result;
  for (int64_t number : numbers) {
    if (number < 0 || number > std::numeric_limits<int32_t>::max())
      return createStringError(what + " " + Twine(number) + " does not exist");
    result.push_back(number);
  }
  return result;
}

LayoutProblem *layoutProblemCreate(void) { return new LayoutProblem(); }

void layoutProblemDestroy(LayoutProblem *problem) { delete problem; }

const char *layoutProblemGetError(const LayoutProblem *problem) {
  return problem->error.c_str();
}

//===----------------------------------------------------------------------===//
// Parts of the problem
//===----------------------------------------------------------------------===//

int64_t layoutProblemAddVariables(LayoutProblem *problem, int64_t count,
                                  const int64_t *sizes, const int64_t *costs) {
  if (finish(problem, checkCount("the number of variables", count)))
    return -1;
  int64_t first = problem->problem.getNumVariables();
  for (int64_t i = 0; i < count; ++i) {
    std::string place = ("variable " + Twine(first + i)).str();
    Error error = checkCount("the number of values", sizes[i]);
    if (!error)
      error =
          problem->problem.addVariable(ArrayRef(costs, sizes[i])).takeError();
    if (finish(problem, addPlace(place, std::move(error))))
      return -1;
    costs += sizes[i];
  }
  return first;
}

static Error addTables(DecisionProblem &problem, int64_t count, int64_t arity,
                       const int64_t *variables, int64_t numTables,
                       int64_t size, const int64_t *costs) {
  if (Error error = checkCount("the number of tables", count))
    return error;
  if (Error error = checkCount("the number of variables of a table", arity))
    return error;
  if (Error error = checkCount("the size of a table", size))
    return error;
  if (numTables != 1 && numTables != count)
    return createStringError("there are " + Twine(numTables) + " tables for " +
                             Twine(count) +
                             " lists of variables; there must be one for all, "
                             "or one for each");
  for (int64_t i = 0; i < count; ++i) {
    std::string place = ("table " + Twine(i)).str();
    auto scope = toUnsigned("variable", ArrayRef(variables + i * arity, arity));
    if (!scope)
      return addPlace(place, scope.takeError());
    if (Error error = problem.addTable(
            *scope, ArrayRef(costs + (numTables == 1 ? 0 : i * size), size)))
      return addPlace(place, std::move(error));
  }
  return Error::success();
}

int layoutProblemAddTables(LayoutProblem *problem, int64_t count, int64_t arity,
                           const int64_t *variables, int64_t numTables,
                           int64_t size, const int64_t *costs) {
  return finish(problem, addTables(problem->problem, count, arity, variables,
                                   numTables, size, costs));
}

static Expected<TensorEnd> readEnd(const LayoutTensorEnd &end) {
  TensorEnd result;
  if (end.variable != -1) {
    auto variable = toUnsigned("variable", end.variable);
    if (!variable)
      return variable.takeError();
    result.variable = variable->front();
  }
  if (Error error = checkCount("the number of layouts", end.count))
    return std::move(error);
  auto layouts = toUnsigned("layout", ArrayRef(end.layouts, end.count));
  if (!layouts)
    return layouts.takeError();
  result.layouts = std::move(*layouts);
  return std::move(result);
}

static Error addTensor(DecisionProblem &problem,
                       const LayoutTensorEnd *producer, int64_t numConsumers,
                       const LayoutTensorEnd *consumers, int64_t numLayouts,
                       const int64_t *prices) {
  SharedTensor tensor;
  auto made = readEnd(*producer);
  if (!made)
    return addPlace("producer", made.takeError());
  tensor.producer = std::move(*made);
  if (Error error = checkCount("the number of consumers", numConsumers))
    return error;
  for (int64_t i = 0; i < numConsumers; ++i) {
    auto consumer = readEnd(consumers[i]);
    if (!consumer)
      return addPlace("consumer " + Twine(i), consumer.takeError());
    tensor.consumers.push_back(std::move(*consumer));
  }
  if (Error error = checkCount("the number of layouts", numLayouts))
    return error;
  tensor.numLayouts = numLayouts;
  if (numLayouts <= kMaxTensorLayouts)
    tensor.prices.assign(prices, prices + numLayouts * numLayouts);
  return problem.addTensor(std::move(tensor));
}

int64_t layoutProblemAddTensor(LayoutProblem *problem,
                               const LayoutTensorEnd *producer,
                               int64_t numConsumers,
                               const LayoutTensorEnd *consumers,
                               int64_t numLayouts, const int64_t *prices) {
  int64_t number = problem->problem.getNumTensors();
  Error error = addTensor(problem->problem, producer, numConsumers, consumers,
                          numLayouts, prices);
  return finish(problem, addPlace("tensor " + Twine(number), std::move(error)))
             ? -1
             : number;
}

static Error setBudget(DecisionProblem &problem, int64_t limit, int64_t base,
                       int64_t numTerms, const int64_t *peaks,
                       const int64_t *variables, const int64_t *amounts) {
  Budget budget;
  budget.limit = limit;
  budget.base = base;
  if (Error error = checkCount("the number of terms", numTerms))
    return error;
  for (int64_t i = 0; i < numTerms; ++i) {
    std::string place = ("term " + Twine(i)).str();
    auto variable = toUnsigned("variable", variables[i]);
    if (!variable)
      return addPlace(place, variable.takeError());
    if (variable->front() >= problem.getNumVariables())
      return createStringError(place + ": variable " + Twine(variables[i]) +
                               " does not exist");
    if (peaks[i] < -1 || peaks[i] >= numTerms)
      return createStringError(place + ": peak " + Twine(peaks[i]) +
                               " is not -1 or below the number of terms");
    if (peaks[i] >= int64_t(budget.peaks.size()))
      budget.peaks.resize(peaks[i] + 1);
    unsigned size = problem.getDomainSize(variable->front());
    (peaks[i] < 0 ? budget.terms : budget.peaks[peaks[i]])
        .push_back({variable->front(), {amounts, amounts + size}});
    amounts += size;
  }
  return problem.setBudget(std::move(budget));
}

int layoutProblemSetBudget(LayoutProblem *problem, int64_t limit, int64_t base,
                           int64_t numTerms, const int64_t *peaks,
                           const int64_t *variables, const int64_t *amounts) {
  return finish(problem, addPlace("budget", setBudget(problem->problem, limit,
                                                      base, numTerms, peaks,
                                                      variables, amounts)));
}

//===----------------------------------------------------------------------===//
// The answer
//===----------------------------------------------------------------------===//

/// Returns the options without `initial`.
static Expected<SolveOptions> readOptions(const LayoutSolveOptions &given) {
  if (given.size != sizeof(LayoutSolveOptions))
    return createStringError("options: the size is " + Twine(given.size) +
                             ", not sizeof(LayoutSolveOptions)");
  SolveOptions options;
  struct Limit {
    const char *name;
    int64_t given, least;
    int64_t &limit;
  };
  for (const Limit &each :
       {Limit{"maxNodes", given.maxNodes, 0, options.maxNodes},
        Limit{"maxWork", given.maxWork, 0, options.maxWork},
        Limit{"maxTable", given.maxTable, 1, options.maxTableSize},
        Limit{"maxTotal", given.maxTotal, 1, options.maxTotalSize}}) {
    if (each.given == -1)
      continue;
    if (each.given < each.least)
      return createStringError("options: " + Twine(each.name) + " is " +
                               Twine(each.given) + ", but must be at least " +
                               Twine(each.least) + ", or -1 for the default");
    each.limit = each.given;
  }
  if (given.maxSeconds >= 0)
    options.maxSeconds = given.maxSeconds;
  else if (given.maxSeconds != -1)
    return createStringError(
        "options: maxSeconds must be at least 0, or -1 for no limit");
  options.certify = given.certify != 0;
  return options;
}

static Error solve(LayoutProblem &problem, const LayoutSolveOptions &given) {
  auto options = readOptions(given);
  if (!options)
    return options.takeError();
  if (Error error = checkCount("options: numInitial", given.numInitial))
    return error;
  auto initial = toUnsigned("options: the initial value",
                            ArrayRef(given.initial, given.numInitial));
  if (!initial)
    return initial.takeError();
  options->initial = *initial;
  Expected<DecisionAnswer> found = problem.problem.solve(*options);
  if (!found)
    return found.takeError();
  const Solution &solution = found->solution;
  problem.values.assign(solution.assignment.begin(), solution.assignment.end());
  problem.open.assign(solution.openVariables.begin(),
                      solution.openVariables.end());
  problem.copies.clear();
  if (solution.cost != kInfiniteCost)
    for (unsigned t = 0; t < problem.problem.getNumTensors(); ++t)
      for (unsigned layout : problem.problem.getCopies(t, solution.assignment))
        problem.copies.insert(problem.copies.end(), {t, layout});
  problem.certificate = std::move(found->certificate);
  problem.answer = {solution.cost,
                    solution.lowerBound,
                    int64_t(problem.values.size()),
                    problem.values.data(),
                    int64_t(problem.open.size()),
                    problem.open.data(),
                    int64_t(problem.copies.size() / 2),
                    problem.copies.data(),
                    found->amount.value_or(-1),
                    found->leastAmount.value_or(-1),
                    solution.statistics.numNodes,
                    solution.statistics.work,
                    found->seconds,
                    problem.certificate.c_str()};
  return Error::success();
}

const LayoutSolution *layoutProblemSolve(LayoutProblem *problem,
                                         const LayoutSolveOptions *options) {
  return finish(problem, solve(*problem, *options)) ? nullptr
                                                    : &problem->answer;
}

static Expected<std::string> solveText(llvm::StringRef text,
                                       const LayoutSolveOptions &given) {
  auto options = readOptions(given);
  if (!options)
    return options.takeError();
  if (given.numInitial != 0)
    return createStringError("options: numInitial must be 0; the key "
                             "'initial' of the problem has an assignment");
  auto problem = readNamedProblem(text);
  if (!problem)
    return problem.takeError();
  auto found = problem->solve(*options);
  if (!found)
    return found.takeError();
  llvm::json::Value answer =
      problem->makeAnswer(*found, /*withStatistics=*/true);
  if (options->certify)
    (*answer.getAsObject())["certificate"] = found->certificate;
  return llvm::formatv("{0}", answer).str();
}

int layoutSolve(const char *problem, size_t length,
                const LayoutSolveOptions *options, LayoutTextCallback callback,
                void *userData) {
  auto answer = solveText({problem, length}, *options);
  std::string text =
      answer ? std::move(*answer) : llvm::toString(answer.takeError());
  callback(text.data(), text.size(), userData);
  return answer ? 0 : -1;
}
