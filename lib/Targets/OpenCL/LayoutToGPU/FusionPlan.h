//===- FusionPlan.h - Choose the tensors to inline --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel computes one stored tensor, and inlines each tensor that only its
// reader needs and that costs no more when it is computed there:
//
//   %p = tensor.pad %x         Move: read elsewhere, under a condition
//   %c = linalg.conv %p, %w    Reduction: the loops of the kernel
//   %b = linalg.add %c, %bias  Pointwise
//   %r = linalg.max %b, %zero  Pointwise: the one that is stored
//
// Laws:
//  * each element is computed once: a pointwise tensor is inlined only if its
//    single reader reads each element once, a reduction only into pointwise
//    readers of the same layout, and only one per kernel;
//  * ops that only move elements are inlined into all readers;
//  * at most 64 tensors in a chain are inlined;
//  * results of layout.convert are stored, as the assignment requires.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_FUSIONPLAN_H
#define LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_FUSIONPLAN_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::layout {

/// The kind of computation that produces one element of an op's results.
enum class ComputeKind {
  /// Kernels cannot compute the op.
  None,
  /// Reads one element of an operand, or a constant.
  Move,
  /// Chooses an operand by position: concat, insert_slice.
  Choose,
  /// Computes a function of one element of each operand.
  Pointwise,
  /// Runs the reduction loops of a linalg op.
  Reduction
};

ComputeKind getComputeKind(Operation *op);

class FusionPlan {
public:
  explicit FusionPlan(Operation *root);

  /// Returns true if kernels that read `tensor` compute its elements instead of
  /// loading them from memory.
  bool isInlined(Value tensor) const { return inlined.contains(tensor); }

  /// Returns true if a kernel must store `tensor` in device memory. False for
  /// tensors of ops that kernels cannot compute.
  bool isStored(Value tensor) const { return stored.contains(tensor); }

private:
  void decide(Value tensor, ComputeKind kind);

  DenseSet<Value> inlined, stored;
  /// Inlined tensors of which a kernel may compute an element more than once.
  DenseSet<Value> repeated;
  /// Inlined tensors that reach the stored tensor of their kernel through a
  /// pointwise op whose result has another layout than its operand. Kernels do
  /// not inline a reduction that such a tensor reads.
  DenseSet<Value> relaid;
  /// Maps a tensor to the length of the longest chain of inlined tensors that
  /// are computed from it, one from another; 0 if no op that reads it has an
  /// inlined result.
  DenseMap<Value, unsigned> depths;
  /// Maps tensors to the stored tensor of their kernel; `reducing` holds the
  /// stored tensors whose kernels have a reduction.
  DenseMap<Value, Value> kernelOf;
  DenseSet<Value> reducing;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_FUSIONPLAN_H
