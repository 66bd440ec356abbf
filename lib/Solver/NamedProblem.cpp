//===- NamedProblem.cpp - Ops, tensors and shared copies in JSON ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Solver/NamedProblem.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::Error;
using llvm::StringRef;
namespace json = llvm::json;

/// The maximum nesting depth of lists and objects. Deeper text is an error,
/// because the parser is recursive.
static constexpr unsigned kMostDepth = 64;

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
struct ProblemText {
  std::map<std::string, std::map<std::string, Price>> ops;
  std::map<std::string, TensorText> tensors;
  std::map<std::string, Prices> conversions;
  std::vector<FactorText> factors;
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

bool fromJSON(const json::Value &value, ProblemText &problem, json::Path path) {
  json::ObjectMapper map(value, path);
  return map &&
         hasKeys(value, {"ops", "tensors", "conversions", "factors"}, path) &&
         map.map("ops", problem.ops) &&
         map.mapOptional("tensors", problem.tensors) &&
         map.mapOptional("conversions", problem.conversions) &&
         map.mapOptional("factors", problem.factors);
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
      if (open.size() == kMostDepth)
        return llvm::createStringError(
            "lists and objects are nested more than " +
            llvm::Twine(kMostDepth) + " deep");
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
// The graph
//===----------------------------------------------------------------------===//

namespace {
class Builder {
public:
  Builder(const ProblemText &text, int64_t maxEntries)
      : text(text), numLeft(maxEntries) {}

  Error build();
  NamedProblem problem;

private:
  Error addOps();
  Error addTensor(StringRef name, const TensorText &tensor);
  Error addFactors();
  llvm::Expected<NamedEnd> readEnd(StringRef tensor, const EndText &end);
  Error checkPrices(StringRef owner, const Prices &prices);
  /// Adds a factor over the ops of `ends` with the entries fn(at), where at[i]
  /// is the index of a configuration of ends[i]; it is 0 if ends[i] is a fixed
  /// layout. Adds no factor if all entries are 0. Returns an error if the
  /// problem would get `maxEntries` entries or more.
  template <typename Fn>
  Error addFactor(ArrayRef<const NamedEnd *> ends, Fn fn);
  Error addCopies(const NamedTensor &tensor, const Prices &prices);
  Error addSetupVariable(const NamedEnd &producer,
                         ArrayRef<const NamedEnd *> consumers, StringRef layout,
                         llvm::function_ref<Cost(StringRef)> price);
  Error reserve(int64_t entries) {
    numLeft -= std::min(numLeft, entries);
    return numLeft > 0 ? Error::success()
                       : llvm::createStringError(
                             "the tables have too many entries together; cut "
                             "factors over many ops into smaller ones");
  }

  const ProblemText &text;
  int64_t numLeft;
  std::map<std::string, unsigned> numbers; // of ops
};
} // namespace

Error Builder::addOps() {
  for (const auto &[name, configurations] : text.ops) {
    if (configurations.empty())
      return llvm::createStringError("op '" + name + "' has no configuration");
    if (Error error = reserve(configurations.size()))
      return error;
    unsigned op = problem.graph.addVariable(configurations.size());
    numbers[name] = op;
    problem.ops.push_back(name);
    std::vector<Cost> costs;
    problem.configurations.emplace_back();
    for (const auto &[configuration, price] : configurations) {
      problem.configurations.back().push_back(configuration);
      costs.push_back(price.cost);
    }
    problem.graph.addFactor({op}, costs);
  }
  return Error::success();
}

llvm::Expected<NamedEnd> Builder::readEnd(StringRef tensor,
                                          const EndText &end) {
  NamedEnd result;
  if (!end.op) {
    result.layouts.push_back(*end.layout);
    return result;
  }
  auto it = numbers.find(*end.op);
  if (it == numbers.end())
    return llvm::createStringError("tensor '" + tensor + "' names op '" +
                                   *end.op + "', which does not exist");
  result.op = it->second;
  for (const std::string &configuration : problem.configurations[it->second]) {
    auto layout = end.layouts->find(configuration);
    if (layout == end.layouts->end())
      return llvm::createStringError(
          "tensor '" + tensor + "' has no layout for configuration '" +
          configuration + "' of op '" + *end.op + "'");
    result.layouts.push_back(layout->second);
  }
  for (const auto &[configuration, unused] : *end.layouts)
    if (!llvm::is_contained(problem.configurations[it->second], configuration))
      return llvm::createStringError(
          "tensor '" + tensor + "' names configuration '" + configuration +
          "' of op '" + *end.op + "', which does not exist");
  return result;
}

Error Builder::checkPrices(StringRef owner, const Prices &prices) {
  for (const auto &[from, row] : prices)
    if (row.count(from))
      return llvm::createStringError(owner + " converts layout '" + from +
                                     "' to itself, which costs nothing");
  return Error::success();
}

Error Builder::addTensor(StringRef name, const TensorText &tensor) {
  NamedTensor result;
  result.name = name.str();
  auto producer = readEnd(name, tensor.producer);
  if (!producer)
    return producer.takeError();
  result.producer = std::move(*producer);
  for (const EndText &end : tensor.consumers) {
    auto consumer = readEnd(name, end);
    if (!consumer)
      return consumer.takeError();
    result.consumers.push_back(std::move(*consumer));
  }
  llvm::sort(result.consumers);
  const Prices *prices = nullptr;
  if (tensor.conversions.prices) {
    prices = &*tensor.conversions.prices;
    if (Error error = checkPrices(("tensor '" + name + "'").str(), *prices))
      return error;
  } else {
    auto it = text.conversions.find(tensor.conversions.name);
    if (it == text.conversions.end())
      return llvm::createStringError(
          "tensor '" + name + "' names conversions '" +
          tensor.conversions.name + "', which do not exist");
    prices = &it->second;
  }
  Error error = addCopies(result, *prices);
  problem.tensors.push_back(std::move(result));
  return error;
}

template <typename Fn>
Error Builder::addFactor(ArrayRef<const NamedEnd *> ends, Fn fn) {
  llvm::SmallVector<unsigned, 4> scope;
  int64_t size = 1;
  for (const NamedEnd *end : ends) {
    if (end->op)
      scope.push_back(*end->op);
    size = scaleCost(size, end->layouts.size());
  }
  if (Error error = reserve(size))
    return error;
  std::vector<Cost> table;
  llvm::SmallVector<unsigned, 4> index(ends.size(), 0);
  for (int64_t i = 0; i < size; ++i) {
    table.push_back(fn(index));
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < ends[d]->layouts.size())
        break;
      index[d] = 0;
    }
  }
  if (llvm::any_of(table, [](Cost cost) { return cost != 0; }))
    problem.graph.addFactor(scope, table);
  return Error::success();
}

