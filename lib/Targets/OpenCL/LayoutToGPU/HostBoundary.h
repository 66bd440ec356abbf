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

/// Makes laid-out arguments and results of host functions plain tensors of
/// their storage. A public function that the module calls gets a private copy
/// for these calls.
LogicalResult exposeStorage(ModuleOp module);

/// Converts tensors of host functions, and of calls of external ones.
LogicalResult convertHostBoundary(ModuleOp module);

/// Converts tensor elements that the host accesses: tensors that it reads, e.g.
/// in conditions, are downloaded; those that it computes are uploaded.
LogicalResult convertHostElements(ModuleOp module);

/// Converts dense constants to device memory.
LogicalResult convertConstants(ModuleOp module);

/// Frees device memory after its last use if that is visible, else at the end
/// of the call from the host.
void insertDeallocations(ModuleOp module);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_HOSTBOUNDARY_H
