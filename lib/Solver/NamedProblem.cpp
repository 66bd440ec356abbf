//===- NamedProblem.cpp - Ops, tensors and shared copies in JSON ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Solver/NamedProblem.h"
#include "llvm/ADT/STLExtras.h"
#include <map>
#include <set>

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::Error;
using llvm::StringRef;
namespace json = llvm::json;

/// The maximum nesting depth of lists and objects. Deeper text is an error,
/// because the parser is recursive.
static constexpr unsigned kMostNesting = 64;

//===----------------------------------------------------------------------===//
// The text
//===----------------------------------------------------------------------===//

namespace {
struct Price {
  Cost cost = kInfiniteCost;
};
using Prices = std::map<std::string, std::map<std::string, Price>>;

struct EndText {
  std::optional<std::string> op, layout;
  std::optional<std::map<std::string, std::string>> layouts;
};
struct ConversionsText {
  std::string name; // if no prices are listed
  std::optional<Prices> prices;
};
struct TensorText {
  EndText producer;
  std::vector<EndText> consumers;
  ConversionsText conversions;
};
struct EntryText {
  std::vector<std::string> when;
  Price cost;
};
struct FactorText {
  std::vector<std::string> over;
  std::vector<EntryText> costs;
  Price otherwise{0};
};
using Amounts = std::map<std::string, std::map<std::string, int64_t>>;
struct BudgetText {
  int64_t limit = 0, base = 0;
  Amounts amounts;
  std::vector<Amounts> peaks;
};
struct ProblemText {
  std::map<std::string, std::map<std::string, Price>> ops;
  std::map<std::string, TensorText> tensors;
  std::map<std::string, Prices> conversions;
  std::vector<FactorText> factors;
  std::optional<BudgetText> budget;
  std::optional<std::map<std::string, std::string>> initial;
};

bool hasKeys(const json::Value &value, ArrayRef<StringRef> known,
             json::Path path) {
  for (const auto &[key, unused] : *value.getAsObject())
    if (!llvm::is_contained(known, StringRef(key))) {
      path.field(key).report("unknown key");
      return false;
    }
  return true;
}

bool fromJSON(const json::Value &value, Price &price, json::Path path) {
  if (value.getAsNull())
    return true;
  std::optional<int64_t> cost = value.getAsInteger();
  if (!cost || *cost < 0 || *cost >= kInfiniteCost - 1) {
    path.report("expected null or an integer from 0 to 2^63 - 3");
    return false;
  }
  price.cost = *cost;
  return true;
}

bool fromJSON(const json::Value &value, EndText &end, json::Path path) {
  json::ObjectMapper map(value, path);
  if (!map || !hasKeys(value, {"op", "layout", "layouts"}, path) ||
      !map.map("op", end.op) || !map.map("layout", end.layout) ||
      !map.map("layouts", end.layouts))
    return false;
  if (end.op.has_value() != end.layouts.has_value() ||
      end.op.has_value() == end.layout.has_value()) {
    path.report("expected 'op' and 'layouts', or 'layout' alone");
    return false;
  }
  return true;
}

bool fromJSON(const json::Value &value, ConversionsText &text,
              json::Path path) {
  if (std::optional<StringRef> name = value.getAsString()) {
    text.name = name->str();
    return true;
  }
  text.prices.emplace();
  return fromJSON(value, *text.prices, path);
}

bool fromJSON(const json::Value &value, TensorText &tensor, json::Path path) {
  json::ObjectMapper map(value, path);
  return map &&
         hasKeys(value, {"producer", "consumers", "conversions"}, path) &&
         map.map("producer", tensor.producer) &&
         map.map("consumers", tensor.consumers) &&
         map.map("conversions", tensor.conversions);
}

bool fromJSON(const json::Value &value, EntryText &entry, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && hasKeys(value, {"when", "cost"}, path) &&
         map.map("when", entry.when) && map.map("cost", entry.cost);
}

bool fromJSON(const json::Value &value, FactorText &factor, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && hasKeys(value, {"over", "costs", "otherwise"}, path) &&
         map.map("over", factor.over) && map.map("costs", factor.costs) &&
         map.mapOptional("otherwise", factor.otherwise);
}

bool fromJSON(const json::Value &value, BudgetText &budget, json::Path path) {
  json::ObjectMapper map(value, path);
  return map && hasKeys(value, {"limit", "base", "amounts", "peaks"}, path) &&
         map.map("limit", budget.limit) &&
         map.mapOptional("base", budget.base) &&
         map.mapOptional("amounts", budget.amounts) &&
         map.mapOptional("peaks", budget.peaks);
}

bool fromJSON(const json::Value &value, ProblemText &problem, json::Path path) {
  json::ObjectMapper map(value, path);
  return map &&
         hasKeys(
             value,
             {"ops", "tensors", "conversions", "factors", "budget", "initial"},
             path) &&
         map.map("ops", problem.ops) &&
         map.mapOptional("tensors", problem.tensors) &&
         map.mapOptional("conversions", problem.conversions) &&
         map.mapOptional("factors", problem.factors) &&
         map.mapOptional("budget", problem.budget) &&
         map.mapOptional("initial", problem.initial);
}
} // namespace

