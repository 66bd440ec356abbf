//===- MessageTables.h - Message plans as integer tables --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Encodes the work of each rank for a plan in one table, which the same code
// reads on all ranks. Addresses of elements follow from the two maps.
//
//   row     elements moved by one loop nest: the offsets of the first element
//           in source and destination, then for each loop, outermost first, its
//           trip count and its stride on both sides
//   step    the other rank, whether the message is sent to or received from
//           that rank, the elements of the message, and the range of rows that
//           pack or unpack it
//
// The prices are computed from the same table.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_MESH_MESSAGETABLES_H
#define LAYOUT_TARGETS_MESH_MESSAGETABLES_H

#include "layout/Targets/Mesh/ReshardPlan.h"

namespace mlir::layout {

struct MessageTables {
  static constexpr int64_t kStepSize = 5;
  int64_t getRowSize() const { return 2 + 3 * numLoops; }

  unsigned numLoops = 1;
  /// The rows (loop nests over elements, with offsets, trip counts and strides)
  /// and steps (messages) of all ranks, and lists of positions. Positions below
  /// are indices into it.
  std::vector<int64_t> numbers;
  /// The position in `numbers` of a list with, per rank, the position of its
  /// first row for elements that stay on the rank. The rows of a rank end where
  /// those of the next rank begin.
  int64_t copies = 0;
  /// Per phase, the position in `numbers` of a list with, per rank, the
  /// position of its first step, i.e. message to send or receive. The steps of
  /// a rank end where those of the next rank begin. For partial sums, phase 0
  /// sends the summands and phase 1 distributes the sums.
  SmallVector<int64_t, 2> phases;
  /// The number of elements of the longest message, for the size of message
  /// buffers.
  int64_t mostElements = 0;

  /// Calls visit(elements, run) for each loop nest by which a rank copies,
  /// packs or unpacks elements. `run` is the number of elements of a segment
  /// that is contiguous in source and destination.
  void forEachMove(
      int64_t rank,
      llvm::function_ref<void(int64_t elements, int64_t run)> visit) const;

  static FailureOr<MessageTables> get(const ReshardPlan &plan,
                                      RankedTensorType from,
                                      RankedTensorType to,
                                      FailureReason refuse);
};

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_MESH_MESSAGETABLES_H
