//===- SharedCosts.cpp - Setup costs that variables share -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "SharedCosts.h"

using namespace mlir::layout;
using llvm::ArrayRef;

/// The maximum number of entries of all shared factors.
static constexpr int64_t kMostEntries = int64_t(1) << 24;

SharedCosts::SharedCosts(const CoreGraph &core, const TableStore &store,
                         Convert convert)
    : switchOf(core.getNumVariables(), kNone) {
  // If both ends match, the later variable is the switch, because copies are
  // numbered after the ops that read them.
  for (unsigned v = core.getNumVariables(); v-- > 0;)
    for (unsigned on : {1, 0}) {
      Switch found;
      if (core.getDomain(v) != 2 || isSwitch(v) ||
          !readSwitch(v, on, core, store, convert, found))
        continue;
      switchOf[v] = switches.size();
      switches.push_back(std::move(found));
    }
  int64_t numEntries = 0;
  for (const Switch &each : switches)
    for (const Asker &asker : each.askers)
      numEntries += int64_t(each.left.size()) * core.getDomain(asker.variable);
  if (numEntries > kMostEntries) {
    switches.clear();
    llvm::fill(switchOf, kNone);
  }
  if (!switches.empty())
    buildModel(core, store, convert);
}

bool SharedCosts::readSwitch(unsigned variable, unsigned on,
                             const CoreGraph &core, const TableStore &store,
                             Convert convert, Switch &result) {
  result.variable = variable;
  result.on = on;
  Cost own[2] = {0, 0};
  const Cost *prices = nullptr;
  size_t step = 0; // between values of the payer
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
    isPossible &= scope.size() == 2 && !isSwitch(other) &&
                  !llvm::is_contained(neighbors, other);
    if (!isPossible)
      return;
    neighbors.push_back(other);
    unsigned domain = core.getDomain(other);
    size_t stepOther = place == 0 ? 1 : 2, stepOwn = place == 0 ? domain : 1;
    Asker asker = {other, {}};
    bool asks = true, pays = true;
    for (unsigned v = 0; v < domain; ++v) {
      Cost whenOn = entries[v * stepOther + on * stepOwn],
           whenOff = entries[v * stepOther + (1 - on) * stepOwn];
      asks &= whenOn == 0 && (whenOff == 0 || whenOff == kInfiniteCost);
      pays &= whenOff == 0 && whenOn != kInfiniteCost;
      if (whenOff != 0)
        asker.values.push_back(v);
    }
    if (asks && !asker.values.empty()) {
      result.askers.push_back(std::move(asker));
      return;
    }
    isPossible &= pays && !prices;
    prices = entries + on * stepOwn;
    step = stepOther;
    result.payer = other;
  });
  if (!isPossible || result.askers.size() < 2 || own[on] < own[1 - on] ||
      own[on] == kInfiniteCost || own[1 - on] != 0)
    return false;
  unsigned numPrices = prices ? core.getDomain(result.payer) : 1;
  for (unsigned p = 0; p < numPrices; ++p)
    result.price.push_back(
        convert(addCosts(own[on], prices ? prices[p * step] : 0)));
  result.left = result.price;
  return true;
}

void SharedCosts::buildModel(const CoreGraph &core, const TableStore &store,
                             Convert convert) {
  for (unsigned v = 0; v < core.getNumVariables(); ++v)
    model.addVariable(core.getOriginal(v), core.getDomain(v));
  rolesOf.resize(core.getNumVariables());
  unsigned nobody = model.addVariable(~0u, 1);
  llvm::DenseMap<std::pair<unsigned, unsigned>, unsigned> known;
  for (auto [s, each] : llvm::enumerate(switches)) {
    unsigned payer = each.payer == kNone ? nobody : each.payer;
    for (auto [a, asker] : llvm::enumerate(each.askers)) {
      auto [it, isNew] =
          known.try_emplace({payer, asker.variable}, edges.size());
      size_t numRows = each.left.size(),
             numColumns = core.getDomain(asker.variable);
      if (isNew)
        edges.push_back({unsigned(numRows),
                         unsigned(numColumns),
                         std::vector<Cost>(numRows * numColumns, 0),
                         {}});
      Role role = {unsigned(s), unsigned(a)};
      edges[it->second].shares.push_back(role);
      rolesOf[asker.variable].push_back(role);
      asker.part.assign(numRows, 0);
    }
    if (each.payer != kNone)
      rolesOf[each.payer].push_back({unsigned(s), kNone});
  }
  for (unsigned f = 0; f < core.getNumFactors(); ++f) {
    ArrayRef<unsigned> scope = core.getScope(f);
    if (llvm::any_of(scope, [&](unsigned v) { return isSwitch(v); }))
      continue;
    auto find = [&](unsigned payer, unsigned asker) -> Edge * {
      auto it = known.find({payer, asker});
      return it == known.end() ? nullptr : &edges[it->second];
    };
    Edge *edge = scope.size() == 2 ? find(scope[0], scope[1]) : nullptr;
    bool isTurned = !edge && scope.size() == 2;
    if (isTurned)
      edge = find(scope[1], scope[0]);
    if (!edge) {
      model.addFactor(scope, core.getTable(f));
      continue;
    }
    const Cost *entries = store[core.getTable(f)].entries;
    for (unsigned r = 0; r < edge->numRows; ++r)
      for (unsigned c = 0; c < edge->numColumns; ++c) {
        Cost &sum = edge->entries[r * edge->numColumns + c];
        sum = addCosts(sum,
                       convert(entries[isTurned ? c * edge->numRows + r
                                                : r * edge->numColumns + c]));
      }
  }
  firstShared = model.getNumFactors();
  for (const Edge &edge : edges) {
    const Role &share = edge.shares.front();
    const Switch &owner = switches[share.owner];
    unsigned payer = owner.payer == kNone ? nobody : owner.payer;
    model.addFactor({payer, owner.askers[share.asker].variable}, kNoTable);
  }
}

