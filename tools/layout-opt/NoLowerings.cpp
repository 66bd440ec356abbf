//===- NoLowerings.cpp - What there is in builds without lowerings --------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// In place of lib/Pipelines/Registration.cpp: dialects and the decision.
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Dialect/NPU/IR/NPU.h"
#include "layout/Dialect/NPU/Transforms/Passes.h"
#include "layout/Interfaces/LayoutOpInterface.h"
#include "layout/Pipelines/Registration.h"
#include "layout/Targets/Registration.h"
#include "mlir/IR/DialectRegistry.h"

using namespace mlir;

void layout::registerAllDialects(DialectRegistry &registry) {
  registry.insert<LayoutDialect, npu::NPUDialect>();
  registerLayoutRules(registry);
  registerTargets(registry);
}

void layout::registerAllPasses() {
  registerLayoutPasses();
  npu::registerNPUPasses();
}
