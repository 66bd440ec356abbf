//===- Dialects.h - C API of registration -------------------------*- C -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a context needs to read modules of this project, and the process to run
// its passes (mlir-c/Pass.h) by name.
//
//   MlirDialectRegistry registry = mlirDialectRegistryCreate();
//   layoutRegisterWithUpstream(registry);
//   MlirContext context =
//       mlirContextCreateWithRegistry(registry, /*threadingEnabled=*/true);
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_C_DIALECTS_H
#define LAYOUT_C_DIALECTS_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(Layout, layout);
MLIR_DECLARE_CAPI_DIALECT_REGISTRATION(NPU, npu);

/// Adds the dialects of the project, the rules of upstream's ops, the targets,
/// and the external models that lowerings need.
MLIR_CAPI_EXPORTED void layoutRegisterAllDialects(MlirDialectRegistry registry);

/// Registers every pass and pipeline of the project with the pass registry of
/// the process. Further calls do nothing.
MLIR_CAPI_EXPORTED void layoutRegisterAllPasses(void);

/// Registers all of that and all of upstream: what layout-opt takes. It stands
/// in place of mlirRegisterAllDialects and mlirRegisterAllPasses.
MLIR_CAPI_EXPORTED void
layoutRegisterWithUpstream(MlirDialectRegistry registry);

#ifdef __cplusplus
}
#endif

#endif // LAYOUT_C_DIALECTS_H
