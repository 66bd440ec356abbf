//===- SharedCopyBound.cpp - A bound for groups of shared copies ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bounds/SharedCopyBound.h"
#include "Search/TrwsSweep.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include <cmath>
#include <set>

using namespace mlir::layout;
using llvm::ArrayRef;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The maximum sum of the largest costs of all factors, in units of 1 / `scale`
/// of a cost, so that sums of doubles are exact.
static constexpr double kLargest = double(int64_t(1) << 48);
/// The maximum `scale`: the number of units into which a cost of 1 is divided.
static constexpr double kFinest = 256;

/// The maximum `scale`, the number of units into which a cost of 1 is divided,
/// of a bound for which a proof is written: the numbers in a proof must fit in
/// 64 bits.
static constexpr double kFinestOfProof = ProofWriter::kMostParts;

/// The maximum number of entries of a table that a checker of the proof builds:
/// the values of a consumer times 2^m for m setup variables.
static constexpr double kMostProofEntries = 1 << 18;

/// The maximum number of consumers of a hyper-factor, the factor of all copies
/// of one tensor. More are divided among several hyper-factors, each with an
/// equal part of the prices.
static constexpr unsigned kMostConsumers = 8;

/// The number of doubles in one vector operation.
static constexpr unsigned kLanes = 4;

double SharedCopyBound::fromCost(Cost cost) const {
  return double(cost) > kLargest ? kInfinity : double(cost) * scale;
}

Cost SharedCopyBound::toCost(double sum) const {
  return sum == kInfinity ? kInfiniteCost : Cost(std::ceil(sum / scale));
}

SharedCopyBound::SharedCopyBound(const CoreGraph &core, const TableStore &store,
                                 const SetupCosts &shared,
                                 ArrayRef<unsigned> order, bool isForProof) {
  double sum = 1;
  for (unsigned f = 0; f < core.getNumFactors(); ++f) {
    if (core.getScope(f).size() > 2)
      return;
    sum += double(store[core.getTable(f)].largest);
  }
  if (sum > kLargest)
    return;
  scale = std::min(isForProof ? kFinestOfProof : kFinest,
                   std::exp2(std::floor(std::log2(kLargest / sum))));

  offsets.push_back(0);
  for (unsigned v = 0; v < core.getNumVariables(); ++v)
    offsets.push_back(offsets.back() +
                      (shared.isSetupVariable(v) ? 0 : core.getDomain(v)));
  beliefs.assign(offsets.back(), 0);
  auto hasSetupVariable = [&](unsigned factor) {
    return llvm::any_of(core.getScope(factor),
                        [&](unsigned v) { return shared.isSetupVariable(v); });
  };
  for (unsigned f = 0; f < core.getNumFactors(); ++f)
    if (core.getScope(f).size() == 1 && !hasSetupVariable(f))
      addTo(core.getScope(f)[0], store[core.getTable(f)].entries, 1);
  noteImpossible();
  // A variable with one value, e.g. a copy that is always required, is folded
  // into its factors.
  std::vector<unsigned> only;
  for (unsigned v = 0; v < core.getNumVariables(); ++v) {
    ArrayRef<double> mine = ArrayRef(beliefs).slice(offsets[v], getDomain(v));
    auto isFinite = [](double cost) { return cost != kInfinity; };
    only.push_back(llvm::count_if(mine, isFinite) == 1
                       ? llvm::find_if(mine, isFinite) - mine.begin()
                       : kNone);
  }
  for (unsigned f = 0; f < core.getNumFactors(); ++f) {
    ArrayRef<unsigned> scope = core.getScope(f);
    if (scope.size() < 2 || hasSetupVariable(f))
      continue;
    ArrayRef<Cost> entries = store[core.getTable(f)].get();
    unsigned columns = core.getDomain(scope[1]);
    if (only[scope[0]] != kNone)
      addTo(scope[1], entries.data() + only[scope[0]] * columns, 1);
    else if (only[scope[1]] != kNone)
      addTo(scope[0], entries.data() + only[scope[1]], columns);
    else
      addPair(scope[0], scope[1], entries, core);
  }
  noteImpossible();
  addHyperFactors(core, shared);
  linkHyperFactors(order, core.getNumVariables());
  for (unsigned v = 0; v < core.getNumVariables(); ++v)
    for (unsigned value = 0; value < getDomain(v); ++value)
      if (beliefs[offsets[v] + value] == kInfinity)
        forbid(v, value);
}

