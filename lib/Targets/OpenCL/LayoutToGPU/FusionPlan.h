//===- FusionPlan.h - Which tensors never reach memory ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel computes one tensor, and with it every tensor that only this one
// reads and that costs no more when it is computed where it is read:
//
//   %p = tensor.pad %x         Move: read elsewhere, under a condition
//   %c = linalg.conv %p, %w    Reduction: the loops of the kernel
//   %b = linalg.add %c, %bias  Pointwise
//   %r = linalg.max %b, %zero  Pointwise: the one that is stored
//
// Laws:
//  * what computes is computed once for each element: a pointwise tensor is
//    inlined only where its one reader asks for each element once, a reduction
//    only into pointwise readers of the same layout, up to the one that is
//    stored, one in each kernel;
//  * what only moves is inlined wherever it is read, however often;
//  * no more than 64 tensors in a row are inlined;
//  * results of layout.convert are stored: the assignment wants them in memory.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_FUSIONPLAN_H
#define LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_FUSIONPLAN_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir {
namespace layout {

/// What a kernel does for an element of an op's results.
enum class ComputeKind {
  /// The op is none that a kernel computes.
  None,
  /// One element of an operand, or a constant.
  Move,
  /// One element each of several operands, by position: concat, insert_slice.
  Choose,
  /// A function of one element each of the operands.
  Pointwise,
  /// Loops.
  Reduction
};

ComputeKind getComputeKind(Operation *op);

class FusionPlan {
public:
  explicit FusionPlan(Operation *root);

  /// Whether readers of `tensor` compute it where they read it.
  bool isInlined(Value tensor) const { return inlined.contains(tensor); }

  /// Whether `tensor`, the result of a computing op, has to be in memory.
  bool isStored(Value tensor) const { return stored.contains(tensor); }

private:
  void decide(Value tensor, ComputeKind kind);

  DenseSet<Value> inlined, stored;
  /// Inlined tensors whose elements may be asked for more than once.
  DenseSet<Value> repeated;
  /// Inlined tensors whose kernel stores what it makes of them in another
  /// layout.
  DenseSet<Value> relaid;
  /// How many inlined tensors lie between one and what is stored.
  DenseMap<Value, unsigned> depths;
  /// Kernels, by the tensor that they store, that have their reduction.
  DenseMap<Value, Value> kernelOf;
  DenseSet<Value> reducing;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_FUSIONPLAN_H
