//===- CpuParams.h - The CPU that a program is lowered to -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_CPUPARAMS_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_CPUPARAMS_H

#include "layout/Support/CpuModelParams.h"

namespace mlir {
class Operation;
} // namespace mlir

namespace mlir::layout {

/// Returns the parameters of the `#layout.cpu` that `layout.target` of `op`, or
/// of the closest enclosing op that has one, states; by default those of
/// CpuModelParams. `line_bytes` is rounded down to a power of two, and is at
/// least 16 bytes, the widest element.
CpuModelParams getCpuParams(Operation *op);

/// Returns true if a masked load is as fast as one without a mask.
inline bool hasMaskedLoads(const CpuModelParams &params) {
  return params.vectorBits >= 256;
}

/// Returns true if the CPU has the masks and the scaling by powers of two of
/// AVX-512. AVX2 has masked loads at no extra cost, but not masked stores.
inline bool isAVX512(const CpuModelParams &params) {
  return params.vectorBits >= 512;
}

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_CPUPARAMS_H
