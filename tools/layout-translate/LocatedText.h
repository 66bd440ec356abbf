//===- LocatedText.h - Texts that diagnostics point into --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The layout and the values of options are separate texts, which are parsed one
// after another. Diagnostics point into the current text, the one that was
// entered last:
//
//   <layout>:1:25: error: 'C' is repeated
//   #layout.blocked<"NCHW" to "NCCW16c">
//                             ^
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TOOLS_LAYOUT_TRANSLATE_LOCATEDTEXT_H
#define LAYOUT_TOOLS_LAYOUT_TRANSLATE_LOCATEDTEXT_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Types.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir::layout {

/// The texts that are parsed, with a handler that prints diagnostics about the
/// current text: the one that was entered last.
class LocatedTexts {
public:
  explicit LocatedTexts(MLIRContext &context);

  /// Makes a text the current one. It is owned by this object, as the buffer or
  /// as a copy. Diagnostics name it by `name`, or by the identifier of the
  /// buffer.
  void enter(std::unique_ptr<llvm::MemoryBuffer> text);
  void enter(StringRef name, StringRef text);

  /// Parses the whole current text as one attribute, or as one type. Emits an
  /// error and returns a null attribute or type if it is none, or if more text
  /// follows.
  Attribute readAttribute();
  Type readType();

  /// Returns the current text on one line: without white space around it, and
  /// with one space in place of all other white space, such as newlines.
  std::string getLine() const;

  /// Emits an error about the current text as a whole.
  InFlightDiagnostic emitError();

private:
  /// Prints a diagnostic and its notes to standard error, each with the line of
  /// the current text that it is about.
  void print(Diagnostic &diagnostic);
  /// Returns the current text without surrounding white space.
  StringRef getText() const;

  MLIRContext &context;
  llvm::SourceMgr sourceMgr;
  unsigned current = 0;
  ScopedDiagnosticHandler handler;
};

} // namespace mlir::layout

#endif // LAYOUT_TOOLS_LAYOUT_TRANSLATE_LOCATEDTEXT_H
