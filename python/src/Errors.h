//===- Errors.h - What went wrong, as a Python exception --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whatever MLIR says inside a call from Python is collected, never printed, and
// an error among it is raised as `layout_mlir.LayoutError`:
//
//     line 1, column 24: expected 'to'
//       #layout.blocked<"NCHW" "NCHW16c">
//                              ^
//
// `LayoutError` is thrown by the binding only, never from a callback that MLIR
// calls: its frames know no exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PYTHON_ERRORS_H
#define LAYOUT_PYTHON_ERRORS_H

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/Twine.h"
#include <exception>
#include <pybind11/pybind11.h>
#include <string>
#include <vector>

namespace mlir {
namespace layout {
namespace python {

struct LayoutError : std::exception {
  std::string message; // what str() shows, place and text included
  int64_t line = 0;    // 1-based, as is column; 0: no place in a text
  int64_t column = 0;
  std::string text; // that line

  const char *what() const noexcept override { return message.c_str(); }
};

[[noreturn]] void fail(const llvm::Twine &message);

/// A fault at a 1-based line and column of a text.
LayoutError describeFault(StringRef text, int64_t line, int64_t column,
                          const llvm::Twine &message);

/// Takes what is said in `context` for as long as it lives, or that part which
/// the thread says that made it. `text` is what the call was given to read,
/// under the name `textName` of MLIR's locations.
class DiagnosticCollector {
public:
  DiagnosticCollector(MLIRContext *context, StringRef text, StringRef textName,
                      bool ofThisThread = false);

  /// All errors as one exception; `otherwise` where none was said.
  LayoutError takeError(const llvm::Twine &otherwise) const;

  const std::vector<std::string> &getWarnings() const { return warnings; }

private:
  struct Place {
    int64_t line = 0, column = 0;
    StringRef text; // the whole text, empty where it is not known
    StringRef file; // the name, where the text is not known
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

/// A Python string of what may not be UTF-8 throughout.
pybind11::str toPythonString(StringRef text);

/// Defines LayoutError in `module` and translates the exception above.
void bindErrors(pybind11::module_ &module);

} // namespace python
} // namespace layout
} // namespace mlir

#endif // LAYOUT_PYTHON_ERRORS_H
