//===- DualBound.cpp - A lower bound by moving costs ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bounds/DualBound.h"
#include "Search/TrwsSweep.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::MutableArrayRef;

DualBound::DualBound(const CoreGraph &graph, const TableStore &store)
    : original(graph), store(store), shift(findShift()),
      shared(graph, store, [&](Cost cost) { return convert(cost); }),
      core(shared.isEmpty() ? graph : shared.getModel()) {
  unsigned numValues = 0;
  for (auto [v, domain] : llvm::enumerate(core.getDomains())) {
    offsets.push_back(numValues);
    numValues += domain;
    if (v >= graph.getNumVariables() || shared.isSetupVariable(v))
      numOther += domain;
    else
      ++numVariables;
  }
  beliefs.assign(numValues, 0);
  dropped.resize(numValues);

  llvm::DenseMap<TableId, unsigned> known;
  for (unsigned f = 0; f < core.getNumFactors(); ++f) {
    ArrayRef<unsigned> scope = core.getScope(f);
    factors.push_back({shared.getEntries(f), unsigned(movedOffsets.size())});
    if (factors.back().entries) {
      addPlaces(f);
      continue;
    }
    ArrayRef<Cost> entries = store[core.getTable(f)].get();
    if (scope.size() == 1) {
      for (auto [v, cost] : llvm::enumerate(entries)) {
        Cost &belief = beliefs[offsets[scope[0]] + v];
        belief = std::min(belief + convert(cost), kForbidden);
      }
      continue;
    }
    auto [it, isNew] = known.try_emplace(core.getTable(f), tables.size());
    if (isNew) {
      auto converted =
          llvm::map_range(entries, [&](Cost cost) { return convert(cost); });
      tables.emplace_back(converted.begin(), converted.end());
    }
    factors.back().entries = tables[it->second].data();
    addPlaces(f);
  }
  findOrder();
  linkFactors();
  for (unsigned v = 0; v < core.getNumVariables(); ++v)
    for (unsigned value = 0; value < core.getDomain(v); ++value)
      if (beliefs[offsets[v] + value] == kForbidden)
        drop(v, value);
  updateBound();
}

/// Allocates the costs that passes move from a factor to its variables, one
/// number per variable and value. Adds its number of entries times variables to
/// the work of a pass.
void DualBound::addPlaces(unsigned factor) {
  size_t size = 1;
  for (unsigned variable : core.getScope(factor)) {
    movedOffsets.push_back(moved.size());
    moved.resize(moved.size() + core.getDomain(variable));
    size *= core.getDomain(variable);
  }
  workOfPass += size * core.getScope(factor).size();
}

unsigned DualBound::findShift() const {
  WideCost sum = 0;
  for (unsigned f = 0; f < original.getNumFactors(); ++f)
    sum += store[original.getTable(f)].largest;
  unsigned result = 0;
  while (sum >> result >= kLargest)
    ++result;
  return result;
}

template <typename Fn>
void DualBound::forEachEntry(unsigned factor, Fn fn) const {
  ArrayRef<unsigned> scope = core.getScope(factor);
  const Cost *next = factors[factor].entries;
  llvm::SmallVector<unsigned, 4> values(scope.size());
  auto visit = [&](auto &self, unsigned place, Cost taken) -> void {
    if (place == scope.size())
      return fn(std::min(*next++ - taken, kForbidden), values);
    const Cost *mine = getMoved(Slot{factor, place});
    for (unsigned v = 0; v < core.getDomain(scope[place]); ++v) {
      values[place] = v;
      // A dropped value has moved costs of -kForbidden. Sums of several could
      // overflow, so they stay -kForbidden.
      bool isOut = taken == -kForbidden || mine[v] == -kForbidden;
      self(self, place + 1, isOut ? -kForbidden : taken + mine[v]);
    }
  };
  visit(visit, 0, 0);
}

template <typename Fn>
void DualBound::forEachSlot(unsigned variable, Fn fn) const {
  for (Slot slot : before[variable])
    fn(slot);
  for (Slot slot : after[variable])
    if (!llvm::any_of(before[variable],
                      [&](Slot s) { return s.factor == slot.factor; }))
      fn(slot);
}

