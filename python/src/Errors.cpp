//===- Errors.cpp - Diagnostics as Python exceptions ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Errors.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Threading.h"

namespace py = pybind11;
using namespace mlir;
using namespace mlir::layout::python;

/// The maximum number of errors that are reported, because one fault can cause
/// many. Further ones are only counted.
static constexpr size_t kMostErrors = 20;
/// The maximum number of bytes of a line shown on each side of a fault.
static constexpr size_t kContext = 100;

void mlir::layout::python::fail(const llvm::Twine &message) {
  LayoutError error;
  error.message = message.str();
  throw error;
}

DiagnosticCollector::DiagnosticCollector(MLIRContext *context, StringRef text,
                                         StringRef textName, bool ofThisThread)
    : text(text), textName(textName),
      handler(context,
              [this, ofThisThread, thread = llvm::get_threadid()](
                  Diagnostic &diagnostic) -> LogicalResult {
                if (ofThisThread && thread != llvm::get_threadid())
                  return failure();
                take(diagnostic);
                return success();
              }) {}

DiagnosticCollector::Place DiagnosticCollector::findPlace(Location loc) const {
  auto found = loc->findInstanceOf<FileLineColLoc>();
  if (!found)
    return {};
  Place place;
  place.line = found.getLine();
  place.column = found.getColumn();
  place.file = found.getFilename();
  // parseAttribute and parseType use the text as the name of its buffer.
  if (place.file == textName)
    place.text = text;
  else if (place.file.starts_with("#") || place.file.starts_with("!"))
    place.text = place.file;
  return place;
}

/// Returns the line with a caret below it, shortened if the line is long.
static std::string showLine(StringRef line, size_t column) {
  size_t at = std::min(column ? column - 1 : 0, line.size());
  size_t begin = at > kContext ? at - kContext : 0;
  StringRef shown = line.slice(begin, at + kContext);
  std::string before = begin ? ".. " : "";
  // Continuation bytes of UTF-8 have no width.
  size_t width = before.size();
  for (char c : shown.take_front(at - begin))
    width += (c & 0xC0) != 0x80;
  return "\n  " + before + shown.str() +
         (begin + shown.size() < line.size() ? " .." : "") + "\n  " +
         std::string(width, ' ') + "^";
}

static StringRef getLine(StringRef text, int64_t number) {
  for (int64_t i = 1; i < number; ++i)
    text = text.split('\n').second;
  return text.split('\n').first.rtrim('\r');
}

LayoutError mlir::layout::python::describeFault(StringRef text, int64_t line,
                                                int64_t column,
                                                const llvm::Twine &message) {
  LayoutError error;
  error.line = line;
  error.column = column;
  error.text = getLine(text, line).str();
  error.message = ("line " + Twine(line) + ", column " + Twine(column) + ": " +
                   message + showLine(error.text, column))
                      .str();
  return error;
}

LayoutError DiagnosticCollector::describe(Diagnostic &diagnostic) const {
  Place place = findPlace(diagnostic.getLocation());
  LayoutError error;
  if (!place.text.empty()) {
    error =
        describeFault(place.text, place.line, place.column, diagnostic.str());
  } else if (!place.file.empty()) {
    error.message = (place.file + ":" + Twine(place.line) + ":" +
                     Twine(place.column) + ": " + diagnostic.str())
                        .str();
  } else {
    error.message = diagnostic.str();
  }
  for (Diagnostic &note : diagnostic.getNotes()) {
    bool isThere = note.getLocation() == diagnostic.getLocation();
    error.message +=
        "\nnote: " + (isThere ? note.str() : describe(note).message);
  }
  return error;
}

void DiagnosticCollector::take(Diagnostic &diagnostic) {
  if (diagnostic.getSeverity() == DiagnosticSeverity::Warning)
    warnings.push_back(describe(diagnostic).message);
  if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
    return;
  if (errors.size() < kMostErrors)
    errors.push_back(describe(diagnostic));
  else
    ++unlisted;
}

LayoutError DiagnosticCollector::takeError(const llvm::Twine &otherwise) const {
  LayoutError all;
  if (errors.empty()) {
    all.message = otherwise.str();
    return all;
  }
  all = errors.front();
  for (const LayoutError &error : llvm::drop_begin(errors))
    all.message += "\n" + error.message;
  if (unlisted)
    all.message += ("\n(" + Twine(unlisted) + " more errors)").str();
  return all;
}

py::str mlir::layout::python::toPythonString(StringRef text) {
  PyObject *decoded =
      PyUnicode_DecodeUTF8(text.data(), text.size(), "backslashreplace");
  if (!decoded)
    throw py::error_already_set();
  return py::reinterpret_steal<py::str>(decoded);
}

static const char *const kErrorDoc =
    R"(Raised for an invalid layout, shape or module, with the reason.

str() is the diagnostic, with its location in the source text if it has one.
`line` and `column` are 1-based, and `text` is that line; all three are None if
the error has no location in a text.)";

static void setError(PyObject *type, const LayoutError &error) {
  py::object value =
      py::reinterpret_borrow<py::object>(type)(toPythonString(error.message));
  bool hasPlace = error.line > 0;
  value.attr("line") = hasPlace ? py::object(py::int_(error.line)) : py::none();
  value.attr("column") =
      hasPlace ? py::object(py::int_(error.column)) : py::none();
  value.attr("text") =
      hasPlace ? py::object(toPythonString(error.text)) : py::none();
  PyErr_SetObject(type, value.ptr());
}

void mlir::layout::python::bindErrors(py::module_ &module) {
  // Immortal: exceptions of this type may outlive the module.
  static PyObject *type = nullptr;
  type = PyErr_NewExceptionWithDoc("layout_mlir.LayoutError", kErrorDoc,
                                   PyExc_ValueError, nullptr);
  if (!type)
    throw py::error_already_set();
  module.attr("LayoutError") = py::reinterpret_borrow<py::object>(type);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown)
        std::rethrow_exception(thrown);
    } catch (const LayoutError &error) {
      setError(type, error);
    } catch (const py::cast_error &error) {
      // pybind11 throws this for an object of this module without a value.
      if (!StringRef(error.what()).contains("non-held"))
        throw;
      PyErr_SetString(PyExc_TypeError,
                      "the object was created by __new__ only: call its class, "
                      "e.g. Layout(text)");
    }
  });
}