void SharedCosts::beginSweep() {
  for (Switch &each : switches)
    each.numToCome = each.askers.size();
}

void SharedCosts::fill(unsigned factor) {
  Edge &edge = edges[factor - firstShared];
  for (Role share : edge.shares) {
    Switch &owner = switches[share.owner];
    auto &[variable, asking, part] = owner.askers[share.asker];
    for (unsigned r = 0; r < edge.numRows; ++r) {
      if (owner.left[r] == 0)
        continue;
      Cost more = owner.left[r] / owner.numToCome;
      owner.left[r] -= more;
      part[r] += more;
      for (unsigned c : asking)
        edge.entries[r * edge.numColumns + c] += more;
    }
    --owner.numToCome;
  }
}

void SharedCosts::release(unsigned factor, const Cost *rows,
                          const Cost *columns) {
  Edge &edge = edges[factor - firstShared];
  for (Role share : edge.shares) {
    Switch &owner = switches[share.owner];
    auto &[variable, asking, part] = owner.askers[share.asker];
    for (unsigned r = 0; r < edge.numRows; ++r) {
      Cost slack = part[r];
      if (slack == 0)
        continue;
      Cost *entries = edge.entries.data() + r * edge.numColumns;
      for (unsigned c : asking)
        slack = std::min(slack, entries[c] - rows[r] - columns[c]);
      part[r] -= slack;
      owner.left[r] += slack;
      for (unsigned c : asking)
        entries[c] -= slack;
    }
  }
}

void SharedCosts::addUnpaid(unsigned variable, ArrayRef<unsigned> values,
                            llvm::function_ref<bool(unsigned)> isSet,
                            llvm::MutableArrayRef<Cost> sums) const {
  if (variable >= rolesOf.size())
    return;
  for (Role role : rolesOf[variable]) {
    const Switch &each = switches[role.owner];
    bool isPayer = role.asker == kNone;
    if (!isPayer && each.payer != kNone && !isSet(each.payer))
      continue;
    auto asks = [&](const Asker &asker) {
      return asker.variable != variable && isSet(asker.variable) &&
             llvm::is_contained(asker.values, values[asker.variable]);
    };
    bool isAsked = llvm::any_of(each.askers, asks);
    if (isPayer && isAsked) {
      for (unsigned p = 0; p < sums.size(); ++p) {
        Cost more = each.left[p];
        for (const Asker &asker : each.askers)
          more += asks(asker) ? 0 : asker.part[p];
        sums[p] += more;
      }
    } else if (!isPayer) {
      unsigned p = each.payer == kNone ? 0 : values[each.payer];
      const Asker &own = each.askers[role.asker];
      Cost more = isAsked ? -own.part[p] : each.left[p];
      for (const Asker &asker : each.askers)
        if (!isAsked && &asker != &own)
          more += asker.part[p];
      for (unsigned value : own.values)
        sums[value] += more;
    }
  }
}

void SharedCosts::complete(std::vector<unsigned> &values) const {
  for (const Switch &each : switches) {
    bool isOn = llvm::any_of(each.askers, [&](const Asker &asker) {
      return llvm::is_contained(asker.values, values[asker.variable]);
    });
    values[each.variable] = isOn ? each.on : 1 - each.on;
  }
}

llvm::SmallVector<unsigned, 6> SharedCosts::getValuesOf(
    unsigned variable, ArrayRef<llvm::SmallVector<unsigned, 6>> others) const {
  const Switch &each = switches[switchOf[variable]];
  bool mayBeOn = false, mayBeOff = true;
  for (const Asker &asker : each.askers) {
    auto asks = [&](unsigned value) {
      return llvm::is_contained(asker.values, value);
    };
    mayBeOn |= llvm::any_of(others[asker.variable], asks);
    mayBeOff &= !llvm::all_of(others[asker.variable], asks);
  }
  if (mayBeOn && mayBeOff)
    return {0, 1};
  return {mayBeOn ? each.on : 1 - each.on};
}