/// Returns an error for faults that the JSON parser would not report: lists and
/// objects nested too deep, and repeated names in an object, of which the
/// parser would keep the last.
static Error checkText(StringRef text) {
  // Names in each open list and object; those of lists are empty.
  std::vector<std::set<std::string>> open;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[' || text[i] == '{') {
      if (open.size() == kMostNesting)
        return llvm::createStringError(
            "lists and objects are nested more than " +
            llvm::Twine(kMostNesting) + " deep");
      open.emplace_back();
    } else if (text[i] == ']' || text[i] == '}') {
      if (!open.empty())
        open.pop_back();
    } else if (text[i] == '"') {
      size_t begin = i;
      while (++i < text.size() && text[i] != '"')
        i += text[i] == '\\';
      if (open.empty() || !text.substr(i + 1).ltrim().starts_with(":"))
        continue;
      llvm::Expected<json::Value> name = json::parse(text.slice(begin, i + 1));
      if (!name) {
        consumeError(name.takeError()); // the parser reports it
        continue;
      }
      if (!open.back().insert(name->getAsString()->str()).second) {
        StringRef before = text.take_front(begin);
        return llvm::createStringError(
            "[" + llvm::Twine(before.count('\n') + 1) + ":" +
            llvm::Twine(begin - (before.rfind('\n') + 1) + 1) +
            "]: " + text.slice(begin, i + 1) +
            " is repeated in one object; write each name once");
      }
    }
  }
  return Error::success();
}

//===----------------------------------------------------------------------===//
// The problem
//===----------------------------------------------------------------------===//

namespace {
class Builder {
public:
  Builder(const ProblemText &text, int64_t maxEntries)
      : problem(maxEntries), text(text) {}

  Error build();
  NamedProblem problem;

private:
  Error addOps();
  Error addTensor(StringRef name, const TensorText &tensor);
  llvm::Expected<const Prices *> findPrices(StringRef tensor,
                                            const ConversionsText &text);
  Error addFactors();
  Error addBudget(const BudgetText &text);
  Error addInitial(const std::map<std::string, std::string> &text);
  llvm::Expected<unsigned> findOp(StringRef owner, StringRef name) const;
  llvm::Expected<unsigned> findConfiguration(StringRef owner, unsigned op,
                                             StringRef name) const;
  /// Reads an end of a tensor. `layouts` has the numbers of its layouts.
  llvm::Expected<TensorEnd>
  readEnd(StringRef owner, const EndText &end,
          const std::map<std::string, unsigned> &layouts) const;
  llvm::Expected<std::vector<Budget::Term>>
  readAmounts(const Amounts &amounts) const;
  Error checkPrices(StringRef owner, const Prices &prices);

  const ProblemText &text;
  std::map<std::string, unsigned> numbers; // of ops
};
} // namespace

