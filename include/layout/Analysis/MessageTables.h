//===- MessageTables.h - A plan of messages as numbers ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What each rank does for a plan, as one table that the same code reads on all
// of them. Where elements lie is what the two maps say.
//
//   row     elements that are moved with one stride for each loop:
//           where the first one is read and written, then for each loop, the
//           outermost first, how many turns it has, and the strides of both
//   step    the other rank, whether it is sent to, the elements of the message,
//           and the rows that pack or unpack it, from the first to the end
//
// The same numbers are priced.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_MESSAGETABLES_H
#define LAYOUT_ANALYSIS_MESSAGETABLES_H

#include "layout/Analysis/ReshardPlan.h"

namespace mlir {
namespace layout {

struct MessageTables {
  static constexpr int64_t kStepSize = 5;
  int64_t getRowSize() const { return 2 + 3 * numLoops; }

  unsigned numLoops = 1;
  /// All of it; positions below are in here.
  std::vector<int64_t> numbers;
  /// Where the first row of what stays on rank 0 is said; that of the next
  /// rank, which is the end of this one, is said behind it, and so on.
  int64_t copies = 0;
  /// The same for the steps of each phase.
  SmallVector<int64_t, 2> phases;
  /// Of the longest message.
  int64_t mostElements = 0;

  /// Goes through what a rank copies, packs and unpacks: elements, and how many
  /// of them at a time lie next to each other on both sides.
  void forEachMove(
      int64_t rank,
      llvm::function_ref<void(int64_t elements, int64_t run)> visit) const;

  static FailureOr<MessageTables> get(const ReshardPlan &plan,
                                      RankedTensorType from,
                                      RankedTensorType to, Refusal refuse);
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ANALYSIS_MESSAGETABLES_H
