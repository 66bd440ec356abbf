//===- AdviceOnErrors.h - What to do about others' errors -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's passes say what they cannot take, and not what to write instead.
// While such an object lives, every error of its thread has a note that does:
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
  /// The text of `advice` outlives the object.
  AdviceOnErrors(MLIRContext *context, llvm::StringRef advice)
      : ThreadDiagnosticHandler(context, [advice](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
            diagnostic.attachNote() << advice;
          return failure(); // goes on to whoever listens
        }) {}
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_SUPPORT_ADVICEONERRORS_H
