//===- BranchAndBound.cpp - Where elimination is a bound ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BranchAndBound.h"

using namespace mlir::layout;

/// Rounds of changing variables one by one.
static constexpr unsigned kMaxRounds = 16;

BranchAndBound::BranchAndBound(const CoreGraph &core, unsigned numOriginal,
                               const TableStore &store,
                               std::vector<Bucket> buckets,
                               std::vector<unsigned> &values)
    : core(core), numOriginal(numOriginal), store(store),
      buckets(std::move(buckets)), values(values) {
  for (const Bucket &bucket : this->buckets)
    lowerBound += bucket.constant;
}

WideCost BranchAndBound::getBucketCost(const Bucket &bucket) const {
  WideCost sum = 0;
  for (unsigned factor : bucket.factors) {
    Cost entry = core.lookUp(factor, values, store);
    if (entry == kInfiniteCost)
      return kInfiniteWideCost;
    sum += entry;
  }
  return sum;
}

/// What the messages and the constant of a bucket say that it costs at least.
/// Finite: the messages are in buckets whose variables have values.
WideCost BranchAndBound::getExpected(const Bucket &bucket) const {
  WideCost sum = bucket.constant;
  for (unsigned message : bucket.messages)
    sum += core.lookUp(message, values, store);
  return sum;
}

/// What the present values cost.
WideCost BranchAndBound::evaluate() const {
  WideCost sum = 0;
  for (const Bucket &bucket : buckets)
    for (unsigned factor : bucket.factors) {
      if (factor >= numOriginal)
        continue;
      Cost entry = core.lookUp(factor, values, store);
      if (entry == kInfiniteCost)
        return kInfiniteWideCost;
      sum += entry;
    }
  return sum;
}

/// Gives every variable the value of least bound. False at a dead end.
bool BranchAndBound::dive() {
  for (const Bucket &bucket : llvm::reverse(buckets)) {
    WideCost least = kInfiniteWideCost;
    unsigned best = 0;
    for (unsigned v = 0; v < core.getDomain(bucket.variable); ++v) {
      values[bucket.variable] = v;
      WideCost own = getBucketCost(bucket);
      if (own < least) {
        least = own;
        best = v;
      }
    }
    if (least == kInfiniteWideCost)
      return false;
    values[bucket.variable] = best;
  }
  return true;
}

/// What the factors of a variable cost with the present values.
WideCost BranchAndBound::getCostAround(unsigned variable) const {
  WideCost sum = 0;
  core.forEachFactorOf(variable, [&](unsigned factor) {
    if (factor >= numOriginal || sum == kInfiniteWideCost)
      return;
    Cost entry = core.lookUp(factor, values, store);
    sum = entry == kInfiniteCost ? kInfiniteWideCost : sum + entry;
  });
  return sum;
}

/// Changes values that have a better one while all others stay.
void BranchAndBound::descend() {
  bool changes = true;
  for (unsigned round = 0; round < kMaxRounds && changes; ++round) {
    changes = false;
    for (const Bucket &bucket : llvm::reverse(buckets)) {
      unsigned &value = values[bucket.variable];
      unsigned best = value;
      WideCost least = getCostAround(bucket.variable);
      for (unsigned v = 0; v < core.getDomain(bucket.variable); ++v) {
        value = v;
        WideCost cost = getCostAround(bucket.variable);
        if (cost < least) {
          least = cost;
          best = v;
          changes = true;
        }
      }
      value = best;
    }
  }
}

/// Remembers the present values, which differ from those remembered last only
/// from `firstChanged` on, if they cost less.
void BranchAndBound::takeIfBetter(WideCost found, size_t firstChanged,
                                  std::vector<unsigned> &assignment) {
  if (found >= cost)
    return;
  cost = found;
  for (size_t depth = firstChanged; depth < buckets.size(); ++depth) {
    unsigned variable = getBucketAt(depth).variable;
    assignment[variable] = values[variable];
  }
}

/// Pushes the values of a variable that are not forbidden, the best last.
void BranchAndBound::open(size_t depth, WideCost bound,
                          std::vector<Candidate> &stack) {
  const Bucket &bucket = getBucketAt(depth);
  WideCost rest = bound - getExpected(bucket);
  size_t first = stack.size();
  for (unsigned v = 0; v < core.getDomain(bucket.variable); ++v) {
    values[bucket.variable] = v;
    WideCost own = getBucketCost(bucket);
    if (own != kInfiniteWideCost)
      stack.push_back({rest + own, v});
  }
  std::sort(stack.begin() + first, stack.end(),
            [](const Candidate &a, const Candidate &b) {
              return std::tie(b.bound, b.value) < std::tie(a.bound, a.value);
            });
}

int64_t BranchAndBound::run(std::vector<unsigned> &assignment, bool hasInitial,
                            int64_t maxSteps) {
  if (hasInitial) {
    for (const Bucket &bucket : buckets)
      values[bucket.variable] = assignment[bucket.variable];
    descend();
    takeIfBetter(evaluate(), 0, assignment);
  }
  if (dive()) {
    descend();
    takeIfBetter(evaluate(), 0, assignment);
  }

  std::vector<Candidate> stack;
  std::vector<size_t> levels; // where in the stack each begins
  size_t firstChanged = 0;
  int64_t steps = 0;
  auto openNext = [&](WideCost bound) {
    levels.push_back(stack.size());
    open(levels.size() - 1, bound, stack);
  };
  openNext(lowerBound);
  while (!levels.empty()) {
    if (stack.size() == levels.back() || stack.back().bound >= cost) {
      stack.resize(levels.back());
      levels.pop_back();
      continue;
    }
    if (steps == maxSteps)
      break;
    ++steps;
    Candidate candidate = stack.back();
    stack.pop_back();
    size_t depth = levels.size() - 1;
    values[getBucketAt(depth).variable] = candidate.value;
    firstChanged = std::min(firstChanged, depth);
    if (levels.size() < buckets.size()) {
      openNext(candidate.bound);
      continue;
    }
    takeIfBetter(candidate.bound, firstChanged, assignment);
    firstChanged = depth;
  }

  // The least bound that was not looked at, or the cost where there is none.
  WideCost least = cost;
  for (size_t level = 0; level < levels.size(); ++level) {
    size_t end = level + 1 < levels.size() ? levels[level + 1] : stack.size();
    if (levels[level] < end)
      least = std::min(least, stack[end - 1].bound);
  }
  lowerBound = std::max(lowerBound, least);
  return steps;
}
