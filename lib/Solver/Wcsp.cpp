//===- Wcsp.cpp - Reader and writer of the wcsp format --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Solver/Wcsp.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <charconv>
#include <map>

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::Error;
using llvm::Expected;
using llvm::StringRef;
using llvm::Twine;

Solution WcspProblem::solve(const SolveOptions &options) const {
  Solution solution = graph.solve(options);
  if (solution.cost >= upperBound) {
    solution.assignment.clear();
    solution.cost = kInfiniteCost;
  }
  if (solution.lowerBound >= upperBound)
    solution.lowerBound = kInfiniteCost;
  solution.exact = solution.lowerBound == solution.cost;
  if (solution.exact)
    solution.openVariables.clear();
  return solution;
}

namespace {

/// Splits a text into words, and reports errors with line and column.
class Words {
public:
  explicit Words(StringRef text) : text(text), rest(text) {}

  /// Returns the next word, or an empty string at the end of the text.
  StringRef takeWord() {
    const char *begin =
        std::find_if_not(rest.begin(), rest.end(), llvm::isSpace);
    const char *end = std::find_if(begin, rest.end(), llvm::isSpace);
    word = {begin, size_t(end - begin)};
    rest = {end, size_t(rest.end() - end)};
    return word;
  }

  /// Parses the next word as an integer from `least` to `most`. Returns an
  /// error, in which `what` names the integer, for other words and at the end
  /// of the text.
  Expected<int64_t> takeInteger(const Twine &what, int64_t least,
                                int64_t most) {
    if (takeWord().empty())
      return makeError("the text ends where " + what + " was expected");
    int64_t value;
    auto [end, error] = std::from_chars(word.begin(), word.end(), value);
    if (error != std::errc() || end != word.end() || value < least ||
        value > most)
      return makeError("expected " + what + ", an integer from " +
                       Twine(least) + " to " + Twine(most) + ", found '" +
                       shorten(word) + "'");
    return value;
  }

  /// Creates an error at the position of the last word.
  Error makeError(const Twine &message) const {
    StringRef before = text.take_front(word.data() - text.data());
    size_t line = before.count('\n') + 1;
    size_t column = before.size() - (before.rfind('\n') + 1) + 1;
    return llvm::createStringError(Twine(line) + ":" + Twine(column) +
                                   ": error: " + message);
  }

  static std::string shorten(StringRef word) {
    std::string shown;
    for (char c : word.take_front(40))
      shown += llvm::isPrint(c) ? c : '?';
    return word.size() > 40 ? shown + ".." : shown;
  }

private:
  StringRef text, rest;
  StringRef word = text.take_front(0);
};

/// The tuples of values that a cost function of a wcsp file lists, each with
/// its cost.
struct Tuples {
  unsigned arity = 0;
  std::vector<unsigned> values; // of all tuples, concatenated
  std::vector<Cost> costs;
};

/// The largest upper bound that a problem in a wcsp file may state, so that
/// sums of costs below it are not saturated.
constexpr Cost kMaxBound = kInfiniteCost - 1;

class Reader {
public:
  Reader(StringRef text, int64_t maxEntries)
      : words(text), maxEntries(maxEntries) {}

  Error read() {
    StringRef name = words.takeWord();
    if (name.empty())
      return words.makeError("the text is empty; a problem starts with a name, "
                             "its size and an upper bound");
    problem.name = name.str();
    int64_t numVariables = 0, maxDomain = 0, numFunctions = 0;
    if (Error error = take(numVariables, "the number of variables", 0,
                           std::numeric_limits<int32_t>::max()))
      return error;
    if (Error error = take(maxDomain, "the largest domain", numVariables != 0,
                           std::numeric_limits<int32_t>::max()))
      return error;
    if (Error error = take(numFunctions, "the number of functions", 0,
                           std::numeric_limits<int32_t>::max()))
      return error;
    if (Error error = take(problem.upperBound, "the upper bound", 0, kMaxBound))
      return error;
    for (int64_t v = 0; v < numVariables; ++v)
      if (Error error = readDomain(maxDomain))
        return error;
    for (int64_t f = 0; f < numFunctions; ++f)
      if (Error error = readFunction())
        return error;
    if (!words.takeWord().empty())
      return words.makeError(
          "there is text after the last of " + Twine(numFunctions) +
          " functions; the header states how many there are");
    return Error::success();
  }

