//===- CheckedViews.h - Views with overflow checks --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_ALGEBRA_VIEWS_CHECKEDVIEWS_H
#define LAYOUT_LIB_ALGEBRA_VIEWS_CHECKEDVIEWS_H

#include "layout/Algebra/Views.h"

namespace mlir::layout {

inline bool checkMap(const LayoutMap &map, FailureReason error) {
  if (map && !map.hasOverflow())
    return true;
  error(map ? "the strides of the layout do not fit 64 bits"
            : "no layout is given");
  return false;
}

/// Returns the layout of a view in the storage of the viewed tensor, whose
/// layout is `map`. If a stride or extent overflows int64, reports an error
/// about `what`, e.g. "the slice", and returns std::nullopt.
std::optional<LayoutMap> viewIfSizesFit(const LayoutMap &map,
                                        const IndexView &view,
                                        const llvm::Twine &what,
                                        FailureReason error);

/// Returns the layout of a view of which `dims` has an entry for each logical
/// dim of `map` and then for each replica. The result has the extents
/// `replicas` for its own replicas, which are numbered after the dims of the
/// view.
LayoutMap replaceAllDims(const LayoutMap &map, const IndexView &view,
                         llvm::ArrayRef<int64_t> replicas);

} // namespace mlir::layout

#endif // LAYOUT_LIB_ALGEBRA_VIEWS_CHECKEDVIEWS_H
