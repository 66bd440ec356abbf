//===- SPIRV.h - Precompiled header for kernel libraries --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Precompiled by layout_add_library(... PRECOMPILED SPIRV). It only saves time:
// every source includes what it uses.
//
//===----------------------------------------------------------------------===//

#include "Linalg.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
