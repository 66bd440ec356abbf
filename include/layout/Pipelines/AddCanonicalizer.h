//===- AddCanonicalizer.h - Upstream's canonicalizer ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PIPELINES_ADDCANONICALIZER_H
#define LAYOUT_PIPELINES_ADDCANONICALIZER_H

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::layout {

/// Adds the canonicalizer without ForOpTensorCastFolder, which gives an iter_arg
/// the static shape of its init although the loop may grow it. Upstream exports
/// no other way to leave the pattern out than its mangled name;
/// docs/upstream/scf-for-cast-folder.mlir fails if the name no longer matches.
///
/// Regions are not simplified: apart from unreachable blocks and dead ops, which
/// the canonicalizer erases anyway, only branches have something to simplify,
/// and the search for it visits all ops several times.
inline void addCanonicalizer(OpPassManager &pm,
                             GreedyRewriteConfig config = {}) {
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  pm.addPass(createCanonicalizerPass(
      config, {"(anonymous namespace)::ForOpTensorCastFolder"}));
}

} // namespace mlir::layout

#endif // LAYOUT_PIPELINES_ADDCANONICALIZER_H