/// Adds the costs of the copies of a tensor, one per layout that consumers
/// read. A copy that a consumer reads in all its configurations is a cost of
/// the producer. If only one consumer may read it, it is a factor of producer
/// and consumer. Any other copy is a 0/1 variable, which serves all consumers
/// of its layout.
Error Builder::addCopies(const NamedTensor &tensor, const Prices &prices) {
  auto getPrice = [&](StringRef from, StringRef to) -> Cost {
    if (from == to)
      return 0;
    auto row = prices.find(from.str());
    if (row == prices.end())
      return kInfiniteCost;
    auto price = row->second.find(to.str());
    return price == row->second.end() ? kInfiniteCost : price->second.cost;
  };
  std::map<StringRef, std::set<size_t>> consumersOf;
  for (auto [c, consumer] : llvm::enumerate(tensor.consumers))
    for (const std::string &layout : consumer.layouts)
      consumersOf[layout].insert(c);
  const NamedEnd &producer = tensor.producer;
  std::vector<std::set<StringRef>> own(tensor.consumers.size());
  for (const auto &[layout, consumers] : consumersOf) {
    auto price = [&, to = layout](StringRef from) {
      return getPrice(from, to);
    };
    bool isAlways = false;
    std::vector<const NamedEnd *> ends;
    for (size_t c : consumers) {
      const NamedEnd &consumer = tensor.consumers[c];
      isAlways |= llvm::all_equal(consumer.layouts);
      ends.push_back(&consumer);
    }
    Error error = Error::success();
    if (isAlways)
      error = addFactor({&producer}, [&](ArrayRef<unsigned> at) {
        return price(producer.layouts[at[0]]);
      });
    else if (consumers.size() == 1)
      own[*consumers.begin()].insert(layout);
    else
      error = addSetupVariable(producer, ends, layout, price);
    if (error)
      return error;
  }
  for (auto [c, layouts] : llvm::enumerate(own)) {
    const NamedEnd &consumer = tensor.consumers[c];
    if (Error error =
            addFactor({&producer, &consumer}, [&](ArrayRef<unsigned> at) {
              const std::string &to = consumer.layouts[at[1]];
              return layouts.count(to) ? getPrice(producer.layouts[at[0]], to)
                                       : 0;
            }))
      return error;
  }
  return Error::success();
}

