//===- AddCanonicalizer.h - Upstream's canonicalizer -----------*- C++ -*-===//
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

/// The canonicalizer without patterns that are wrong: one gives what a loop
/// carries the sizes that it has before the first turn, though it may grow; one
/// makes sizes of operands static and loses their layouts, so that it has to
/// wait until there are `layouts` no more.
inline void addCanonicalizer(OpPassManager &pm, bool layouts = false) {
  SmallVector<std::string> disabled{
      "(anonymous namespace)::ForOpTensorCastFolder"};
  if (layouts)
    disabled.push_back("(anonymous namespace)::InferStaticShapeOfOperands");
  pm.addPass(createCanonicalizerPass(GreedyRewriteConfig(), disabled));
}

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_PIPELINES_ADDCANONICALIZER_H
