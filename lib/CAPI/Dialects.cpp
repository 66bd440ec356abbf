//===- Dialects.cpp - C API of registration -------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout-c/Dialects.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/NPU/IR/NPU.h"
#include "layout/Registration/Registration.h"
#include "mlir/CAPI/Registration.h"

using namespace mlir;

MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(Layout, layout, layout::LayoutDialect)
MLIR_DEFINE_CAPI_DIALECT_REGISTRATION(NPU, npu, npu::NPUDialect)

void layoutRegisterAllDialects(MlirDialectRegistry registry) {
  layout::registerAllDialects(*unwrap(registry));
}

void layoutRegisterAllPasses() { layout::registerAllPasses(); }

void layoutRegisterWithUpstream(MlirDialectRegistry registry) {
  layout::registerWithUpstream(*unwrap(registry));
}
