//===- BucketElimination.cpp - Bucket elimination -------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Elimination/BucketElimination.h"

using namespace mlir::layout;
using llvm::ArrayRef;

/// A variable of more than this number of factors is a hub. In a message, the
/// costs of hubs are a table of their own, because they grow with the number of
/// equal layers.
static constexpr unsigned kHubFactors = 32;

BucketElimination::BucketElimination(CoreGraph &core, ArrayRef<unsigned> order,
                                     TableAlgebra &algebra,
                                     int64_t maxTotalSize)
    : core(core), algebra(algebra), maxTotalSize(maxTotalSize), order(order),
      places(order.size()), isDone(core.getNumFactors(), false) {
  for (unsigned i = 0; i < order.size(); ++i)
    places[order[i]] = i;
  std::vector<unsigned> degrees(order.size(), 0);
  for (unsigned f = 0; f < core.getNumFactors(); ++f)
    for (unsigned variable : core.getScope(f))
      ++degrees[variable];
  for (unsigned degree : degrees)
    isHub.push_back(degree > kHubFactors);
}

Bucket BucketElimination::getBucket(size_t index) const {
  const Record &record = records[index];
  size_t factors = index ? records[index - 1].factorsEnd : 0;
  return {record.variable,
          ArrayRef(bucketFactors).slice(factors, record.factorsEnd - factors),
          record.constant};
}

llvm::SmallVector<unsigned, 8>
BucketElimination::joinScopes(ArrayRef<unsigned> scope, unsigned factor,
                              unsigned variable) const {
  auto isBefore = [&](unsigned a, unsigned b) { return places[a] < places[b]; };
  llvm::SmallVector<unsigned, 8> own, joined;
  for (unsigned other : core.getScope(factor))
    if (other != variable)
      own.push_back(other);
  llvm::sort(own, isBefore);
  std::set_union(scope.begin(), scope.end(), own.begin(), own.end(),
                 std::back_inserter(joined), isBefore);
  return joined;
}

/// Returns the hubs, variables of more than kHubFactors factors, at the end of
/// the scope of the message of `group`. Hubs before another variable do not
/// count; elimination orders usually have hubs last.
ArrayRef<unsigned> BucketElimination::getHubs(const Group &group) const {
  ArrayRef<unsigned> scope = group.scope;
  size_t count = 0;
  while (count < scope.size() && isHub[scope[scope.size() - 1 - count]])
    ++count;
  return scope.take_back(count);
}

BucketElimination::Message BucketElimination::minimizeOut(unsigned variable,
                                                          const Group &group) {
  SumShape shape = {core.getDomain(variable), {}};
  for (unsigned other : group.scope)
    shape.scope.push_back(core.getDomain(other));

  // The key has the domains, and per factor its table and the places of its
  // variables in the scope. It is self-delimiting.
  unsigned numHubs = getHubs(group).size();
  llvm::SmallVector<unsigned, 32> key = {shape.domain,
                                         unsigned(shape.scope.size()), numHubs};
  llvm::append_range(key, shape.scope);
  llvm::SmallVector<SumTerm, 8> terms;
  for (unsigned factor : group.factors) {
    const TableStore::Table &table = algebra.store[core.getTable(factor)];
    SumTerm term = {&table, 0, {}};
    term.steps.assign(group.scope.size(), 0);
    ArrayRef<unsigned> scope = core.getScope(factor);
    key.push_back(unsigned(core.getTable(factor)));
    key.push_back(scope.size());
    size_t step = 1;
    for (unsigned other : llvm::reverse(scope)) {
      if (other == variable) {
        term.step = step;
        key.push_back(~0u);
      } else {
        size_t place = llvm::lower_bound(group.scope, other,
                                         [&](unsigned a, unsigned b) {
                                           return places[a] < places[b];
                                         }) -
                       group.scope.begin();
        term.steps[place] = step;
        key.push_back(place);
      }
      step *= core.getDomain(other);
    }
    terms.push_back(std::move(term));
  }
  auto it = known.find(ArrayRef<unsigned>(key));
  if (it != known.end())
    return it->second;

  totalSize = addCosts(totalSize, shape.getSize());
  work = addCosts(work, scaleCost(shape.getSize(), terms.size()));
  llvm::MutableArrayRef<Cost> entries = minimizeSum(shape, terms, buffers);
  Message message = {kNoTable, kNoTable, 0};
  if (0 < numHubs && numHubs < shape.scope.size()) {
    size_t numColumns = 1;
    for (unsigned hub : getHubs(group))
      numColumns *= core.getDomain(hub);
    std::vector<Cost> common = TableAlgebra::takeCommon(entries, numColumns);
    TableAlgebra::Result ofHubs = algebra.normalize(common);
    message.ofHubs = ofHubs.table;
    message.constant = ofHubs.constant;
  }
  TableAlgebra::Result rest = algebra.normalize(entries);
  message.rest = rest.table;
  message.constant = addCosts(message.constant, rest.constant);
  known[ArrayRef<unsigned>(key).copy(keys)] = message;
  return message;
}

void BucketElimination::send(ArrayRef<unsigned> scope, TableId table) {
  if (table == kNoTable)
    return;
  core.addFactor(scope, table);
  isDone.push_back(false);
}

BucketElimination::Result BucketElimination::eliminate(unsigned variable) {
  llvm::SmallVector<unsigned, 8> factors;
  core.forEachFactorOf(variable, [&](unsigned factor) {
    if (!isDone[factor])
      factors.push_back(factor);
  });
  for (unsigned factor : factors) {
    isDone[factor] = true;
    bucketFactors.push_back(factor);
  }
  WideCost constant = 0;
  if (!factors.empty()) {
    Group group;
    group.factors.assign(factors.begin(), factors.end());
    for (unsigned factor : factors)
      group.scope = joinScopes(group.scope, factor, variable);
    Message message = minimizeOut(variable, group);
    if (message.constant == kInfiniteCost)
      return Result::NothingAllowed;
    constant = message.constant;
    send(group.scope, message.rest);
    send(getHubs(group), message.ofHubs);
  }
  records.push_back({variable, bucketFactors.size(), constant});
  return totalSize <= maxTotalSize ? Result::Done : Result::TooLarge;
}

BucketElimination::Result BucketElimination::run() {
  for (unsigned variable : order)
    if (Result result = eliminate(variable); result != Result::Done)
      return result;
  return Result::Done;
}

void BucketElimination::substituteBack(
    std::vector<unsigned> &assignment) const {
  for (size_t b = getNumBuckets(); b-- > 0;) {
    Bucket bucket = getBucket(b);
    unsigned best = 0;
    Cost least = kInfiniteCost;
    for (unsigned v = 0; v < core.getDomain(bucket.variable); ++v) {
      assignment[bucket.variable] = v;
      Cost cost = 0;
      for (unsigned factor : bucket.factors)
        cost = addCosts(cost, core.lookUp(factor, assignment, algebra.store));
      if (cost < least) {
        least = cost;
        best = v;
      }
    }
    assignment[bucket.variable] = best;
  }
}
