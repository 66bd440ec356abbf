//===- Functions.h - OKKernel functions of linalg ops -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which function of OKKernel's computes one point of a linalg op, read off its
// body alone: what is offered as layouts, given as work memory and emitted asks
// this one question.
//
//     %s = arith.addf %out, %in             add(out, out, in)
//     %s = arith.maximumf %in, %zero        relu(out, in)
//     %p = arith.mulf %a, %b
//     %s = arith.addf %out, %p              mac(out, a, b)
//     %e = math.exp %in                     exp(out, in, work)
//     %f = arith.sitofp %in : i8 to f32     int8_to_fp32(out, in, work)
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_IR_FUNCTIONS_H
#define LAYOUT_DIALECT_NPU_IR_FUNCTIONS_H

#include "layout/Dialect/Layout/IR/Layout.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/IR/LinalgInterfaces.h"

namespace mlir {
namespace npu {

struct ElementFunction {
  enum Kind {
    /// (destination, sources .., [constant], shape, strides ..)
    Strided,
    /// (destination, source, [work], shape), all in the aligned layout.
    Aligned,
    AlignedWithWork,
    /// (destination, source of i8, work, shape, is_signed, is_aligned_layout),
    /// all aligned or all compact.
    FromBytes,
    /// (destination, two compared, two selected, shape), all aligned; each an
    /// address or a number.
    Select
  };
  /// One of what it computes with: an operand of the op, or the bits of a
  /// number.
  struct Argument {
    int operand = -1;
    uint32_t bits = 0;
    bool isWord = false;  // of a constant: its bits, not its value, are given
    bool isCount = false; // of a constant: an integer

    bool isOperand() const { return operand >= 0; }
  };

  std::string name; // without okk_bdc_
  Kind kind = Strided;
  SmallVector<Argument, 4> arguments;
  bool isSigned = true; // of bytes

  /// Whether operands may all be in the compact layout.
  bool mayBeCompact() const { return kind == FromBytes; }
  bool takesWork() const {
    return kind == AlignedWithWork || kind == FromBytes;
  }
};

/// What the op computes at each point of its loops; nothing where no function
/// of elements does that.
std::optional<ElementFunction> getElementFunction(linalg::LinalgOp op);

/// The same for the value that a body makes of its arguments and of numbers.
/// Argument i is operand i.
std::optional<ElementFunction> getElementFunction(Value value);

/// The x of 1 / (1 + exp(-x)), or null.
Value getSigmoidOf(arith::DivFOp div);

/// Whether the function that the op becomes takes work memory like its result.
bool needsWork(linalg::LinalgOp op);

/// Whether an op that reduces by its function has from this number on what it
/// would have from its first element on: nothing that is added, no extreme
/// value, or for maxnumf and minnumf no number.
bool startsFromNothing(linalg::LinalgOp op, const APFloat &start);

/// The loops of a product of matrices, of which each is a batch, a row, a
/// column or summed over.
FailureOr<linalg::ContractionDimensions> getProductDims(linalg::LinalgOp op);

/// Whether the op adds products of two tensors of f32 as those of matrices do.
bool isProductOfMatrices(linalg::LinalgOp op);

/// Whether the function that the op becomes takes tensors of this mode, as
/// weights of windows or as anything else.
bool mayLieAs(linalg::LinalgOp op, layout::NpuMode mode, bool isWeight);

/// Whether the op computes single elements, each once, by commands that step
/// through every operand by strides of its own.
bool takesStrides(linalg::LinalgOp op);

/// Whether the op is one command in the aligned layout, and in others one for
/// each index that is summed over.
bool prefersAligned(linalg::LinalgOp op);

} // namespace npu
} // namespace mlir

#endif // LAYOUT_DIALECT_NPU_IR_FUNCTIONS_H