  WcspProblem problem;

private:
  template <typename T>
  Error take(T &value, const Twine &what, int64_t least, int64_t most) {
    Expected<int64_t> read = words.takeInteger(what, least, most);
    if (!read)
      return read.takeError();
    value = T(*read);
    return Error::success();
  }

  /// Adds `entries` to the number of entries that the problem has so far.
  /// Returns an error if there are more than `maxEntries`, before memory is
  /// allocated.
  Error reserve(int64_t entries) {
    if (entries > maxEntries - numEntries)
      return words.makeError(
          "domains and tables of the problem have more than the limit of " +
          Twine(maxEntries) +
          " entries; split large functions into smaller ones, or allow more "
          "entries");
    numEntries += entries;
    return Error::success();
  }

  Error readDomain(int64_t maxDomain) {
    int64_t domain = 0;
    if (Error error = take(domain,
                           "the domain of variable " +
                               Twine(problem.graph.getNumVariables()),
                           1, maxDomain))
      return error;
    if (Error error = reserve(domain))
      return error;
    problem.graph.addVariable(domain);
    lastUse.push_back(-1);
    return Error::success();
  }

  Error readScope(int64_t arity) {
    scope.clear();
    for (int64_t i = 0; i < arity; ++i) {
      unsigned variable = 0;
      if (Error error = take(variable, "a variable of the scope", 0,
                             int64_t(lastUse.size()) - 1))
        return error;
      if (lastUse[variable] == numFunctionsRead)
        return words.makeError("variable " + Twine(variable) +
                               " is repeated in the scope; name it once, with "
                               "the tuples in which the two agree");
      lastUse[variable] = numFunctionsRead;
      scope.push_back(variable);
    }
    ++numFunctionsRead;
    return Error::success();
  }

  /// Fills the table over `scope` with the cost of tuples that are not listed.
  /// Returns an error if the problem then has more than `maxEntries` entries.
  Error fillTable(Cost defaultCost) {
    int64_t size = 1;
    for (unsigned variable : scope) {
      // No overflow: a size below 2^32 times a domain below 2^31.
      size *= problem.graph.getDomainSize(variable);
      if (size > maxEntries)
        break;
    }
    if (Error error = reserve(size))
      return error;
    table.assign(size, limit(defaultCost));
    return Error::success();
  }

  Cost limit(Cost cost) const {
    return cost >= problem.upperBound ? kInfiniteCost : cost;
  }

  Error readFunction() {
    int64_t arity = 0, count = 0;
    Cost defaultCost = 0;
    if (Error error = take(arity, "the arity of a function",
                           -int64_t(kMaxWcspArity), kMaxWcspArity))
      return error;
    bool isShared = arity < 0;
    if (Error error = readScope(std::abs(arity)))
      return error;
    if (Error error =
            take(defaultCost, "the cost of tuples that are not listed", -1,
                 kInfiniteCost))
      return error;
    if (defaultCost < 0)
      return words.makeError(
          "the function '" + Words::shorten(words.takeWord()) +
          "' is given by a keyword, which is not supported; list the costs of "
          "its tuples");
    if (Error error = fillTable(defaultCost))
      return error;
    if (Error error = take(count, "the number of tuples",
                           -int64_t(shared.size()), table.size()))
      return error;
    if (count < 0 && isShared)
      return words.makeError("a function whose tuples are shared must list "
                             "them itself; give it a positive arity");
    Tuples own;
    if (count >= 0)
      if (Error error = readTuples(count, own))
        return error;
    if (Error error = enterTuples(count < 0 ? shared[-count - 1] : own))
      return error;
    if (isShared)
      shared.push_back(std::move(own));
    problem.graph.addFactor(scope, table);
    return Error::success();
  }

