//===- Passes.h - Preparation of linalg programs ----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the passes that rewrite linalg programs before layouts are assigned,
// for all targets. The pipeline `layout-prepare` (Pipelines/Prepare.h) runs
// them.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LINALG_PASSES_H
#define LAYOUT_LINALG_PASSES_H

#include "mlir/Pass/Pass.h"

namespace mlir::layout {

/// Decomposes the aggregate ops below `root`, e.g. linalg.softmax, that
/// `selects` accepts, and those in their decompositions that it accepts, like
/// `layout-prepare-decompose-aggregates`. Also decomposes tensor.gather and
/// Winograd transforms, but not packs and unpacks. Emits an error and fails at
/// the first op that cannot be decomposed.
LogicalResult
decomposeAggregates(Operation *root,
                    llvm::function_ref<bool(Operation *)> selects);

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "layout/Linalg/Passes.h.inc"

} // namespace mlir::layout

#endif // LAYOUT_LINALG_PASSES_H
