//===- Budget.cpp - The least cost under a limit --------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BudgetSolver.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>
#include <set>

using namespace mlir::layout;
using llvm::ArrayRef;

int64_t Budget::getAmount(ArrayRef<unsigned> assignment) const {
  auto sum = [&](ArrayRef<Term> terms) {
    int64_t amount = 0;
    for (const Term &term : terms)
      amount = addCosts(amount, term.amounts[assignment[term.variable]]);
    return amount;
  };
  int64_t most = 0;
  for (ArrayRef<Term> peak : peaks)
    most = std::max(most, sum(peak));
  return addCosts(base, addCosts(sum(terms), most));
}

/// Appends the terms of `list` whose amounts differ between values to the
/// member `terms`, as a sequence that continues after term `place` - 1, and the
/// end of the sequence to `ends`. Amounts are counted above the least one of
/// their term. If `extra` is not 0, it is added to those of the first term,
/// which is then appended in any case. Updates `unit` to the gcd of all amounts
/// so far, by which they are not yet divided.
void BudgetSolver::addLinks(ArrayRef<Budget::Term> list, unsigned place,
                            int64_t extra) {
  for (const Budget::Term &term : list) {
    assert(term.amounts.size() == graph.getDomainSize(term.variable) &&
           "one amount for each value");
    int64_t smallest = *llvm::min_element(term.amounts);
    Link link{{term.variable, {}}, place};
    for (int64_t amount : term.amounts) {
      link.amounts.push_back(amount - smallest + extra);
      unit = std::gcd(unit, link.amounts.back());
    }
    if (llvm::all_of(link.amounts, [](int64_t amount) { return !amount; }))
      continue;
    extra = 0;
    terms.push_back(std::move(link));
    place = terms.size();
  }
  ends.push_back(place);
}

static int64_t getLeast(ArrayRef<Budget::Term> terms) {
  int64_t least = 0;
  for (const Budget::Term &term : terms)
    least = addCosts(least, *llvm::min_element(term.amounts));
  return least;
}

BudgetSolver::BudgetSolver(const FactorGraph &graph, const Budget &budget,
                           const SolveOptions &options)
    : graph(graph), budget(budget), options(options) {
  int64_t leastPeak = budget.peaks.empty() ? 0 : kInfiniteCost;
  for (ArrayRef<Budget::Term> peak : budget.peaks)
    leastPeak = std::min(leastPeak, getLeast(peak));
  least = addCosts(budget.base, addCosts(getLeast(budget.terms), leastPeak));
  unit = 0;
  addLinks(budget.terms, 0, 0);
  numAlways = terms.size();
  if (!budget.peaks.empty()) {
    unsigned place = ends.back();
    ends.clear();
    for (ArrayRef<Budget::Term> peak : budget.peaks)
      addLinks(peak, place, getLeast(peak) - leastPeak);
  }
  unit = std::max<int64_t>(unit, 1);
  for (Link &term : terms) {
    for (int64_t &amount : term.amounts)
      amount /= unit;
    mostUnits = addCosts(mostUnits, *llvm::max_element(term.amounts));
  }
  limit = budget.limit < least
              ? -1
              : std::min((budget.limit - least) / unit, mostUnits);
  mostCost = graph.getMostCost();
}

/// Returns the indices of the terms from the first one to term `place` - 1: the
/// permanent ones, then those of its peak.
std::vector<unsigned> BudgetSolver::getPath(unsigned place) const {
  std::vector<unsigned> path;
  for (; place > 0; place = terms[place - 1].place)
    path.push_back(place - 1);
  std::reverse(path.begin(), path.end());
  return path;
}

/// Returns the amount that `assignment` uses at each peak, permanent terms
/// included; without peaks, that of the permanent terms. Counts in units above
/// the least amount.
std::vector<int64_t>
BudgetSolver::countEach(ArrayRef<unsigned> assignment) const {
  std::vector<int64_t> units(terms.size() + 1, 0), each;
  for (auto [i, term] : llvm::enumerate(terms))
    units[i + 1] =
        addCosts(units[term.place], term.amounts[assignment[term.variable]]);
  for (unsigned end : ends)
    each.push_back(units[end]);
  return each;
}

