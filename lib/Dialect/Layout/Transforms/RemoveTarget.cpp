//===- RemoveTarget.cpp - layout-remove-target ----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"

namespace mlir::layout {
#define GEN_PASS_DEF_REMOVETARGETPASS
#include "layout/Dialect/Layout/Transforms/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

namespace {
struct RemoveTarget : layout::impl::RemoveTargetPassBase<RemoveTarget> {
  void runOnOperation() override {
    getOperation()->removeDiscardableAttr(kTargetAttr);
  }
};
} // namespace
