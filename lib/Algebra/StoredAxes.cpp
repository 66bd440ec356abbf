//===- StoredAxes.cpp - The physical dims of a coordinate -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A canonical coordinate is a flat sum of digits times strides. This recovers
// its dense structure: in ascending order of strides, an axis ends at a stride
// that divides all higher strides and leaves room for the digits below it.
//
//===----------------------------------------------------------------------===//

#include "Expressions/UpperBound.h"
#include "layout/Algebra/LayoutMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::layout;

/// A shape to compare strides on: different products of its sizes usually have
/// different values.
static constexpr int64_t kSampleSizes[] = {3, 5, 7, 11, 13, 17, 19, 23};

/// Sorts terms by their strides on a sample shape, ascending. Returns false,
/// and does not sort, if two strides are equal there, or if one is not proven
/// for all shapes to be at least the previous one.
static bool sortBySample(std::vector<DigitTerm> &terms) {
  llvm::SmallVector<std::pair<int64_t, unsigned>, 8> order;
  for (auto [i, term] : llvm::enumerate(terms)) {
    std::optional<int64_t> value = term.stride.evaluate(kSampleSizes);
    if (!value)
      return false;
    order.push_back({*value, i});
  }
  llvm::sort(order);
  for (size_t i = 0; i + 1 < order.size(); ++i)
    if (order[i].first == order[i + 1].first ||
        !terms[order[i + 1].second].stride.isProvablyAtLeast(
            terms[order[i].second].stride))
      return false;
  std::vector<DigitTerm> sorted;
  sorted.reserve(terms.size());
  for (auto [value, i] : order)
    sorted.push_back(std::move(terms[i]));
  terms = std::move(sorted);
  return true;
}

/// Sorts terms by stride, ascending. Returns false if two strides cannot be
/// compared for all sizes; the order of the terms is then unspecified.
static bool sortByStride(std::vector<DigitTerm> &terms) {
  if (llvm::all_of(terms, [](const DigitTerm &term) {
        return term.stride.isConstant();
      })) {
    llvm::stable_sort(terms, [](const DigitTerm &a, const DigitTerm &b) {
      return *a.stride.getConstant() < *b.stride.getConstant();
    });
    return true;
  }
  if (sortBySample(terms))
    return true;
  // Fast path: many dims are already in descending order of strides.
  bool isDescending = true;
  for (size_t i = 0; i + 1 < terms.size() && isDescending; ++i)
    isDescending = terms[i].stride != terms[i + 1].stride &&
                   terms[i].stride.isProvablyAtLeast(terms[i + 1].stride);
  if (isDescending) {
    std::reverse(terms.begin(), terms.end());
    return true;
  }
  for (size_t i = 0; i < terms.size(); ++i) {
    auto least = terms.end();
    for (auto it = terms.begin() + i; it != terms.end(); ++it) {
      bool isLeast =
          llvm::all_of(llvm::make_range(terms.begin() + i, terms.end()),
                       [&](const DigitTerm &other) {
                         return other.stride.isProvablyAtLeast(it->stride);
                       });
      if (isLeast) {
        least = it;
        break;
      }
    }
    if (least == terms.end())
      return false;
    std::rotate(terms.begin() + i, least, least + 1);
  }
  return true;
}

std::vector<StoredAxis> mlir::layout::findStoredAxes(const IndexExpr &value,
                                                     const SizeExpr &extent) {
  std::vector<StoredAxis> whole{{value, extent}};
  if (!value.constant.isZero() || value.hasOverflow() || extent.isOverflow())
    return whole;
  if (value.terms.empty())
    return extent.isConstantEqual(1) ? std::vector<StoredAxis>() : whole;

  std::vector<DigitTerm> terms = value.terms;
  if (!sortByStride(terms) || !terms.front().stride.isProvablyAtLeast(1))
    return whole;

  // An axis can start at a stride that divides all higher strides. In most
  // layouts each stride divides the next one, so that all can.
  auto getAbove = [&](size_t i) -> const SizeExpr & {
    return i + 1 < terms.size() ? terms[i + 1].stride : extent;
  };
  llvm::SmallVector<std::optional<SizeExpr>, 8> steps(terms.size());
  size_t chain = terms.size(); // from here on each divides the next
  while (chain > 0 && (steps[chain - 1] = getAbove(chain - 1).exactQuotient(
                           terms[chain - 1].stride)))
    --chain;
  auto isBase = [&](size_t i) {
    if (i >= chain)
      return true;
    const SizeExpr &base = terms[i].stride;
    return extent.exactQuotient(base) &&
           llvm::all_of(llvm::drop_begin(terms, i), [&](const DigitTerm &t) {
             return t.stride.exactQuotient(base).has_value();
           });
  };
  std::vector<StoredAxis> axes; // fastest first
  SizeExpr base(1);
  IndexExpr axis;
  for (size_t i = 0; i < terms.size(); ++i) {
    bool startsAtBase = axis.terms.empty() && terms[i].stride == base;
    axis.terms.push_back(
        {terms[i].digit, *terms[i].stride.exactQuotient(base)});
    bool last = i + 1 == terms.size();
    if (!last && !isBase(i + 1))
      continue;
    const SizeExpr &next = getAbove(i);
    std::optional<SizeExpr> room =
        startsAtBase && steps[i] ? *steps[i] : next.exactQuotient(base);
    if (!room)
      return whole;
    // An axis with a constant number of positions cannot hold a digit whose
    // extent grows with a size. If the positions are too few for all digits of
    // the axis, the axis also takes the next digit.
    bool isTooSmall = room->isConstant() &&
                      llvm::any_of(axis.terms, [](const DigitTerm &term) {
                        return !naturalExtent(term.digit).isConstant();
                      });
    std::optional<SizeExpr> needed;
    if (!isTooSmall)
      needed = getUpperBound(axis, {});
    if (!needed || !room->isProvablyAtLeast(*needed)) {
      if (last)
        return whole;
      continue;
    }
    // A single digit is in canonical form already.
    axes.push_back({axis.terms.size() == 1 ? axis : add(axis, IndexExpr()),
                    std::move(*room)});
    axis.terms.clear();
    base = next;
  }
  std::reverse(axes.begin(), axes.end());
  return axes;
}
