//===- Passes.td - Passes to the LLVM dialect --------------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_CPU_LINALGTOLLVM_PASSES_TD
#define LAYOUT_TARGETS_CPU_LINALGTOLLVM_PASSES_TD

include "layout/Targets/CPU/LinalgToLLVM/BufferPasses.td"
include "layout/Targets/CPU/LinalgToLLVM/TensorPasses.td"

#endif // LAYOUT_TARGETS_CPU_LINALGTOLLVM_PASSES_TD
