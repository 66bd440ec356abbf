//===- AddIndexChecks.h - Checks before layouts are assigned ----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_PIPELINES_ADDINDEXCHECKS_H
#define LAYOUT_LIB_PIPELINES_ADDINDEXCHECKS_H

#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::layout {

/// Adds layout-cpu-check-indices after the passes that lower TOSA to ops that
/// it checks and inline globals, so that constant indices are visible. Layouts
/// must be assigned later: in storage, indices of padding are in range.
inline void addIndexChecks(OpPassManager &pm) {
  pm.addPass(createLowerTosaPass());
  pm.addPass(createInlineGlobalsPass());
  pm.addPass(createCheckIndicesPass());
}

} // namespace mlir::layout

#endif // LAYOUT_LIB_PIPELINES_ADDINDEXCHECKS_H
