//===- Layout.h - The layout dialect ----------------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the dialect, its attributes and its ops. LayoutTypes.h has queries
// about tensor types with a layout.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_IR_LAYOUT_H
#define LAYOUT_DIALECT_LAYOUT_IR_LAYOUT_H

#include "layout/Algebra/Families/Mesh.h"
#include "layout/Algebra/Families/NpuScatter.h"
#include "layout/Algebra/Families/PackedDims.h"
#include "layout/Algebra/Families/Relations.h"
#include "layout/Algebra/Families/RgbaImage.h"
#include "layout/Algebra/LayoutMap.h"
#include "layout/Dialect/Layout/IR/BundleRef.h"
#include "layout/Dialect/Layout/IR/ResolvedLayouts.h"
#include "layout/Interop/Notation.h"
#include "layout/Support/CpuModelParams.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::layout {

/// The module attribute that states the target. `layout-set-target` sets it,
/// `layout-solve` records its option `target` there, and lowerings remove it.
inline constexpr StringLiteral kTargetAttr = "layout.target";

} // namespace mlir::layout

#include "layout/Dialect/Layout/IR/LayoutDialect.h.inc"
#include "layout/Dialect/Layout/IR/LayoutInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "layout/Dialect/Layout/IR/LayoutAttributes.h.inc"

#define GET_OP_CLASSES
#include "layout/Dialect/Layout/IR/LayoutOps.h.inc"

#endif // LAYOUT_DIALECT_LAYOUT_IR_LAYOUT_H