/// Returns the number of an op. In the error, `owner` names the part of the
/// problem that refers to the op.
llvm::Expected<unsigned> Builder::findOp(StringRef owner,
                                         StringRef name) const {
  auto it = numbers.find(name.str());
  if (it != numbers.end())
    return it->second;
  return llvm::createStringError(owner + " names op '" + name +
                                 "', which does not exist");
}

llvm::Expected<unsigned>
Builder::findConfiguration(StringRef owner, unsigned op, StringRef name) const {
  ArrayRef<std::string> all = problem.configurations[op];
  const auto *it = llvm::lower_bound(all, name);
  if (it != all.end() && *it == name)
    return it - all.begin();
  return llvm::createStringError(owner + " names configuration '" + name +
                                 "' of op '" + problem.ops[op] +
                                 "', which does not exist");
}

Error Builder::addOps() {
  for (const auto &[name, configurations] : text.ops) {
    if (configurations.empty())
      return llvm::createStringError("op '" + name + "' has no configuration");
    std::vector<Cost> costs;
    problem.configurations.emplace_back();
    for (const auto &[configuration, price] : configurations) {
      problem.configurations.back().push_back(configuration);
      costs.push_back(price.cost);
    }
    auto number = problem.problem.addVariable(costs);
    if (!number)
      return addPlace("op '" + name + "'", number.takeError());
    numbers[name] = *number;
    problem.ops.push_back(name);
  }
  return Error::success();
}

llvm::Expected<TensorEnd>
Builder::readEnd(StringRef owner, const EndText &end,
                 const std::map<std::string, unsigned> &layouts) const {
  TensorEnd result;
  if (!end.op) {
    result.layouts.push_back(layouts.at(*end.layout));
    return result;
  }
  auto op = findOp(owner, *end.op);
  if (!op)
    return op.takeError();
  result.variable = *op;
  for (const std::string &configuration : problem.configurations[*op]) {
    auto layout = end.layouts->find(configuration);
    if (layout == end.layouts->end())
      return llvm::createStringError(
          owner + " has no layout for configuration '" + configuration +
          "' of op '" + *end.op + "'");
    result.layouts.push_back(layouts.at(layout->second));
  }
  for (const auto &[configuration, unused] : *end.layouts)
    if (auto known = findConfiguration(owner, *op, configuration); !known)
      return known.takeError();
  return result;
}

Error Builder::checkPrices(StringRef owner, const Prices &prices) {
  for (const auto &[from, row] : prices)
    if (row.count(from))
      return llvm::createStringError(owner + " converts layout '" + from +
                                     "' to itself, which costs nothing");
  return Error::success();
}

llvm::Expected<const Prices *>
Builder::findPrices(StringRef tensor, const ConversionsText &conversions) {
  if (conversions.prices) {
    if (Error error = checkPrices(tensor, *conversions.prices))
      return std::move(error);
    return &*conversions.prices;
  }
  auto it = text.conversions.find(conversions.name);
  if (it == text.conversions.end())
    return llvm::createStringError(tensor + " names conversions '" +
                                   conversions.name + "', which do not exist");
  return &it->second;
}

/// Returns the prices between layouts, which have numbers, as a matrix.
static std::vector<Cost>
makeMatrix(const std::map<std::string, unsigned> &layouts,
           const Prices &prices) {
  std::vector<Cost> matrix(layouts.size() * layouts.size(), kInfiniteCost);
  for (const auto &[from, number] : layouts) {
    Cost *row = &matrix[number * layouts.size()];
    row[number] = 0;
    auto listed = prices.find(from);
    if (listed == prices.end())
      continue;
    for (const auto &[to, price] : listed->second)
      if (auto known = layouts.find(to); known != layouts.end())
        row[known->second] = price.cost;
  }
  return matrix;
}

