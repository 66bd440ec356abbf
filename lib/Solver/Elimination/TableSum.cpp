//===- TableSum.cpp - The minimum of a sum of large tables ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scope is split in two: the inner variables, whose combinations form a
// block of some hundred entries, and the outer ones. For each outer combination
// and value v, a table is a row over the block, or a scalar if it has no inner
// variable.
//
// Sums need no test for infinity. Let n tables have infinite entries, let S be
// the sum of the largest finite entries of all tables, and let F = floor((2^63
// - 1) / (n + 1)) represent infinity. If S < F, then
//  * a sum of finite entries is at most S < F;
//  * a sum with an infinite entry is at least F;
//  * no sum exceeds n F + S < (n + 1) F <= 2^63 - 1.
// Hence sums never overflow, are forbidden iff they reach F, and are exact
// otherwise. If S >= F, which real costs never cause, addCosts is used.
//===----------------------------------------------------------------------===//

#include "Elimination/TableSum.h"

using namespace mlir::layout;
using llvm::ArrayRef;

namespace {
/// The minimum number of entries that an innermost loop computes, one for each
/// combination of values of the last variables of the scope. A scope with fewer
/// combinations is a single loop.
constexpr size_t kBlock = 128;

/// The maximum number of entries of a copy of a table in the order of the
/// loops, so that it stays in the cache. Larger tables are gathered block by
/// block.
constexpr size_t kCopy = size_t(1) << 15;

struct PlainAdd {
  static Cost add(Cost a, Cost b) { return a + b; }
};
struct SaturatingAdd {
  static Cost add(Cost a, Cost b) { return addCosts(a, b); }
};

/// A table as the outer loops read it, which enumerate values of the first
/// variables of the scope. For value v of the minimized variable, the entries
/// for all values of the remaining variables begin at entries + v * step. They
/// are contiguous, one number for all, or, if `gathered` is set, at `offsets`
/// from there.
struct Rows {
  const Cost *entries; // for the current outer combination
  size_t step;
  llvm::SmallVector<size_t, 8> steps; // per outer variable
  std::vector<size_t> offsets = {};   // of the block, if it is gathered
  Cost *gathered = nullptr;           // buffer for gathered entries
};

template <typename Add> class Minimizer {
public:
  Minimizer(const SumShape &shape, Cost forbidden, SumBuffers &buffers)
      : shape(shape), forbidden(forbidden), buffers(buffers) {
    while (numOuter > 0 && block < kBlock)
      block *= shape.scope[--numOuter];
    buffers.base.assign(shape.domain * block, 0);
  }

  void addTerm(const SumTerm &term);
  void run(Cost *out);

private:
  Cost convert(Cost entry) const {
    return entry == kInfiniteCost ? forbidden : entry;
  }
  void addToBase(const SumTerm &term);
  Cost *allocate(size_t size);
  Rows copyToRows(const SumTerm &term);
  /// Returns, for each combination of values of the scope variables in the
  /// innermost loop, the offset of its entry in the table of `term`, relative
  /// to the first combination.
  ArrayRef<size_t> getBlockOffsets(const SumTerm &term);
  const Cost *getRow(const Rows &term, unsigned v) const;
  template <typename Fn> void addRows(Cost *out, Fn row);

  const SumShape &shape;
  Cost forbidden;
  unsigned numOuter = shape.scope.size();
  size_t block = 1;
  SumBuffers &buffers; // `base` sums terms of v and inner variables
  bool hasBase = false;
  llvm::SmallVector<Rows, 4> rows, scalars;
  size_t numCopies = 0;
};
} // namespace

template <typename Add>
ArrayRef<size_t> Minimizer<Add>::getBlockOffsets(const SumTerm &term) {
  std::vector<size_t> &offsets = buffers.offsets;
  offsets.resize(block);
  offsets[0] = 0;
  size_t size = 1;
  for (unsigned d = shape.scope.size(); d-- > numOuter;)
    for (size_t end = size * shape.scope[d], step = size; size < end; ++size)
      offsets[size] = offsets[size - step] + term.steps[d];
  return offsets;
}

template <typename Add> void Minimizer<Add>::addToBase(const SumTerm &term) {
  ArrayRef<size_t> offsets = getBlockOffsets(term);
  for (unsigned v = 0; v < shape.domain; ++v)
    for (size_t i = 0; i < block; ++i) {
      Cost &sum = buffers.base[v * block + i];
      sum = Add::add(sum,
                     convert(term.table->entries[v * term.step + offsets[i]]));
    }
  hasBase = true;
}

template <typename Add> Cost *Minimizer<Add>::allocate(size_t size) {
  if (numCopies == buffers.copies.size())
    buffers.copies.emplace_back();
  std::vector<Cost> &copy = buffers.copies[numCopies++];
  copy.resize(std::max(copy.size(), size));
  return copy.data();
}

template <typename Add> Rows Minimizer<Add>::copyToRows(const SumTerm &term) {
  ArrayRef<size_t> offsets = getBlockOffsets(term);
  // The copy has v first, then the outer variables of the term, then the block.
  Rows result = {nullptr, block, {}};
  result.steps.assign(numOuter, 0);
  for (unsigned d = numOuter; d-- > 0;)
    if (term.steps[d] != 0) {
      result.steps[d] = result.step;
      result.step *= shape.scope[d];
    }
  if (result.step * shape.domain > kCopy) {
    result.step = term.step;
    result.steps.assign(term.steps.begin(), term.steps.begin() + numOuter);
    result.entries = term.table->entries;
    result.offsets = offsets.vec();
    result.gathered = allocate(block);
    return result;
  }
  Cost *next = allocate(result.step * shape.domain);
  result.entries = next;
  llvm::SmallVector<unsigned, 8> index(numOuter, 0);
  for (unsigned v = 0; v < shape.domain; ++v) {
    const Cost *entries = term.table->entries + v * term.step;
    while (true) {
      for (size_t offset : offsets)
        *next++ = convert(entries[offset]);
      unsigned d = numOuter;
      while (d-- > 0) {
        if (term.steps[d] == 0)
          continue;
        entries += term.steps[d];
        if (++index[d] < shape.scope[d])
          break;
        entries -= term.steps[d] * shape.scope[d];
        index[d] = 0;
      }
      if (d == ~0u)
        break;
    }
  }
  return result;
}

