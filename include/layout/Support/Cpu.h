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

/// Levels of x86-64 as its psABI has them, cores of AArch64, and what this
/// process runs on.
enum class Cpu { x86_64_v3, x86_64_v4, neoverse_n1, neoverse_v1, host };

/// What kernels are planned for.
CpuFigures getFigures(Cpu cpu);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_SUPPORT_CPU_H
