//===- AdviceOnErrors.h - Notes on upstream's errors ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Errors of upstream passes name what is unsupported, but not what to write
// instead. While an AdviceOnErrors exists, every error that its thread emits
// gets a note with the remedy:
//
//   AdviceOnErrors advice(context, "..; write it on tensors");
//   runPipeline(upstream, module);
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_ADVICEONERRORS_H
#define LAYOUT_SUPPORT_ADVICEONERRORS_H

#include "layout/Support/ThreadDiagnostics.h"

namespace mlir {
namespace layout {

class AdviceOnErrors : public ThreadDiagnosticHandler {
public:
  /// Attaches `advice` to errors. `advice` must outlive this object.
  AdviceOnErrors(MLIRContext *context, llvm::StringRef advice)
      : ThreadDiagnosticHandler(context, [advice](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
            diagnostic.attachNote() << advice;
          return failure(); // the next handler prints it
        }) {}
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_SUPPORT_ADVICEONERRORS_H
