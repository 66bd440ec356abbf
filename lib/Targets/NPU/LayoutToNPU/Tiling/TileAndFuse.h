//===- TileAndFuse.h - Tiling of ops for cores ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cores compute the parts of a result that they hold, so a result needs a dim
// that is spread over them. A result of rank 0 gets a dim of size 1:
//
//   %s = linalg.generic ins(%x : tensor<5xf32>) outs(%i : tensor<f32>)
//     %j = tensor.expand_shape %i [] output_shape [1]
//     %t = linalg.generic ins(%x : tensor<5xf32>) outs(%j : tensor<1xf32>)
//     %s = tensor.collapse_shape %t []
//
// Law: every op computes the same values in the same order, except for sums by
// cores.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_TILING_TILEANDFUSE_H
#define LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_TILING_TILEANDFUSE_H

#include "layout/Dialect/Layout/IR/Layout.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::layout {

/// Returns true if cores can execute the op once its tensors fit: it is no
/// fill, copy or transpose, is on tensors of static shapes, and no loop has 0
/// iterations.
bool isForCores(linalg::LinalgOp op);

/// Returns true if `tensor` is a tensor.empty, a fill or a splat constant. It
/// needs no transfer, as each user creates it.
bool isFresh(Value tensor);

/// The range of an index, `most` included.
struct IndexRange {
  int64_t least, most;
};

/// Returns a range that contains `expr` on the `extents` iterations of the
/// loops from `firsts` on. Returns std::nullopt if `expr` is not made of loops
/// and constants by sums, products with constants, and divisions and remainders
/// by positive constants.
std::optional<IndexRange> getIndexRange(AffineExpr expr,
                                        ArrayRef<int64_t> firsts,
                                        ArrayRef<int64_t> extents);

/// Creates a copy of `op` that runs the `extents` iterations of its loops from
/// `firsts` on, with slices of its operands. A fill that is read as init is
/// created in the size of the slice, and an init that is not read is a new
/// tensor. Fails if the op cannot be tiled.
FailureOr<linalg::LinalgOp> makeBox(OpBuilder &builder, linalg::LinalgOp op,
                                    ArrayRef<int64_t> firsts,
                                    ArrayRef<int64_t> extents);

/// Returns the target of a pass: `option`, or the `layout.target` of the module
/// if `option` is empty. Emits an error if it is not a `#layout.npu`.
FailureOr<NpuTargetAttr> getNpuTarget(ModuleOp module, StringRef option,
                                      StringRef pass);

/// Adds a dim of size 1 to the results of each op for cores whose results are
/// all of rank 0. It is spread over the cores.
void giveScalarsADim(func::FuncOp function);

/// Returns true if the OKKernel function of `op`, an op in a body, may write
/// its result over an operand.
bool mayOverwrite(Operation *op);

/// Returns the operand that the result of `op` may overwrite: an init that is
/// read, or an input of an elementwise op of one function. Only `op` uses it,
/// and cores compute it. Returns a null pointer if there is none.
OpOperand *findOverwritten(Operation *op);

/// Replaces the init of each elementwise op by the input that its result may
/// overwrite, if there is one, so that bufferization is in place.
void makeInPlace(func::FuncOp function);

/// Splits an f32 sum of each row of a matrix into sums over the columns of each
/// of `npus` cores, and one sum over the cores. Requires equally many columns
/// per core, at least 8; other sums are not changed.
void sumInTwoStages(func::FuncOp function, int64_t npus);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_TILING_TILEANDFUSE_H
