//===- Errors.h - Diagnostics as Python exceptions --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Collects all diagnostics of MLIR inside a call from Python. None is printed;
// the errors are raised as one `layout_mlir.LayoutError`:
//
//     line 1, column 24: expected 'to'
//       #layout.blocked<"NCHW" "NCHW16c">
//                              ^
//
// `LayoutError` is thrown by bindings only, never from a callback of MLIR,
// whose frames do not support exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PYTHON_SRC_ERRORS_H
#define LAYOUT_PYTHON_SRC_ERRORS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/Twine.h"
#include <exception>
#include <pybind11/pybind11.h>
#include <string>
#include <vector>

namespace mlir::layout::python {

struct LayoutError : std::exception {
  std::string message; // the result of str(), with location and source line
  int64_t line = 0;    // 1-based, like column; 0 if there is no location
  int64_t column = 0;
  std::string text; // the source line

  const char *what() const noexcept override { return message.c_str(); }
};

[[noreturn]] void fail(const llvm::Twine &message);

/// Creates an error with the message, a 1-based line and column of `text`, and
/// the text of that line.
LayoutError describeFault(StringRef text, int64_t line, int64_t column,
                          const llvm::Twine &message);

/// Collects the diagnostics of `context` during its lifetime, or only those of
/// the constructing thread if `ofThisThread`. `text` is the source that the
/// call reads, of which errors quote lines, and `textName` its file name in
/// MLIR locations.
class DiagnosticCollector {
public:
  DiagnosticCollector(MLIRContext *context, StringRef text, StringRef textName,
                      bool ofThisThread = false);

  /// Returns the errors so far as one exception to throw, of which the first 20
  /// are listed and the others counted, with the message `otherwise` if there
  /// are none. The errors remain collected.
  LayoutError takeError(const llvm::Twine &otherwise) const;

  const std::vector<std::string> &getWarnings() const { return warnings; }

private:
  struct Place {
    int64_t line = 0, column = 0;
    StringRef text; // the whole source, empty if it is not available
    StringRef file; // the file name, used if the source is not available
  };
  Place findPlace(Location loc) const;
  LayoutError describe(Diagnostic &diagnostic) const;
  void take(Diagnostic &diagnostic);

  StringRef text, textName;
  std::vector<LayoutError> errors;
  size_t unlisted = 0;
  std::vector<std::string> warnings;
  ScopedDiagnosticHandler handler;
};

/// Creates a Python string; bytes that are not UTF-8 are escaped by
/// backslashes.
pybind11::str toPythonString(StringRef text);

/// Defines LayoutError in `module` and translates the C++ exception to it.
void bindErrors(pybind11::module_ &module);

} // namespace mlir::layout::python

#endif // LAYOUT_PYTHON_SRC_ERRORS_H
