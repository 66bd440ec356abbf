//===- ReshardPlan.h - Messages between two distributions -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How a tensor goes from one distribution over the devices of a mesh to another
// one: boxes of indices that devices send to each other. The device that holds
// an index is what the two maps say, nothing else.
//
//   6x6xf32 from rows over [x = 2] to columns over [x = 2]
//     cells     rows 0..2 and 3..5 x columns 0..2 and 3..5, held by one device
//               before and needed by one after
//     copies    0: [0:3, 0:3]   1: [3:6, 3:6]     need no message
//     messages  0 -> 1: [0:3, 3:6]   1 -> 0: [3:6, 0:3]
//     bytes     72, the lower bound
//
// Laws:
//  * copies and messages of a device are its block of the target, every index
//    once, but for partial sums, of which a device gets every part once;
//  * what is sent is the lower bound: an index is sent to a device only where
//    that does not hold it, and a reduction of p parts for t devices takes
//    p + t - 1 messages, one less where a device of the two groups is the same;
//  * in a round a device sends one message and receives one, so that it needs
//    room for two beside its blocks; phases are rounds after each other;
//  * in a turn of a round a device does one of the two. A round is chains and
//    rings of devices, along which every second message goes in one turn: a
//    message alone takes one turn, a swap two, and a ring of an odd number of
//    devices three.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_RESHARDPLAN_H
#define LAYOUT_ANALYSIS_RESHARDPLAN_H

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Support/Refusal.h"

namespace mlir {
namespace layout {

/// A range of every dim, and where it begins in the local tensors of the two
/// devices: the indices of the dim below it that the device holds.
struct MessageBox {
  SmallVector<int64_t, 4> offsets, sizes, fromOffsets, toOffsets;

  int64_t getNumElements() const;
};

struct Message {
  static constexpr unsigned kMostTurns = 3;

  unsigned phase = 0;
  unsigned round = 0; // counted through all phases
  /// Counted in the round. Turns come after each other; the messages of one go
  /// at the same time, as no device sends or receives two of them.
  unsigned turn = 0;
  int64_t from = 0, to = 0;
  SmallVector<MessageBox, 1> boxes;

  int64_t getNumElements() const;
};

struct ReshardOptions {
  /// The most bytes of messages that a device holds at once; none: any number.
  std::optional<int64_t> maxExtraBytes;
  /// Choose which device stands for which number of the target, so that the
  /// fewest bytes are sent.
  bool relabel = false;
};

struct ReshardPlan {
  /// A longer dim would take a table of more than half a gigabyte.
  static constexpr int64_t kLongestDim = 1 << 26;

  int64_t numDevices = 0;
  int64_t elementBytes = 0;
  /// How the elements of messages and copies of phase 0 are combined with what
  /// the target holds, which is the neutral element at first; nothing where
  /// they replace it.
  std::optional<Reduction> reduction;
  /// relabeling[t] is the device that has the block of number t of the target;
  /// empty where that is t.
  SmallVector<int64_t> relabeling;
  /// What stays on its device, in phase 0.
  std::vector<Message> copies;
  /// By phase and round.
  std::vector<Message> messages;
  int64_t bytesSent = 0;
  /// The fewest bytes that any plan sends.
  int64_t bytesBound = 0;
  unsigned numRounds = 0;
  /// The most that a device holds of messages in one round.
  int64_t peakExtraBytes = 0;

  /// The messages from the distribution of one type to that of another one of
  /// the same shape. Refused where a map spreads over no devices, or over other
  /// ones than the other map, and where no boxes are found.
  static FailureOr<ReshardPlan> get(RankedTensorType from, RankedTensorType to,
                                    const ReshardOptions &options = {},
                                    Refusal refuse = {});

  /// Of the longest message.
  int64_t getMostElements() const;

  void print(raw_ostream &os) const;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ANALYSIS_RESHARDPLAN_H
