//===- ThreadDiagnostics.h - Diagnostics of one thread ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A diagnostic handler receives the diagnostics of all threads of its context,
// and passes run on several threads. A handler that captures diagnostics must
// ignore those of other threads:
//
//   std::string why;
//   ThreadDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
//     why = diagnostic.str();
//     return success();
//   });
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_THREADDIAGNOSTICS_H
#define LAYOUT_SUPPORT_THREADDIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Threading.h"

namespace mlir::layout {

/// Calls `hear` with each diagnostic that the constructing thread emits. A
/// diagnostic is consumed if `hear` returns success, and otherwise passed on to
/// the handler before.
class ThreadDiagnosticHandler : public ScopedDiagnosticHandler {
public:
  template <typename HearFn>
  ThreadDiagnosticHandler(MLIRContext *context, HearFn hear)
      : ScopedDiagnosticHandler(
            context,
            [hear = std::move(hear), thread = llvm::get_threadid()](
                Diagnostic &diagnostic) -> LogicalResult {
              if (llvm::get_threadid() != thread)
                return failure();
              return hear(diagnostic);
            }) {}
};

} // namespace mlir::layout

#endif // LAYOUT_SUPPORT_THREADDIAGNOSTICS_H
