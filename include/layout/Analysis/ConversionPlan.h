//===- ConversionPlan.h - What a conversion of layouts moves ----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The plan of one `layout.convert`: a value computed from two maps and a shape.
// What is priced here is what is lowered.
//
//   1x64x56x56xf32 from row-major to NCHW16c, lines of 64 bytes:
//     kind Relayout, 802,816 bytes read and written, runs of 1 element: the
//     innermost digits are w on one side and c mod 16 on the other
//
// Laws:
//  * kind Same or View is only given where equality on the shape is proven;
//  * the cost of a conversion is >= 0, and 0 iff nothing moves.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_CONVERSIONPLAN_H
#define LAYOUT_ANALYSIS_CONVERSIONPLAN_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Analysis/FactorGraph.h"
#include "layout/Dialect/Layout/IR/Layout.h"

namespace mlir {
namespace layout {

/// Bytes of one element in memory.
int64_t getElementBytes(Type elementType);

/// `shape` with the size that the target assumes for dynamic dims.
SmallVector<int64_t> assumeSizes(ArrayRef<int64_t> shape, TargetAttr target);

/// Bytes of storage, padding included; stops below kInfiniteCost.
int64_t getStorageBytes(const LayoutMap &map, ArrayRef<int64_t> staticShape,
                        int64_t elementBytes);

struct ConversionPlan {
  enum class Kind {
    Same,     // the same map
    View,     // other map, same storage points on this shape
    Padding,  // same storage points, only padding is written
    Relayout, // elements move
  };

  Kind kind = Kind::Relayout;
  int64_t bytesRead = 0, bytesWritten = 0;
  /// Bytes that lie next to each other on both sides.
  int64_t runBytes = 0;

  /// Same or View: no byte is touched.
  bool isFree() const { return kind == Kind::Same || kind == Kind::View; }

  /// The plan between two maps of tensors of `shape`. Dynamic sizes count as
  /// the target's assumed size; equality is decided without that assumption.
  static ConversionPlan get(const LayoutMap &from, const LayoutMap &to,
                            ArrayRef<int64_t> shape, int64_t elementBytes,
                            TargetAttr target);

  /// The plan between two maps that are taken to differ, both specialized to
  /// these static sizes; asks no proof.
  static ConversionPlan getOfMove(const LayoutMap &from, const LayoutMap &to,
                                  ArrayRef<int64_t> sizes,
                                  int64_t elementBytes);

  /// The plan of a `layout.convert`, padding states included.
  static ConversionPlan get(RankedTensorType from, RankedTensorType to,
                            TargetAttr target);

  /// (read + written) bytes, each at 100 % where runs fill a line of memory and
  /// at `strided_percent` where they are single bytes, linear in between.
  Cost getCost(TargetAttr target) const;
};

StringRef stringify(ConversionPlan::Kind kind);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ANALYSIS_CONVERSIONPLAN_H
