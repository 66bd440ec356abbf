//===- Dialects.h - C API of registration -------------------------*- C -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers the dialects of this project with a context, and its passes with
// the process, to run them by name (mlir-c/Pass.h).
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

/// Adds the dialects of the project, the layout rules of upstream ops, the
/// targets, and the external models of interfaces that lowerings need.
MLIR_CAPI_EXPORTED void layoutRegisterAllDialects(MlirDialectRegistry registry);

/// Registers all passes and pipelines of the project with the process-wide pass
/// registry. Further calls have no effect.
MLIR_CAPI_EXPORTED void layoutRegisterAllPasses(void);

/// Registers all dialects, extensions, passes and pipelines of the project and
/// of upstream MLIR, as layout-opt does. Call it instead of
/// mlirRegisterAllDialects and mlirRegisterAllPasses.
MLIR_CAPI_EXPORTED void
layoutRegisterWithUpstream(MlirDialectRegistry registry);

#ifdef __cplusplus
}
#endif

#endif // LAYOUT_C_DIALECTS_H
