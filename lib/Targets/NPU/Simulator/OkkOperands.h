//===- OkkOperands.h - Operands of OKKernel functions -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Helpers shared by the files that implement okk.h.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_SIMULATOR_OKKOPERANDS_H
#define LAYOUT_LIB_TARGETS_NPU_SIMULATOR_OKKOPERANDS_H

#include "layout/Targets/NPU/Simulator/NpuSimulator.h"
#include "layout/Targets/NPU/Simulator/okk/okk.h"
#include <functional>

namespace mlir::npu {

/// Returns the simulator of the process. If okk_sim_open has not been called,
/// it has one core of one byte, so that nearly all commands on local memory are
/// errors.
Simulator &okkSimulator();

inline Box toBox(const dim4 &d) { return {d.n, d.c, d.h, d.w}; }

/// Returns the operand of a command: a box at `addr` in local memory with
/// strides `stride`, or in the aligned layout if `stride` is null. Also reports
/// an error if `stride` is null and `addr` is not a multiple of the bytes of an
/// execution unit.
Operand okkLocal(local_addr_t addr, const dim4 *shape, const dim4 *stride,
                 int elementBytes = 4);

/// Splits a matrix of 32-bit elements, whose channels have `width` columns,
/// into one box of all whole channels and one of the columns of an incomplete
/// last channel. Calls fn(operand, first column, shape) for each of the two
/// that is not empty.
void walkMatrix(
    local_addr_t addr, int rows, int cols, int width,
    const std::function<void(const Operand &, int, const Box &)> &fn);

} // namespace mlir::npu

#endif // LAYOUT_LIB_TARGETS_NPU_SIMULATOR_OKKOPERANDS_H
