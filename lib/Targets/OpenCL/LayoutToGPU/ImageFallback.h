//===- ImageFallback.h - Use buffers if images do not fit -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A function with images of dynamic sizes checks at its start if all of them
// are within the limits of the target. If not, it runs a version on buffers:
//
//   func.func @main(%x: tensor<?x8xf32>) {
//     %n = tensor.dim %x, %c0
//     %fits = arith.cmpi ule, %n, %limit
//     %y = scf.if %fits { call @main_in_images(%x) }
//          else { call @main_on_buffers(%x) }
//     return %y
//
// The extents follow from the map and from sizes of the arguments, also through
// calls, `scf.for` and `scf.if`. A function with an image whose size is only
// known later always runs on buffers. Images of static size are kept.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_IMAGEFALLBACK_H
#define LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_IMAGEFALLBACK_H

#include "layout/Targets/OpenCL/ImageLayouts.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::layout {

/// Attribute of a function that uses buffers because its images may be too
/// large. Its kernels are in a GPU module of their own, which a driver compiles
/// only if one of them is launched.
constexpr llvm::StringLiteral kFallbackAttrName = "layout.fallback";

/// Gives each function with images of dynamic size, unless they are in its
/// signature, a version on buffers and a check at its start that chooses the
/// version. If the check cannot be computed there, always takes the buffers.
/// Public functions must have plain tensors as arguments and results, not yet
/// host memrefs.
void addImageFallbacks(ModuleOp module, OpenClTargetAttr target);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_IMAGEFALLBACK_H
