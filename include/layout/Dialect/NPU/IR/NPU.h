//===- NPU.h - The npu dialect ----------------------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the dialect, its attributes and its ops. Storage.h has queries about
// memrefs in the memories of an NPU.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_IR_NPU_H
#define LAYOUT_DIALECT_NPU_IR_NPU_H

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Support/ChipClock.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "layout/Dialect/NPU/IR/NPUDialect.h.inc"
#include "layout/Dialect/NPU/IR/NPUEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "layout/Dialect/NPU/IR/NPUAttributes.h.inc"

#define GET_OP_CLASSES
#include "layout/Dialect/NPU/IR/NPUOps.h.inc"

namespace mlir::npu {

/// Argument attribute of buffers for the results of a program.
constexpr StringLiteral kResultArgument = "npu.result";

/// Argument attribute of buffers for temporaries in system memory, which
/// callers do not see.
constexpr StringLiteral kScratchArgument = "npu.scratch";

/// Attribute of an argument or result whose elements callers pass in another
/// type, e.g. i64. The argument has 32-bit words instead, and its last dim
/// counts the words of one element: `tensor<8x2xi32> {npu.element = i64}` for 8
/// elements. If the attribute is a tensor, the argument has its bytes in
/// row-major order, and padding behind them: `tensor<2xi32> {npu.element =
/// tensor<5xi8>}` for five elements.
constexpr StringLiteral kElementArgument = "npu.element";

/// Attribute of an argument or result that is one slice of a dynamic outer
/// batch dim. The packaged program has the whole batch there, takes its size,
/// and runs the function once per slice.
constexpr StringLiteral kSliceArgument = "npu.slice";

/// Function attribute: tensors own only the bytes of their elements, and other
/// live tensors may be placed between these (in their *holes*). Set by
/// npu-assign-addresses.
constexpr StringLiteral kReusesHoles = "npu.reuses_holes";

} // namespace mlir::npu

#endif // LAYOUT_DIALECT_NPU_IR_NPU_H