int64_t BudgetSolver::countUnits(ArrayRef<unsigned> assignment) const {
  std::vector<int64_t> each = countEach(assignment);
  return *llvm::max_element(each);
}

/// Returns the graph without a limit. Its costs are multiplied by weights.cost,
/// and each term of the budget is a cost of its variable: its units times
/// weights.unit times a share. The share is that of its peak in `shares`; for a
/// permanent term, it is their sum. If `shares` is empty, permanent terms have
/// the share 1, and peaks do not count.
Relaxed BudgetSolver::relax(Weights weights, ArrayRef<int64_t> shares) const {
  Relaxed relaxed;
  relaxed.weights = weights;
  FactorGraph &copy = relaxed.problem.graph;
  for (unsigned domain : graph.getDomains())
    copy.addVariable(domain);
  std::vector<std::optional<TableId>> tables(graph.getNumTables());
  for (FactorGraph::Factor factor : graph.getFactors()) {
    std::optional<TableId> &table = tables[unsigned(factor.table)];
    if (!table) {
      std::vector<Cost> entries = graph.getTable(factor.table).vec();
      for (Cost &entry : entries)
        entry = scaleCost(entry, weights.cost);
      table = copy.addTable(entries);
    }
    copy.addFactor(factor.variables, *table);
  }
  // Per term, the sum of the shares of its peaks.
  std::vector<int64_t> counts(terms.size(), 0);
  if (shares.empty())
    std::fill_n(counts.begin(), numAlways, 1);
  for (auto [share, end] : llvm::zip(shares, ends))
    for (unsigned i : getPath(end))
      counts[i] += share;
  if (weights.unit != 0)
    for (auto [term, count] : llvm::zip_equal(terms, counts)) {
      if (count == 0)
        continue;
      std::vector<Cost> entries = term.amounts;
      for (Cost &entry : entries)
        entry *= weights.unit * count;
      copy.addFactor({term.variable}, entries);
    }
  return relaxed;
}

/// Replaces the best assignment if this one is within the limit and costs less,
/// or costs the same and uses less of the limited resource.
void BudgetSolver::keep(ArrayRef<unsigned> assignment) {
  int64_t units = countUnits(assignment);
  Cost cost = graph.evaluate(assignment);
  if (units > limit || cost == kInfiniteCost)
    return;
  if (!best.assignment.empty() &&
      std::make_pair(cost, units) >=
          std::make_pair(best.cost, countUnits(best.assignment)))
    return;
  best.assignment = assignment.vec();
  best.cost = cost;
}

/// Solves a problem in which the limit is replaced by weights or by a chain of
/// variables, starting with an assignment of its variables. Updates the best
/// assignment, the best lower bound, and the relaxation that the certificate
/// proves. Returns the values of the variables of the graph, or an empty list
/// if no assignment was found.
std::vector<unsigned> BudgetSolver::solve(Relaxed relaxed,
                                          ArrayRef<unsigned> initial,
                                          const SolveOptions &limits) {
  SolveOptions withInitial = limits;
  withInitial.initial = initial;
  relaxed.solution = relaxed.problem.solve(withInitial);
  Solution &solution = relaxed.solution;
  count(solution.statistics);
  std::vector<unsigned> found = solution.assignment;
  if (!found.empty()) {
    found.resize(graph.getNumVariables());
    keep(found);
  }
  // An assignment within the limit pays for at most `limit` units.
  Cost bound = solution.lowerBound;
  if (bound != kInfiniteCost)
    bound = std::max<Cost>(
        0, llvm::divideCeilSigned(bound - std::max<int64_t>(limit, 0) *
                                              relaxed.weights.unit,
                                  relaxed.weights.cost));
  best.lowerBound = std::max(best.lowerBound, bound);
  if (!proof || bound > provenBound) {
    provenBound = bound;
    best.openVariables = solution.openVariables;
    best.statistics = solution.statistics;
    proof = std::move(relaxed);
  }
  return found;
}