void SharedCopyBound::noteImpossible() {
  for (unsigned v = 0; v + 1 < offsets.size(); ++v) {
    llvm::SmallVector<unsigned, 8> values;
    for (unsigned value = 0; value < getDomain(v); ++value)
      if (beliefs[offsets[v] + value] == kInfinity)
        values.push_back(value);
    if (!values.empty())
      impossible.push_back({v, std::move(values)});
  }
}

/// Adds entries[value * step], converted from a cost to the unit of the bound,
/// to the unary cost of each value of a variable.
void SharedCopyBound::addTo(unsigned variable, const Cost *entries,
                            unsigned step) {
  for (unsigned value = 0; value < getDomain(variable); ++value)
    beliefs[offsets[variable] + value] += fromCost(entries[value * step]);
}

void SharedCopyBound::addPair(unsigned a, unsigned b, ArrayRef<Cost> entries,
                              const CoreGraph &core) {
  std::vector<double> costs;
  for (Cost cost : entries)
    costs.push_back(fromCost(cost));
  std::vector<unsigned> required;
  for (unsigned value = 0; value < core.getDomain(b); ++value)
    required.push_back(value);
  addHyperFactor(a, {b}, std::move(required), core.getDomain(a),
                 core.getDomain(b), std::move(costs), kNone, core);
}

/// The setup variables of one tensor, which represent its copies: they have one
/// producer, or common consumers if they have none, and each value of a
/// consumer requires at most one of them.
struct SharedCopyBound::Group {
  unsigned producer;
  llvm::SmallVector<const SetupCosts::SetupVariable *, 8> setupVariables = {};
  /// Per consumer and value, the index in `setupVariables` of the one that the
  /// value requires, or kNone.
  std::map<unsigned, std::vector<unsigned>> required = {};

  bool add(const SetupCosts::SetupVariable &each, const CoreGraph &core) {
    size_t numCommon = 0;
    for (const SetupCosts::Consumer &consumer : each.consumers)
      if (auto it = required.find(consumer.variable); it != required.end()) {
        ++numCommon;
        for (unsigned value : consumer.values)
          if (it->second[value] != kNone)
            return false;
      }
    // Without a producer, the consumers identify the tensor.
    if (producer == kNone &&
        numCommon < std::min(required.size(), each.consumers.size()))
      return false;
    for (const SetupCosts::Consumer &consumer : each.consumers) {
      std::vector<unsigned> &values = required[consumer.variable];
      values.resize(core.getDomain(consumer.variable), kNone);
      for (unsigned value : consumer.values)
        values[value] = setupVariables.size();
    }
    setupVariables.push_back(&each);
    return true;
  }
};

void SharedCopyBound::addHyperFactors(const CoreGraph &core,
                                      const SetupCosts &shared) {
  std::vector<Group> groups;
  // The groups per producer, or per consumer if there is no producer.
  std::map<unsigned, std::set<unsigned>> groupsOf;
  for (const SetupCosts::SetupVariable &each : shared.getSetupVariables()) {
    llvm::SmallVector<unsigned, 8> keys = {each.producer};
    if (each.producer == kNone)
      keys = llvm::map_to_vector<8>(each.consumers, [](const auto &consumer) {
        return consumer.variable;
      });
    unsigned found = kNone;
    for (unsigned key : keys)
      for (unsigned g : groupsOf[key])
        if (found == kNone && groups[g].producer == each.producer &&
            groups[g].add(each, core))
          found = g;
    if (found == kNone) {
      found = groups.size();
      groups.push_back({each.producer});
      groups.back().add(each, core);
    }
    for (unsigned key : keys)
      groupsOf[key].insert(found);
  }
  for (const Group &group : groups) {
    unsigned rows =
        group.producer == kNone ? 1 : core.getDomain(group.producer);
    unsigned columns = group.setupVariables.size();
    unsigned parts = llvm::divideCeil(group.required.size(), kMostConsumers);
    sets.push_back({group.producer, llvm::map_to_vector<8>(
                                        group.setupVariables, [](auto *each) {
                                          return each->variable;
                                        })});
    canProve &= !group.required.count(group.producer);
    for (const auto &consumer : group.required)
      canProve &=
          std::ldexp(consumer.second.size(), columns) <= kMostProofEntries;
    std::vector<double> costs;
    for (unsigned p = 0; p < rows; ++p)
      for (const SetupCosts::SetupVariable *each : group.setupVariables)
        costs.push_back(std::floor(fromCost(each->price[p]) / parts));
    for (unsigned part = 0; part < parts; ++part) {
      llvm::SmallVector<unsigned, 8> consumers;
      std::vector<unsigned> required;
      for (auto [index, consumer] : llvm::enumerate(group.required)) {
        if (index % parts != part)
          continue;
        consumers.push_back(consumer.first);
        for (unsigned each : consumer.second)
          required.push_back(std::min(each, columns));
      }
      addHyperFactor(group.producer, consumers, std::move(required), rows,
                     columns, costs, sets.size() - 1, core);
    }
  }
}

