//===- HostBoundary.h - Transfers between host and device -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Public and external functions keep their ABI: plain tensors are host memrefs,
// which are uploaded to a buffer at the entry and downloaded at the return. A
// laid-out tensor crosses the boundary as the plain tensor of its storage.
//
//   func.func @main(%x: tensor<2x3xf32>) { use(%x) }
// becomes
//   func.func @main(%x: memref<2x3xf32>) {
//     %d = gpu.alloc () : memref<6xf32, "buffer">
//     gpu.memcpy %d, collapse(%x)
//     use(%d)
//   }
//
// Constants are packed at compile time and uploaded once.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_HOSTBOUNDARY_H
#define LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_HOSTBOUNDARY_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir::layout {

/// Changes laid-out arguments and results of public functions to plain tensors
/// of their storage. A public function that the module calls gets a private
/// copy for these calls. Emits an error and fails if the types or the name of a
/// function are not supported.
LogicalResult exposeStorage(ModuleOp module);

/// Changes the tensors in the signatures of public and of declared functions,
/// and in calls of the latter, to host memrefs with uploads and downloads.
/// Emits an error and fails if the device cannot store a tensor.
LogicalResult convertHostBoundary(ModuleOp module);

/// Lowers tensor.extract and tensor.from_elements of host code: a tensor whose
/// elements the host reads, e.g. in a condition, is downloaded; one that the
/// host computes is uploaded. Emits an error and fails if the device cannot
/// store the tensor.
LogicalResult convertHostElements(ModuleOp module);

/// Lowers dense constant tensors, except splats and empty ones, to gpu.alloc
/// ops with a constant memref.global in memory order. Emits an error and fails
/// if the device cannot store a constant.
LogicalResult convertConstants(ModuleOp module);

/// Inserts a gpu.dealloc after the last use of each gpu.alloc, except those of
/// constants. If an alias may hide the last use, a scope of the runtime frees
/// the memory before the public function returns.
void insertDeallocations(ModuleOp module);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_HOSTBOUNDARY_H
