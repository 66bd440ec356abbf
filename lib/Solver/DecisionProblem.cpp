//===- DecisionProblem.cpp - Tables, shared copies and a budget -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Solver/DecisionProblem.h"
#include "llvm/ADT/STLExtras.h"
#include <chrono>
#include <map>
#include <set>

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::createStringError;
using llvm::Error;
using llvm::Expected;
using llvm::Twine;

/// The largest sum of amounts that a budget may have, so that the solver can
/// add them without overflow.
static constexpr int64_t kMaxAmount = int64_t(1) << 62;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static Error checkCosts(ArrayRef<Cost> costs) {
  for (auto [i, cost] : llvm::enumerate(costs))
    if (cost < 0 || cost == kInfiniteCost - 1)
      return createStringError(
          "cost " + Twine(cost) + " of entry " + Twine(i) +
          " is not an integer from 0 to 2^63 - 3; 2^63 - 1 forbids an entry");
  return Error::success();
}

Error DecisionProblem::checkVariable(unsigned variable) const {
  if (variable < places.size())
    return Error::success();
  return createStringError("variable " + Twine(variable) +
                           " does not exist; there are " +
                           Twine(places.size()));
}

Error DecisionProblem::checkSize(size_t numVariables, int64_t entries) const {
  if (numVariables > kMaxWcspArity)
    return createStringError("a table is over at most " + Twine(kMaxWcspArity) +
                             " variables, not " + Twine(numVariables));
  if (entries >= numLeft)
    return createStringError(
        "the tables have too many entries together; cut tables over many "
        "variables into smaller ones");
  return Error::success();
}

Error DecisionProblem::checkEnd(const TensorEnd &end,
                                unsigned numLayouts) const {
  size_t expected = 1;
  if (end.variable) {
    if (Error error = checkVariable(*end.variable))
      return error;
    expected = getDomainSize(*end.variable);
  }
  if (end.layouts.size() != expected)
    return createStringError(
        "there are " + Twine(end.layouts.size()) + " layouts, but " +
        (end.variable ? "variable " + Twine(*end.variable) + " has " +
                            Twine(expected) + " values"
                      : Twine("a fixed end has one")));
  for (unsigned layout : end.layouts)
    if (layout >= numLayouts)
      return createStringError("layout " + Twine(layout) +
                               " does not exist; the prices are for " +
                               Twine(numLayouts));
  return Error::success();
}

Error mlir::layout::addPlace(const Twine &place, Error error) {
  if (!error)
    return error;
  return createStringError(place + ": " + llvm::toString(std::move(error)));
}

Error DecisionProblem::checkTensor(const SharedTensor &tensor) const {
  unsigned count = tensor.numLayouts;
  if (count > kMaxTensorLayouts)
    return createStringError("a tensor has at most " +
                             Twine(kMaxTensorLayouts) + " layouts, not " +
                             Twine(count));
  if (tensor.prices.size() != size_t(count) * count)
    return createStringError("there are " + Twine(tensor.prices.size()) +
                             " prices, but " + Twine(count) + " x " +
                             Twine(count) + " pairs of layouts");
  if (Error error = checkCosts(tensor.prices))
    return addPlace("prices", std::move(error));
  for (unsigned layout = 0; layout < count; ++layout)
    if (tensor.getPrice(layout, layout) != 0)
      return createStringError(
          "the price from layout " + Twine(layout) +
          " to itself must be 0, because no copy is needed");
  if (Error error = checkEnd(tensor.producer, count))
    return addPlace("producer", std::move(error));
  for (auto [i, consumer] : llvm::enumerate(tensor.consumers)) {
    if (Error error = checkEnd(consumer, count))
      return addPlace("consumer " + Twine(i), std::move(error));
    if (consumer.variable && consumer.variable == tensor.producer.variable)
      return createStringError("consumer " + Twine(i) + " is variable " +
                               Twine(*consumer.variable) +
                               ", the producer of the tensor; copies cannot "
                               "form a cycle");
  }
  return Error::success();
}

