//===- ReshardPlan.h - Messages between two distributions -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Plans how to redistribute a tensor over the devices of a mesh: boxes of
// indices that devices send to each other. The two maps alone determine which
// device holds an index.
//
//   6x6xf32 from rows over [x = 2] to columns over [x = 2]
//     cells     rows 0..2 and 3..5 x columns 0..2 and 3..5, held by one device
//               before and needed by one after
//     copies    0: [0:3, 0:3]   1: [3:6, 3:6]     need no message
//     messages  0 -> 1: [0:3, 3:6]   1 -> 0: [3:6, 0:3]
//     bytes     72, the lower bound
//
// Laws:
//  * the copies and messages to a device cover its target block, every index
//    once. For partial sums, a device receives every part once;
//  * the bytes sent equal the lower bound: an index is sent only to devices
//    that do not hold it, and a reduction of p parts for t devices takes p+t-1
//    messages, one less if a device belongs to both groups;
//  * in a round a device sends at most one message and receives at most one, so
//    it stores at most two besides its blocks. Phases are ranges of rounds;
//  * in a step of a round a device either sends or receives. The messages of a
//    round form chains and rings of devices, along which steps alternate: a
//    single message takes one step, a swap two, and a ring of an odd number of
//    devices three.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_MESH_RESHARDPLAN_H
#define LAYOUT_TARGETS_MESH_RESHARDPLAN_H

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Support/FailureReason.h"

namespace mlir::layout {

/// A range of every dim, and its offsets in the local tensors of both devices,
/// i.e. the number of smaller indices of the dim that the device holds.
struct MessageBox {
  SmallVector<int64_t, 4> offsets, sizes, fromOffsets, toOffsets;

  int64_t getNumElements() const;
};

struct Message {
  static constexpr unsigned kMostSteps = 3;

  unsigned phase = 0;
  unsigned round = 0; // counted through all phases
  /// The step within the round: 0, 1 or 2. The messages of one step are sent
  /// concurrently: each device sends one, receives one, or does neither.
  unsigned step = 0;
  int64_t from = 0, to = 0;
  SmallVector<MessageBox, 1> boxes;

  int64_t getNumElements() const;
};

struct ReshardOptions {
  /// The limit of the bytes of messages that a device stores at a time beside
  /// its blocks, or std::nullopt if unlimited.
  std::optional<int64_t> maxExtraBytes;
  /// True to renumber the devices of the destination distribution so that the
  /// fewest bytes are sent.
  bool relabel = false;
};

struct ReshardPlan {
  /// The maximal size of a dim, whose table then has 512 MB. ReshardPlan::get
  /// fails for tensors with a longer dim.
  static constexpr int64_t kLongestDim = 1 << 26;

  int64_t numDevices = 0;
  int64_t elementBytes = 0;
  /// The reduction that combines the elements sent in phase 0 with those at
  /// their destination, or std::nullopt if they replace these. With a
  /// reduction, the destination is initialized with its neutral element.
  std::optional<Reduction> reduction;
  /// relabeling[t] is the device that holds block number t of the destination
  /// distribution. Empty if device t holds block t.
  SmallVector<int64_t> relabeling;
  /// The boxes that stay on their device. They are copied in phase 0.
  std::vector<Message> copies;
  /// The messages, sorted by phase and round. Phase 0 sends elements, or the
  /// summands of partial sums; phase 1 sends the sums to further devices. In a
  /// round, each device sends at most one message and receives at most one.
  std::vector<Message> messages;
  int64_t bytesSent = 0;
  /// A lower bound on the bytes that any plan sends in total.
  int64_t bytesBound = 0;
  unsigned numRounds = 0;
  /// The maximal number of bytes of the messages of one device in one round,
  /// sent plus received.
  int64_t peakExtraBytes = 0;

  /// Plans the messages from the distribution of one type to that of another
  /// type of the same shape. Fails with a reason if a type is dynamic, not on a
  /// mesh, or of elements without whole bytes, or if `to` has partial sums.
  /// Also fails if the numbers of devices differ, a coordinate of a mesh mixes
  /// dims, the plan is too large, or two elements exceed `maxExtraBytes`.
  static FailureOr<ReshardPlan> get(RankedTensorType from, RankedTensorType to,
                                    const ReshardOptions &options = {},
                                    FailureReason refuse = {});

  /// Returns the number of elements of the longest message.
  int64_t getMostElements() const;

  void print(raw_ostream &os) const;
};

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_MESH_RESHARDPLAN_H
