//===- NPU.h - The npu dialect ----------------------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dialect, its attributes and its ops. Include Storage.h for questions
// about memrefs in the memories of an NPU.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_IR_NPU_H
#define LAYOUT_DIALECT_NPU_IR_NPU_H

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Support/EngineTimes.h"
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

namespace mlir {
namespace npu {

/// Arguments that a program is given for its results, and for what lies in
/// system memory in between, of which nobody outside knows.
constexpr StringLiteral kResultArgument = "npu.result";
constexpr StringLiteral kScratchArgument = "npu.scratch";

/// On an argument: the type of the elements that are given, of which the last
/// dim counts the words.
constexpr StringLiteral kElementArgument = "npu.element";

/// On an argument: it is one index of an open batch, outermost, of which the
/// program runs for each. A package is given the whole and the number of them.
constexpr StringLiteral kSliceArgument = "npu.slice";

/// On a function: its tensors own the bytes of their elements alone, and others
/// that live at the same time may lie in their holes. Whoever places tensors so
/// says so.
constexpr StringLiteral kReusesHoles = "npu.reuses_holes";

} // namespace npu
} // namespace mlir

#endif // LAYOUT_DIALECT_NPU_IR_NPU_H