Error DecisionProblem::placeTerms(std::vector<Budget::Term> &terms,
                                  int64_t &total) const {
  std::set<unsigned> seen;
  for (Budget::Term &term : terms) {
    if (Error error = checkVariable(term.variable))
      return error;
    if (!seen.insert(term.variable).second)
      return createStringError("variable " + Twine(term.variable) +
                               " has amounts twice");
    unsigned size = getDomainSize(term.variable);
    if (term.amounts.size() != size)
      return createStringError("variable " + Twine(term.variable) + " has " +
                               Twine(size) + " values, but " +
                               Twine(term.amounts.size()) + " amounts");
    for (auto [value, amount] : llvm::enumerate(term.amounts))
      if (amount < 0)
        return createStringError(
            "amount " + Twine(amount) + " of value " + Twine(value) +
            " of variable " + Twine(term.variable) + " must not be negative");
    total = addCosts(total, *llvm::max_element(term.amounts));
    term.variable = places[term.variable];
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Parts of the problem
//===----------------------------------------------------------------------===//

// A table of a graph has fewer than 2^32 entries.
DecisionProblem::DecisionProblem(int64_t maxEntries)
    : numLeft(std::min<int64_t>(maxEntries,
                                std::numeric_limits<uint32_t>::max())) {}

Expected<unsigned> DecisionProblem::addVariable(ArrayRef<Cost> costs) {
  if (costs.empty())
    return createStringError("a variable needs at least one value");
  if (Error error = checkCosts(costs))
    return std::move(error);
  if (Error error = checkSize(1, costs.size()))
    return std::move(error);
  numLeft -= costs.size();
  places.push_back(plain.graph.addVariable(costs.size()));
  plain.graph.addFactor({places.back()}, costs);
  return places.size() - 1;
}

Error DecisionProblem::addTable(ArrayRef<unsigned> variables,
                                ArrayRef<Cost> entries) {
  llvm::SmallVector<unsigned, 4> scope;
  int64_t size = 1;
  for (unsigned variable : variables) {
    if (Error error = checkVariable(variable))
      return error;
    if (llvm::is_contained(scope, places[variable]))
      return createStringError("variable " + Twine(variable) +
                               " is repeated in one table");
    scope.push_back(places[variable]);
    size = scaleCost(size, getDomainSize(variable));
  }
  if (Error error = checkSize(variables.size(), size))
    return error;
  if (int64_t(entries.size()) != size)
    return createStringError("the table has " + Twine(entries.size()) +
                             " costs, but its variables have " + Twine(size) +
                             " combinations of values");
  if (Error error = checkCosts(entries))
    return error;
  numLeft -= size;
  plain.graph.addFactor(scope, entries);
  return Error::success();
}

Error DecisionProblem::addTensor(SharedTensor tensor) {
  if (Error error = checkTensor(tensor))
    return error;
  int64_t produced = tensor.producer.layouts.size(), required = 0;
  for (const TensorEnd &consumer : tensor.consumers)
    required += consumer.layouts.size();
  int64_t most = produced * required +
                 2 * int64_t(tensor.numLayouts) * (produced + required);
  if (Error error = checkSize(0, most))
    return error;
  numLeft -= most;
  addCopies(tensor);
  tensor.prices = {};
  tensors.push_back(std::move(tensor));
  return Error::success();
}

void DecisionProblem::addFactor(
    ArrayRef<const TensorEnd *> ends,
    llvm::function_ref<Cost(ArrayRef<unsigned>)> fn) {
  llvm::SmallVector<unsigned, 4> scope;
  size_t size = 1;
  for (const TensorEnd *end : ends) {
    if (end->variable)
      scope.push_back(*end->variable);
    size *= end->layouts.size();
  }
  std::vector<Cost> table;
  llvm::SmallVector<unsigned, 4> index(ends.size(), 0);
  for (size_t i = 0; i < size; ++i) {
    table.push_back(fn(index));
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < ends[d]->layouts.size())
        break;
      index[d] = 0;
    }
  }
  if (llvm::any_of(table, [](Cost cost) { return cost != 0; }))
    plain.graph.addFactor(scope, table);
}

/// Adds the costs of the copies of a tensor, one per layout that consumers
/// read. A copy that a consumer reads with all its values is a cost of the
/// producer. If only one consumer may read it, it is a factor of producer and
/// consumer. Any other copy is a 0/1 variable, which serves all consumers of
/// its layout.
void DecisionProblem::addCopies(const SharedTensor &given) {
  SharedTensor tensor = given; // with variables of the graph
  auto place = [&](TensorEnd &end) {
    if (end.variable)
      end.variable = places[*end.variable];
  };
  place(tensor.producer);
  llvm::for_each(tensor.consumers, place);
  std::map<unsigned, std::set<size_t>> consumersOf;
  for (auto [c, consumer] : llvm::enumerate(tensor.consumers))
    for (unsigned layout : consumer.layouts)
      consumersOf[layout].insert(c);
  const TensorEnd &producer = tensor.producer;
  auto getPrice = [&](unsigned at, unsigned layout) {
    return tensor.getPrice(producer.layouts[at], layout);
  };
  std::vector<std::set<unsigned>> own(tensor.consumers.size());
  for (const auto &[layout, consumers] : consumersOf) {
    bool isAlways = false;
    std::vector<const TensorEnd *> ends;
    for (size_t c : consumers) {
      const TensorEnd &consumer = tensor.consumers[c];
      isAlways |= llvm::all_equal(consumer.layouts);
      ends.push_back(&consumer);
    }
    if (isAlways)
      addFactor({&producer}, [&, to = layout](ArrayRef<unsigned> at) {
        return getPrice(at[0], to);
      });
    else if (consumers.size() == 1)
      own[*consumers.begin()].insert(layout);
    else
      addSetupVariable(tensor, ends, layout);
  }
  for (auto [c, layouts] : llvm::enumerate(own)) {
    const TensorEnd &consumer = tensor.consumers[c];
    addFactor({&producer, &consumer},
              [&, &mine = layouts](ArrayRef<unsigned> at) {
                unsigned to = consumer.layouts[at[1]];
                return mine.count(to) ? getPrice(at[0], to) : 0;
              });
  }
}

