//===- Solver.h - C API of the solver -----------------------------*- C -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Solves layout assignment without IR, for problems of ops and tensors in JSON
// (docs/solver.md).
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

/// Solves a problem of ops, their candidate layouts and costs, given in JSON
/// (docs/solver.md), and passes the answer in JSON to `callback`. If the
/// problem is invalid, passes an error message to `callback` instead, and
/// fails. After `maxSeconds`, the search ends with the best answer so far; a
/// negative number means no limit.
MLIR_CAPI_EXPORTED MlirLogicalResult layoutSolve(MlirStringRef problem,
                                                 double maxSeconds,
                                                 MlirStringCallback callback,
                                                 void *userData);

#ifdef __cplusplus
}
#endif

#endif // LAYOUT_C_SOLVER_H
