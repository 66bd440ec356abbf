//===- Context.h - The MLIR context of the process --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layouts of one process live in one MLIRContext, so that equal attributes are
// the same one. One thread is in it at a time, and only to parse, to resolve a
// layout for a shape and to print; numbers come from the algebra, whose values
// belong to no context and are immutable. The context is never destroyed:
// layouts may be used until the interpreter has ended.
//
// Laws: whoever waits for the context has given up the interpreter's lock, so
// the two are never waited for in a circle; what is said in the context goes to
// the thread that is in it.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PYTHON_CONTEXT_H
#define LAYOUT_PYTHON_CONTEXT_H

#include "Errors.h"
#include "mlir/IR/MLIRContext.h"
#include <mutex>

namespace mlir {
namespace layout {
namespace python {

struct ProcessContext {
  ProcessContext();
  static ProcessContext &get();

  std::mutex mutex;
  MLIRContext context;
};

/// What fn(MLIRContext *) gives, a FailureOr, computed alone in the context; on
/// failure a LayoutError with what was said. `text` is what fn parses, if
/// anything. To be called with the interpreter's lock held, and not from fn.
template <typename Fn> auto inContext(StringRef text, Fn fn) {
  pybind11::gil_scoped_release withoutInterpreter;
  ProcessContext &process = ProcessContext::get();
  std::lock_guard<std::mutex> alone(process.mutex);
  DiagnosticCollector said(&process.context, text, text);
  auto result = fn(&process.context);
  if (failed(result))
    throw said.takeError("the layout gives no reason");
  return *result;
}

/// What parsers give: null stands for failure.
template <typename T> FailureOr<T> nonNull(T value) {
  if (value)
    return value;
  return failure();
}

/// Refuses text that is nested deeper than a parser's stack is sure to hold,
/// and zero bytes, at which a parser would stop.
void checkText(StringRef text, unsigned most);

} // namespace python
} // namespace layout
} // namespace mlir

#endif // LAYOUT_PYTHON_CONTEXT_H
