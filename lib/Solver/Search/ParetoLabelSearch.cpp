//===- ParetoLabelSearch.cpp - Dynamic programming under limits -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Search/ParetoLabelSearch.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <numeric>
#include <set>

using namespace mlir::layout;
using llvm::ArrayRef;

/// The maximum number of variables of a problem that is solved by Pareto
/// labels.
static constexpr size_t kMostVariables = size_t(1) << 14;
/// The maximum total number of labels whose choices are kept to reconstruct an
/// assignment. Beyond it, the search ends.
static constexpr size_t kMostKept = size_t(1) << 25;
/// The maximum number of labels with equal values that a label is compared with
/// to find one that dominates it.
static constexpr size_t kMostCompared = 256;

/// Returns an order in which the search assigns the variables. The next one is
/// the neighbor of assigned variables that least increases the number of
/// combinations of values that labels can store. If `byNumber`, it is the
/// neighbor of lowest number, unless another one does not increase it. Without
/// such a neighbor, it is the variable of lowest number.
static std::vector<unsigned> findOrder(const FactorGraph &graph,
                                       bool byNumber) {
  unsigned count = graph.getNumVariables();
  std::vector<std::set<unsigned>> neighbors(count);
  for (FactorGraph::Factor factor : graph.getFactors())
    for (unsigned a : factor.variables)
      for (unsigned b : factor.variables)
        if (a != b)
          neighbors[a].insert(b);
  std::vector<unsigned> numLeft, order;
  std::vector<double> sizes;
  for (unsigned v = 0; v < count; ++v) {
    numLeft.push_back(neighbors[v].size());
    sizes.push_back(std::log2(graph.getDomainSize(v)));
  }
  std::vector<bool> isPlaced(count, false);
  auto getGrowth = [&](unsigned v) {
    double growth = numLeft[v] ? sizes[v] : 0;
    for (unsigned other : neighbors[v])
      if (isPlaced[other] && numLeft[other] == 1)
        growth -= sizes[other];
    return growth;
  };
  std::set<unsigned> next;
  for (unsigned first = 0; order.size() < count;) {
    while (isPlaced[first])
      ++first;
    unsigned best = next.empty() ? first : *next.begin();
    double least = getGrowth(best);
    for (unsigned v : next)
      if (double growth = getGrowth(v);
          growth < least && (!byNumber || growth <= 0)) {
        least = growth;
        best = v;
      }
    order.push_back(best);
    isPlaced[best] = true;
    next.erase(best);
    for (unsigned other : neighbors[best]) {
      --numLeft[other];
      if (!isPlaced[other])
        next.insert(other);
    }
  }
  return order;
}

/// Returns the sum of the entries of all messages if variables are eliminated
/// from the end of `order` to its begin, or std::nullopt if a message has more
/// than `maxTableSize` entries.
static std::optional<int64_t> countEntries(const FactorGraph &graph,
                                           ArrayRef<unsigned> order,
                                           int64_t maxTableSize) {
  std::vector<unsigned> places(order.size());
  for (auto [place, variable] : llvm::enumerate(order))
    places[variable] = place;
  // Per index in `order`, the indices of the variables in the bucket of this
  // variable.
  std::vector<std::set<unsigned>> scopes(order.size());
  auto add = [&](const std::set<unsigned> &scope) {
    if (!scope.empty())
      scopes[*scope.rbegin()].insert(scope.begin(), scope.end());
  };
  for (FactorGraph::Factor factor : graph.getFactors()) {
    std::set<unsigned> scope;
    for (unsigned variable : factor.variables)
      scope.insert(places[variable]);
    add(scope);
  }
  int64_t sum = 0;
  for (size_t place = order.size(); place-- > 0;) {
    std::set<unsigned> &scope = scopes[place];
    scope.erase(place);
    int64_t entries = 1;
    for (unsigned other : scope)
      entries = scaleCost(entries, graph.getDomainSize(order[other]));
    if (entries > maxTableSize)
      return std::nullopt;
    sum = addCosts(sum, entries);
    add(scope);
  }
  return sum;
}

