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
#include <functional>

namespace mlir {
namespace npu {

/// The simulator of the process.
Simulator &okkSimulator();

inline Box toBox(const dim4 &d) { return {d.n, d.c, d.h, d.w}; }

/// A tensor in local memory, aligned where it has no strides.
Operand okkLocal(local_addr_t addr, const dim4 *shape, const dim4 *stride,
                 int elementBytes = 4);

/// Calls fn(part, its first column, its shape) for the boxes that a matrix of
/// 32-bit elements in channels of `width` columns is made of: whole channels,
/// and what is left of the last one.
void walkMatrix(
    local_addr_t addr, int rows, int cols, int width,
    const std::function<void(const Operand &, int, const Box &)> &fn);

} // namespace npu
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_NPU_SIMULATOR_OKKOPERANDS_H
