//===- ConversionPlan.h - Plan of a layout conversion -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The plan of one `layout.convert`, a value computed from two types. It is
// priced, printed and lowered: convert-layout-to-linalg copies exactly these
// boxes.
//
//   1x61x56x56xf32 from row-major to NCHW16c, lines of 64 bytes:
//     kind Relayout; 48 channels as whole tiles, then 13 of 16; 765,184 bytes
//     read and written; runs of 1 element: the innermost mixed-radix digits of
//     indices are d3 on one side and d1 mod 16 on the other
//
// Laws:
//  * kind Same or View is only set if equality on the shape is proven;
//  * the cost of a conversion is >= 0, and 0 iff no byte moves;
//  * byte counts are those of the boxes and fills of `copy`, counted at each
//    read and write.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_CONVERSIONPLAN_H
#define LAYOUT_ANALYSIS_CONVERSIONPLAN_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Analysis/CopyPlan.h"
#include "layout/Analysis/TargetInterface.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Support/Cost.h"

namespace mlir::layout {

/// Returns the bytes of one element in memory, rounded up to whole bytes.
/// Indices and other types without a bit width have 8.
int64_t getElementBytes(Type elementType);

/// Returns the bytes that a tensor of this static shape occupies in the layout
/// `map`, padding included. Returns kInfiniteCost - 1 if they would be more.
int64_t getStorageBytes(const LayoutMap &map, ArrayRef<int64_t> staticShape,
                        int64_t elementBytes);

struct ConversionPlan {
  enum class Kind {
    Same,     // same map
    View,     // different map, same storage points on this shape
    Padding,  // same storage points, only padding is written
    Relayout, // elements move
  };
  enum class Method {
    None,      // no byte is touched
    Fill,      // only padding is written
    Copy,      // boxes of common digits
    Gather,    // one element at a time, by the inverse layout
    Transfers, // by the DMA engine of a chip
    Messages,  // between the devices of a mesh
  };

  Kind kind = Kind::Relayout;
  int64_t bytesRead = 0, bytesWritten = 0;
  /// The number of bytes of one segment that is contiguous in source and
  /// destination. It is one element where segments are not determined, e.g. for
  /// transfers and messages.
  int64_t runBytes = 0;
  /// The cost of the plan in addition to its bytes, e.g. of starting transfers,
  /// or its whole cost on a mesh. The target sets it.
  Cost overhead = 0;
  /// The number of DMA transfers, or std::nullopt if the target does not move
  /// by DMA, no transfers were found, or cores copy their own elements.
  std::optional<int64_t> transfers;
  /// The number of messages on a mesh, whose bytes are `bytesRead` and
  /// `bytesWritten`, or std::nullopt if no messages are planned.
  std::optional<int64_t> messages;
  /// The boxes that are copied (Relayout) or filled (Padding). It is null
  /// unless the conversion copies or fills boxes.
  std::shared_ptr<const CopyPlan> copy;
  /// The reason why the plan has no boxes, transfers or messages, e.g. because
  /// the source and the result have no common digits. Elements are then
  /// gathered one by one through the inverse of the layout, or cores copy their
  /// own. Empty in all other cases. Plans made with an AxesCache may lack it.
  std::string whyNot;

  /// Returns true if no byte is touched (Same or View).
  bool isFree() const { return kind == Kind::Same || kind == Kind::View; }
  Method getMethod() const;

  /// Computes the plan of a conversion. Counts use the target's assumed size
  /// for dynamic sizes, or 1 without a target; the steps do not depend on them.
  static ConversionPlan get(RankedTensorType from, RankedTensorType to,
                            TargetInterface target = {});

  /// Computes the plan of `convert`. If elements keep their positions and only
  /// padding is written, fills it in place if it is a union of boxes and the
  /// source may be overwritten (isOverwritable). Otherwise copies all elements.
  static ConversionPlan get(ConvertOp convert, TargetInterface target = {});

  /// Computes the plan of a conversion between types whose storage is known to
  /// differ, without comparing them.
  static ConversionPlan getOfMove(RankedTensorType from, RankedTensorType to,
                                  TargetInterface target = {});

  /// Returns 0 if no byte is touched (isFree), or the cost under the target's
  /// model.
  Cost getCost(TargetInterface target) const;

  /// Prints the steps of the conversion on one line.
  void print(raw_ostream &os) const;
};

/// Returns true if the memory of `value` may be overwritten by its user: the
/// value, and each value that it views by layout.storage_view, has only one
/// use. The last of them must be the result of an op other than a constant.
bool isOverwritable(Value value);

StringRef stringify(ConversionPlan::Kind kind);
StringRef stringify(ConversionPlan::Method method);

} // namespace mlir::layout

#endif // LAYOUT_ANALYSIS_CONVERSIONPLAN_H
