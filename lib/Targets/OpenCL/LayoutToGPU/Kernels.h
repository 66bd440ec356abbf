//===- Kernels.h - Emit one kernel per stored tensor ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel has one work-item per pixel of an image, per block of neighbors
// along the fastest axis of a coordinate (ImageReads.h), or per element of a
// buffer; or a work-group per position if there are few positions with long
// sums. The inverse of the map gives the logical index, at which ElementEmitter
// emits the element:
//
//   image2d, x = [c / 4, w], y = [n, h]
//     work-item (x, y) -> axes c1 = x / W, w = x mod W, n = y / H, h = y mod H
//                      -> index (n, 4 * c1 + lane, h, w) -> a vector of four
//
// Padding is stored, too: the value that the type states, or any value.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_KERNELS_H
#define LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_KERNELS_H

#include "ElementEmitter.h"
#include "layout/Targets/OpenCL/ImageReads.h"

namespace mlir::layout {

/// Emits kernels into a gpu.module, and launches next to the ops.
class KernelEmitter {
public:
  /// Emits into `module` kernels whose names end with `suffix`.
  KernelEmitter(gpu::GPUModuleOp module, const FusionPlan &plan,
                OpenClTargetAttr target, StringRef suffix = "")
      : module(module), plan(plan), limits(target), suffix(suffix) {}

  /// Emits a kernel that computes `tensor` and stores it in device memory, and
  /// its launch after the op that defines `tensor`; replaces the uses of
  /// `tensor` by this memory. A view or cast that can share the memory of its
  /// source needs no kernel. If the op cannot become a kernel, calls `refuse`
  /// and fails; the kernel may then be partly emitted.
  LogicalResult store(OpResult tensor, FailureReason refuse);

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
  /// The kernels by function type, among which an equal one is found, so that
  /// repeated layers of a network share a kernel.
  DenseMap<Type, SmallVector<gpu::GPUFuncOp>> kernels;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_KERNELS_H
