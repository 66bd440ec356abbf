//===- Passes.h - What pipelines run passes by ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes that change nothing themselves.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PIPELINES_PASSES_H
#define LAYOUT_PIPELINES_PASSES_H

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

namespace mlir {
namespace layout {

#define GEN_PASS_DECL
#include "layout/Pipelines/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "layout/Pipelines/Passes.h.inc"

} // namespace layout
} // namespace mlir

#endif // LAYOUT_PIPELINES_PASSES_H