/// Adds a tensor, whose layouts are numbered in the order of their names.
Error Builder::addTensor(StringRef name, const TensorText &tensor) {
  std::string owner = ("tensor '" + name + "'").str();
  std::map<std::string, unsigned> layouts;
  auto collect = [&](const EndText &end) {
    if (end.layout)
      layouts[*end.layout] = 0;
    else
      for (const auto &[unused, layout] : *end.layouts)
        layouts[layout] = 0;
  };
  collect(tensor.producer);
  llvm::for_each(tensor.consumers, collect);
  NamedTensor named{name.str(), {}};
  for (auto &[layout, number] : layouts) {
    number = named.layouts.size();
    named.layouts.push_back(layout);
  }
  SharedTensor result;
  auto producer = readEnd(owner, tensor.producer, layouts);
  if (!producer)
    return producer.takeError();
  result.producer = std::move(*producer);
  for (const EndText &end : tensor.consumers) {
    auto consumer = readEnd(owner, end, layouts);
    if (!consumer)
      return consumer.takeError();
    if (consumer->variable && consumer->variable == result.producer.variable)
      return llvm::createStringError(owner + " has op '" + *end.op +
                                     "' as producer and consumer; copies "
                                     "cannot form a cycle");
    result.consumers.push_back(std::move(*consumer));
  }
  llvm::sort(result.consumers);
  auto prices = findPrices(owner, tensor.conversions);
  if (!prices)
    return prices.takeError();
  result.numLayouts = layouts.size();
  if (result.numLayouts <= kMaxTensorLayouts)
    result.prices = makeMatrix(layouts, **prices);
  problem.tensors.push_back(std::move(named));
  return addPlace(owner, problem.problem.addTensor(std::move(result)));
}

Error Builder::addFactors() {
  std::vector<std::pair<std::vector<unsigned>, std::vector<Cost>>> factors;
  int64_t total = 0;
  for (auto [f, factor] : llvm::enumerate(text.factors)) {
    std::string owner = ("factor " + llvm::Twine(f)).str();
    // The scope has the order of the ops.
    std::vector<std::pair<unsigned, size_t>> places;
    int64_t size = 1;
    for (auto [place, name] : llvm::enumerate(factor.over)) {
      auto op = findOp(owner, name);
      if (!op)
        return op.takeError();
      places.push_back({*op, place});
      size = scaleCost(size, problem.configurations[*op].size());
    }
    llvm::sort(places);
    std::vector<unsigned> scope;
    for (auto [op, place] : places) {
      if (llvm::is_contained(scope, op))
        return llvm::createStringError(owner + " is over op '" +
                                       problem.ops[op] + "' twice");
      scope.push_back(op);
    }
    total = addCosts(total, size);
    if (Error error = problem.problem.checkSize(scope.size(), total))
      return addPlace(owner, std::move(error));
    std::vector<Cost> table(size, factor.otherwise.cost);
    std::set<size_t> given;
    for (const EntryText &entry : factor.costs) {
      if (entry.when.size() != scope.size())
        return llvm::createStringError(
            owner + " has an entry of " + llvm::Twine(entry.when.size()) +
            " configurations for " + llvm::Twine(scope.size()) + " ops");
      size_t at = 0;
      for (auto [op, place] : places) {
        auto value = findConfiguration(owner, op, entry.when[place]);
        if (!value)
          return value.takeError();
        at = at * problem.configurations[op].size() + *value;
      }
      if (!given.insert(at).second)
        return llvm::createStringError(
            owner + " has two entries for the same configurations");
      table[at] = entry.cost.cost;
    }
    factors.push_back({std::move(scope), std::move(table)});
  }
  llvm::sort(factors);
  for (const auto &[scope, table] : factors)
    if (Error error = problem.problem.addTable(scope, table))
      return error;
  return Error::success();
}

llvm::Expected<std::vector<Budget::Term>>
Builder::readAmounts(const Amounts &amounts) const {
  std::vector<Budget::Term> terms;
  for (const auto &[name, configurations] : amounts) {
    auto op = findOp("the budget", name);
    if (!op)
      return op.takeError();
    terms.push_back({*op, {}});
    terms.back().amounts.resize(problem.configurations[*op].size());
    for (const auto &[configuration, amount] : configurations) {
      auto value = findConfiguration("the budget", *op, configuration);
      if (!value)
        return value.takeError();
      if (amount < 0)
        return llvm::createStringError(
            "the budget has a negative amount for configuration '" +
            configuration + "' of op '" + name + "'");
      terms.back().amounts[*value] = amount;
    }
  }
  return terms;
}

