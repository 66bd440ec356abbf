//===- IndexMaximum.h - The largest index of a linalg op --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The largest value that an index in the body of a linalg op takes, as an
// unsigned number, computed by a reduction of its own:
//
//     ^bb0(%id: i32, %o: f32):                      %most = linalg.generic
//       %i = arith.index_cast %id : i32 to index     ins(%ids) outs(%zero) {
//       %j = linalg.index 1 : index             =>  ^bb0(%id: i32, %m: i32):
//       %v = tensor.extract %table[%i, %j]            %l = arith.maxui %id, %m
//
// Its loops are those alone that the index depends on, here not that of %j.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_INDEXMAXIMUM_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_INDEXMAXIMUM_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir {
namespace layout {

struct IndexMaximum {
  /// The maximum as an i64, or 0 if the body is not reached.
  Value index;
  /// The extents of those loops of the reduction that may have no iteration.
  SmallVector<Value> extents;
  /// A loop of the reduction has no iteration, and nothing was emitted.
  bool isNever = false;
};

/// Emits the maximum of `index`, as it is where `user` runs in the body of `op`
/// or in branches of scf.if there. Returns std::nullopt if the index is not
/// computed by pure ops of the body alone.
std::optional<IndexMaximum> computeIndexMaximum(OpBuilder &builder,
                                                linalg::LinalgOp op,
                                                Value index, Operation *user);

/// Emits whether any such index may be outside of 0 .. `size` - 1, false if
/// none is. A step of that is three operations on bits, where a maximum of i64
/// waits for a comparison and a selection. Returns std::nullopt if it is not
/// cheaper, or there is no index.
std::optional<Value> filterIndices(OpBuilder &builder, linalg::LinalgOp op,
                                   Value index, Operation *user, int64_t size);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_INDEXMAXIMUM_H