/// Searches for an assignment that uses little of the resource, the cheapest of
/// several that use equally much if weights fit in 64 bits. Each round gives
/// more weight to the peak that used most in the previous one. The search ends
/// with the least amount, with the first assignment within the limit, at a
/// limit of the options, after 24 rounds, or after 6 if the limit is proven too
/// low. Returns the found assignment that uses least, or an empty list if it
/// finds none. Sets `leastAmount` to a lower bound of the amounts of all
/// assignments.
std::vector<unsigned> BudgetSolver::findLeanest(ArrayRef<unsigned> initial,
                                                int64_t &leastAmount) {
  SharedLimits limits(options, taken);
  std::vector<unsigned> leanest;
  Shares shares(ends.size(), 0);
  shares[findHighest(initial)] = 1;
  int64_t most = -1;
  for (int64_t round = 1; round <= kMostShares; ++round) {
    std::optional<SolveOptions> rest = limits.getRest();
    Weights weights{1, addCosts(mostCost, 1)};
    if (!fits({1, scaleCost(weights.unit, round)}))
      weights = {0, 1};
    if (!rest)
      break;
    rest->certify = false;
    rest->initial = leanest.empty() ? initial : ArrayRef<unsigned>(leanest);
    Solution solution = relax(weights, shares).problem.solve(*rest);
    count(solution.statistics);
    // The largest peak is at least the weighted average of all.
    most = std::max<int64_t>(
        most, llvm::divideCeil(solution.lowerBound / weights.unit, round));
    std::vector<unsigned> found = solution.assignment;
    if (found.empty())
      break;
    found.resize(graph.getNumVariables());
    if (leanest.empty() || countUnits(found) < countUnits(leanest))
      leanest = found;
    if (shares.size() == 1 || countUnits(leanest) <= std::max(limit, most) ||
        (most > limit && round >= kMostShares / 4))
      break;
    ++shares[findHighest(found)];
  }
  leastAmount = addCosts(least, scaleCost(std::max<int64_t>(most, 0), unit));
  return leanest;
}

/// Returns the index in `ends` of the peak at which `assignment` uses the most
/// units, the first of several; 0 if the budget has no peaks.
unsigned BudgetSolver::findHighest(ArrayRef<unsigned> assignment) const {
  std::vector<int64_t> each = countEach(assignment);
  return llvm::max_element(each) - each.begin();
}

void BudgetSolver::findSums() {
  std::vector<std::set<int64_t>> found(terms.size() + 1);
  std::vector<bool> isListed(terms.size() + 1, true);
  for (unsigned end : ends)
    found[end] = {0};
  sums.assign(terms.size() + 1, {});
  for (size_t i = terms.size() + 1; i-- > 0;) {
    if (!isListed[i] || found[i].size() > kMostSums) {
      if (i > 0)
        isListed[terms[i - 1].place] = false;
      continue;
    }
    sums[i].assign(found[i].begin(), found[i].end());
    if (i == 0)
      return;
    const Link &term = terms[i - 1];
    std::set<int64_t> &before = found[term.place];
    for (int64_t amount :
         std::set<int64_t>(term.amounts.begin(), term.amounts.end()))
      for (int64_t later : sums[i])
        if (amount + later <= limit)
          before.insert(amount + later);
  }
}

/// Returns the largest sum of units, at most `units`, that the terms after term
/// `place` - 1 can use. Returns `units` unchanged if every sum is larger, or if
/// sums are not listed.
int64_t BudgetSolver::roundDown(size_t place, int64_t units) const {
  ArrayRef<int64_t> listed = sums[place];
  auto above = llvm::upper_bound(listed, units);
  return above == listed.begin() ? units : *(above - 1);
}

/// Returns the index in `states`, the numbers of units that a chain variable
/// can have as values, of the one that represents `units` left for the terms
/// after term `place` - 1. Returns std::nullopt if `units` is negative.
///
///   Up    the least number that allows the same sums of later terms, so that
///         nothing within the limit is forbidden
///   Down  the largest number <= `units`, so that nothing above is allowed
std::optional<unsigned> BudgetSolver::getState(ArrayRef<int64_t> states,
                                               size_t place, int64_t units,
                                               Rounding rounding) const {
  if (units < 0)
    return std::nullopt;
  if (rounding == Rounding::Down)
    return llvm::upper_bound(states, units) - states.begin() - 1;
  return std::min<size_t>(llvm::lower_bound(states, roundDown(place, units)) -
                              states.begin(),
                          states.size() - 1);
}

