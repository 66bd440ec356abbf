//===- AdviceOnErrors.h - Notes on upstream's errors ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Errors of upstream passes name what is unsupported, but not the remedy. While
// an AdviceOnErrors exists, it adds the remedy as a note to every error of its
// thread:
//
//   AdviceOnErrors advice(context, "..; write it on tensors");
//   runPipeline(upstream, module);
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_ADVICEONERRORS_H
#define LAYOUT_SUPPORT_ADVICEONERRORS_H

#include "layout/Support/ThreadDiagnostics.h"

namespace mlir::layout {

class AdviceOnErrors : public ThreadDiagnosticHandler {
public:
  /// Attaches `advice` as a note to each error that this thread emits during
  /// the lifetime of this object. `advice` must outlive the object.
  AdviceOnErrors(MLIRContext *context, llvm::StringRef advice)
      : ThreadDiagnosticHandler(context, [advice](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
            diagnostic.attachNote() << advice;
          return failure(); // the next handler prints it
        }) {}
};

} // namespace mlir::layout

#endif // LAYOUT_SUPPORT_ADVICEONERRORS_H
