//===- PeakMemory.h - Live tensors at each program point --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Finds the tensors that are live at each point of a program, and their bytes
// in the layouts of a choice. Constants are counted by Weights.h instead.
//
//   %0 = A(%x)        %x, %0
//                     %x, %0, the copies of %0, and a buffer to convert it with
//   %1 = B(%0, %x)    %x, %0 in the layout that B reads, %1
//
// Laws:
//  * arguments of functions without callers are always live. Other tensors are
//    live from their op to the last use. A use inside a loop extends to the end
//    of the loop, and a use by control flow, a call or a return to the end of
//    the block;
//  * a view has no bytes, and extends the life of its source, as does a slice;
//  * a buffer has kBufferAlignment bytes in addition to its elements;
//  * the copies of a tensor are made directly after it, while the largest of
//    their conversion buffers is live. Each layout of a tensor is then live
//    until its last consumer;
//  * at a point in a called function, all tensors live at the call are live;
//  * points whose live tensors are a subset of another point's are omitted.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_ANALYSIS_MEMORY_PEAKMEMORY_H
#define LAYOUT_LIB_ANALYSIS_MEMORY_PEAKMEMORY_H

#include "layout/Analysis/Candidates.h"

namespace mlir::layout {

/// A tensor that is live at a program point, itself or by its copies. Consumers
/// are numbered as in the tensor's class.
struct LiveTensor {
  unsigned tensor;
  /// True if the tensor is live in the layout of its producer.
  bool isMade = false;
  /// The consumers whose requested layouts of the tensor are live, in ascending
  /// order.
  SmallVector<unsigned, 2> consumers;
  /// The consumers for which a conversion of the tensor is made here, so that
  /// its buffer is live, in ascending order.
  SmallVector<unsigned, 2> movers;

  bool covers(const LiveTensor &other) const;
};

/// A program point with all tensors that are live there.
struct LivenessPoint {
  /// The op at which the tensors are live, or directly after which they are;
  /// the point does not state which.
  Operation *op;
  /// The live tensors, sorted by number.
  SmallVector<LiveTensor, 0> live;
  /// Bytes that are live in addition, as pairs of a node and an operand number.
  /// For a layout.convert, they are the buffer of its conversion. For other
  /// nodes, they are an operand that is made for the node alone, e.g. by
  /// tensor.empty.
  SmallVector<std::pair<unsigned, unsigned>, 0> fresh;

  bool covers(const LivenessPoint &other) const;
};

std::vector<LivenessPoint> findLivenessPoints(Operation *root,
                                              const Program &program);

/// Computes the bytes of live tensors if the nodes have given configurations.
class MemoryModel {
public:
  MemoryModel(const Program &program, ArrayRef<Candidates> candidates,
              CostModel &costs)
      : program(program), candidates(candidates), costs(costs) {}

  /// Returns the bytes of a tensor in the layout of its producer, or 0 for a
  /// view that moves no element. Includes the alignment of its buffer if a node
  /// makes the tensor.
  int64_t getMadeBytes(const TensorClass &tensor, unsigned producerConfig);
  /// Returns the bytes that a consumer needs of the tensor in `layout`: those
  /// of a copy or, for a view that is made in this layout, of the view. Returns
  /// 0 if the tensor itself is live (`isMade`) in this layout.
  int64_t getRequestedBytes(const TensorClass &tensor, bool isMade,
                            unsigned producerConfig, LayoutId layout);
  /// Returns the scratch bytes of the conversion of a tensor to `layout`,
  /// excluding its source and destination, or 0 if it is made in this layout.
  int64_t getBufferBytes(const TensorClass &tensor, unsigned producerConfig,
                         LayoutId layout);
  /// Returns true if the bytes of a copy of the tensor depend on the
  /// configuration of its producer: the tensor itself is live (`isMade`), or it
  /// is a view of another one.
  bool dependsOnProducer(const TensorClass &tensor, bool isMade) const;
  int64_t getFreshBytes(unsigned node, unsigned operand, unsigned config);

  int64_t getBytes(const LivenessPoint &point, ArrayRef<unsigned> choice);

  LayoutId getMade(const TensorClass &tensor, unsigned producerConfig) const;

private:
  bool isView(const TensorClass &tensor) const {
    return tensor.producer && std::holds_alternative<ViewRule>(
                                  program.nodeClasses[*tensor.producer].rule);
  }

  const Program &program;
  ArrayRef<Candidates> candidates;
  CostModel &costs;
  llvm::DenseMap<std::pair<Type, std::pair<LayoutId, LayoutId>>, int64_t>
      buffers;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_ANALYSIS_MEMORY_PEAKMEMORY_H
