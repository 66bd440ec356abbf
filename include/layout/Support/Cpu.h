//===- Cpu.h - Processors with known parameters -----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_CPU_H
#define LAYOUT_SUPPORT_CPU_H

#include "layout/Support/CpuModelParams.h"

namespace mlir::layout {

/// The processors that code can be compiled for: psABI levels of x86-64,
/// AArch64 and some of its cores, and the host of this process.
enum class Cpu {
  x86_64_v3,
  x86_64_v4,
  aarch64,
  neoverse_n1,
  neoverse_v1,
  apple_m1,
  host
};

/// Returns the vector and cache parameters of a processor, for which kernels
/// are planned.
CpuModelParams getParams(Cpu cpu);

/// Returns the number of hardware threads of a processor; on the host, only
/// those that this process may use.
int64_t getCores(Cpu cpu);

} // namespace mlir::layout

#endif // LAYOUT_SUPPORT_CPU_H