/// Returns the number of entries of the tables of all chain variables, which
/// count the units left after a term. Returns std::nullopt if a table has more
/// than `options.maxTableSize` entries, if all have more than kMostEntries, or
/// if a chain variable has no list of values.
std::optional<int64_t> BudgetSolver::countEntries() const {
  int64_t entries = 0;
  for (size_t i = 0; i < terms.size(); ++i) {
    ArrayRef<int64_t> before = states[terms[i].place], behind = states[i + 1];
    if (before.empty() || behind.empty())
      return std::nullopt;
    int64_t size = before.size() * behind.size() * terms[i].amounts.size();
    entries += size;
    if (size > options.maxTableSize || entries > kMostEntries)
      return std::nullopt;
  }
  return entries;
}

/// Gives each chain variable, which counts the units left after a term of the
/// budget, at most two values: 0, and the largest number of units that the
/// terms after it can use, up to the limit.
void BudgetSolver::startStates() {
  std::vector<int64_t> most(terms.size() + 1, 0);
  for (size_t i = terms.size() + 1; i-- > 0;) {
    int64_t enough = roundDown(i, most[i]);
    states[i] = {0};
    if (enough > 0)
      states[i].push_back(enough);
    if (i == 0)
      break;
    const Link &term = terms[i - 1];
    most[term.place] = std::max(
        most[term.place],
        std::min(limit, addCosts(most[i], *llvm::max_element(term.amounts))));
  }
  states.front() = {roundDown(0, limit)};
}

/// Adds values to chain variables, which count the units left, so that they
/// forbid `assignment`, which exceeds the limit. A value is added after each
/// term where rounding the units left up would hide the whole excess. Returns
/// false if no value was added.
bool BudgetSolver::refineStates(ArrayRef<unsigned> assignment) {
  bool changed = false;
  for (unsigned end : ends)
    changed |= refinePath(getPath(end), assignment);
  return changed;
}

bool BudgetSolver::refinePath(ArrayRef<unsigned> path,
                              ArrayRef<unsigned> assignment) {
  int64_t excess = -limit;
  for (unsigned i : path)
    excess += terms[i].amounts[assignment[terms[i].variable]];
  if (excess <= 0)
    return false;
  int64_t left = limit, rounded = states.front().front();
  bool changed = false;
  for (unsigned i : path) {
    int64_t amount = terms[i].amounts[assignment[terms[i].variable]];
    left -= amount;
    rounded -= amount;
    if (rounded < 0)
      break;
    std::vector<int64_t> &next = states[i + 1];
    int64_t state = next[*getState(next, i + 1, rounded, Rounding::Up)];
    if (state - left >= excess) {
      state = roundDown(i + 1, rounded);
      auto place = llvm::lower_bound(next, state);
      if (place == next.end() || *place != state) {
        next.insert(place, state);
        changed = true;
      }
    }
    rounded = state;
  }
  return changed;
}

/// Sets the values of each chain variable, which counts the units left after a
/// term, to all sums of units that later terms can use. Returns the number of
/// entries of their tables, or std::nullopt in the cases of `countEntries`;
/// `states` must then be set anew before use.
std::optional<int64_t> BudgetSolver::listStates() {
  if (sums.empty())
    findSums();
  states = sums;
  // The first variable has one value, the largest sum within the limit.
  if (!states.front().empty())
    states.front() = {states.front().back()};
  return countEntries();
}

/// Solves the problem with the limit as chains of variables that count the
/// units left. They have all numbers of units as values if their tables are
/// small enough. Otherwise starts with few values and adds more while the best
/// assignment exceeds the limit. Ends if the tables of one round get too large.
/// If those of all rounds together do, or the limits end the rounds of a budget
/// with peaks, solves once with the units left rounded down. All assignments
/// are then within the limit. Without peaks, the search ends at the limits.
void BudgetSolver::searchStates(Weights weights) {
  if (!listStates())
    startStates();
  // Only a quarter of the work is used: if the chains are too wide,
  // searchPrices finds a bound sooner.
  SolveOptions less = options;
  less.maxWork /= 4;
  SharedLimits limits(less, taken);
  int64_t entries = 0;
  while (std::optional<int64_t> more = countEntries()) {
    std::optional<SolveOptions> rest = limits.getRest();
    // Without peaks, searchPrices finds more with the rest of the limits.
    if (!rest && budget.peaks.empty())
      return;
    entries += *more;
    if (!rest || entries > kMostEntriesOfAll) {
      SolveOptions last = rest.value_or(less);
      last.certify = false;
      last.initial = {};
      Solution inner = addChain(weights, Rounding::Down).problem.solve(last);
      count(inner.statistics);
      if (!inner.assignment.empty()) {
        inner.assignment.resize(graph.getNumVariables());
        keep(inner.assignment);
      }
      return;
    }
    Relaxed limited = addChain(weights);
    std::vector<unsigned> initial = extend(limited, best.assignment);
    std::vector<unsigned> found = solve(std::move(limited), initial, *rest);
    if (found.empty() || countUnits(found) <= limit || !refineStates(found))
      return;
  }
}

