//===- AddCanonicalizer.h - Upstream's canonicalizer ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_PIPELINES_ADDCANONICALIZER_H
#define LAYOUT_LIB_PIPELINES_ADDCANONICALIZER_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace mlir {
namespace layout {

/// The canonicalizer without a pattern that gives what a loop carries the sizes
/// that it has before the first turn: it may grow.
inline void addCanonicalizer(OpPassManager &pm) {
  pm.addPass(createCanonicalizerPass(
      GreedyRewriteConfig(), {"(anonymous namespace)::ForOpTensorCastFolder"}));
}

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_PIPELINES_ADDCANONICALIZER_H
