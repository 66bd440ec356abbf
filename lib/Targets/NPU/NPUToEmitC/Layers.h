//===- Layers.h - What functions of whole layers ask of an op ---*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Convolutions, pools and products of matrices are found by the structure of an
// op, whatever its name. A function of OKKernel's walks four loops N, C, H and
// W of each operand; which of the op's loops, or which dim of the operand, is
// in which of these places is what the emitters decide:
//
//     linalg.conv_2d_nchw_fchw, loops (n, o, h, w, i, kh, kw)
//       result:  N = n, C = o, H = h, W = w
//       input:   N, C, H, W = dims 0, 1, 2, 3
//       weights: N = i / 2 (pairs of 2IC-mode), C = o, H = kh, W = kw
//
// That operands lie as the function takes them is then asked of their maps.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_LAYERS_H
#define LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_LAYERS_H

#include "layout/Dialect/NPU/Utils/Commands.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir {
namespace npu {

/// Four loops N, C, H and W, or a constant index, in the place of a loop.
class LoopPlaces {
public:
  LoopPlaces(linalg::LinalgOp op)
      : op(op),
        exprs(op.getNumLoops(), getAffineConstantExpr(0, op.getContext())) {}

  void set(unsigned loop, AffineExpr expr) { exprs[loop] = expr; }
  void set(unsigned loop, unsigned place) {
    set(loop, getAffineDimExpr(place, op.getContext()));
  }

  /// From the places to the dims of the operand that the op's map leads to.
  AffineMap getIndex(OpOperand &operand) {
    return op.getMatchingIndexingMap(&operand).replaceDimsAndSymbols(exprs, {},
                                                                     4, 0);
  }

private:
  linalg::LinalgOp op;
  SmallVector<AffineExpr> exprs;
};

/// What a window does along H and W.
struct WindowDims {
  int64_t kernel[2] = {1, 1}, stride[2] = {1, 1}, dilation[2] = {1, 1};

  /// The extent of input that `outputs` positions read.
  int64_t getReach(int d, int64_t outputs) const {
    return (outputs - 1) * stride[d] + (kernel[d] - 1) * dilation[d] + 1;
  }
};

/// By how much an index moves with one iteration of a loop.
int64_t getStep(AffineExpr index, unsigned numLoops, unsigned loop);

/// The operands whose product is added to the only result: numbers of both.
std::optional<std::pair<unsigned, unsigned>> getFactors(linalg::LinalgOp op);

} // namespace npu
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_LAYERS_H
