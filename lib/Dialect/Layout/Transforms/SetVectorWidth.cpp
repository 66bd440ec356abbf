//===- SetVectorWidth.cpp - layout-set-vector-width -----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"

namespace mlir::layout {
#define GEN_PASS_DEF_SETVECTORWIDTHPASS
#include "layout/Dialect/Layout/Transforms/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

namespace {
struct SetVectorWidth : layout::impl::SetVectorWidthPassBase<SetVectorWidth> {
  using SetVectorWidthPassBase::SetVectorWidthPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    FailureOr<TargetInterface> found = findTarget(module, target);
    if (failed(found))
      return signalPassFailure();
    Attribute attr = *found;
    if (auto cpu = dyn_cast_if_present<CpuTargetAttr>(attr)) {
      auto emitError = [&] {
        return module.emitError("the option 'vector-bits': ");
      };
      attr = cpu.forVectors(vectorBits, emitError);
      if (!attr)
        return signalPassFailure();
    }
    if (attr)
      module->setDiscardableAttr(kTargetAttr, attr);
  }
};
} // namespace