Error Builder::addBudget(const BudgetText &given) {
  Budget budget;
  budget.limit = given.limit;
  budget.base = given.base;
  auto terms = readAmounts(given.amounts);
  if (!terms)
    return terms.takeError();
  budget.terms = std::move(*terms);
  for (const Amounts &peak : given.peaks) {
    terms = readAmounts(peak);
    if (!terms)
      return terms.takeError();
    budget.peaks.push_back(std::move(*terms));
  }
  return addPlace("the budget", problem.problem.setBudget(std::move(budget)));
}

Error Builder::addInitial(const std::map<std::string, std::string> &given) {
  for (const auto &[name, configuration] : given)
    if (auto op = findOp("the initial assignment", name); !op)
      return op.takeError();
  for (auto [op, name] : llvm::enumerate(problem.ops)) {
    auto it = given.find(name);
    if (it == given.end())
      return llvm::createStringError(
          "the initial assignment has no configuration of op '" + name + "'");
    auto value = findConfiguration("the initial assignment", op, it->second);
    if (!value)
      return value.takeError();
    problem.initial.push_back(*value);
  }
  return Error::success();
}

Error Builder::build() {
  if (Error error = addOps())
    return error;
  for (const auto &[name, prices] : text.conversions)
    if (Error error = checkPrices("'" + name + "'", prices))
      return error;
  for (const auto &[name, tensor] : text.tensors)
    if (Error error = addTensor(name, tensor))
      return error;
  if (Error error = addFactors())
    return error;
  if (text.budget)
    if (Error error = addBudget(*text.budget))
      return error;
  return text.initial ? addInitial(*text.initial) : Error::success();
}

llvm::Expected<NamedProblem>
mlir::layout::readNamedProblem(StringRef text, int64_t maxEntries) {
  if (Error error = checkText(text))
    return std::move(error);
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value)
    return value.takeError();
  ProblemText problem;
  json::Path::Root root("problem");
  if (!fromJSON(*value, problem, root))
    return root.getError();
  Builder builder(problem, maxEntries);
  if (Error error = builder.build())
    return std::move(error);
  return std::move(builder.problem);
}

//===----------------------------------------------------------------------===//
// The answer
//===----------------------------------------------------------------------===//

llvm::Expected<DecisionAnswer> NamedProblem::solve(SolveOptions options) const {
  if (!initial.empty())
    options.initial = initial;
  return problem.solve(options);
}

json::Value NamedProblem::makeAnswer(const DecisionAnswer &found,
                                     bool withStatistics) const {
  const Solution &solution = found.solution;
  auto getCost = [](Cost cost) -> json::Value {
    if (cost == kInfiniteCost)
      return nullptr;
    return cost;
  };
  json::Object answer{{"cost", getCost(solution.cost)},
                      {"lower_bound", getCost(solution.lowerBound)},
                      {"proven", solution.exact}};
  json::Array open;
  for (unsigned op : solution.openVariables)
    open.push_back(ops[op]);
  answer["open"] = std::move(open);
  if (found.amount)
    answer["amount"] = *found.amount;
  if (found.leastAmount)
    answer["least_amount"] = *found.leastAmount;
  if (withStatistics)
    answer["statistics"] = json::Object{{"nodes", solution.statistics.numNodes},
                                        {"work", solution.statistics.work},
                                        {"seconds", found.seconds}};
  if (solution.cost == kInfiniteCost)
    return answer;
  json::Object chosen, copies;
  for (auto [op, name] : llvm::enumerate(ops))
    chosen[name] = configurations[op][solution.assignment[op]];
  for (auto [t, tensor] : llvm::enumerate(tensors)) {
    json::Array layouts;
    for (unsigned layout : problem.getCopies(t, solution.assignment))
      layouts.push_back(tensor.layouts[layout]);
    if (!layouts.empty())
      copies[tensor.name] = std::move(layouts);
  }
  answer["configurations"] = std::move(chosen);
  answer["copies"] = std::move(copies);
  return answer;
}
