//===- Solver.h - C API of the solver -----------------------------*- C -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The decision without IR, for problems of ops and tensors in JSON, which
// docs/solver.md describes.
//
//   layoutSolve(mlirStringRefCreateFromCString("{\"ops\": .."),
//               /*maxSeconds=*/-1, print, NULL);
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_C_SOLVER_H
#define LAYOUT_C_SOLVER_H

#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Passes the answer to the callback, in JSON, or what is wrong with the
/// problem where that fails. A limit of less than 0 is none.
MLIR_CAPI_EXPORTED MlirLogicalResult layoutSolve(MlirStringRef problem,
                                                 double maxSeconds,
                                                 MlirStringCallback callback,
                                                 void *userData);

#ifdef __cplusplus
}
#endif

#endif // LAYOUT_C_SOLVER_H
