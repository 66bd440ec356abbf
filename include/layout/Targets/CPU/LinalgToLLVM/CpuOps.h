//===- CpuOps.h - Loops as an op on tensors ---------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_CPU_LINALGTOLLVM_CPUOPS_H
#define LAYOUT_TARGETS_CPU_LINALGTOLLVM_CPUOPS_H

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "layout/Targets/CPU/LinalgToLLVM/CpuDialect.h.inc"

#define GET_OP_CLASSES
#include "layout/Targets/CPU/LinalgToLLVM/CpuOps.h.inc"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::cpu {

/// Adds the lowering of `cpu.assert_index` to convert-to-llvm.
void registerConvertCpuToLLVMInterface(DialectRegistry &registry);

} // namespace mlir::cpu

#endif // LAYOUT_TARGETS_CPU_LINALGTOLLVM_CPUOPS_H
