//===- Cpu.cpp - Processors that code is made for -------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Support/Cpu.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace mlir::layout;

static CpuFigures getFiguresOfVectors(unsigned bits, unsigned registers) {
  CpuFigures figures;
  figures.vectorBits = bits;
  figures.vectorRegisters = registers;
  return figures;
}

CpuFigures layout::getFigures(Cpu cpu) {
  switch (cpu) {
  case Cpu::x86_64_v3:
    return CpuFigures();
  case Cpu::x86_64_v4:
    // Of the 32: tiles that take more spill, as all values that a step of a
    // kernel broadcasts are alive beside its accumulators.
    return getFiguresOfVectors(512, 20);
  case Cpu::host:
    break;
  }
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  if (features.lookup("avx512f"))
    return getFigures(Cpu::x86_64_v4);
  if (features.lookup("avx"))
    return getFigures(Cpu::x86_64_v3);
  return getFiguresOfVectors(128, features.lookup("neon") ? 32 : 16);
}