void SharedCopyBound::addHyperFactor(unsigned producer,
                                     ArrayRef<unsigned> consumers,
                                     std::vector<unsigned> required,
                                     unsigned rows, unsigned columns,
                                     std::vector<double> costs, unsigned set,
                                     const CoreGraph &core) {
  // Many hyper-factors have equal prices, so each table is stored once.
  std::vector<double> key = costs;
  key.push_back(rows);
  Prices &known = prices[std::move(key)];
  if (known.byRow.empty()) {
    known = {rows,
             columns,
             unsigned(llvm::alignTo(rows, kLanes)),
             unsigned(llvm::alignTo(columns, kLanes)),
             {},
             {}};
    known.byRow.resize(rows * known.columnWidth, kInfinity);
    known.byColumn.resize(columns * known.rowWidth, kInfinity);
    for (unsigned r = 0; r < rows; ++r)
      for (unsigned c = 0; c < columns; ++c)
        known.byRow[r * known.columnWidth + c] =
            known.byColumn[c * known.rowWidth + r] = costs[r * columns + c];
  }
  hyperFactors.push_back({producer,
                          {consumers.begin(), consumers.end()},
                          &known,
                          unsigned(given.size()),
                          std::move(required),
                          set});
  unsigned numValues = rows;
  for (unsigned consumer : consumers)
    numValues += core.getDomain(consumer);
  given.resize(given.size() + numValues, 0);
}

void SharedCopyBound::linkHyperFactors(ArrayRef<unsigned> wanted,
                                       unsigned numVariables) {
  std::vector<unsigned> ranks(numVariables, 0);
  for (unsigned v : wanted)
    if (v < numVariables && getDomain(v) > 0) {
      ranks[v] = order.size();
      order.push_back(v);
    }
  before.resize(numVariables);
  after.resize(numVariables);
  all.resize(numVariables);
  for (auto [f, factor] : llvm::enumerate(hyperFactors)) {
    llvm::SmallVector<unsigned, 8> variables = {factor.producer};
    variables.append(factor.consumers.begin(), factor.consumers.end());
    unsigned first = ~0u, last = 0, at = factor.given;
    for (unsigned v : variables)
      if (v != kNone) {
        first = std::min(first, ranks[v]);
        last = std::max(last, ranks[v]);
      }
    for (auto [place, v] : llvm::enumerate(variables)) {
      Slot slot = {unsigned(f), unsigned(place), at};
      at += v == kNone ? 1 : getDomain(v);
      if (v == kNone)
        continue;
      all[v].push_back(slot);
      if (ranks[v] != first)
        before[v].push_back(slot);
      if (ranks[v] != last)
        after[v].push_back(slot);
    }
  }
}

typedef double Lanes __attribute__((vector_size(kLanes * sizeof(double)),
                                    aligned(8), may_alias));

// AVX2 code processes twice as many doubles at once.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__)
#define LAYOUT_ALSO_FOR_AVX2 __attribute__((target_clones("avx2", "default")))
#else
#define LAYOUT_ALSO_FOR_AVX2
#endif

