//===- LayoutToGPU.h - Lower tensors to device memory -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lowering to OpenCL images and buffers as a function. It does not choose
// layouts: types state the storage of elements and the value of padding. It
// chooses the tensors that are never stored because of fusion.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_LAYOUTTOGPU_LAYOUTTOGPU_H
#define LAYOUT_TARGETS_OPENCL_LAYOUTTOGPU_LAYOUTTOGPU_H

#include "layout/Dialect/Layout/IR/Layout.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::layout {

/// Lowers `module` like the pass convert-layout-to-gpu. Emits an error and
/// fails if an op cannot be lowered, or if an image does not fit `target`. A
/// null `target` has no limits.
LogicalResult convertLayoutToGPU(ModuleOp module, OpenClTargetAttr target = {});

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_OPENCL_LAYOUTTOGPU_LAYOUTTOGPU_H
