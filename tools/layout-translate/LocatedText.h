//===- LocatedText.h - Texts that diagnostics point into --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout and the values of options are texts of their own. Diagnostics
// point into the one that is being read or that the fault is in:
//
//   <layout>:1:25: error: 'C' is repeated
//   #layout.blocked<"NCHW" to "NCCW16c">
//                             ^
//
//===----------------------------------------------------------------------===//

#ifndef TOOLS_LAYOUT_TRANSLATE_LOCATEDTEXT_H
#define TOOLS_LAYOUT_TRANSLATE_LOCATEDTEXT_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Types.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir {
namespace layout {

class LocatedTexts {
public:
  explicit LocatedTexts(MLIRContext &context);

  /// Makes a text the one that diagnostics are about.
  void enter(std::unique_ptr<llvm::MemoryBuffer> text);
  void enter(StringRef name, StringRef text);

  /// Reads all of the current text; null after a diagnostic.
  Attribute readAttribute();
  Type readType();

  /// The current text on one line, as it was written.
  std::string getLine() const;

  /// An error about the current text as a whole.
  InFlightDiagnostic emitError();

private:
  void print(Diagnostic &diagnostic);
  /// The current text without white space around it.
  StringRef getText() const;

  MLIRContext &context;
  llvm::SourceMgr sourceMgr;
  unsigned current = 0;
  ScopedDiagnosticHandler handler;
};

} // namespace layout
} // namespace mlir

#endif // TOOLS_LAYOUT_TRANSLATE_LOCATEDTEXT_H