/// Computes into[i] = min over j < count of costs[j][i] + more[j], for rows of
/// `width` numbers, a multiple of kLanes.
LAYOUT_ALSO_FOR_AVX2 static void findLeast(double *into, const double *costs,
                                           const double *more, unsigned count,
                                           unsigned width) {
  for (unsigned i = 0; i < width; i += kLanes) {
    Lanes best = Lanes{} + kInfinity;
    for (unsigned j = 0; j < count; ++j) {
      Lanes sum =
          *reinterpret_cast<const Lanes *>(costs + j * width + i) + more[j];
      best = sum < best ? sum : best;
    }
    *reinterpret_cast<Lanes *>(into + i) = best;
  }
}

/// Lowers into[i], the cost without such a copy, to the least cost if consumer
/// `lowest` shares one copy with some of the consumers `others`, if that is
/// less. This is the minimum of alone[lowest | with][i] + least[others &
/// ~with][i] over all subsets `with` of `others`. Sets of consumers are bits;
/// alone[set] and least[set] are rows of `width` numbers.
LAYOUT_ALSO_FOR_AVX2 static void
findLeastPartition(double *into, const double *alone, const double *least,
                   size_t lowest, size_t others, unsigned width) {
  for (unsigned i = 0; i < width; i += kLanes) {
    Lanes best = *reinterpret_cast<const Lanes *>(into + i);
    for (size_t with = others;; with = (with - 1) & others) {
      Lanes sum =
          *reinterpret_cast<const Lanes *>(alone + (with | lowest) * width +
                                           i) +
          *reinterpret_cast<const Lanes *>(least + (others ^ with) * width + i);
      best = sum < best ? sum : best;
      if (with == 0)
        break;
    }
    *reinterpret_cast<Lanes *>(into + i) = best;
  }
}

/// Computes least costs of sets of consumers of a hyper-factor, from the costs
/// that these moved to it, without consumer number `place` (counted from 1; 0
/// excludes none). requiring[set][s] is the least cost if every consumer of the
/// set has a value that requires copy s. requiresNone[c] is the least cost of
/// consumer c with a value that requires no copy. Returns the number of sets.
size_t SharedCopyBound::gather(const HyperFactor &factor, unsigned place) {
  unsigned columns = factor.prices->columns, width = factor.prices->columnWidth;
  size_t numSets = size_t(1) << (factor.consumers.size() - (place ? 1 : 0));
  requiring.resize(std::max(requiring.size(), numSets * width));
  std::fill_n(requiring.begin(), width, 0);
  requiresNone.clear();
  const unsigned *required = factor.required.data();
  const double *mine = &given[factor.given] + factor.prices->rows;
  for (auto [index, consumer] : llvm::enumerate(factor.consumers)) {
    unsigned domain = getDomain(consumer);
    if (index + 1 != place) {
      double *into = &requiring[(size_t(1) << requiresNone.size()) * width];
      std::fill_n(into, width, kInfinity);
      requiresNone.push_back(kInfinity);
      for (unsigned value = 0; value < domain; ++value) {
        double &best = required[value] < columns ? into[required[value]]
                                                 : requiresNone.back();
        best = std::min(best, mine[value]);
      }
    }
    required += domain;
    mine += domain;
  }
  for (size_t set = 3; set < numSets; ++set)
    if (set & (set - 1)) {
      const double *some = &requiring[(set & (set - 1)) * width],
                   *one = &requiring[(set & -set) * width];
      for (unsigned s = 0; s < width; ++s)
        requiring[set * width + s] = some[s] + one[s];
    }
  return numSets;
}

