//===- Kernels.h - One kernel for each tensor in memory ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel has one work item for each pixel of an image, for some neighbors
// along the fastest axis of a coordinate (ImageReads.h), or for each element of
// a buffer; or a group of items for each, where few would have long sums. The
// position gives the logical index by the inverse of the map, and the element
// emitter the element at that index:
//
//   image2d, x = [c / 4, w], y = [n, h]
//     item (x, y) -> axes c1 = x / W, w = x mod W, n = y / H, h = y mod H
//                 -> index (n, 4 * c1 + lane, h, w) -> a vector of four ->
//                 store
//
// Padding is written like everything else: with what the type states, or with
// whatever the op gives there.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_KERNELS_H
#define LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_KERNELS_H

#include "ElementEmitter.h"
#include "layout/Targets/OpenCL/ImageReads.h"

namespace mlir {
namespace layout {

/// Emits kernels into one gpu.module and launches beside the ops.
class KernelEmitter {
public:
  /// Names of kernels end with `suffix`.
  KernelEmitter(gpu::GPUModuleOp module, const FusionPlan &plan,
                OpenClTargetAttr target, StringRef suffix = "")
      : module(module), plan(plan), limits(target), suffix(suffix) {}

  /// Puts `tensor`, a result of a computing op, into device memory and
  /// replaces it. What is refused may be partly emitted.
  LogicalResult store(OpResult tensor, Refusal refuse);

private:
  bool storeAsAlias(OpBuilder &b, OpResult tensor,
                    const TensorStorage &storage);
  std::string makeName(Operation *op);
  gpu::GPUFuncOp findEqual(gpu::GPUFuncOp func);

  gpu::GPUModuleOp module;
  const FusionPlan &plan;
  BlockLimits limits;
  StringRef suffix;
  llvm::StringMap<unsigned> names;
  /// Kernels by their type: networks repeat themselves, and a driver compiles
  /// each kernel once.
  DenseMap<Type, SmallVector<gpu::GPUFuncOp>> kernels;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_KERNELS_H