ParetoLabelSearch::ParetoLabelSearch(const FactorGraph &priced,
                                     const Budget &units,
                                     ArrayRef<int64_t> prices, int64_t weight,
                                     const SolveOptions &options)
    : graph(priced), units(units), prices(prices), weight(weight),
      options(options), algebra(priced.getTables()),
      priceOfAll(std::accumulate(prices.begin(), prices.end(), int64_t(0))) {
  if (graph.getNumVariables() > kMostVariables ||
      llvm::any_of(graph.getDomains(), [](unsigned domain) {
        return domain > std::numeric_limits<Value>::max();
      }))
    return;
  std::vector<unsigned> order;
  std::optional<int64_t> fewest;
  for (bool byNumber : {true, false}) {
    std::vector<unsigned> other = findOrder(graph, byNumber);
    std::optional<int64_t> entries =
        countEntries(graph, other, options.maxTableSize);
    if (entries && (!fewest || *entries < *fewest)) {
      fewest = entries;
      order = std::move(other);
    }
  }
  if (!fewest || !eliminate(order))
    return;
  possible = true;
}

/// Runs bucket elimination from the end of `order` to its begin, which gives
/// lower bounds of the cost of the rest for each label, and plans the steps.
/// Variables of `core` are indices in `order`. Returns false if tables exceed
/// the limits or no assignment is allowed.
bool ParetoLabelSearch::eliminate(ArrayRef<unsigned> order) {
  std::vector<unsigned> places(order.size());
  for (auto [place, variable] : llvm::enumerate(order)) {
    places[variable] = place;
    core.addVariable(variable, graph.getDomainSize(variable));
  }
  Cost constant = 0;
  for (FactorGraph::Factor factor : graph.getFactors()) {
    llvm::SmallVector<unsigned, 4> scope;
    for (unsigned variable : factor.variables)
      scope.push_back(places[variable]);
    if (scope.empty())
      constant = addCosts(constant, graph.getTable(factor.table).front());
    else
      core.addFactor(scope, factor.table);
  }
  std::vector<unsigned> backward(order.size());
  std::iota(backward.rbegin(), backward.rend(), 0);
  BucketElimination elimination(core, backward, algebra, options.maxTotalSize);
  BucketElimination::Result result = elimination.run();
  work += elimination.getWork();
  if (result != BucketElimination::Result::Done)
    return false;
  WideCost sum = constant;
  steps.resize(order.size());
  std::vector<unsigned> lasts(order.size());
  std::iota(lasts.begin(), lasts.end(), 0);
  for (size_t b = 0; b < elimination.getNumBuckets(); ++b) {
    Bucket bucket = elimination.getBucket(b);
    sum += bucket.constant;
    Step &step = steps[bucket.variable];
    step.variable = order[bucket.variable];
    for (unsigned factor : bucket.factors) {
      Lookup lookup{algebra.store[core.getTable(factor)].entries, 0, {}};
      size_t size = 1;
      for (unsigned place : llvm::reverse(core.getScope(factor))) {
        if (place == bucket.variable)
          lookup.step = size;
        else
          lookup.others.push_back({place, size});
        lasts[place] = std::max(lasts[place], bucket.variable);
        size *= core.getDomain(place);
      }
      step.lookups.push_back(std::move(lookup));
    }
  }
  if (sum >= kInfiniteCost)
    return false;
  least = sum;
  plan(lasts);
  planLevels(places);
  return true;
}

/// Chooses the slot of a label that stores the value of the variable of each
/// step. A variable that no later step reads gets no slot. Slots are reused
/// after their last read. lasts[i] is the last step that reads the value of the
/// variable of step i.
void ParetoLabelSearch::plan(ArrayRef<unsigned> lasts) {
  std::vector<unsigned> slots(lasts.size()), free;
  std::vector<llvm::SmallVector<unsigned, 2>> endings(lasts.size());
  for (auto [place, step] : llvm::enumerate(steps)) {
    for (Lookup &lookup : step.lookups)
      for (auto &[other, size] : lookup.others)
        other = slots[other];
    step.dropped = endings[place];
    llvm::append_range(free, step.dropped);
    if (lasts[place] == place)
      continue;
    if (free.empty())
      free.push_back(numSlots++);
    step.slot = slots[place] = free.back();
    free.pop_back();
    endings[lasts[place]].push_back(slots[place]);
  }
}

