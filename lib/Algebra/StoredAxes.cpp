//===- StoredAxes.cpp - The physical dims of a coordinate -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A canonical coordinate is a flat sum of digits times strides. Here the dense
// structure is found again: going up the strides, an axis ends at a stride that
// divides all those above it and leaves room for the digits below it.
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/LayoutMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::layout;

/// Sorts terms by stride, ascending; false where two strides cannot be
/// compared for all sizes.
static bool sortByStride(std::vector<DigitTerm> &terms) {
  if (llvm::all_of(terms, [](const DigitTerm &term) {
        return term.stride.isConstant();
      })) {
    llvm::stable_sort(terms, [](const DigitTerm &a, const DigitTerm &b) {
      return *a.stride.getConstant() < *b.stride.getConstant();
    });
    return true;
  }
  // Dims mostly lie slowest first, as they are numbered.
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

std::vector<StoredAxis> mlir::layout::findStoredAxes(const Linear &value,
                                                     const SizeExpr &extent) {
  std::vector<StoredAxis> whole{{value, extent}};
  if (!value.constant.isZero() || value.hasOverflow() || extent.isOverflow())
    return whole;
  if (value.terms.empty())
    return extent.isConstantEqual(1) ? std::vector<StoredAxis>() : whole;

  std::vector<DigitTerm> terms = value.terms;
  if (!sortByStride(terms) || !terms.front().stride.isProvablyAtLeast(1))
    return whole;

  // An axis can start at a stride that divides all strides above it.
  auto isBase = [&](size_t i) {
    const SizeExpr &base = terms[i].stride;
    if (std::optional<int64_t> c = base.getConstant(); c && *c > 0)
      return extent.content() % *c == 0 &&
             llvm::all_of(llvm::drop_begin(terms, i), [&](const DigitTerm &t) {
               return t.stride.content() % *c == 0;
             });
    return extent.exactQuotient(base) &&
           llvm::all_of(llvm::drop_begin(terms, i), [&](const DigitTerm &t) {
             return t.stride.exactQuotient(base).has_value();
           });
  };
  std::vector<StoredAxis> axes; // fastest first
  SizeExpr base(1);
  Linear axis;
  for (size_t i = 0; i < terms.size(); ++i) {
    axis.terms.push_back(
        {terms[i].digit, *terms[i].stride.exactQuotient(base)});
    bool last = i + 1 == terms.size();
    if (!last && !isBase(i + 1))
      continue;
    const SizeExpr &next = last ? extent : terms[i + 1].stride;
    std::optional<SizeExpr> room = next.exactQuotient(base);
    if (!room)
      return whole;
    // Without room for all its digits the axis goes on.
    if (!room->isProvablyAtLeast(naturalExtent(axis))) {
      if (last)
        return whole;
      continue;
    }
    // One digit is in canonical form.
    axes.push_back({axis.terms.size() == 1 ? axis : add(axis, Linear()),
                    std::move(*room)});
    axis.terms.clear();
    base = next;
  }
  std::reverse(axes.begin(), axes.end());
  return axes;
}
