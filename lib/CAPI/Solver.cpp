//===- Solver.cpp - C API of the solver -----------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout-c/Solver.h"
#include "layout/Solver/NamedProblem.h"
#include "mlir/CAPI/Support.h"
#include "mlir/CAPI/Utils.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::layout;

MlirLogicalResult layoutSolve(MlirStringRef problem, double maxSeconds,
                              MlirStringCallback callback, void *userData) {
  mlir::detail::CallbackOstream os(callback, userData);
  llvm::Expected<NamedProblem> read = readNamedProblem(unwrap(problem));
  if (!read) {
    os << llvm::toString(read.takeError());
    return wrap(failure());
  }
  SolveOptions options;
  if (maxSeconds >= 0)
    options.maxSeconds = maxSeconds;
  os << llvm::formatv("{0}", read->makeAnswer(read->graph.solve(options)));
  return wrap(success());
}
