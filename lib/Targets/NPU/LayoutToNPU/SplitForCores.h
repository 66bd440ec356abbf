//===- SplitForCores.h - Ops as cores can do them ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Cores compute the parts of a result that they hold, so a result has a dim
// that is spread over them; one without dims gets one of size 1:
//
//   %s = linalg.generic ins(%x : tensor<5xf32>) outs(%i : tensor<f32>)
//     %j = tensor.expand_shape %i [] output_shape [1]
//     %t = linalg.generic ins(%x : tensor<5xf32>) outs(%j : tensor<1xf32>)
//     %s = tensor.collapse_shape %t []
//
// Law: every op computes the same numbers in the same order, but for sums by
// cores.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_SPLITFORCORES_H
#define LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_SPLITFORCORES_H

#include "layout/Dialect/Layout/IR/Layout.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir {
namespace layout {

/// Whether an op is one that cores can do once its tensors fit.
bool isForCores(linalg::LinalgOp op);

/// Whether a tensor is made where it is needed, of numbers of the program,
/// which no transfer brings.
bool isFresh(Value tensor);

/// The least and the greatest index.
struct IndexRange {
  int64_t least, most;
};

/// What an index becomes on iterations `firsts` to `firsts + extents` of the
/// loops; nothing where that is not known.
std::optional<IndexRange> getIndexRange(AffineExpr expr,
                                        ArrayRef<int64_t> firsts,
                                        ArrayRef<int64_t> extents);

/// The op on iterations `firsts` to `firsts + extents` of its loops, on slices
/// of its operands that are made before it. What is filled is filled for the
/// box, and what is not read there is fresh.
FailureOr<linalg::LinalgOp> makeBox(OpBuilder &builder, linalg::LinalgOp op,
                                    ArrayRef<int64_t> firsts,
                                    ArrayRef<int64_t> extents);

/// The target of a pass that is for cores alone, or an error.
FailureOr<NpuTargetAttr> getNpuTarget(ModuleOp module, StringRef option,
                                      StringRef pass);

/// Gives results of ops for cores that have no dims one of size 1.
void giveScalarsADim(func::FuncOp function);

/// Whether the op of a body may write where it reads: it has no work memory.
bool mayOverwrite(Operation *op);

/// The operand of an op of elements in whose place the result may be made; null
/// where there is none.
OpOperand *findOverwritten(Operation *op);

/// Such ops start from that operand.
void makeInPlace(func::FuncOp function);

/// Sums of f32 over rows of matrices become one over the columns of each core,
/// and one over cores.
void sumByCores(func::FuncOp function, int64_t npus);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_SPLITFORCORES_H
