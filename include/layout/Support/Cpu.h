//===- Cpu.h - Processors that code is made for -----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_CPU_H
#define LAYOUT_SUPPORT_CPU_H

#include "layout/Support/CpuFigures.h"

namespace mlir {
namespace layout {

/// Levels of x86-64 as its psABI has them, AArch64 and cores of it, and what
/// this process runs on.
enum class Cpu {
  x86_64_v3,
  x86_64_v4,
  aarch64,
  neoverse_n1,
  neoverse_v1,
  apple_m1,
  host
};

/// What kernels are planned for.
CpuFigures getFigures(Cpu cpu);

/// How many threads run at once; of the host, those that this process may use.
int64_t getCores(Cpu cpu);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_SUPPORT_CPU_H
