//===- LegalizeLinalg.h - Legalization for cores ----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The rewrites of npu-legalize-linalg. Law: every op computes the same values
// in the same order, with these exceptions:
//
//  * erf becomes a formula with an error below 1.5e-7;
//  * logarithms are those of upstream's expansion, and sines and powers those
//    of ComposeBodies.cpp;
//  * i64 values beyond 32 bits become f32 (SplitI64Arguments.cpp);
//  * exp of large numbers is not infinite (BoundArguments.cpp);
//  * sums over windows with long strides are sums of sums.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_LEGALIZE_LEGALIZELINALG_H
#define LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_LEGALIZE_LEGALIZELINALG_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::layout {

/// Erases cf.assert ops in bodies of linalg ops, with a warning that they are
/// not checked.
void dropAsserts(func::FuncOp function);

/// Splits a matmul with a constant, of whose result only disjoint slices are
/// used, into one matmul per slice, together with the ops between it and the
/// slices.
void splitMatmulsBySlices(func::FuncOp function);

/// If all users of the result of a linalg op or a reshape read the same slice,
/// computes only that slice.
void narrowToUsedSlices(func::FuncOp function);

/// Replaces scalars that are known at run time only by tensors of rank 0, and
/// the ops on them by ops on such tensors.
void promoteScalarsToTensors(func::FuncOp function);

/// Makes a tensor that a body reads by tensor.extract, at an index computed
/// from loops alone, an operand:
///
///   %j = linalg.index 0 : index
///   %h = arith.divui %j, %c2 : index
///   %e = tensor.extract %x[%h] : tensor<4xf32>
///
/// becomes operand %x with map (d0) -> (d0 floordiv 2). If the index is not an
/// affine expression but known for each iteration, e.g. by floats or by a
/// constant tensor, the operand is a concatenation of slices. Other values of a
/// body that depend on loops alone, e.g. the weights of a linear resize, become
/// constants.
void convertExtractsToOperands(func::FuncOp function);

/// Replaces tensor.extract of table rows that are selected by data by operands:
/// a product of a one-hot matrix with the table, or a selection among its rows.
void convertGathersToMatmuls(func::FuncOp function);

/// Adds the input `tensor`, indexed by `map`, to `op` and returns the block
/// argument of its element.
Value addOperand(linalg::GenericOp op, Value tensor, AffineMap map);

/// Folds tensor.extract of constants at constant indices.
void foldExtracts(func::FuncOp function);

/// Returns the slices of `source` at `indices` of `dim`, concatenated along it,
/// or a null value if `indices` is empty or consists of more than 256
/// arithmetic sequences.
Value gatherStaticIndices(OpBuilder &builder, Location loc, Value source,
                          unsigned dim, ArrayRef<int64_t> indices);

/// Returns a slice of `tensor`: `count` indices of `dim` from `first` on with
/// stride `step`.
Value takeRange(OpBuilder &builder, Location loc, Value tensor, unsigned dim,
                int64_t first, int64_t count, int64_t step = 1);

/// Returns the slice of `tensor` at `index` of `dim`, without that dim.
Value takeIndex(OpBuilder &builder, Location loc, Value tensor, unsigned dim,
                int64_t index);

/// Returns `tensor` with its dims permuted: dim d of the result is dim
/// `order[d]`.
Value transpose(OpBuilder &builder, Location loc, Value tensor,
                ArrayRef<int64_t> order);

/// Splits an op on 3-D windows into ops on 2-D windows, one for each index of
/// the first window dim and of the batch, if these are at most 64 ops.
void splitVolumes(func::FuncOp function);

/// Splits a sum, maximum or minimum over windows with a stride above 15, the
/// limit of the chip, into one over short windows and one over its results.
/// Windows are not changed if size and stride have no common factor of at most
/// 15 that leaves a stride of at most 15.
void splitLongWindows(func::FuncOp function);

/// Splits grouped f32 convolutions with several channels per group into one per
/// group. 1-D f32 convolutions become 2-D with one row, and convolutions
/// without channels get one channel.
void decomposeConvolutions(func::FuncOp function);

/// Splits convolutions with strides above 15 or dilations above 16 into sums of
/// convolutions with parts of the kernel, as TPU-KERNEL needs. The commands of
/// OKKernel have strides for the weights instead.
void splitConvolutionKernels(func::FuncOp function);

/// Fuses f32 comparisons into the ops that use their i1 results, which no
/// memory holds, and erases unused operands and results. Fails if the patterns
/// do not converge.
LogicalResult fuseComparisons(func::FuncOp function);

/// Replaces i1 tensors of a function by i8 tensors, and index tensors by i64
/// tensors. Bodies compute as before. i1 arguments and results get the attribute
/// npu.element. Does not change a function that has index arguments, an
/// unsupported op on such tensors, or callers and i1 arguments or results.
void legalizeElementTypes(func::FuncOp function);

/// Splits reductions that yield a largest or smallest element and its index
/// into one reduction for each.
void splitArgReductions(func::FuncOp function);

/// Computes results that are loop indices selected by a body, e.g. an argmax,
/// as f32, and converts them to integers afterwards.
void carryIndices(func::FuncOp function);

/// Returns the indices 0 to `count` - 1, with `count` at most 2^24, as f32.
Value makeIndices(OpBuilder &builder, Location loc, int64_t count);

/// Returns the f32 tensor that an elementwise op converts to `integers`, e.g.
/// the indices of an argmax. Returns a null value if `integers` are computed in
/// another way.
Value getFloatsOf(Value integers);

/// Splits i64 arguments that are used as f32, and i64 results that consist of
/// arguments and computed indices, into two 32-bit words per element.
void splitI64Arguments(func::FuncOp function);

/// Returns the integers of the f32 tensor `floats`, below 2^22, modulo 256 as
/// bytes in i32 words: four elements per word in row-major order, and zeros
/// behind the last one.
Value packBytes(OpBuilder &builder, Location loc, Value floats);

/// Rewrites an integer function whose values are provably exact as f32 to f32:
/// OKKernel has no 32-bit integer sums.
void carryIntegersInFloats(func::FuncOp function);

/// Clamps arguments of exp, tanh and sigmoid that may be outside of the range
/// in which the chip computes them right. Adds +0 to an argument of sqrt that
/// may be -0, of which the chip's root is wrong.
void boundArguments(func::FuncOp function);

/// Expands ops of bodies that have no OKKernel function, and clamps arguments
/// of exp, tanh and sigmoid. Then splits ops whose bodies need several OKKernel
/// functions into one op per function:
///
///   %s = arith.addf %x, %b           becomes an op that adds, and one that
///   %r = arith.maximumf %s, %zero    computes the maximum in place
void splitBodies(func::FuncOp function);

/// Lets minima and maxima over more than 3 elements start from the neutral
/// element, with the init combined afterwards, and rewrites such minima as
/// negated maxima of negated elements. Collapses several reduction loops to one
/// in products, in reductions with more than four loops, and in reductions of
/// all dims.
void rewriteReductions(func::FuncOp function);

/// Generalizes named f32 ops without reduction whose bodies have an op without
/// an OKKernel function.
void generalizeBodies(func::FuncOp function);

/// Expands powers with known exponents, logarithms and exp(x) - 1 in bodies of
/// linalg.generic with upstream's patterns. Fails if the patterns do not
/// converge.
LogicalResult expandMath(func::FuncOp function);

/// Expands ops without an OKKernel function, e.g. erf, i32 to f32 and some
/// comparisons, into ops that have one.
void composeBody(linalg::GenericOp op);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_LEGALIZE_LEGALIZELINALG_H
