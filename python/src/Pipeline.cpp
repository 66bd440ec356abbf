//===- Pipeline.cpp - Passes over the text of a module --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "Context.h"
#include "layout/Pipelines/Registration.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include <sys/mman.h>
#include <unistd.h>

namespace py = pybind11;
using namespace mlir;
using namespace mlir::layout::python;

static constexpr unsigned kMostNesting = 1000;
static constexpr StringRef kTextName = "<module>";

/// All that layout-opt has, once for the process.
static const DialectRegistry &getRegistry() {
  static const DialectRegistry *registry = [] {
    auto *all = new DialectRegistry;
    layout::registerWithUpstream(*all);
    return all;
  }();
  return *registry;
}

namespace {
struct Outcome {
  std::string text;
  std::vector<std::string> warnings;
};

/// While it lives, what the process writes to stderr goes to a file in memory,
/// and from there to `text`.
class CapturedStderr {
public:
  explicit CapturedStderr(std::string &text)
      : text(text), original(dup(STDERR_FILENO)),
        file(memfd_create("stderr", MFD_CLOEXEC)) {
    if (original >= 0 && file >= 0)
      dup2(file, STDERR_FILENO);
  }
  ~CapturedStderr() {
    if (original >= 0 && file >= 0) {
      dup2(original, STDERR_FILENO);
      lseek(file, 0, SEEK_SET);
      char buffer[4096];
      for (ssize_t n; (n = read(file, buffer, sizeof(buffer))) > 0;)
        text.append(buffer, n);
    }
    for (int opened : {original, file})
      if (opened >= 0)
        close(opened);
  }

private:
  std::string &text;
  int original, file;
};
} // namespace

/// Adds the passes to `manager`. The parser of a pipeline's options reports to
/// stderr alone, so that is read; nobody else writes there while the
/// interpreter's lock is held.
static void parsePipeline(const std::string &pipeline, PassManager &manager,
                          const DiagnosticCollector &said) {
  std::string wrong, printed;
  bool isRight;
  {
    CapturedStderr captured(printed);
    llvm::raw_string_ostream errors(wrong);
    isRight = succeeded(parsePassPipeline(pipeline, manager, errors));
  }
  if (!isRight)
    throw said.takeError("the pipeline is not right: " +
                         StringRef(wrong + printed).rtrim());
}

/// A context of its own: modules of several threads do not meet.
static Outcome run(const std::string &text, const std::string &pipeline) {
  MLIRContext context(getRegistry());
  context.printOpOnDiagnostic(false);
  DiagnosticCollector said(&context, text, kTextName);
  PassManager passes(&context);
  parsePipeline(pipeline, passes, said);

  py::gil_scoped_release withoutInterpreter;
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(text, ParserConfig(&context), kTextName);
  if (!module)
    throw said.takeError("the text is no module");
  if (failed(passes.run(*module)))
    throw said.takeError("the pipeline failed");
  Outcome outcome;
  llvm::raw_string_ostream(outcome.text) << *module << "\n";
  outcome.warnings = said.getWarnings();
  return outcome;
}

static py::str runPipeline(const py::str &moduleText,
                           const py::str &pipelineText) {
  std::string text = moduleText, pipeline = pipelineText;
  checkText(text, kMostNesting);
  checkText(pipeline, kMostNesting);
  Outcome outcome = run(text, pipeline);
  py::module_ warnings = py::module_::import("warnings");
  for (const std::string &warning : outcome.warnings)
    warnings.attr("warn")(toPythonString(warning), py::arg("stacklevel") = 2);
  return toPythonString(outcome.text);
}

void mlir::layout::python::bindPipeline(py::module_ &module) {
  module.def("run_pipeline", runPipeline, py::arg("module_text"),
             py::arg("pipeline"),
             R"(Runs passes over a module and returns its text.

The pipeline is written as after `layout-opt --pass-pipeline`, without the
`builtin.module(..)` around it: passes and pipelines of the project and of
upstream, with options in braces. An attribute as the value of an option stands
in braces of its own: `layout-to-cpu{target={#layout.cpu<lanes =
16>}}`.

>>> from layout_mlir import run_pipeline
>>> print(run_pipeline('func.func @f(%x: i32) -> i32 { return %x : i32 }', 'canonicalize'))
module {
  func.func @f(%arg0: i32) -> i32 {
    return %arg0 : i32
  }
}
<BLANKLINE>

An error of the parser, a verifier or a pass is raised as LayoutError, warnings
are issued as Python's. Threads run at the same time.)");
}