/// Computes the order in which a pass visits the variables: by number, except
/// that a variable whose neighbors all have lower numbers follows the lowest of
/// them. For example, a variable that represents a copy follows the producer.
/// Variables without neighbors, except variable 0, come last.
void DualBound::findOrder() {
  unsigned count = core.getNumVariables();
  std::vector<unsigned> first(count), last(count);
  for (unsigned v = 0; v < count; ++v)
    first[v] = ~0u, last[v] = 0;
  for (unsigned f = 0; f < core.getNumFactors(); ++f) {
    ArrayRef<unsigned> scope = core.getScope(f);
    if (scope.size() < 2)
      continue;
    for (unsigned a : scope)
      for (unsigned b : scope)
        if (a != b) {
          first[a] = std::min(first[a], b);
          last[a] = std::max(last[a], b);
        }
  }
  std::vector<std::pair<unsigned, unsigned>> keys;
  for (unsigned v = 0; v < count; ++v)
    keys.push_back({last[v] < v ? first[v] : v, v});
  llvm::sort(keys);
  ranks.resize(count);
  for (auto [rank, key] : llvm::enumerate(keys)) {
    order.push_back(key.second);
    ranks[key.second] = rank;
  }
}

void DualBound::linkFactors() {
  before.resize(core.getNumVariables());
  after.resize(core.getNumVariables());
  for (unsigned f = 0; f < core.getNumFactors(); ++f) {
    ArrayRef<unsigned> scope = core.getScope(f);
    if (scope.size() < 2)
      continue;
    unsigned first = ~0u, last = 0;
    for (unsigned variable : scope) {
      first = std::min(first, ranks[variable]);
      last = std::max(last, ranks[variable]);
    }
    for (auto [place, variable] : llvm::enumerate(scope)) {
      if (ranks[variable] != first)
        before[variable].push_back({f, unsigned(place)});
      if (ranks[variable] != last)
        after[variable].push_back({f, unsigned(place)});
    }
  }
}

void DualBound::drop(unsigned variable, unsigned value) {
  unsigned at = offsets[variable] + value;
  dropped.set(at);
  drops.push_back({variable, value});
  beliefs[at] = kForbidden;
  for (const auto *slots : {&before[variable], &after[variable]})
    for (Slot slot : *slots)
      getMoved(slot)[value] = -kForbidden;
}

static void minimizeRows(const Cost *entries, const Cost *moved, unsigned rows,
                         unsigned columns, Cost *least) {
  for (unsigned r = 0; r < rows; ++r, entries += columns) {
    Cost smallest = std::numeric_limits<Cost>::max();
    for (unsigned c = 0; c < columns; ++c)
      smallest = std::min(smallest, entries[c] - moved[c]);
    least[r] = smallest;
  }
}

static void minimizeColumns(const Cost *entries, const Cost *moved,
                            unsigned rows, unsigned columns, Cost *least) {
  std::fill(least, least + columns, std::numeric_limits<Cost>::max());
  for (unsigned r = 0; r < rows; ++r, entries += columns)
    for (unsigned c = 0; c < columns; ++c)
      least[c] = std::min(least[c], entries[c] - moved[r]);
}

void DualBound::minimize(Slot slot, MutableArrayRef<Cost> least) const {
  ArrayRef<unsigned> scope = core.getScope(slot.factor);
  const Cost *entries = factors[slot.factor].entries;
  if (scope.size() == 2) {
    unsigned rows = core.getDomain(scope[0]),
             columns = core.getDomain(scope[1]);
    const Cost *other = getMoved(Slot{slot.factor, 1 - slot.place});
    return slot.place == 0
               ? minimizeRows(entries, other, rows, columns, least.data())
               : minimizeColumns(entries, other, rows, columns, least.data());
  }
  // Costs moved to the variable itself do not count.
  llvm::fill(least, kForbidden);
  forEachEntry(slot.factor, [&](Cost entry, ArrayRef<unsigned> values) {
    Cost &best = least[values[slot.place]];
    best = std::min(best, entry);
  });
  const Cost *mine = getMoved(slot);
  for (auto [v, cost] : llvm::enumerate(least))
    cost = cost >= kThreshold ? kForbidden : cost + mine[v];
}

