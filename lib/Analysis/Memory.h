//===- Memory.h - What lies in one memory at each point ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The tensors that are alive at each point of a program, and what they take in
// the layouts of a choice. Constants are no part of it: Weights.h counts them.
//
//   %0 = A(%x)        %x, %0
//                     %x, %0, the copies of %0, and a buffer to convert it with
//   %1 = B(%0, %x)    %x, %0 in the layout that B reads, %1
//
// Laws:
//  * arguments of functions that nobody calls here are alive all the time. Any
//    other tensor is alive from its op to its last use, in a loop that it is
//    from outside of to the end of the loop; what control flow, calls and
//    returns forward to the end of its block;
//  * a view takes nothing, and what it is of is alive as long as the view is;
//    so is what a slice is of;
//  * a buffer takes kBufferAlignment bytes beside its elements;
//  * the copies of a tensor are made right behind it, while the largest of the
//    buffers of these conversions is alive. From there on a layout of a tensor
//    is alive to the last consumer that asks for it;
//  * at a point in a function that is called all is alive that is at the call;
//  * points of which another one has all are left out.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_ANALYSIS_MEMORY_H
#define LAYOUT_LIB_ANALYSIS_MEMORY_H

#include "layout/Analysis/Candidates.h"

namespace mlir {
namespace layout {

/// The copies of one tensor that are live at a program point. Consumers are
/// numbered as in the tensor's class.
struct HeldTensor {
  unsigned tensor;
  /// True if the tensor is live in the layout of its producer.
  bool isMade = false;
  /// The consumers whose requested layouts are live, in ascending order.
  SmallVector<unsigned, 2> askers;
  /// The consumers whose conversion buffers are live, in ascending order.
  SmallVector<unsigned, 2> movers;

  bool covers(const HeldTensor &other) const;
};

/// A program point with all tensors that are live there.
struct MemoryPoint {
  /// The op at which the tensors are live, or after which they are.
  Operation *op;
  /// The live tensors, sorted by number.
  SmallVector<HeldTensor, 0> held;
  /// The node and operand numbers of operands that read storage made for them
  /// alone, or that an op of the program converts.
  SmallVector<std::pair<unsigned, unsigned>, 0> fresh;

  bool covers(const MemoryPoint &other) const;
};

std::vector<MemoryPoint> findMemoryPoints(Operation *root,
                                          const Program &program);

/// Bytes of what is held, by configurations.
class MemoryModel {
public:
  MemoryModel(const Program &program, ArrayRef<Candidates> candidates,
              CostModel &costs)
      : program(program), candidates(candidates), costs(costs) {}

  /// As its producer makes it, 0 for a view.
  int64_t getMadeBytes(const TensorClass &tensor, unsigned producerConfig);
  /// Of what a consumer asks for, beside what is held as it is made.
  int64_t getAskedBytes(const TensorClass &tensor, bool isMade,
                        unsigned producerConfig, LayoutId layout);
  /// What converting to a layout takes meanwhile.
  int64_t getBufferBytes(const TensorClass &tensor, unsigned producerConfig,
                         LayoutId layout);
  /// Whether what is asked for is a matter of the producer, too.
  bool dependsOnProducer(const TensorClass &tensor, bool isMade) const;
  int64_t getFreshBytes(unsigned node, unsigned operand, unsigned config);

  int64_t getBytes(const MemoryPoint &point, ArrayRef<unsigned> choice);

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

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_ANALYSIS_MEMORY_H
