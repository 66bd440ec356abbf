//===- SetupCosts.cpp - Setup costs that variables share ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bounds/SetupCosts.h"

using namespace mlir::layout;
using llvm::ArrayRef;

/// The maximum number of entries of the tables over a producer and a consumer
/// of copies, summed over all consumers of all copies. Beyond it, setup
/// variables, which represent copies, are treated like other variables.
static constexpr int64_t kMostEntries = int64_t(1) << 24;

SetupCosts::SetupCosts(const CoreGraph &core, const TableStore &store,
                       Convert convert)
    : setupVariableOf(core.getNumVariables(), kNone) {
  // If both variables of a factor look like setup variables, the one of higher
  // number is taken, because copies are numbered after the ops that read them.
  for (unsigned v = core.getNumVariables(); v-- > 0;)
    for (unsigned on : {1, 0}) {
      SetupVariable found;
      if (core.getDomain(v) != 2 || isSetupVariable(v) ||
          !readSetupVariable(v, on, core, store, convert, found))
        continue;
      setupVariableOf[v] = setupVariables.size();
      setupVariables.push_back(std::move(found));
    }
  int64_t numEntries = 0;
  for (const SetupVariable &each : setupVariables)
    for (const Consumer &consumer : each.consumers)
      numEntries +=
          int64_t(each.left.size()) * core.getDomain(consumer.variable);
  if (numEntries > kMostEntries) {
    setupVariables.clear();
    llvm::fill(setupVariableOf, kNone);
  }
  if (!setupVariables.empty())
    buildModel(core, store, convert);
}

bool SetupCosts::readSetupVariable(unsigned variable, unsigned on,
                                   const CoreGraph &core,
                                   const TableStore &store, Convert convert,
                                   SetupVariable &result) {
  result.variable = variable;
  result.on = on;
  Cost own[2] = {0, 0};
  const Cost *prices = nullptr;
  size_t step = 0; // between values of the producer
  bool isPossible = true;
  llvm::SmallVector<unsigned, 8> neighbors;
  core.forEachFactorOf(variable, [&](unsigned factor) {
    ArrayRef<unsigned> scope = core.getScope(factor);
    const Cost *entries = store[core.getTable(factor)].entries;
    if (scope.size() == 1) {
      own[0] = addCosts(own[0], entries[0]);
      own[1] = addCosts(own[1], entries[1]);
      return;
    }
    unsigned place = scope[0] == variable ? 0 : 1;
    unsigned other = scope[1 - place];
    isPossible &= scope.size() == 2 && !isSetupVariable(other) &&
                  !llvm::is_contained(neighbors, other);
    if (!isPossible)
      return;
    neighbors.push_back(other);
    unsigned domain = core.getDomain(other);
    size_t stepOther = place == 0 ? 1 : 2, stepOwn = place == 0 ? domain : 1;
    Consumer consumer = {other, {}};
    bool isConsumer = true, isProducer = true;
    for (unsigned v = 0; v < domain; ++v) {
      Cost whenOn = entries[v * stepOther + on * stepOwn],
           whenOff = entries[v * stepOther + (1 - on) * stepOwn];
      isConsumer &= whenOn == 0 && (whenOff == 0 || whenOff == kInfiniteCost);
      isProducer &= whenOff == 0 && whenOn != kInfiniteCost;
      if (whenOff != 0)
        consumer.values.push_back(v);
    }
    if (isConsumer && !consumer.values.empty()) {
      result.consumers.push_back(std::move(consumer));
      return;
    }
    isPossible &= isProducer && !prices;
    prices = entries + on * stepOwn;
    step = stepOther;
    result.producer = other;
  });
  if (!isPossible || result.consumers.size() < 2 || own[on] < own[1 - on] ||
      own[on] == kInfiniteCost || own[1 - on] != 0)
    return false;
  unsigned numPrices = prices ? core.getDomain(result.producer) : 1;
  for (unsigned p = 0; p < numPrices; ++p)
    result.price.push_back(
        convert(addCosts(own[on], prices ? prices[p * step] : 0)));
  result.left = result.price;
  return true;
}

void SetupCosts::buildModel(const CoreGraph &core, const TableStore &store,
                            Convert convert) {
  for (unsigned v = 0; v < core.getNumVariables(); ++v)
    model.addVariable(core.getOriginal(v), core.getDomain(v));
  rolesOf.resize(core.getNumVariables());
  unsigned noProducer = model.addVariable(~0u, 1);
  llvm::DenseMap<std::pair<unsigned, unsigned>, unsigned> known;
  for (auto [s, each] : llvm::enumerate(setupVariables)) {
    unsigned producer = each.producer == kNone ? noProducer : each.producer;
    for (auto [a, consumer] : llvm::enumerate(each.consumers)) {
      auto [it, isNew] =
          known.try_emplace({producer, consumer.variable}, edges.size());
      size_t numRows = each.left.size(),
             numColumns = core.getDomain(consumer.variable);
      if (isNew)
        edges.push_back({unsigned(numRows),
                         unsigned(numColumns),
                         std::vector<Cost>(numRows * numColumns, 0),
                         {}});
      Role role = {unsigned(s), unsigned(a)};
      edges[it->second].shares.push_back(role);
      rolesOf[consumer.variable].push_back(role);
      consumer.part.assign(numRows, 0);
    }
    if (each.producer != kNone)
      rolesOf[each.producer].push_back({unsigned(s), kNone});
  }
  for (unsigned f = 0; f < core.getNumFactors(); ++f) {
    ArrayRef<unsigned> scope = core.getScope(f);
    if (llvm::any_of(scope, [&](unsigned v) { return isSetupVariable(v); }))
      continue;
    auto find = [&](unsigned producer, unsigned consumer) -> Edge * {
      auto it = known.find({producer, consumer});
      return it == known.end() ? nullptr : &edges[it->second];
    };
    Edge *edge = scope.size() == 2 ? find(scope[0], scope[1]) : nullptr;
    bool isTransposed = !edge && scope.size() == 2;
    if (isTransposed)
      edge = find(scope[1], scope[0]);
    if (!edge) {
      model.addFactor(scope, core.getTable(f));
      continue;
    }
    const Cost *entries = store[core.getTable(f)].entries;
    for (unsigned r = 0; r < edge->numRows; ++r)
      for (unsigned c = 0; c < edge->numColumns; ++c) {
        Cost &sum = edge->entries[r * edge->numColumns + c];
        sum = addCosts(
            sum, convert(entries[isTransposed ? c * edge->numRows + r
                                              : r * edge->numColumns + c]));
      }
  }
  firstShared = model.getNumFactors();
  for (const Edge &edge : edges) {
    const Role &share = edge.shares.front();
    const SetupVariable &owner = setupVariables[share.owner];
    unsigned producer = owner.producer == kNone ? noProducer : owner.producer;
    model.addFactor({producer, owner.consumers[share.consumer].variable},
                    kNoTable);
  }
}