void DualBound::take(unsigned variable, ArrayRef<Slot> slots) {
  unsigned domain = core.getDomain(variable);
  scratch.resize(domain);
  Cost *belief = &beliefs[offsets[variable]];
  for (Slot slot : slots) {
    bool isShared = shared.getEntries(slot.factor);
    if (isShared)
      shared.fill(slot.factor);
    minimize(slot, scratch);
    Cost *mine = getMoved(slot);
    for (unsigned v = 0; v < domain; ++v) {
      if (belief[v] == kForbidden)
        continue;
      if (scratch[v] >= kThreshold) {
        drop(variable, v);
        continue;
      }
      belief[v] += scratch[v] - mine[v];
      mine[v] = scratch[v];
    }
    if (isShared)
      shared.release(slot.factor, getMoved({slot.factor, 0}),
                     getMoved({slot.factor, 1}));
  }
}

void DualBound::give(unsigned variable, ArrayRef<Slot> slots, unsigned parts) {
  if (slots.empty())
    return;
  unsigned domain = core.getDomain(variable);
  MutableArrayRef<Cost> belief(&beliefs[offsets[variable]], domain);
  Cost least = *llvm::min_element(belief);
  for (unsigned v = 0; v < domain; ++v) {
    if (belief[v] == kForbidden)
      continue;
    Cost part = (belief[v] - least) / parts;
    if (part == 0)
      continue;
    for (Slot slot : slots)
      getMoved(slot)[v] -= part;
    belief[v] -= part * Cost(slots.size());
  }
}

void DualBound::pass() {
  for (bool isForward : {true, false}) {
    shared.beginSweep();
    sweep(order, before, after, isForward,
          [&](unsigned v, ArrayRef<Slot> from, ArrayRef<Slot> to) {
            take(v, from);
            give(v, to, std::max(from.size(), to.size()));
          });
  }
  updateBound();
}

/// Raises `bound` to the sum, over all variables, of the least cost of a value
/// alone, moved costs included, if that is higher. The least entry of every
/// factor of several variables is 0 after a pass. Sets `bound` to kForbidden if
/// a variable has no value left.
void DualBound::updateBound() {
  Cost sum = 0;
  for (unsigned v = 0; v < core.getNumVariables(); ++v) {
    ArrayRef<Cost> belief =
        ArrayRef(beliefs).slice(offsets[v], core.getDomain(v));
    Cost least = *llvm::min_element(belief);
    if (least == kForbidden) {
      bound = kForbidden;
      return;
    }
    sum += least;
  }
  bound = std::max(bound, sum);
}

void DualBound::computeExcess() {
  excess = beliefs;
  std::vector<Cost> least;
  for (unsigned v = 0; v < core.getNumVariables(); ++v) {
    unsigned domain = core.getDomain(v);
    MutableArrayRef<Cost> mine(&excess[offsets[v]], domain);
    Cost smallest = *llvm::min_element(mine);
    for (Cost &cost : mine)
      cost = cost == kForbidden ? kInfiniteCost : cost - smallest;
    least.resize(domain);
    forEachSlot(v, [&](Slot slot) {
      minimize(slot, least);
      const Cost *taken = getMoved(slot);
      for (unsigned value = 0; value < domain; ++value)
        if (mine[value] != kInfiniteCost)
          mine[value] = least[value] >= kThreshold
                            ? kInfiniteCost
                            : mine[value] + least[value] - taken[value];
    });
  }
  for (Cost &cost : excess)
    if (cost != kInfiniteCost)
      cost = unshift(cost);
}

unsigned DualBound::dropValues(llvm::function_ref<bool(Cost)> isTooMuch) {
  computeExcess();
  unsigned count = 0;
  Cost before = getBound();
  for (unsigned v = 0; v < core.getNumVariables(); ++v)
    for (unsigned value = 0; value < core.getDomain(v); ++value) {
      Cost &more = excess[offsets[v] + value];
      if (isDropped(v, value) ||
          (more != kInfiniteCost && !isTooMuch(addCosts(before, more))))
        continue;
      drop(v, value);
      more = kInfiniteCost;
      ++count;
    }
  updateBound();
  return count;
}