/// Returns the relaxation with a variable after each term of the budget: the
/// number of units that the terms after it may use, as an index in `states`.
/// `rounding` says whether a number between two states becomes the higher or
/// the lower one.
Relaxed BudgetSolver::addChain(Weights weights, Rounding rounding) const {
  Relaxed relaxed = relax(weights);
  relaxed.states = states;
  FactorGraph &copy = relaxed.problem.graph;
  for (size_t i = 0; i < terms.size(); ++i) {
    ArrayRef<int64_t> from = states[terms[i].place], to = states[i + 1];
    std::vector<Cost> table;
    table.reserve(from.size() * terms[i].amounts.size() * to.size());
    for (int64_t left : from)
      for (int64_t amount : terms[i].amounts) {
        std::optional<unsigned> next =
            getState(to, i + 1, left - amount, rounding);
        for (unsigned t = 0; t < to.size(); ++t)
          table.push_back(next == t ? 0 : kInfiniteCost);
      }
    unsigned variable = copy.addVariable(to.size());
    if (terms[i].place == 0)
      copy.addFactor({terms[i].variable, variable}, table);
    else
      copy.addFactor(
          {relaxed.chain[terms[i].place - 1], terms[i].variable, variable},
          table);
    relaxed.chain.push_back(variable);
  }
  return relaxed;
}

/// Appends to `assignment`, which has the values of the variables of `graph`
/// and is within the limit, those of the chain variables of `relaxed` that
/// follow from it. They represent the units left after each term. Returns an
/// empty list for an empty assignment.
std::vector<unsigned>
BudgetSolver::extend(const Relaxed &relaxed,
                     ArrayRef<unsigned> assignment) const {
  std::vector<unsigned> all = assignment.vec();
  if (all.empty())
    return all;
  std::vector<int64_t> left = {relaxed.states.front().front()};
  for (size_t i = 0; i < relaxed.chain.size(); ++i) {
    ArrayRef<int64_t> next = relaxed.states[i + 1];
    unsigned state = *getState(
        next, i + 1,
        left[terms[i].place] - terms[i].amounts[assignment[terms[i].variable]],
        Rounding::Up);
    left.push_back(next[state]);
    all.push_back(state);
  }
  return all;
}

/// Searches by prices of units (Lagrange multipliers), and keeps the best
/// assignment and lower bound in `best`. Each round uses the price at which
/// `within`, an assignment within the limit, and `above`, one above it, cost
/// the same, units included. The result replaces the one on its side of the
/// limit. Ends if it is not cheaper than both, after 60 rounds, or at the
/// limits of one search, which all rounds share.
void BudgetSolver::searchPrices(std::vector<unsigned> within,
                                std::vector<unsigned> above) {
  SharedLimits limits(options, taken);
  for (unsigned round = 0; round < kMostPrices; ++round) {
    if (best.cost == best.lowerBound)
      return;
    std::optional<SolveOptions> rest = limits.getRest();
    if (!rest)
      return;
    int64_t units = countUnits(above) - countUnits(within);
    Cost gain = graph.evaluate(within) - graph.evaluate(above);
    if (units <= 0 || gain <= 0)
      return;
    int64_t divisor = std::gcd(units, gain);
    Weights weights{units / divisor, gain / divisor};
    // Any price gives a bound, and a slightly rounded one loses little.
    while (!fits(weights) && weights.cost > 1)
      weights = {weights.cost / 2, weights.unit / 2};
    if (!fits(weights))
      return;
    auto evaluate = [&](ArrayRef<unsigned> assignment) {
      return weights.cost * graph.evaluate(assignment) +
             weights.unit * countUnits(assignment);
    };
    std::vector<unsigned> next = solve(relax(weights), within, *rest);
    if (evaluate(next) >= std::min(evaluate(within), evaluate(above)))
      return;
    (countUnits(next) <= limit ? within : above) = std::move(next);
  }
}

