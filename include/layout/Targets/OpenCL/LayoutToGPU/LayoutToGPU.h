//===- LayoutToGPU.h - Tensors to device memory and kernels -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The lowering to OpenCL images and buffers as a function. It decides no
// layout: where elements live and what padding holds is read off the types. It
// does decide which tensors never reach memory.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_LAYOUTTOGPU_LAYOUTTOGPU_H
#define LAYOUT_TARGETS_OPENCL_LAYOUTTOGPU_LAYOUTTOGPU_H

#include "layout/Dialect/Layout/IR/Layout.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir {
namespace layout {

/// Lowers `module`; see the pass convert-layout-to-gpu. Where something cannot
/// be lowered, or is an image that `target` cannot hold, reports it and fails.
LogicalResult convertLayoutToGPU(ModuleOp module, OpenClTargetAttr target = {});

} // namespace layout
} // namespace mlir

#endif // LAYOUT_TARGETS_OPENCL_LAYOUTTOGPU_LAYOUTTOGPU_H
