//===- PrepareForCores.h - Programs in what cores can hold ------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of layout-prepare-for-cores. Law: every op computes the same
// numbers in the same order, but for erf, which becomes a formula within
// 1.5e-7, logarithms and powers, which become upstream's, and i64 beyond 32
// bits as f32 (WideArguments.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_PREPAREFORCORES_H
#define LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_PREPAREFORCORES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir {
namespace layout {

/// What a body asserts is not checked, and a warning says so.
void dropAsserts(func::FuncOp function);

/// A product of matrices with a constant, of whose result only parts are used,
/// becomes one for each part, and so do the ops in between.
void sliceProducts(func::FuncOp function);

/// Of a tensor of which all users take one part, only that is computed.
void computeUsedParts(func::FuncOp function);

/// Numbers that are known at run time only become tensors without dims, and
/// what is made of them ops on such tensors.
void carryNumbersInTensors(func::FuncOp function);

/// A tensor that a body reads at an index that is computed from the loops alone
/// becomes an operand:
///
///   %j = linalg.index 0 : index
///   %h = arith.divui %j, %c2 : index
///   %e = tensor.extract %x[%h] : tensor<4xf32>
///
/// is an operand %x of the map (d0) -> (d0 floordiv 2). Where the index is no
/// such expression but known of each iteration, as by floats or by a constant
/// tensor, the operand is put together of slices. What else a body computes of
/// its loops alone, as the weights of a linear resize, becomes a constant.
void readByLoops(func::FuncOp function);

/// What a body reads at a row that an element names becomes an operand, which
/// is a product of the table or chosen of its rows.
void readByData(func::FuncOp function);

/// The element of each iteration of one more input of the op.
Value addOperand(linalg::GenericOp op, Value tensor, AffineMap map);

/// An element that is read of a constant is one.
void foldExtracts(func::FuncOp function);

/// Of each of `indices`, that slice of `source` along `dim`, as one tensor;
/// null where that takes too many pieces.
Value takeAlong(OpBuilder &builder, Location loc, Value source, unsigned dim,
                ArrayRef<int64_t> indices);

/// `count` indices of `dim` from `first` on, each `step` from the last.
Value takeRange(OpBuilder &builder, Location loc, Value tensor, unsigned dim,
                int64_t first, int64_t count, int64_t step = 1);

/// One index of `dim`, without that dim.
Value takeIndex(OpBuilder &builder, Location loc, Value tensor, unsigned dim,
                int64_t index);

/// `tensor` with its dims in this order.
Value transpose(OpBuilder &builder, Location loc, Value tensor,
                ArrayRef<int64_t> order);

/// An op on windows of three dims becomes one on windows of two for each index
/// of the first dim of the window.
void splitVolumes(func::FuncOp function);

/// A convolution of groups becomes one for each group, one along a line one of
/// images of one row, and one without channels one of one channel.
void splitGroups(func::FuncOp function);

/// Comparisons go where they are used, as no memory holds bits, and what no op
/// uses goes.
LogicalResult fuseComparisons(func::FuncOp function);

/// Inside of a function, tensors of bits become tensors of i8, and those of
/// indices become tensors of i64; bodies compute as they did.
void storeInWholeBytes(func::FuncOp function);

/// An index of a loop that a body chooses is carried as f32, of which integers
/// are made.
void carryIndices(func::FuncOp function);

/// The indices of a dim of `count`, at most 2^24, as f32.
Value makeIndices(OpBuilder &builder, Location loc, int64_t count);

/// What such integers are made of; null for other tensors.
Value getFloatsOf(Value integers);

/// Arguments of i64 that are used as f32, and results that are put together of
/// arguments and such integers, become two words for each element.
void splitWideArguments(func::FuncOp function);

/// A function of integers that are proven to be exact as f32 computes with
/// those: OKKernel has no sums of 32-bit integers.
void carryIntegersInFloats(func::FuncOp function);

/// Ops whose bodies take several functions of OKKernel's become one op for
/// each:
///
///   %s = arith.addf %x, %b           becomes one op that adds, and one that
///   %r = arith.maximumf %s, %zero    makes the maximum in its place
///
/// after composeBody.
void splitBodies(func::FuncOp function);

/// Minima over many elements become negated maxima of negated ones, and
/// reductions of several dims of a large tensor those of one.
void rewriteReductions(func::FuncOp function);

/// A named op of elements whose body has no function becomes a linalg.generic.
void generalizeBodies(func::FuncOp function);

/// Writes powers of known exponents and logarithms as upstream's arithmetic.
LogicalResult expandMath(func::FuncOp function);

/// Writes what has no function, as erf, i32 to f32 and some comparisons, by
/// formulas of ops that have one.
void composeBody(linalg::GenericOp op);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_PREPAREFORCORES_H
