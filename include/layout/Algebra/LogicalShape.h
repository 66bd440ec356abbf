//===- LogicalShape.h - From stored dims back to logical ones ---*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The stored dims of a layout have extents that are formulas of the logical
// sizes, and values that are formulas of the logical index. Here both go back:
//
//     NCHW to NCHW16c
//       stored shape 1x2x7x7x16           logical shape 1x32x7x7, at most
//       stored index (0, 1, 6, 6, 2)      logical index (0, 18, 6, 6)
//
// `storedDims` are those of the map, as a notation groups them
// (LayoutAttrInterface::getStoredDims) or as `getStoredAxes` gives them.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_LOGICALSHAPE_H
#define LAYOUT_ALGEBRA_LOGICALSHAPE_H

#include "layout/Algebra/Views.h"
#include "layout/Support/Refusal.h"

namespace mlir {
namespace layout {

/// The logical shape with this stored shape. Of several, as many as round up to
/// it, the greatest: 17 to 32 channels are stored as 2 x 16. `known` are the
/// logical sizes that are known already (kUnknownSize: not), where the stored
/// dims do not tell them. Nothing where no shape has it, or one size could be
/// traded for another, as where a stored dim is the fusion of two.
std::optional<llvm::SmallVector<int64_t>>
getLogicalShape(llvm::ArrayRef<Sized> storedDims,
                llvm::ArrayRef<int64_t> storedShape, Sizes known,
                Refusal error = {});

/// The map whose coordinates are the stored dims: its `forward` gives stored
/// indices, and its `backward` takes them, and says nothing for padding.
LayoutMap getMapOfStoredDims(const LayoutMap &map,
                             llvm::ArrayRef<Sized> storedDims);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ALGEBRA_LOGICALSHAPE_H