void SetupCosts::beginSweep() {
  for (SetupVariable &each : setupVariables)
    each.numToCome = each.consumers.size();
}

void SetupCosts::fill(unsigned factor) {
  Edge &edge = edges[factor - firstShared];
  for (Role share : edge.shares) {
    SetupVariable &owner = setupVariables[share.owner];
    auto &[variable, requiring, part] = owner.consumers[share.consumer];
    for (unsigned r = 0; r < edge.numRows; ++r) {
      if (owner.left[r] == 0)
        continue;
      Cost more = owner.left[r] / owner.numToCome;
      owner.left[r] -= more;
      part[r] += more;
      for (unsigned c : requiring)
        edge.entries[r * edge.numColumns + c] += more;
    }
    --owner.numToCome;
  }
}

void SetupCosts::release(unsigned factor, const Cost *rows,
                         const Cost *columns) {
  Edge &edge = edges[factor - firstShared];
  for (Role share : edge.shares) {
    SetupVariable &owner = setupVariables[share.owner];
    auto &[variable, requiring, part] = owner.consumers[share.consumer];
    for (unsigned r = 0; r < edge.numRows; ++r) {
      Cost slack = part[r];
      if (slack == 0)
        continue;
      Cost *entries = edge.entries.data() + r * edge.numColumns;
      for (unsigned c : requiring)
        slack = std::min(slack, entries[c] - rows[r] - columns[c]);
      part[r] -= slack;
      owner.left[r] += slack;
      for (unsigned c : requiring)
        entries[c] -= slack;
    }
  }
}

void SetupCosts::addUnpaid(unsigned variable, ArrayRef<unsigned> values,
                           llvm::function_ref<bool(unsigned)> isSet,
                           llvm::MutableArrayRef<Cost> sums) const {
  if (variable >= rolesOf.size())
    return;
  for (Role role : rolesOf[variable]) {
    const SetupVariable &each = setupVariables[role.owner];
    bool isProducer = role.consumer == kNone;
    if (!isProducer && each.producer != kNone && !isSet(each.producer))
      continue;
    auto isRequiredBy = [&](const Consumer &consumer) {
      return consumer.variable != variable && isSet(consumer.variable) &&
             llvm::is_contained(consumer.values, values[consumer.variable]);
    };
    bool isRequired = llvm::any_of(each.consumers, isRequiredBy);
    if (isProducer && isRequired) {
      for (unsigned p = 0; p < sums.size(); ++p) {
        Cost more = each.left[p];
        for (const Consumer &consumer : each.consumers)
          more += isRequiredBy(consumer) ? 0 : consumer.part[p];
        sums[p] += more;
      }
    } else if (!isProducer) {
      unsigned p = each.producer == kNone ? 0 : values[each.producer];
      const Consumer &own = each.consumers[role.consumer];
      Cost more = isRequired ? -own.part[p] : each.left[p];
      for (const Consumer &consumer : each.consumers)
        if (!isRequired && &consumer != &own)
          more += consumer.part[p];
      for (unsigned value : own.values)
        sums[value] += more;
    }
  }
}

void SetupCosts::complete(std::vector<unsigned> &values) const {
  for (const SetupVariable &each : setupVariables) {
    bool isOn = llvm::any_of(each.consumers, [&](const Consumer &consumer) {
      return llvm::is_contained(consumer.values, values[consumer.variable]);
    });
    values[each.variable] = isOn ? each.on : 1 - each.on;
  }
}

llvm::SmallVector<unsigned, 6>
SetupCosts::getValuesOf(unsigned variable,
                        ArrayRef<llvm::SmallVector<unsigned, 6>> others) const {
  const SetupVariable &each = setupVariables[setupVariableOf[variable]];
  bool mayBeOn = false, mayBeOff = true;
  for (const Consumer &consumer : each.consumers) {
    auto isRequiredBy = [&](unsigned value) {
      return llvm::is_contained(consumer.values, value);
    };
    mayBeOn |= llvm::any_of(others[consumer.variable], isRequiredBy);
    mayBeOff &= !llvm::all_of(others[consumer.variable], isRequiredBy);
  }
  if (mayBeOn && mayBeOff)
    return {0, 1};
  return {mayBeOn ? each.on : 1 - each.on};
}
