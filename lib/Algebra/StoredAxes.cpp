//===- StoredAxes.cpp - The physical dims of a coordinate -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A canonical coordinate is a flat sum of digits times strides. Here the dense
// structure is found again: going up the strides, an axis ends where the next
// stride is a whole multiple of the axis' own stride that leaves room for all
// its digits.
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/LayoutMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::layout;

/// Sorts terms by stride, ascending; false where two strides cannot be
/// compared for all sizes.
static bool sortByStride(std::vector<DigitTerm> &terms) {
  for (size_t i = 0; i < terms.size(); ++i) {
    auto least = terms.end();
    for (auto it = terms.begin() + i; it != terms.end(); ++it) {
      bool isLeast = llvm::all_of(
          llvm::make_range(terms.begin() + i, terms.end()),
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

std::vector<StoredAxis>
mlir::layout::findStoredAxes(const Linear &value, const SizeExpr &extent) {
  std::vector<StoredAxis> whole{{value, extent}};
  if (!value.constant.isZero() || value.hasOverflow() || extent.isOverflow())
    return whole;
  if (value.terms.empty())
    return extent.isConstantEqual(1) ? std::vector<StoredAxis>() : whole;

  std::vector<DigitTerm> terms = value.terms;
  if (!sortByStride(terms) || !terms.front().stride.isProvablyAtLeast(1))
    return whole;

  std::vector<StoredAxis> axes; // fastest first
  SizeExpr base(1);
  Linear axis;
  for (size_t i = 0; i <= terms.size(); ++i) {
    const SizeExpr &next = i < terms.size() ? terms[i].stride : extent;
    bool last = i == terms.size();
    if (!axis.terms.empty()) {
      std::optional<SizeExpr> room = next.exactQuotient(base);
      if (room && room->isProvablyAtLeast(naturalExtent(axis))) {
        axes.push_back({add(axis, Linear()), *room});
        axis = Linear();
        base = next;
      } else if (last) {
        return whole;
      }
    }
    if (last)
      break;
    std::optional<SizeExpr> stride = terms[i].stride.exactQuotient(base);
    if (!stride)
      return whole;
    axis.terms.push_back({terms[i].digit, *stride});
  }
  std::reverse(axes.begin(), axes.end());
  return axes;
}
