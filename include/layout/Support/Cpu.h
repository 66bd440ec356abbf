//===- Cpu.h - Processors with known parameters -----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_CPU_H
#define LAYOUT_SUPPORT_CPU_H

#include "layout/Support/CpuModelParams.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace mlir::layout {

/// Returns the parameters of the processor `name`, such as `x86-64-v3` (a psABI
/// level), `neoverse-n1`, or `host`, the processor of this process. Returns
/// std::nullopt if the name is unknown.
std::optional<CpuModelParams> findCpuParams(llvm::StringRef name);

/// Returns the names of all processors, separated by commas.
std::string listCpuNames();

} // namespace mlir::layout

#endif // LAYOUT_SUPPORT_CPU_H
