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

/// Levels of x86-64 as its psABI has them, and what this process runs on.
enum class Cpu { x86_64_v3, x86_64_v4, host };

/// What kernels are planned for; only the vectors are looked up.
CpuFigures getFigures(Cpu cpu);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_SUPPORT_CPU_H
