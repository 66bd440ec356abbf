//===- DenseKernels.h - Ops as C++ on dense images --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lowers any linalg op to a C++ function on dense images of its operands, by
// upstream's lowerings to generic, loops and emitc. Ops with the same structure
// share one function:
//
//     linalg.negf on 2x3xf32   static void layout_kernel_0(float v1[2][3],
//                                                          float v2[2][3])
//
// Laws:
//  * results are those of the op's loops: a parallel loop may become the
//    innermost one, and reductions keep their order;
//  * the function's parameters are the images of the operands that it accesses,
//    row-major; rank-0 operands have one dim.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_DENSEKERNELS_H
#define LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_DENSEKERNELS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/BuiltinOps.h"
#include <memory>
#include <string>

namespace mlir::npu {

class DenseKernels {
public:
  explicit DenseKernels(ModuleOp module) : module(module) {}
  ~DenseKernels();

  struct Kernel {
    std::string name;
    /// The numbers of the op's operands of which the function gets dense
    /// row-major copies, in the order of its parameters.
    SmallVector<unsigned> parameters;
  };
  /// Returns the function that computes `op` on dense row-major copies of its
  /// memrefs, the same one for ops of equal structure. Fails with an error at
  /// the op if C++ lacks an element type, or if the body uses a value from
  /// outside that is not a constant.
  FailureOr<const Kernel *> get(linalg::LinalgOp op);

  bool isEmpty() const { return !functions; }
  /// Lowers all functions that `get` has created to emitc, and moves them to
  /// the module of `anchor`, before it. Fails if an op has no lowering.
  LogicalResult emit(Operation *anchor);

private:
  ModuleOp module;
  OwningOpRef<ModuleOp> functions;
  llvm::StringMap<std::unique_ptr<Kernel>>
      kernels;       // by text of the op on images
  unsigned next = 0; // number of the next name, layout_kernel_<next>
};

/// Removes memref.load ops of the lowered loops whose results have no use.
/// Fails if the rewriting does not converge.
LogicalResult removeDeadReads(ModuleOp functions);

/// Lowers functions of scf, affine, arith, math and memref ops to emitc. Fails
/// if an op or a type has no conversion.
LogicalResult lowerKernelsToEmitC(ModuleOp functions);

} // namespace mlir::npu

#endif // LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_DENSEKERNELS_H
