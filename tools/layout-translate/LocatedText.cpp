//===- LocatedText.cpp - Texts that diagnostics point into ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LocatedText.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mlir::layout;

LocatedTexts::LocatedTexts(MLIRContext &context)
    : context(context),
      handler(&context, [this](Diagnostic &diagnostic) { print(diagnostic); }) {
}

void LocatedTexts::enter(std::unique_ptr<llvm::MemoryBuffer> text) {
  current = sourceMgr.AddNewSourceBuffer(std::move(text), llvm::SMLoc());
}

void LocatedTexts::enter(StringRef name, StringRef text) {
  enter(llvm::MemoryBuffer::getMemBufferCopy(text, name));
}

StringRef LocatedTexts::getText() const {
  // The parser would take white space around an attribute for extra text.
  return sourceMgr.getMemoryBuffer(current)->getBuffer().trim();
}

Attribute LocatedTexts::readAttribute() {
  return parseAttribute(getText(), &context);
}

Type LocatedTexts::readType() { return parseType(getText(), &context); }

std::string LocatedTexts::getLine() const {
  SmallVector<StringRef> words;
  llvm::SplitString(getText(), words);
  return llvm::join(words, " ");
}

InFlightDiagnostic LocatedTexts::emitError() {
  return mlir::emitError(UnknownLoc::get(&context));
}

/// Returns the position in `text` of a line and a column, both counted from 1.
/// A line beyond the last one is the last one, and a column beyond the text its
/// end.
static llvm::SMLoc find(StringRef text, unsigned line, unsigned column) {
  StringRef rest = text;
  for (; line > 1 && rest.contains('\n'); --line)
    rest = rest.split('\n').second;
  size_t offset = std::min<size_t>(column - 1, rest.size());
  return llvm::SMLoc::getFromPointer(rest.data() + offset);
}

void LocatedTexts::print(Diagnostic &diagnostic) {
  auto printOne = [&](Diagnostic &d) {
    // Parser diagnostics have a line and column in the text; all others concern
    // the text as a whole.
    auto loc = dyn_cast<FileLineColLoc>(d.getLocation());
    llvm::SMLoc start = loc ? find(getText(), loc.getLine(), loc.getColumn())
                            : find(getText(), 1, 1);
    auto kind = d.getSeverity() == DiagnosticSeverity::Error
                    ? llvm::SourceMgr::DK_Error
                : d.getSeverity() == DiagnosticSeverity::Warning
                    ? llvm::SourceMgr::DK_Warning
                    : llvm::SourceMgr::DK_Note;
    sourceMgr.PrintMessage(start, kind, d.str());
  };
  printOne(diagnostic);
  for (Diagnostic &note : diagnostic.getNotes())
    printOne(note);
}
