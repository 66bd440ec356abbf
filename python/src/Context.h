//===- Context.h - The MLIR context of the process --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All layouts of a process live in one MLIRContext, so that equal attributes
// are identical. One thread at a time uses the context, and only to parse, to
// resolve a layout for a shape, and to print. Numbers come from the algebra,
// whose values belong to no context and are immutable. The context is never
// destroyed, because layouts may be used until the interpreter ends.
//
// Laws: a thread that waits for the context has released the interpreter's
// lock, so the two locks cannot deadlock; diagnostics are reported to the
// thread that uses the context.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PYTHON_SRC_CONTEXT_H
#define LAYOUT_PYTHON_SRC_CONTEXT_H

#include "Errors.h"
#include "mlir/IR/MLIRContext.h"
#include <mutex>

namespace mlir::layout::python {

struct ProcessContext {
  ProcessContext();
  static ProcessContext &get();

  std::mutex mutex;
  MLIRContext context;
};

/// Calls fn(MLIRContext *), which returns a FailureOr, with exclusive use of
/// the context, and returns its value. Throws a LayoutError with the
/// diagnostics if it fails. `text` is the text that fn parses, or empty. The
/// caller must hold the interpreter's lock and must not be inside another
/// inContext.
template <typename Fn> auto inContext(StringRef text, Fn fn) {
  pybind11::gil_scoped_release withoutInterpreter;
  ProcessContext &process = ProcessContext::get();
  std::lock_guard<std::mutex> alone(process.mutex);
  DiagnosticCollector said(&process.context, text, text);
  auto result = fn(&process.context);
  if (failed(result))
    throw said.takeError("the layout states no reason");
  return *result;
}

/// Converts the result of a parser: a null value becomes failure, and any other
/// stays.
template <typename T> FailureOr<T> nonNull(T value) {
  if (value)
    return value;
  return failure();
}

/// Raises LayoutError if brackets in `text` nest deeper than `most`, or more
/// than `most` minus signs follow each other; this bounds a parser's recursion.
/// Also raises it if `text` has a zero byte, at which a parser would stop.
void checkText(StringRef text, unsigned most);

} // namespace mlir::layout::python

#endif // LAYOUT_PYTHON_SRC_CONTEXT_H