/// Computes two costs per set of consumers and value of the producer, prices
/// included. `alone` is the least cost if one copy serves the whole set.
/// `least` is that of any partition of the set into such sets and consumers
/// that require no copy.
void SharedCopyBound::partition(const Prices &price, size_t numSets) {
  unsigned width = price.rowWidth;
  alone.resize(std::max(alone.size(), numSets * width));
  least.resize(alone.size());
  std::fill_n(least.begin(), width, 0);
  for (size_t set = 1; set < numSets; ++set) {
    findLeast(&alone[set * width], price.byColumn.data(),
              &requiring[set * price.columnWidth], price.columns, width);
    // The lowest consumer requires nothing, or shares a setup variable with
    // some of the others.
    size_t lowest = set & -set, others = set ^ lowest;
    double *into = &least[set * width];
    for (unsigned p = 0; p < width; ++p)
      into[p] =
          least[others * width + p] + requiresNone[llvm::countr_zero(set)];
    findLeastPartition(into, alone.data(), least.data(), lowest, others, width);
  }
}

void SharedCopyBound::minimize(const Slot &slot) {
  const HyperFactor &factor = hyperFactors[slot.factor];
  const Prices &price = *factor.prices;
  unsigned rows = price.rows, width = price.columnWidth;
  size_t numSets = gather(factor, slot.place);
  partition(price, numSets);
  int64_t numEntries = price.columns * (slot.place ? 2 : 1);
  int64_t numPartitions = 1;
  for (size_t sets = 1; sets < numSets; sets *= 2) {
    numEntries *= 2;
    numPartitions *= 3;
  }
  work += rows * (numEntries + numPartitions) / kLanes;
  if (slot.place == 0) {
    const double *all = &least[(numSets - 1) * price.rowWidth];
    result.assign(all, all + rows);
    return;
  }

  // Any other consumer may share the setup variable that a consumer requires.
  const double *producer = &given[factor.given];
  double none = kInfinity;
  paid.resize(rows);
  rest.resize(width);
  shared.assign(width, kInfinity);
  for (size_t with = 0; with < numSets; ++with) {
    for (unsigned p = 0; p < rows; ++p)
      paid[p] = producer[p] + least[(numSets - 1 - with) * price.rowWidth + p];
    if (with == 0)
      none = *llvm::min_element(paid);
    findLeast(rest.data(), price.byRow.data(), paid.data(), rows, width);
    for (unsigned s = 0; s < width; ++s) {
      double sum = rest[s] + requiring[with * width + s];
      shared[s] = sum < shared[s] ? sum : shared[s];
    }
  }
  result.clear();
  const unsigned *required =
      factor.required.data() + (slot.given - factor.given - rows);
  for (unsigned value = 0; value < getDomain(factor.consumers[slot.place - 1]);
       ++value)
    result.push_back(required[value] < price.columns ? shared[required[value]]
                                                     : none);
}

void SharedCopyBound::take(unsigned variable, ArrayRef<Slot> slots) {
  double *belief = &beliefs[offsets[variable]];
  for (const Slot &slot : slots) {
    minimize(slot);
    for (unsigned v = 0, domain = getDomain(variable); v < domain; ++v) {
      if (belief[v] == kInfinity)
        continue;
      if (result[v] == kInfinity) {
        canProve = false;
        forbid(variable, v);
        continue;
      }
      belief[v] += result[v] + given[slot.given + v];
      given[slot.given + v] = -result[v];
    }
  }
}

void SharedCopyBound::give(unsigned variable, ArrayRef<Slot> slots,
                           size_t parts) {
  if (slots.empty())
    return;
  llvm::MutableArrayRef<double> belief(&beliefs[offsets[variable]],
                                       getDomain(variable));
  double smallest = *llvm::min_element(belief);
  for (auto [v, cost] : llvm::enumerate(belief)) {
    if (cost == kInfinity)
      continue;
    double part = std::floor((cost - smallest) / parts);
    for (const Slot &slot : slots)
      given[slot.given + v] += part;
    cost -= part * slots.size();
  }
}

void SharedCopyBound::pass() {
  for (bool isForward : {true, false})
    sweep(order, before, after, isForward,
          [&](unsigned v, ArrayRef<Slot> from, ArrayRef<Slot> to) {
            take(v, from);
            give(v, to, std::max(from.size(), to.size()));
          });
  updateBound();
}

/// Returns the sum, over all variables, of the least cost of a value alone,
/// moved costs included. After a pass, the least cost of every factor of
/// several variables is 0, so the sum is a lower bound.
double SharedCopyBound::getSum() const {
  double sum = 0;
  for (unsigned v : order)
    sum += *std::min_element(beliefs.begin() + offsets[v],
                             beliefs.begin() + offsets[v + 1]);
  return sum;
}

