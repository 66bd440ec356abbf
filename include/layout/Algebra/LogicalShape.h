//===- LogicalShape.h - Logical shapes of stored shapes ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stored dims of a layout have extents that are functions of the logical
// sizes, and values that are functions of the logical index. These functions
// invert both:
//
//     NCHW to NCHW16c
//       stored shape 1x2x7x7x16           logical shape 1x32x7x7, at most
//       stored index (0, 1, 6, 6, 2)      logical index (0, 18, 6, 6)
//
// `storedDims` are the stored dims of the map, as grouped by a notation
// (LayoutAttrInterface::getStoredDims) or by `getStoredAxes`.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_LOGICALSHAPE_H
#define LAYOUT_ALGEBRA_LOGICALSHAPE_H

#include "layout/Algebra/Views.h"
#include "layout/Support/FailureReason.h"

namespace mlir::layout {

/// Returns the largest logical shape with the given stored shape. 2 x 16
/// positions of c floordiv 16, c mod 16 give 32 channels, although 17 channels
/// are stored in as many. `known` are the logical sizes that are given (else
/// kUnknownSize), in case the stored dims do not determine them. Returns
/// std::nullopt if no shape matches, or if sizes are ambiguous, e.g. because a
/// stored dim fuses two dims.
std::optional<llvm::SmallVector<int64_t>>
getLogicalShape(llvm::ArrayRef<BoundedIndex> storedDims,
                llvm::ArrayRef<int64_t> storedShape, Sizes known,
                FailureReason error = {});

/// Returns the map whose coordinates are the stored dims. Its `forward`
/// computes stored indices; its `backward` inverts them and reports padding.
LayoutMap getMapOfStoredDims(const LayoutMap &map,
                             llvm::ArrayRef<BoundedIndex> storedDims);

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_LOGICALSHAPE_H