  Error readTuples(int64_t count, Tuples &tuples) {
    tuples.arity = scope.size();
    std::vector<bool> isListed(table.size());
    for (int64_t t = 0; t < count; ++t) {
      size_t entry = 0;
      for (unsigned variable : scope) {
        unsigned value = 0, domain = problem.graph.getDomainSize(variable);
        if (Error error = take(value, "a value of variable " + Twine(variable),
                               0, int64_t(domain) - 1))
          return error;
        tuples.values.push_back(value);
        entry = entry * domain + value;
      }
      if (isListed[entry])
        return words.makeError("this tuple is repeated; list it once");
      isListed[entry] = true;
      Cost cost = 0;
      if (Error error = take(cost, "the cost of a tuple", 0, kInfiniteCost))
        return error;
      tuples.costs.push_back(cost);
    }
    return Error::success();
  }

  /// Writes the costs of the listed tuples into `table`. Returns an error if a
  /// tuple does not have one value for each variable of the cost function,
  /// within the domain of the variable.
  Error enterTuples(const Tuples &tuples) {
    if (tuples.arity != scope.size())
      return words.makeError(
          "the tuples of this function have " + Twine(tuples.arity) +
          " variables, but the function has " + Twine(scope.size()));
    for (size_t t = 0; t < tuples.costs.size(); ++t) {
      size_t entry = 0;
      for (auto [variable, value] : llvm::zip(
               scope,
               ArrayRef(tuples.values).slice(t * tuples.arity, tuples.arity))) {
        unsigned domain = problem.graph.getDomainSize(variable);
        if (value >= domain)
          return words.makeError("the tuples of this function have the value " +
                                 Twine(value) + ", but variable " +
                                 Twine(variable) + " has " + Twine(domain) +
                                 " values");
        entry = entry * domain + value;
      }
      table[entry] = limit(tuples.costs[t]);
    }
    return Error::success();
  }

  Words words;
  int64_t maxEntries, numEntries = 0;
  std::vector<Tuples> shared;
  // The function that is being read.
  std::vector<unsigned> scope;
  std::vector<Cost> table;
  // Per variable, the number of the last function that has it, to find
  // repetitions in a scope.
  int64_t numFunctionsRead = 0;
  std::vector<int64_t> lastUse;
};

/// Returns the most frequent entry of a table, the least of several.
Cost getCommonest(ArrayRef<Cost> entries) {
  std::map<Cost, size_t> counts;
  for (Cost entry : entries)
    ++counts[entry];
  return std::max_element(counts.begin(), counts.end(),
                          [](auto &a, auto &b) { return a.second < b.second; })
      ->first;
}

/// A table and the domain sizes of its variables. Cost functions for which
/// these are equal share one list of tuples in the file.
using Shape = std::pair<TableId, std::vector<unsigned>>;

class Writer {
public:
  Writer(llvm::raw_ostream &os, const FactorGraph &graph, Cost bound)
      : os(os), graph(graph), bound(bound) {}

  void write() {
    std::map<Shape, unsigned> uses;
    for (FactorGraph::Factor factor : graph.getFactors())
      ++uses[getShape(factor)];
    for (FactorGraph::Factor factor : graph.getFactors())
      writeFactor(factor, uses[getShape(factor)] > 1);
  }

private:
  Shape getShape(const FactorGraph::Factor &factor) const {
    Shape shape = {factor.table, {}};
    for (unsigned variable : factor.variables)
      shape.second.push_back(graph.getDomainSize(variable));
    return shape;
  }

  void writeFactor(const FactorGraph::Factor &factor, bool isRepeated) {
    Shape shape = getShape(factor);
    std::vector<Cost> entries;
    for (Cost entry : graph.getTable(factor.table))
      entries.push_back(std::min(entry, bound));
    Cost commonest = getCommonest(entries);
    size_t count = entries.size() - llvm::count(entries, commonest);
    auto known = shared.find(shape);
    bool isDefined = known != shared.end();
    bool isShared = isRepeated && !isDefined && count != 0;
    os << (isShared ? "-" : "") << factor.variables.size();
    for (unsigned variable : factor.variables)
      os << " " << variable;
    os << " " << commonest << " ";
    if (isDefined) {
      os << -int64_t(known->second) << "\n";
      return;
    }
    os << count << "\n";
    if (isShared)
      shared.insert({shape, shared.size() + 1});
    for (size_t entry = 0; entry < entries.size(); ++entry)
      if (entries[entry] != commonest)
        writeTuple(shape.second, entry, entries[entry]);
  }

