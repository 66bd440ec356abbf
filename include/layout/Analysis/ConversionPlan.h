//===- ConversionPlan.h - What a conversion of layouts moves ----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The plan of one `layout.convert`: a value computed from two types. It is
// priced, printed, and lowered: convert-layout-to-linalg carries out these
// boxes and has no formula of its own.
//
//   1x61x56x56xf32 from row-major to NCHW16c, lines of 64 bytes:
//     kind Relayout; 48 channels as whole tiles, then 13 of 16; 765,184 bytes
//     read and written; runs of 1 element: the innermost digits are d3 on one
//     side and d1 mod 16 on the other
//
// Laws:
//  * kind Same or View is only given where equality on the shape is proven;
//  * the cost of a conversion is >= 0, and 0 iff nothing moves;
//  * bytes are those of the boxes and fills of `copy`, each time that they are
//    read or written.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_CONVERSIONPLAN_H
#define LAYOUT_ANALYSIS_CONVERSIONPLAN_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Analysis/CopyPlan.h"
#include "layout/Analysis/TargetInterface.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Support/Cost.h"

namespace mlir {
namespace layout {

/// Bytes of one element in memory.
int64_t getElementBytes(Type elementType);

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
  enum class Way {
    None,      // no byte is touched
    Fill,      // padding alone is written
    Copy,      // boxes of common digits
    Gather,    // every position asks for its element
    Transfers, // by the DMA engine of a chip
    Messages,  // between the devices of a mesh
  };

  Kind kind = Kind::Relayout;
  int64_t bytesRead = 0, bytesWritten = 0;
  /// Bytes that lie next to each other on both sides.
  int64_t runBytes = 0;
  /// What the target charges beside the bytes.
  Cost overhead = 0;
  /// On a target that moves by DMA: how many transfers do it; nothing where
  /// none are found.
  std::optional<int64_t> transfers;
  /// On a mesh: how many messages do it, which have the bytes read and written;
  /// nothing where none are planned.
  std::optional<int64_t> messages;
  /// What is copied (Relayout) or filled (Padding).
  std::shared_ptr<const CopyPlan> copy;
  /// Why there are no common digits to copy over: elements are then gathered,
  /// every position asking for its own through the inverse of the layout.
  std::string whyNot;

  /// Same or View: no byte is touched.
  bool isFree() const { return kind == Kind::Same || kind == Kind::View; }
  Way getWay() const;

  /// The plan of a conversion. Dynamic sizes count as the target's assumed
  /// size, or 1 without a target; what is done does not depend on them.
  static ConversionPlan get(RankedTensorType from, RankedTensorType to,
                            TargetInterface target = {});

  /// The same for an op: padding can be filled in place only where nobody else
  /// sees the source, else all is copied.
  static ConversionPlan get(ConvertOp convert, TargetInterface target = {});

  /// The same where both are known to store differently; asks no proof.
  static ConversionPlan getOfMove(RankedTensorType from, RankedTensorType to,
                                  TargetInterface target = {});

  /// 0 where nothing moves, else as the target's model has it.
  Cost getCost(TargetInterface target) const;

  /// How it is carried out, on one line.
  void print(raw_ostream &os) const;
};

/// Whether the memory of a value may change once its only user has it.
bool isOverwritable(Value value);

StringRef stringify(ConversionPlan::Kind kind);
StringRef stringify(ConversionPlan::Way way);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ANALYSIS_CONVERSIONPLAN_H
