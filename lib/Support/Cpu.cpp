//===- Cpu.cpp - Processors that code is made for -------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Support/Cpu.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/TargetParser/Host.h"
#include <unistd.h>

using namespace mlir;
using namespace mlir::layout;

static CpuFigures getFiguresOfVectors(unsigned bits, unsigned registers) {
  CpuFigures figures;
  figures.vectorBits = bits;
  figures.vectorRegisters = registers;
  return figures;
}

static CpuFigures getFiguresOfHost() {
  llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  CpuFigures figures = features.lookup("avx512f") ? getFigures(Cpu::x86_64_v4)
                       : features.lookup("avx")   ? getFigures(Cpu::x86_64_v3)
                       : features.lookup("neon") ? getFigures(Cpu::neoverse_n1)
                                                 : getFiguresOfVectors(128, 16);
#ifdef _SC_LEVEL1_DCACHE_SIZE
  // The C library says 0 where it does not know.
  if (long bytes = sysconf(_SC_LEVEL1_DCACHE_SIZE); bytes > 0)
    figures.firstCacheBytes = bytes;
  if (long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); bytes > 0)
    figures.secondCacheBytes = bytes;
#endif
  return figures;
}

CpuFigures layout::getFigures(Cpu cpu) {
  switch (cpu) {
  case Cpu::x86_64_v3:
    return CpuFigures();
  case Cpu::x86_64_v4:
    return getFiguresOfVectors(512, 32);
  case Cpu::neoverse_n1:
  case Cpu::neoverse_v1: {
    CpuFigures figures = getFiguresOfVectors(128, 32);
    figures.firstCacheBytes = 64 * 1024;
    return figures;
  }
  case Cpu::host:
    return getFiguresOfHost();
  }
  llvm_unreachable("all processors are listed");
}