void SharedCopyBound::updateBound() { bound = std::max(bound, getSum()); }

void SharedCopyBound::addUp(unsigned variable) {
  sums.assign(beliefs.begin() + offsets[variable],
              beliefs.begin() + offsets[variable + 1]);
  for (const Slot &slot : all[variable]) {
    minimize(slot);
    for (auto [v, sum] : llvm::enumerate(sums))
      if (sum != kInfinity)
        sum += result[v] + given[slot.given + v];
  }
}

void SharedCopyBound::forbid(unsigned variable, unsigned value) {
  beliefs[offsets[variable] + value] = kInfinity;
  for (const Slot &slot : all[variable])
    given[slot.given + value] = kInfinity;
}

bool SharedCopyBound::round(std::vector<unsigned> &values) {
  std::vector<double> givenBefore = given;
  bool isPossible = true;
  for (unsigned v : order) {
    addUp(v);
    unsigned best = llvm::min_element(sums) - sums.begin();
    if (sums[best] == kInfinity) {
      isPossible = false;
      break;
    }
    values[v] = best;
    for (const Slot &slot : all[v])
      for (unsigned value = 0; value < sums.size(); ++value)
        if (value != best)
          given[slot.given + value] = kInfinity;
  }
  given = std::move(givenBefore);
  return isPossible;
}

void SharedCopyBound::dropValues(
    llvm::function_ref<bool(Cost)> isTooMuch,
    llvm::function_ref<void(unsigned, unsigned)> fn) {
  double before = bound;
  for (unsigned v : order) {
    addUp(v);
    double smallest = *std::min_element(beliefs.begin() + offsets[v],
                                        beliefs.begin() + offsets[v + 1]);
    for (unsigned value = 0; value < getDomain(v); ++value) {
      double &belief = beliefs[offsets[v] + value];
      if (belief == kInfinity ||
          (sums[value] != kInfinity &&
           !isTooMuch(toCost(before + sums[value] - smallest))))
        continue;
      forbid(v, value);
      fn(v, value);
    }
  }
  updateBound();
}

/// Writes the costs that variables moved to a hyper-factor as moves of proof
/// tables of two variables. The second one is the first setup variable of the
/// tensor, or, for a factor of two variables without copies, the other
/// variable.
void SharedCopyBound::writeMoves(const HyperFactor &factor,
                                 ProofWriter &writer) const {
  unsigned at = factor.given;
  auto move = [&](unsigned variable, unsigned other, unsigned domain) {
    std::vector<Cost> amounts;
    for (double amount : ArrayRef(given).slice(at, domain))
      amounts.push_back(amount == kInfinity ? 0 : -Cost(amount));
    at += domain;
    if (variable != kNone)
      writer.move({variable, other}, /*place=*/0, amounts);
  };
  bool isPair = factor.set == kNone;
  move(factor.producer,
       isPair ? factor.consumers[0] : sets[factor.set].setupVariables[0],
       factor.prices->rows);
  for (unsigned consumer : factor.consumers)
    move(consumer,
         isPair ? factor.producer : sets[factor.set].setupVariables[0],
         getDomain(consumer));
}

Cost SharedCopyBound::writeProof(ProofWriter &writer) const {
  writer.beginTrial(unsigned(scale));
  for (const auto &[variable, values] : impossible)
    writer.drop(variable, values);
  // The elimination order of each tensor: consumers, setup variables, producer.
  std::vector<llvm::SmallVector<unsigned, 16>> orders(sets.size());
  for (const HyperFactor &factor : hyperFactors) {
    writeMoves(factor, writer);
    if (factor.set != kNone)
      orders[factor.set].append(factor.consumers.begin(),
                                factor.consumers.end());
  }
  for (auto [set, order] : llvm::zip(sets, orders)) {
    order.append(set.setupVariables.begin(), set.setupVariables.end());
    if (set.producer != kNone)
      order.push_back(set.producer);
    writer.beginComponent(set.setupVariables);
    writer.eliminate(order);
    writer.end();
  }
  writer.endTrial();
  return toCost(getSum());
}
