//===- OkkFunctionMatcher.h - OKKernel functions of linalg ops --*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matches the body of a linalg op to the OKKernel function that computes one
// point of it. Candidates, work memory and code emission all use this match.
//
//     %s = arith.addf %out, %in             add(out, out, in)
//     %s = arith.maximumf %in, %zero        relu(out, in)
//     %p = arith.mulf %a, %b
//     %s = arith.addf %out, %p              mac(out, a, b)
//     %e = math.exp %in                     exp(out, in, work)
//     %m = arith.maximumf %in, %least       greater_select(work, ..)
//     %e = math.exp %m                      exp(out, work, work)
//     %f = arith.sitofp %in : i8 to f32     int8_to_fp32(out, in, work)
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_IR_OKKFUNCTIONMATCHER_H
#define LAYOUT_DIALECT_NPU_IR_OKKFUNCTIONMATCHER_H

#include "layout/Dialect/Layout/IR/Layout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"

namespace mlir::npu {

/// An elementwise function of OKKernel and its arguments.
struct ElementFunction {
  /// The form of the parameter list of an OKKernel function.
  enum Kind {
    /// The parameters are (destination, sources .., [constant], shape, strides
    /// ..).
    Strided,
    /// The parameters are (destination, source, [work], shape), all in the
    /// aligned layout. `AlignedWithWork` has `work`, an address of scratch
    /// memory, into which other functions may clamp the source first.
    Aligned,
    AlignedWithWork,
    /// The parameters are (destination, i8 source, work, shape, is_signed,
    /// is_aligned_layout), all in the aligned or all in the compact layout.
    FromBytes,
    /// The parameters are (destination, two compared, two selected, shape), all
    /// in the aligned layout. Each compared or selected argument is an address
    /// or a constant.
    Select
  };
  /// An argument of the function: an operand of the op, or the bits of a
  /// constant.
  struct Argument {
    int operand = -1;
    uint32_t bits = 0;
    bool isWord = false;  // a constant that is passed as bits, not as a value
    bool isCount = false; // an integer constant

    bool isOperand() const { return operand >= 0; }
  };

  std::string name; // without the prefix okk_bdc_
  Kind kind = Strided;
  SmallVector<Argument, 4> arguments;
  bool isSigned = true; // the sign of i8 sources
  /// The functions that clamp the source before this function runs, one select
  /// per bound. They write work memory, which this function then reads.
  std::vector<ElementFunction> clamps;

  /// Returns true if a function without stride parameters also accepts operands
  /// that are all in the compact layout.
  bool mayBeCompact() const { return kind == FromBytes; }
  bool takesWork() const {
    return kind == AlignedWithWork || kind == FromBytes;
  }
  /// Returns the number of OKKernel functions that run for each element: this
  /// one and one per clamp.
  int64_t countFunctions() const { return 1 + int64_t(clamps.size()); }
};

/// A value in the body of a linalg op that arith.maximumf and arith.minimumf
/// clamp to constants.
struct ClampedValue {
  Value source;
  SmallVector<Operation *, 2> ops; // the first one reads `source`
};

/// Splits `value` into its source before clamping and the arith.maximumf and
/// arith.minimumf ops with constants that clamp it, at most one of each.
/// Returns `value` without ops if it is not clamped.
ClampedValue getClamped(Value value);

/// Returns the OKKernel function that the op computes at each point of its
/// loops, or std::nullopt if there is none.
std::optional<ElementFunction> getElementFunction(linalg::LinalgOp op);

/// Returns the OKKernel function that computes `value` from the arguments of
/// its block and constants, or std::nullopt if there is none. Argument i of the
/// block is operand i of the op.
std::optional<ElementFunction> getElementFunction(Value value);

/// Returns true if `select` is `a == b ? constant : 0` for i32 values, which
/// OKKernel compares bit by bit.
bool selectsByEqualWords(arith::SelectOp select);

/// Returns x if `div` is 1 / (1 + exp(-x)), or else a null value.
Value getSigmoidOf(arith::DivFOp div);

/// Returns true if the OKKernel function of the op needs scratch memory.
bool needsWork(linalg::LinalgOp op);

/// Returns true if `start` is the neutral element of the reduction that the op
/// computes: 0 for sums, -inf for max, +inf for min, or NaN for maxnumf and
/// minnumf.
bool startsFromNothing(linalg::LinalgOp op, const APFloat &start);

/// Returns the change of a linear `index` expression per iteration of `loop`.
int64_t getStep(AffineExpr index, unsigned numLoops, unsigned loop);

/// Returns the numbers of the two inputs whose product the op adds to its only
/// result, or std::nullopt if its body is not such a multiply-add.
std::optional<std::pair<unsigned, unsigned>> getFactors(linalg::LinalgOp op);
/// As above, of an op whose body is `function`.
std::optional<std::pair<unsigned, unsigned>>
getFactors(linalg::LinalgOp op, const ElementFunction &function);

/// Returns the loops of a matmul as batch, row, column and reduction loops.
/// Returns failure if the op is not a contraction, or has other loops, e.g.
/// those of a window.
FailureOr<linalg::ContractionDimensions> getProductDims(linalg::LinalgOp op);

/// Returns true if the op is a matmul of f32 tensors.
bool isProductOfMatrices(linalg::LinalgOp op);

/// Returns false if the OKKernel function of the op cannot accept an operand,
/// or write a result, in a `mode` of #layout.npu_scatter. Returns true if it
/// can, if the commands decide, e.g. of other types than f32, or if the op has
/// no such function. `isWeight` is set for the operand that holds the filter of
/// a convolution.
bool mayLieAs(linalg::LinalgOp op, layout::NpuMode mode, bool isWeight);

/// Returns true if the op is elementwise and its commands have separate strides
/// for each operand.
bool takesStrides(linalg::LinalgOp op);

/// Returns true if the op is one command in the aligned layout but needs one
/// command per reduction index in other layouts.
bool prefersAligned(linalg::LinalgOp op);

} // namespace mlir::npu

#endif // LAYOUT_DIALECT_NPU_IR_OKKFUNCTIONMATCHER_H