Error Builder::addSetupVariable(const NamedEnd &producer,
                                ArrayRef<const NamedEnd *> consumers,
                                StringRef layout,
                                llvm::function_ref<Cost(StringRef)> price) {
  NamedEnd copy;
  copy.op = problem.graph.addVariable(2);
  copy.layouts = {"absent", "present"};
  Error error = addFactor({&producer, &copy}, [&](ArrayRef<unsigned> at) {
    return at[1] ? price(producer.layouts[at[0]]) : 0;
  });
  for (const NamedEnd *consumer : consumers) {
    if (error)
      return error;
    error = addFactor({consumer, &copy}, [&](ArrayRef<unsigned> at) {
      return at[1] == 0 && consumer->layouts[at[0]] == layout ? kInfiniteCost
                                                              : 0;
    });
  }
  return error;
}

Error Builder::addFactors() {
  std::vector<std::pair<std::vector<unsigned>, std::vector<Cost>>> factors;
  for (auto [f, factor] : llvm::enumerate(text.factors)) {
    auto fail = [&, f = f](const llvm::Twine &message) {
      return llvm::createStringError("factor " + llvm::Twine(f) + " " +
                                     message);
    };
    // The scope has the order of the ops.
    std::vector<std::pair<unsigned, size_t>> places;
    int64_t size = 1;
    for (auto [place, name] : llvm::enumerate(factor.over)) {
      auto it = numbers.find(name);
      if (it == numbers.end())
        return fail("is over op '" + name + "', which does not exist");
      places.push_back({it->second, place});
      size = scaleCost(size, problem.configurations[it->second].size());
    }
    llvm::sort(places);
    std::vector<unsigned> scope;
    for (auto [op, place] : places) {
      if (llvm::is_contained(scope, op))
        return fail("is over op '" + problem.ops[op] + "' twice");
      scope.push_back(op);
    }
    if (scope.size() > kMaxWcspArity)
      return fail("is over more than " + llvm::Twine(kMaxWcspArity) + " ops");
    if (Error error = reserve(size))
      return error;
    std::vector<Cost> table(size, factor.otherwise.cost);
    std::set<size_t> given;
    for (const EntryText &entry : factor.costs) {
      if (entry.when.size() != scope.size())
        return fail("has an entry of " + llvm::Twine(entry.when.size()) +
                    " configurations for " + llvm::Twine(scope.size()) +
                    " ops");
      size_t at = 0;
      for (auto [op, place] : places) {
        ArrayRef<std::string> all = problem.configurations[op];
        const auto *it = llvm::lower_bound(all, entry.when[place]);
        if (it == all.end() || *it != entry.when[place])
          return fail("names configuration '" + entry.when[place] +
                      "' of op '" + problem.ops[op] +
                      "', which does not exist");
        at = at * all.size() + (it - all.begin());
      }
      if (!given.insert(at).second)
        return fail("has two entries for the same configurations");
      table[at] = entry.cost.cost;
    }
    factors.push_back({std::move(scope), std::move(table)});
  }
  llvm::sort(factors);
  for (const auto &[scope, table] : factors)
    problem.graph.addFactor(scope, table);
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
  return addFactors();
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

json::Value NamedProblem::makeAnswer(const Solution &solution) const {
  auto getCost = [](Cost cost) -> json::Value {
    if (cost == kInfiniteCost)
      return nullptr;
    return cost;
  };
  json::Object answer{{"cost", getCost(solution.cost)},
                      {"lower_bound", getCost(solution.lowerBound)},
                      {"proven", solution.exact}};
  std::set<std::string> open;
  for (unsigned variable : solution.openVariables)
    if (variable < ops.size())
      open.insert(ops[variable]);
  answer["open"] = json::Array(open);
  if (solution.cost == kInfiniteCost)
    return answer;
  json::Object chosen, copies;
  for (auto [op, name] : llvm::enumerate(ops))
    chosen[name] = configurations[op][solution.assignment[op]];
  for (const NamedTensor &tensor : tensors) {
    auto getLayout = [&](const NamedEnd &end) {
      return end.layouts[end.op ? solution.assignment[*end.op] : 0];
    };
    std::set<std::string> layouts;
    for (const NamedEnd &consumer : tensor.consumers)
      layouts.insert(getLayout(consumer));
    layouts.erase(getLayout(tensor.producer));
    if (!layouts.empty())
      copies[tensor.name] = json::Array(layouts);
  }
  answer["configurations"] = std::move(chosen);
  answer["copies"] = std::move(copies);
  return answer;
}
