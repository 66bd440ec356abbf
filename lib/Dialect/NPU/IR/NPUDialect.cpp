//===- NPUDialect.cpp - The npu dialect -----------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/NPU/IR/NPU.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::npu;

#include "layout/Dialect/NPU/IR/NPUDialect.cpp.inc"
#include "layout/Dialect/NPU/IR/NPUEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "layout/Dialect/NPU/IR/NPUAttributes.cpp.inc"

void NPUDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "layout/Dialect/NPU/IR/NPUAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "layout/Dialect/NPU/IR/NPUOps.cpp.inc"
      >();
}
