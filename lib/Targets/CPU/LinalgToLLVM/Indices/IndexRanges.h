//===- IndexRanges.h - Indices that data may take out of range --*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Proves that indices of tensors are in range. Upstream's analysis of integer
// ranges covers scalars. Here, the range of a tensor is the range of all its
// elements, so that
//
//     %c = linalg.generic .. ins(%ids)      // yields max(min(%id, 9), 0)
//     %r = linalg.generic .. ins(%c)        // reads a row of tensor<10x4xf32>
//
// needs no check, and neither does an index from a constant tensor.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_INDICES_INDEXRANGES_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_INDICES_INDEXRANGES_H

#include "mlir/Analysis/DataFlowFramework.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"

namespace mlir::layout {

/// Returns true if `value` depends on elements of tensors, on a scalar argument
/// of a function, or on an op with side effects or an unsupported region. Sizes
/// of tensors are not data, and neither are loop indices if the bounds are not.
/// Conditions of selects and of scf.if are ignored.
bool dependsOnData(Value value);

/// Determines which indices are in range, from the ranges of all integers
/// nested in an op. The ranges are those at construction, so later changes of
/// the IR are ignored.
class IndexRanges {
public:
  /// Analyzes all ops below `root`.
  explicit IndexRanges(Operation *root);

  /// Returns true if 0 <= `index` + d < size of `dim` of `tensor` is proven for
  /// every d from 0 to `last`.
  bool isInRange(Value index, int64_t last, Value tensor, unsigned dim) const;

private:
  std::optional<ConstantIntRanges> getRange(Value value) const;
  bool isBelowSize(Value index, Value tensor, unsigned dim) const;

  DataFlowSolver solver;
  bool isAnalyzed;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_INDICES_INDEXRANGES_H