void ParetoLabelSearch::planLevels(ArrayRef<unsigned> places) {
  for (const Budget::Term &term : units.terms)
    steps[places[term.variable]].always = &term;
  struct Peak {
    unsigned first, last, number;
  };
  std::vector<Peak> peaks;
  for (auto [number, terms] : llvm::enumerate(units.peaks)) {
    if (terms.empty())
      continue;
    Peak peak{~0u, 0, unsigned(number)};
    for (const Budget::Term &term : terms) {
      peak.first = std::min(peak.first, places[term.variable]);
      peak.last = std::max(peak.last, places[term.variable]);
    }
    peaks.push_back(peak);
  }
  llvm::sort(peaks, [](const Peak &a, const Peak &b) {
    return std::tie(a.first, a.number) < std::tie(b.first, b.number);
  });
  // An index in `levels` is reused after the last step of its peak.
  std::vector<unsigned> lasts;
  for (const Peak &peak : peaks) {
    auto free =
        llvm::find_if(lasts, [&](unsigned last) { return last < peak.first; });
    unsigned level = kFirstPeak + (free - lasts.begin());
    if (free == lasts.end())
      lasts.push_back(peak.last);
    else
      *free = peak.last;
    steps[peak.first].begun.push_back(level);
    steps[peak.last].ended.push_back(level);
    for (unsigned place = peak.first; place <= peak.last; ++place)
      steps[place].open.push_back(level);
    for (const Budget::Term &term : units.peaks[peak.number])
      steps[places[term.variable]].atPeaks.push_back(
          {level, &term, prices[peak.number]});
  }
  numLevels += lasts.size();
}

/// Appends to `next` each label extended by each value of the variable of
/// `step`, if its bound is at most `cutoff` and its use is within the limit at
/// every peak.
void ParetoLabelSearch::extend(const Step &step, const Labels &labels,
                               Cost cutoff, Labels &next) {
  unsigned domain = graph.getDomainSize(step.variable);
  std::vector<Value> values(numSlots);
  std::vector<int64_t> before(numLevels), levels;
  work += int64_t(labels.size()) * domain * (1 + step.lookups.size());
  for (size_t l = 0; l < labels.size(); ++l) {
    const Value *known = labels.values.data() + l * numSlots;
    sums.assign(domain, 0);
    for (const Lookup &lookup : step.lookups) {
      const Cost *entry = lookup.entries;
      for (auto [slot, size] : lookup.others)
        entry += known[slot] * size;
      for (unsigned v = 0; v < domain; ++v, entry += lookup.step)
        sums[v] = addCosts(sums[v], *entry);
    }
    // The bound of the label includes the least of the sums.
    Cost smallest = *llvm::min_element(sums);
    values.assign(known, known + numSlots);
    for (unsigned slot : step.dropped)
      values[slot] = 0;
    before.assign(labels.levels.begin() + l * numLevels,
                  labels.levels.begin() + (l + 1) * numLevels);
    for (unsigned level : step.begun)
      before[level] = before[kAlways];
    for (unsigned v = 0; v < domain; ++v) {
      if (sums[v] == kInfiniteCost)
        continue;
      Cost bound = labels.bounds[l] + (sums[v] - smallest);
      if (bound > cutoff)
        continue;
      Cost paid = labels.paid[l];
      levels = before;
      if (step.always) {
        int64_t amount = step.always->amounts[v];
        paid += amount * priceOfAll;
        levels[kEnded] += amount;
        levels[kAlways] += amount;
        for (unsigned level : step.open)
          levels[level] += amount;
      }
      for (auto [level, term, price] : step.atPeaks) {
        levels[level] += term->amounts[v];
        paid += term->amounts[v] * price;
      }
      if (llvm::any_of(levels,
                       [&](int64_t level) { return level > units.limit; }))
        continue;
      for (unsigned level : step.ended) {
        levels[kEnded] = std::max(levels[kEnded], levels[level]);
        levels[level] = 0;
      }
      if (step.slot)
        values[*step.slot] = v;
      llvm::append_range(next.values, values);
      llvm::append_range(next.levels, levels);
      next.bounds.push_back(bound);
      next.paid.push_back(paid);
      next.parents.push_back(l);
      next.chosen.push_back(v);
    }
  }
}

void ParetoLabelSearch::append(const Labels &from, size_t label,
                               Labels &to) const {
  auto copy = [&](const auto &source, auto &target, unsigned count) {
    target.insert(target.end(), source.begin() + label * count,
                  source.begin() + (label + 1) * count);
  };
  copy(from.values, to.values, numSlots);
  copy(from.levels, to.levels, numLevels);
  copy(from.bounds, to.bounds, 1);
  copy(from.paid, to.paid, 1);
  copy(from.parents, to.parents, 1);
  copy(from.chosen, to.chosen, 1);
}

