//===- ImageFallback.h - Buffers where images do not fit --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function with images of dynamic sizes asks, where it starts, whether all of
// them are within the limits of the target, and runs a version of itself in
// which they are buffers where one is not:
//
//   func.func @main(%x: tensor<?x8xf32>) {
//     %n = tensor.dim %x, %c0
//     %fits = arith.cmpi ule, %n, %limit
//     %y = scf.if %fits { call @main_in_images(%x) }
//          else { call @main_on_buffers(%x) }
//     return %y
//
// The extents are those of the map, in sizes that follow from the arguments,
// also through calls, `scf.for` and `scf.if`. A function with an image whose
// size the program only finds on its way always runs on buffers. Images of
// known sizes stay.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_IMAGEFALLBACK_H
#define LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_IMAGEFALLBACK_H

#include "layout/Targets/OpenCL/ImageLayouts.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir {
namespace layout {

/// On a function: its kernels are compiled when one of them is needed.
constexpr llvm::StringLiteral kFallbackAttrName = "layout.fallback";

/// Before host boundaries are converted, after laid-out arguments are exposed.
void addImageFallbacks(ModuleOp module, OpenClTargetAttr target);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_IMAGEFALLBACK_H
