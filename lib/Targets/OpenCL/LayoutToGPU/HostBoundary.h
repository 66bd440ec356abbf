//===- HostBoundary.h - Between host memory and the device ------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Functions that others may call, and functions that are only declared, keep
// their ABI: plain tensors are memrefs of the host, which are copied to a
// buffer where they come in, and from one where they leave. A laid-out tensor
// crosses as the plain tensor of its storage.
//
//   func.func @main(%x: tensor<2x3xf32>)      func.func @main(%x:
//   memref<2x3xf32>)
//     use(%x)                             =>     %d = gpu.alloc () :
//     memref<6xf32, "buffer">
//                                                gpu.memcpy %d, collapse(%x)
//                                                use(%d)
//
// Constants are packed for the device at compile time, and get there once.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_HOSTBOUNDARY_H
#define LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_HOSTBOUNDARY_H

#include "mlir/IR/BuiltinOps.h"

namespace mlir {
namespace layout {

/// Laid-out arguments and results of functions with a host ABI become plain
/// tensors of their storage; what is both public and called inside gets a
/// private copy for the calls.
LogicalResult exposeStorage(ModuleOp module);

/// Gives functions with a host ABI their memrefs, and calls of declared ones
/// theirs.
LogicalResult convertHostBoundary(ModuleOp module);

/// Elements that the host reads one by one, in conditions of loops and
/// branches: their tensors are copied back. Those that it computes, such as
/// sizes, are copied to the device.
LogicalResult convertHostElements(ModuleOp module);

/// Dense constants on the device.
LogicalResult convertConstants(ModuleOp module);

/// Frees device memory after its last use where that is in sight, and at the
/// end of the host's call where it is not.
void insertDeallocations(ModuleOp module);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_HOSTBOUNDARY_H