Cost DualBound::getOwn(unsigned variable, unsigned value) const {
  if (keepsSums()) {
    Cost belief = beliefs[offsets[variable] + value];
    return belief == kForbidden ? kInfiniteCost : belief;
  }
  Cost sum = 0;
  original.forEachFactorOf(variable, [&](unsigned factor) {
    if (original.getScope(factor).size() == 1)
      sum = addCosts(sum, store[original.getTable(factor)].entries[value]);
  });
  return sum;
}

void DualBound::getEntries(unsigned factor, std::vector<Cost> &entries) const {
  if (!keepsSums()) {
    entries = store[original.getTable(factor)].get().vec();
    return;
  }
  entries.clear();
  forEachEntry(factor, [&](Cost entry, ArrayRef<unsigned>) {
    entries.push_back(entry >= kThreshold ? kInfiniteCost : entry);
  });
}

void DualBound::addEntries(Slot slot, ArrayRef<unsigned> values,
                           llvm::function_ref<bool(unsigned)> isSet,
                           MutableArrayRef<Cost> sums) const {
  ArrayRef<unsigned> scope = core.getScope(slot.factor);
  std::vector<Cost> &least = scratch;
  least.assign(sums.size(), kForbidden);
  unsigned other = scope[1 - std::min(slot.place, 1u)];
  if (scope.size() == 2 && isSet(other)) {
    bool isRow = slot.place == 0;
    size_t columns = core.getDomain(scope[1]), value = values[other];
    const Cost *entries =
        factors[slot.factor].entries + (isRow ? value : value * columns);
    Cost taken = getMoved({slot.factor, 1 - slot.place})[value];
    const Cost *mine = getMoved(slot);
    for (unsigned v = 0; v < sums.size(); ++v)
      least[v] = entries[v * (isRow ? columns : 1)] - taken - mine[v];
  } else {
    // For each value of the variable, the least entry in which all set
    // variables have their values.
    forEachEntry(slot.factor, [&](Cost entry, ArrayRef<unsigned> tuple) {
      for (auto [place, variable] : llvm::enumerate(scope))
        if (place != slot.place && isSet(variable) &&
            tuple[place] != values[variable])
          return;
      Cost &best = least[tuple[slot.place]];
      best = std::min(best, entry);
    });
  }
  for (auto [sum, cost] : llvm::zip_equal(sums, least))
    sum = std::min(sum, kThreshold) + std::min(cost, kThreshold);
}

/// Returns the value of `variable` that costs least, moved costs included,
/// given the `values` of the variables for which `isSet` is true. In each
/// factor, other variables take the values of its least entry. Returns
/// std::nullopt if all values are forbidden.
std::optional<unsigned>
DualBound::choose(unsigned variable, ArrayRef<unsigned> values,
                  llvm::function_ref<bool(unsigned)> isSet) const {
  unsigned domain = core.getDomain(variable);
  std::vector<Cost> sums(beliefs.begin() + offsets[variable],
                         beliefs.begin() + offsets[variable] + domain);
  forEachSlot(variable,
              [&](Slot slot) { addEntries(slot, values, isSet, sums); });
  shared.addUnpaid(variable, values, isSet, sums);
  unsigned best = 0;
  for (unsigned v = 0; v < domain; ++v)
    best = sums[v] < sums[best] ? v : best;
  if (sums[best] >= kThreshold)
    return std::nullopt;
  return best;
}

bool DualBound::round(std::vector<unsigned> &values, bool byNumber) const {
  values.assign(core.getNumVariables(), 0);
  for (unsigned i = 0; i < order.size(); ++i) {
    unsigned v = byNumber ? i : order[i];
    std::optional<unsigned> best = choose(v, values, [&](unsigned other) {
      return byNumber ? other < i : ranks[other] < i;
    });
    if (!best)
      return false;
    values[v] = *best;
  }
  shared.complete(values);
  values.resize(original.getNumVariables());
  return true;
}