  void writeTuple(ArrayRef<unsigned> domains, size_t entry, Cost cost) {
    llvm::SmallVector<unsigned, 8> values(domains.size());
    for (size_t i = domains.size(); i-- > 0; entry /= domains[i])
      values[i] = entry % domains[i];
    for (unsigned value : values)
      os << value << " ";
    os << cost << "\n";
  }

  llvm::raw_ostream &os;
  const FactorGraph &graph;
  Cost bound;
  std::map<Shape, unsigned> shared; // with its number, from 1
};

} // namespace

Expected<WcspProblem> mlir::layout::readWcsp(StringRef text,
                                             int64_t maxEntries) {
  // A table of a graph has fewer than 2^32 entries.
  maxEntries =
      std::min<int64_t>(maxEntries, std::numeric_limits<uint32_t>::max());
  Reader reader(text, maxEntries);
  if (Error error = reader.read())
    return std::move(error);
  return std::move(reader.problem);
}

Error mlir::layout::writeWcsp(llvm::raw_ostream &os,
                              const WcspProblem &problem) {
  const FactorGraph &graph = problem.graph;
  StringRef name = problem.name;
  if (name.empty() || llvm::any_of(name, llvm::isSpace))
    return llvm::createStringError("the name '" + name +
                                   "' of a problem is not one word");
  Cost bound = problem.upperBound;
  if (bound == kInfiniteCost) {
    bound = addCosts(graph.getMostCost(), 1);
    if (bound == kMaxBound)
      return llvm::createStringError(
          "the costs of the problem add up to 2^63 - 3 or more, so that no "
          "upper bound separates forbidden costs; scale them down, or give a "
          "bound");
  }
  unsigned maxDomain = 0;
  for (unsigned domain : graph.getDomains())
    maxDomain = std::max(maxDomain, domain);
  os << name << " " << graph.getNumVariables() << " " << maxDomain << " "
     << graph.getNumFactors() << " " << bound << "\n";
  llvm::interleave(graph.getDomains(), os, " ");
  os << "\n";
  Writer(os, graph, bound).write();
  return Error::success();
}

Expected<std::vector<unsigned>>
mlir::layout::readAssignment(StringRef text, const FactorGraph &graph) {
  Words words(text);
  std::vector<unsigned> assignment;
  for (unsigned v = 0; v < graph.getNumVariables(); ++v) {
    Expected<int64_t> value =
        words.takeInteger("the value of variable " + Twine(v), 0,
                          int64_t(graph.getDomainSize(v)) - 1);
    if (!value)
      return value.takeError();
    assignment.push_back(*value);
  }
  if (!words.takeWord().empty())
    return words.makeError("there is text after the values of all " +
                           Twine(graph.getNumVariables()) + " variables");
  return assignment;
}

llvm::Error mlir::layout::writeCertificate(llvm::raw_ostream &os,
                                           const WcspProblem &problem,
                                           const Solution &solution) {
  std::string text;
  llvm::raw_string_ostream problemText(text);
  if (llvm::Error error = writeWcsp(problemText, problem))
    return error;
  auto writeCost = [&](StringRef name, Cost cost) {
    os << name << " ";
    if (cost == kInfiniteCost)
      os << "infinite\n";
    else
      os << cost << "\n";
  };
  os << "layout-certificate 1\n";
  writeCost("cost", solution.cost);
  writeCost("lower-bound", solution.lowerBound);
  os << "assignment";
  for (unsigned value : solution.assignment)
    os << " " << value;
  os << "\nproof\n" << solution.proof << "wcsp\n" << text;
  return llvm::Error::success();
}
