//===- IndexMaximum.h - The largest index of a linalg op --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes the largest value, as an unsigned integer, that an index in the body
// of a linalg op has, by a separate reduction:
//
//     ^bb0(%id: i32, %o: f32):                      %most = linalg.generic
//       %i = arith.index_cast %id : i32 to index     ins(%ids) outs(%zero) {
//       %j = linalg.index 1 : index             =>  ^bb0(%id: i32, %m: i32):
//       %v = tensor.extract %table[%i, %j]            %l = arith.maxui %id, %m
//
// Its loops are only those that the index depends on, here not the loop of %j.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_EMITTERS_INDEXMAXIMUM_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_EMITTERS_INDEXMAXIMUM_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::layout {

struct IndexMaximum {
  /// The maximum as an unsigned i64, or 0 if no iteration executes the access.
  /// If `isNever`, it is null.
  Value index;
  /// The dynamic extents of loops of the reduction, which may be 0.
  SmallVector<Value> extents;
  /// True if a loop of the reduction is known to have no iteration. The
  /// reduction is not emitted then.
  bool isNever = false;
};

/// Emits the maximum of `index`, as an unsigned integer, over the executions of
/// `user`, which is in the body of `op` or in branches of scf.if there. Returns
/// std::nullopt if the index, or a condition of these branches, is not computed
/// by pure ops of the body.
std::optional<IndexMaximum> computeIndexMaximum(OpBuilder &builder,
                                                linalg::LinalgOp op,
                                                Value index, Operation *user);

/// Emits a condition that is true if `index` may be outside of 0 .. `size` - 1
/// at some execution of `user`, and false only if it never is. It costs a
/// subtraction and two bit operations per iteration, less than the maximum of
/// i64. Returns std::nullopt if computeIndexMaximum does, if the index is
/// zero-extended, or if a loop is known to have no iteration.
std::optional<Value> filterIndices(OpBuilder &builder, linalg::LinalgOp op,
                                   Value index, Operation *user, int64_t size);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_EMITTERS_INDEXMAXIMUM_H
