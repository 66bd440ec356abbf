//===- Pipeline.cpp - Passes over the text of a module --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "Context.h"
#include "Modules.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include <pybind11/stl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace py = pybind11;
using namespace mlir;
using namespace mlir::layout::python;

namespace {
/// Redirects stderr of the process to a memory file, and appends its contents
/// to `text` on destruction. Captures nothing if the file cannot be created.
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

/// Parses `pipeline` into `manager`. If it is invalid, writes the errors to
/// `errors` and returns failure. A surrounding builtin.module(..), as mlir-opt
/// requires it, names the module itself instead of a nested one.
static LogicalResult addPasses(StringRef pipeline, OpPassManager &manager,
                               raw_ostream &errors) {
  if (!pipeline.trim().starts_with("builtin.module("))
    return parsePassPipeline(pipeline, manager, errors);
  FailureOr<OpPassManager> whole = parsePassPipeline(pipeline, errors);
  if (succeeded(whole))
    manager = std::move(*whole);
  return whole;
}

/// Parses `pipeline` into `manager`, or throws LayoutError. The parser of pass
/// options reports to stderr only, so stderr is captured; the interpreter's
/// lock is held, so no other binding writes there.
static void parsePipeline(const std::string &pipeline, PassManager &manager,
                          const ModuleInContext &module) {
  std::string wrong, printed;
  bool isRight;
  {
    CapturedStderr captured(printed);
    llvm::raw_string_ostream errors(wrong);
    isRight = succeeded(addPasses(pipeline, manager, errors));
  }
  if (!isRight)
    throw module.takeError("the pipeline is invalid: " +
                           StringRef(wrong + printed).rtrim());
}

static py::object runPipeline(const py::object &given,
                              const py::str &pipelineText,
                              std::optional<bool> bytecode) {
  ModuleData data = toModuleData(given);
  std::string pipeline = pipelineText, text;
  checkText(pipeline, kMostModuleNesting);
  bool givesBytecode = bytecode.value_or(data.isBytecode);
  ModuleInContext module(std::move(data));
  PassManager passes(&module.getContext());
  parsePipeline(pipeline, passes, module);
  {
    py::gil_scoped_release withoutInterpreter;
    module.parse();
    module.run(passes);
    if (!givesBytecode)
      text = module.getText();
  }
  module.issueWarnings();
  if (givesBytecode)
    return module.toBytecode();
  return toPythonString(text);
}

void mlir::layout::python::bindPipeline(py::module_ &module) {
  module.def("run_pipeline", runPipeline, py::arg("module"),
             py::arg("pipeline"), py::kw_only(),
             py::arg("bytecode") = py::none(),
             R"(Runs a pass pipeline on a module and returns the result.

The module is text as a str or bytecode as bytes, and so is the result;
`bytecode`, True or False, overrides this.

The pipeline is written as after `layout-opt --pass-pipeline`, with or without
the surrounding `builtin.module(..)`: passes and pipelines of the project and
of upstream, with options in braces. An attribute as an option value is in
braces of its own: `layout-to-cpu{target={#layout.cpu<lanes = 16>}}`.

>>> from layout_mlir import run_pipeline
>>> print(run_pipeline('func.func @f(%x: i32) -> i32 { return %x : i32 }', 'canonicalize'))
module {
  func.func @f(%arg0: i32) -> i32 {
    return %arg0 : i32
  }
}
<BLANKLINE>
>>> run_pipeline('func.func private @f()', '', bytecode=True)[:4]
b'ML\xefR'

Raises LayoutError for errors of the parser, a verifier or a pass, and issues
warnings as Python warnings. Calls of several threads run concurrently.)");
}