/// Writes the certificate to `answer.certificate`, or leaves that empty if the
/// wcsp format cannot represent the problem. The proof starts with the budget:
///   budget LIMIT LEAST UNIT WEIGHT PRICE
///   takes VARIABLE CHAIN AMOUNTS..
///   peak
///   takes VARIABLE CHAIN AMOUNTS..
/// LIMIT, LEAST and UNIT are amounts, e.g. bytes. Every assignment uses LEAST,
/// and amounts above it are multiples of UNIT. The problem has all costs times
/// WEIGHT, plus PRICE per unit of the permanent terms. AMOUNTS are the units
/// that each value of VARIABLE takes; the variable CHAIN, or -1 for none,
/// counts those left afterwards. Terms after `peak` continue the permanent
/// ones.
void BudgetSolver::writeCertificate(BudgetedSolution &answer,
                                    Relaxed &proven) const {
  Solution solution = std::move(proven.solution);
  solution.assignment =
      proven.chain.empty() ? best.assignment : extend(proven, best.assignment);
  solution.cost = proven.problem.graph.evaluate(solution.assignment);
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "budget " << budget.limit << " " << least << " " << unit << " "
     << proven.weights.cost << " " << proven.weights.unit << "\n";
  for (size_t i = 0; i < terms.size(); ++i) {
    if (i >= numAlways && terms[i].place == numAlways)
      os << "peak\n";
    os << "takes " << terms[i].variable << " "
       << (proven.chain.empty() ? int64_t(-1) : int64_t(proven.chain[i]));
    for (int64_t amount : terms[i].amounts)
      os << " " << amount;
    os << "\n";
  }
  solution.proof = text + solution.proof;
  llvm::raw_string_ostream certificate(answer.certificate);
  llvm::consumeError(
      mlir::layout::writeCertificate(certificate, proven.problem, solution));
}

BudgetedSolution BudgetSolver::run() {
  BudgetedSolution answer;
  // Among the cheapest, prefer assignments that use less.
  Weights cheapest = pick({mostUnits + 1, 1}, {1, 0});
  if (!options.initial.empty())
    keep(options.initial);
  std::vector<unsigned> above =
      solve(relax(cheapest), options.initial, options);
  if (!above.empty() && countUnits(above) > limit) {
    std::vector<unsigned> within = findLeanest(above, answer.leastAmount);
    if (!within.empty() && countUnits(within) <= limit) {
      keep(within);
      bool labelsFirst = prefersLabels();
      if (labelsFirst)
        searchLabels();
      // The label search has no certificate.
      if (best.cost != best.lowerBound || (labelsFirst && options.certify))
        searchStates(cheapest);
      if (best.cost != best.lowerBound && budget.peaks.empty())
        searchPrices(std::move(within), std::move(above));
      if (best.cost != best.lowerBound && !labelsFirst)
        searchLabels();
    } else if (answer.leastAmount > budget.limit) {
      best.lowerBound = kInfiniteCost;
    } else if (!budget.peaks.empty()) {
      if (prefersLabels())
        searchLabels();
      if (best.cost != best.lowerBound || options.certify)
        searchStates(cheapest);
      if (best.assignment.empty() && best.lowerBound == kInfiniteCost)
        answer.leastAmount = addCosts(addCosts(least, limit * unit), unit);
    }
  }
  best.statistics.numNodes = taken.numNodes;
  best.statistics.work = taken.work;
  best.exact = best.cost == best.lowerBound;
  if (best.exact)
    best.openVariables.clear();
  if (!best.assignment.empty()) {
    answer.amount = budget.getAmount(best.assignment);
    if (options.certify)
      writeCertificate(answer, *proof);
  }
  answer.solution = std::move(best);
  return answer;
}

BudgetedSolution mlir::layout::solveUnderBudget(const FactorGraph &graph,
                                                const Budget &budget,
                                                const SolveOptions &options) {
  return BudgetSolver(graph, budget, options).run();
}
