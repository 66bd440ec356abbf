//===- Registration.cpp - One call to register everything -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Registration/Registration.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Dialect/NPU/IR/NPU.h"
#include "layout/Interfaces/LayoutOpInterface.h"
#include "layout/Linalg/Passes.h"
#include "layout/Pipelines/AssignLayouts.h"
#include "layout/Pipelines/Prepare.h"
#include "layout/Targets/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include <mutex>

using namespace mlir;

void layout::registerAllDialects(DialectRegistry &registry) {
  registry.insert<LayoutDialect, npu::NPUDialect>();
  registerLayoutRules(registry);
  registerTargets(registry);
  registerLoweringModels(registry);
}

void layout::registerAllPasses() {
  static std::once_flag once;
  std::call_once(once, [] {
    registerLayoutPasses();
    registerLayoutLinalgPasses();
    registerPreparePipeline();
    registerAssignLayoutsPipeline();
    registerLowerings();
  });
}