template <typename Add> void Minimizer<Add>::addTerm(const SumTerm &term) {
  llvm::SmallVector<size_t, 8> outer(term.steps.begin(),
                                     term.steps.begin() + numOuter);
  ArrayRef<size_t> inner = ArrayRef(term.steps).drop_front(numOuter);
  bool isConsecutive = true, isConstant = true;
  size_t size = 1;
  for (unsigned d = inner.size(); d-- > 0;) {
    isConsecutive &= inner[d] == size;
    isConstant &= inner[d] == 0;
    size *= shape.scope[numOuter + d];
  }
  bool isConverted = !term.table->hasForbidden || forbidden == kInfiniteCost;
  if (llvm::all_of(outer, [](size_t step) { return step == 0; }))
    addToBase(term);
  else if (isConstant)
    scalars.push_back({term.table->entries, term.step, outer});
  else if (isConsecutive && isConverted)
    rows.push_back({term.table->entries, term.step, outer});
  else
    rows.push_back(copyToRows(term));
}

/// Lowers the minima `out` of the entries that the innermost loop computes to
/// the costs row(i) if these are less: out[i] = min(out[i], row(i)).
template <typename Add>
template <typename Fn>
void Minimizer<Add>::addRows(Cost *out, Fn row) {
  for (size_t i = 0, e = block; i < e; ++i) {
    Cost sum = row(i);
    out[i] = sum < out[i] ? sum : out[i];
  }
}

template <typename Add>
const Cost *Minimizer<Add>::getRow(const Rows &term, unsigned v) const {
  const Cost *entries = term.entries + v * term.step;
  if (!term.gathered)
    return entries;
  for (size_t i = 0, e = block; i < e; ++i)
    term.gathered[i] = convert(entries[term.offsets[i]]);
  return term.gathered;
}

template <typename Add> void Minimizer<Add>::run(Cost *out) {
  if (hasBase || rows.empty())
    rows.push_back({buffers.base.data(), block,
                    llvm::SmallVector<size_t, 8>(numOuter, 0)});
  std::vector<Cost> &partial = buffers.partial;
  partial.resize(block);
  llvm::SmallVector<unsigned, 8> index(numOuter, 0);
  while (true) {
    std::fill(out, out + block, kInfiniteCost);
    for (unsigned v = 0; v < shape.domain; ++v) {
      Cost scalar = 0;
      for (const Rows &term : scalars)
        scalar = Add::add(scalar, convert(term.entries[v * term.step]));
      auto row = [&](unsigned i) { return getRow(rows[i], v); };
      const Cost *a = row(0);
      if (rows.size() == 1) {
        addRows(out, [=](size_t i) { return Add::add(scalar, a[i]); });
        continue;
      }
      const Cost *b = row(1);
      if (rows.size() == 2) {
        addRows(out, [=](size_t i) {
          return Add::add(Add::add(scalar, a[i]), b[i]);
        });
        continue;
      }
      for (size_t i = 0; i < block; ++i)
        partial[i] = Add::add(Add::add(scalar, a[i]), b[i]);
      for (unsigned r = 2; r + 1 < rows.size(); ++r) {
        const Cost *next = row(r);
        for (size_t i = 0; i < block; ++i)
          partial[i] = Add::add(partial[i], next[i]);
      }
      const Cost *last = row(rows.size() - 1), *sums = partial.data();
      addRows(out, [=](size_t i) { return Add::add(sums[i], last[i]); });
    }
    for (size_t i = 0; i < block; ++i)
      out[i] = out[i] >= forbidden ? kInfiniteCost : out[i];
    out += block;

    unsigned d = numOuter;
    while (d-- > 0) {
      bool wraps = ++index[d] == shape.scope[d];
      size_t steps = wraps ? shape.scope[d] - 1 : 0;
      for (auto *terms : {&rows, &scalars})
        for (Rows &term : *terms)
          term.entries = wraps ? term.entries - steps * term.steps[d]
                               : term.entries + term.steps[d];
      if (!wraps)
        break;
      index[d] = 0;
    }
    if (d == ~0u)
      return;
  }
}

llvm::MutableArrayRef<Cost> mlir::layout::minimizeSum(const SumShape &shape,
                                                      ArrayRef<SumTerm> terms,
                                                      SumBuffers &buffers) {
  Cost finite = 0, numForbidden = 0;
  for (const SumTerm &term : terms) {
    finite = addCosts(finite, term.table->largest);
    numForbidden += term.table->hasForbidden;
  }
  Cost forbidden = kInfiniteCost / (numForbidden + 1);
  size_t size = shape.getSize();
  buffers.out.resize(std::max(buffers.out.size(), size));
  auto run = [&](auto &&minimizer) {
    for (const SumTerm &term : terms)
      minimizer.addTerm(term);
    minimizer.run(buffers.out.data());
  };
  // If `finite` is saturated, the true sum is not known.
  if (finite < forbidden && finite < kInfiniteCost - 1)
    run(Minimizer<PlainAdd>(shape, forbidden, buffers));
  else
    run(Minimizer<SaturatingAdd>(shape, kInfiniteCost, buffers));
  return llvm::MutableArrayRef(buffers.out).take_front(size);
}