void DecisionProblem::addSetupVariable(const SharedTensor &tensor,
                                       ArrayRef<const TensorEnd *> consumers,
                                       unsigned layout) {
  const TensorEnd &producer = tensor.producer;
  TensorEnd copy{plain.graph.addVariable(2), {0, 1}};
  copies.push_back({*copy.variable, unsigned(tensors.size()), layout});
  addFactor({&producer, &copy}, [&](ArrayRef<unsigned> at) {
    return at[1] ? tensor.getPrice(producer.layouts[at[0]], layout) : 0;
  });
  for (const TensorEnd *consumer : consumers)
    addFactor({consumer, &copy}, [&](ArrayRef<unsigned> at) {
      return at[1] == 0 && consumer->layouts[at[0]] == layout ? kInfiniteCost
                                                              : 0;
    });
}

Error DecisionProblem::setBudget(Budget given) {
  if (given.limit < 0)
    return createStringError("limit " + Twine(given.limit) +
                             " must not be negative");
  if (given.base < 0)
    return createStringError("base " + Twine(given.base) +
                             " must not be negative");
  int64_t total = given.base;
  if (Error error = placeTerms(given.terms, total))
    return error;
  for (auto [i, peak] : llvm::enumerate(given.peaks))
    if (Error error = placeTerms(peak, total))
      return addPlace("peak " + Twine(i), std::move(error));
  if (total > kMaxAmount)
    return createStringError(
        "the largest amounts add up to more than 2^62; scale them down");
  budget = std::move(given);
  return Error::success();
}

//===----------------------------------------------------------------------===//
// The answer
//===----------------------------------------------------------------------===//

std::vector<unsigned>
DecisionProblem::getCopies(unsigned tensor,
                           ArrayRef<unsigned> assignment) const {
  std::set<unsigned> layouts;
  for (const TensorEnd &consumer : tensors[tensor].consumers)
    layouts.insert(consumer.getLayout(assignment));
  layouts.erase(tensors[tensor].producer.getLayout(assignment));
  return {layouts.begin(), layouts.end()};
}

std::vector<unsigned>
DecisionProblem::extend(ArrayRef<unsigned> assignment) const {
  std::vector<unsigned> all(plain.graph.getNumVariables(), 0);
  for (auto [variable, value] : llvm::enumerate(assignment))
    all[places[variable]] = value;
  for (const Copy &copy : copies)
    for (const TensorEnd &consumer : tensors[copy.tensor].consumers)
      if (consumer.getLayout(assignment) == copy.layout)
        all[copy.variable] = 1;
  return all;
}

void DecisionProblem::restrict(Solution &solution) const {
  if (!solution.assignment.empty())
    for (unsigned variable = 0; variable < places.size(); ++variable)
      solution.assignment[variable] = solution.assignment[places[variable]];
  if (solution.cost == kInfiniteCost)
    solution.assignment.clear();
  else
    solution.assignment.resize(places.size());
  std::vector<unsigned> open;
  for (unsigned variable : solution.openVariables) {
    auto place = llvm::lower_bound(places, variable);
    if (place != places.end() && *place == variable)
      open.push_back(place - places.begin());
  }
  llvm::sort(open);
  solution.openVariables = std::move(open);
  solution.proof.clear();
}

Expected<DecisionAnswer> DecisionProblem::solve(SolveOptions options) const {
  std::vector<unsigned> initial;
  if (!options.initial.empty()) {
    if (options.initial.size() != places.size())
      return createStringError(
          "the initial assignment has " + Twine(options.initial.size()) +
          " values, but there are " + Twine(places.size()) + " variables");
    for (auto [variable, value] : llvm::enumerate(options.initial))
      if (value >= getDomainSize(variable))
        return createStringError("the initial value " + Twine(value) +
                                 " of variable " + Twine(variable) +
                                 " does not exist; it has " +
                                 Twine(getDomainSize(variable)) + " values");
    initial = extend(options.initial);
    options.initial = initial;
  }
  if (plain.graph.getMostCost() >= kInfiniteCost - 2)
    return createStringError("the largest costs add up to 2^63 - 3 or more; "
                             "scale the costs down");
  DecisionAnswer answer;
  auto start = std::chrono::steady_clock::now();
  if (budget) {
    BudgetedSolution found = solveUnderBudget(plain.graph, *budget, options);
    if (found.solution.cost != kInfiniteCost)
      answer.amount = found.amount;
    answer.leastAmount = found.leastAmount;
    answer.certificate = std::move(found.certificate);
    answer.solution = std::move(found.solution);
  } else {
    answer.solution = plain.solve(options);
    if (options.certify) {
      llvm::raw_string_ostream os(answer.certificate);
      if (Error error = writeCertificate(os, plain, answer.solution))
        return std::move(error);
    }
  }
  restrict(answer.solution);
  answer.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return std::move(answer);
}
