//===- Solve.cpp - The solver for problems without IR ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "Errors.h"
#include "layout/Solver/NamedProblem.h"
#include "llvm/Support/FormatVariadic.h"
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace mlir::layout;
using namespace mlir::layout::python;

static int64_t checkLimit(llvm::StringRef name, int64_t value) {
  if (value < 0)
    fail(name + " must not be negative");
  return value;
}

static py::object solve(const py::dict &problem, std::optional<int64_t> nodes,
                        std::optional<int64_t> work,
                        std::optional<double> seconds) {
  SolveOptions options;
  if (nodes)
    options.maxNodes = checkLimit("max_nodes", *nodes);
  if (work)
    options.maxWork = checkLimit("max_work", *work);
  if (seconds && !(*seconds >= 0))
    fail("max_seconds must not be negative");
  if (seconds)
    options.maxSeconds = *seconds;
  py::module_ json = py::module_::import("json");
  std::string text = json.attr("dumps")(problem).cast<std::string>();
  std::string answer, message;
  {
    py::gil_scoped_release release;
    llvm::Expected<NamedProblem> read = readNamedProblem(text);
    if (read) {
      llvm::Expected<DecisionAnswer> found = read->solve(options);
      if (found)
        answer = llvm::formatv("{0}", read->makeAnswer(*found));
      else
        message = llvm::toString(found.takeError());
    } else {
      message = llvm::toString(read.takeError());
    }
  }
  if (!message.empty())
    fail(message);
  return json.attr("loads")(answer);
}

void mlir::layout::python::bindSolve(py::module_ &module) {
  module.def("solve", solve, py::arg("problem"), py::kw_only(),
             py::arg("max_nodes") = py::none(),
             py::arg("max_work") = py::none(),
             py::arg("max_seconds") = py::none(),
             R"(Finds the cheapest configurations of ops and copies of tensors.

`problem` is a dict of the JSON input of `layout-solve`. `ops` has the costs of
their configurations. `tensors` have a `producer` and `consumers`, which state
the layout that each configuration produces or reads, and `conversions`, the
costs of copies; a copy serves all consumers that read its layout. `factors`
are further costs over several ops. If a limit ends the search, the result is
the best one found, with a valid lower bound. The answer does not depend on the
order of keys, consumers or factors.

>>> from layout_mlir import solve
>>> answer = solve({
...     'ops': {'conv': {'plain': 90, 'packed': 40}, 'relu': {'plain': 5, 'packed': 6}},
...     'tensors': {'x': {'producer': {'layout': 'NCHW'},
...                       'consumers': [{'op': op, 'layouts': {'plain': 'NCHW', 'packed': 'NCHW16c'}}
...                                     for op in ('conv', 'relu')],
...                       'conversions': {'NCHW': {'NCHW16c': 20}}}}})
>>> answer['cost'], answer['proven'], answer['copies']
(65, True, {'x': ['NCHW16c']})
>>> answer['configurations']
{'conv': 'packed', 'relu': 'plain'}

`cost` is None if no solution exists (`proven` is True) or none was found.
`open` names the ops of parts whose cost is above their lower bound. Raises
LayoutError with the location for an invalid problem.)");
}