/// Removes each label for which another one has equal values, at most its cost,
/// and at most its use of units: permanently, at each active peak and at the
/// largest finished peak. Keeps the first of equal labels. Compares a label
/// with at most kMostCompared others, so a few such labels may stay.
ParetoLabelSearch::Labels
ParetoLabelSearch::removeDominated(const Labels &labels) const {
  auto getValues = [&](size_t l) {
    return ArrayRef(labels.values).slice(l * numSlots, numSlots);
  };
  auto getLevels = [&](size_t l) {
    return ArrayRef(labels.levels).slice(l * numLevels, numLevels);
  };
  // The bound without the prices paid. The bound of the remaining cost is equal
  // for equal values, so this compares costs.
  auto getCost = [&](size_t l) { return labels.bounds[l] - labels.paid[l]; };
  std::vector<size_t> order(labels.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](size_t a, size_t b) {
    ArrayRef<Value> ofA = getValues(a), ofB = getValues(b);
    if (ofA != ofB)
      return std::lexicographical_compare(ofA.begin(), ofA.end(), ofB.begin(),
                                          ofB.end());
    return std::make_tuple(getCost(a), getLevels(a)[kAlways], a) <
           std::make_tuple(getCost(b), getLevels(b)[kAlways], b);
  });
  Labels kept;
  size_t begin = 0; // of the labels with equal values
  std::vector<size_t> numbers;
  for (size_t l : order) {
    if (numbers.empty() || getValues(numbers.back()) != getValues(l))
      begin = numbers.size();
    size_t end = numbers.size();
    size_t first = std::max(begin, end - std::min(end, kMostCompared));
    bool isDominated = false;
    for (size_t i = end; i-- > first && !isDominated;)
      isDominated = llvm::all_of(
          llvm::zip_equal(getLevels(numbers[i]), getLevels(l)),
          [](auto pair) { return std::get<0>(pair) <= std::get<1>(pair); });
    if (isDominated)
      continue;
    numbers.push_back(l);
    append(labels, l, kept);
  }
  return kept;
}

/// Keeps the `maxLabels` labels with the lowest bounds, in their order. Lowers
/// `dropped` to the lowest bound of the removed ones.
ParetoLabelSearch::Labels ParetoLabelSearch::removeAbove(Labels labels,
                                                         size_t maxLabels,
                                                         Cost &dropped) const {
  if (labels.size() <= maxLabels)
    return labels;
  std::vector<size_t> order(labels.size());
  std::iota(order.begin(), order.end(), 0);
  auto isLess = [&](size_t a, size_t b) {
    return std::make_pair(labels.bounds[a], a) <
           std::make_pair(labels.bounds[b], b);
  };
  std::nth_element(order.begin(), order.begin() + maxLabels, order.end(),
                   isLess);
  dropped = std::min(dropped, labels.bounds[order[maxLabels]]);
  order.resize(maxLabels);
  llvm::sort(order);
  Labels kept;
  for (size_t l : order)
    append(labels, l, kept);
  return kept;
}

ParetoLabelSearch::Result ParetoLabelSearch::run(Cost most, size_t maxLabels,
                                                 int64_t maxWork) {
  Result answer;
  int64_t allowed = priceOfAll * units.limit;
  Cost cutoff = addCosts(scaleCost(most, weight), allowed);
  Cost dropped = kInfiniteCost;
  Labels labels;
  labels.values.assign(numSlots, 0);
  labels.levels.assign(numLevels, 0);
  labels.bounds = {least};
  labels.paid = {0};
  labels.parents = {0};
  labels.chosen = {0};
  std::vector<std::pair<std::vector<unsigned>, std::vector<Value>>> history;
  size_t numKept = 0;
  for (const Step &step : steps) {
    Labels next;
    extend(step, labels, cutoff, next);
    labels = removeAbove(removeDominated(next), maxLabels, dropped);
    numKept += labels.size();
    // The remaining bounds cover everything that was not searched.
    if (work > maxWork || numKept > kMostKept) {
      for (Cost bound : labels.bounds)
        dropped = std::min(dropped, bound);
      labels = Labels();
    }
    history.push_back({labels.parents, labels.chosen});
  }
  answer.lowerBound =
      dropped == kInfiniteCost
          ? most
          : std::max<Cost>(0,
                           llvm::divideCeilSigned(dropped - allowed, weight));
  auto getRank = [&](size_t l) {
    return std::make_pair(labels.bounds[l] - labels.paid[l],
                          std::max(labels.levels[l * numLevels + kEnded],
                                   labels.levels[l * numLevels + kAlways]));
  };
  if (labels.size()) {
    size_t best = 0;
    for (size_t l = 1; l < labels.size(); ++l)
      if (getRank(l) < getRank(best))
        best = l;
    answer.lowerBound =
        std::min(answer.lowerBound, getRank(best).first / weight);
    answer.assignment.resize(steps.size());
    for (size_t place = steps.size(); place-- > 0;) {
      const auto &[parents, chosen] = history[place];
      answer.assignment[steps[place].variable] = chosen[best];
      best = parents[best];
    }
  }
  answer.work = std::exchange(work, 0);
  return answer;
}
