//===- OkkOperands.h - Operands of OKKernel functions -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What the files that implement okk.h share.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_SIMULATOR_OKKOPERANDS_H
#define LAYOUT_LIB_TARGETS_NPU_SIMULATOR_OKKOPERANDS_H

#include "layout/Targets/NPU/Simulator/NpuSimulator.h"
#include "layout/Targets/NPU/Simulator/okk/okk.h"

namespace mlir {
namespace npu {

/// The simulator of the process.
Simulator &okkSimulator();

inline Box toBox(const dim4 &d) { return {d.n, d.c, d.h, d.w}; }

/// A tensor in local memory, aligned where it has no strides.
Operand okkLocal(local_addr_t addr, const dim4 *shape, const dim4 *stride,
                 int elementBytes = 4);

} // namespace npu
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_NPU_SIMULATOR_OKKOPERANDS_H
