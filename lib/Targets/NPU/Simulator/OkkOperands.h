//===- OkkOperands.h - Functions shared by both kernel APIs -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Helpers shared by the files that implement okk.h and tpu_kernel.h. `name` is
// the function of the API in errors and events.
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

/// The type of a kernel, and the registry of kernels by name.
using Kernel = void (*)(const void *);
void registerKernel(const char *name, Kernel kernel);

/// The operands of a 2-D convolution. Weights are pairs of input channels with
/// strides `pairStride`, which count pairs, or if that is null, [1, O, I, KH *
/// KW] without gaps. `bias` is null if there is none. The result is added to
/// the output if `accumulates`.
struct ConvolutionCall {
  const char *name;
  local_addr_t output, input, weights;
  const local_addr_t *bias;
  const dim4 *inputShape, *inputStride, *pairStride;
  int outputs;
  dim2 kernel;
  bool accumulates;
  const Padding *padding;
  const dim2 *stride, *dilation;
};
void runConvolution(const ConvolutionCall &call);

/// The operands of a command that reduces windows of single channels: a
/// depthwise convolution, which has weights, a sum, to which `finish` is then
/// applied, or else a maximum.
struct WindowsCall {
  const char *name;
  local_addr_t output, input;
  const local_addr_t *weights, *bias;
  const dim4 *inputShape;
  dim2 kernel;
  const Padding *padding;
  const dim2 *stride, *dilation;
  std::function<float(float)> finish;
};
void runWindows(const WindowsCall &call);

void runMatmul(const char *name, local_addr_t output_addr,
               local_addr_t left_addr, local_addr_t right_addr,
               local_addr_t bias_addr, int left_rows, int left_cols,
               int right_cols, int left_cols_per_channel,
               int right_cols_per_channel, bool using_bias, bool result_add);

} // namespace mlir::npu

#endif // LAYOUT_LIB_TARGETS_NPU_SIMULATOR_OKKOPERANDS_H
