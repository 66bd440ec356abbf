//===- Layers.h - Functions of whole layers ---------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matches convolutions, pools and matmuls by the structure of an op, not by its
// name. A function of OKKernel has four loops N, C, H and W per operand. The
// emitters assign the op's loops, or the dims of an operand, to these places:
//
//     linalg.conv_2d_nchw_fchw, loops (n, o, h, w, i, kh, kw)
//       result:  N = n, C = o, H = h, W = w
//       input:   N, C, H, W = dims 0, 1, 2, 3
//       weights: N = i / 2 (pairs of 2IC-mode), C = o, H = kh, W = kw
//
// The maps of the operands then decide whether the function supports them.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_LAYERS_H
#define LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_LAYERS_H

#include "layout/Dialect/NPU/Utils/Commands.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::npu {

/// Assigns the loops of a linalg op to N, C, H and W of an OKKernel command,
/// each by an expression of these four; loops that are not assigned have index
/// 0.
class LoopPlaces {
public:
  LoopPlaces(linalg::LinalgOp op)
      : op(op),
        exprs(op.getNumLoops(), getAffineConstantExpr(0, op.getContext())) {}

  void set(unsigned loop, AffineExpr expr) { exprs[loop] = expr; }
  void set(unsigned loop, unsigned place) {
    set(loop, getAffineDimExpr(place, op.getContext()));
  }

  /// Returns the map from N, C, H and W of the command to the dims of
  /// `operand`.
  AffineMap getIndex(OpOperand &operand) {
    return op.getMatchingIndexingMap(&operand).replaceDimsAndSymbols(exprs, {},
                                                                     4, 0);
  }

private:
  linalg::LinalgOp op;
  SmallVector<AffineExpr> exprs;
};

/// The window of a convolution or pool: sizes, strides and dilations along H
/// and W.
struct WindowDims {
  int64_t kernel[2] = {1, 1}, stride[2] = {1, 1}, dilation[2] = {1, 1};

  /// Returns the number of input indices along H (d = 0) or W (d = 1) from the
  /// first to the last one that `outputs` adjacent windows read.
  int64_t getReach(int d, int64_t outputs) const {
    return (outputs - 1) * stride[d] + (kernel[d] - 1) * dilation[d] + 1;
  }
};

} // namespace mlir::npu

#endif // LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_LAYERS_H
