//===- Module.cpp - The extension module layout_mlir._layout --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "Context.h"
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace mlir::layout::python;

static const char *const kModuleDoc =
    R"(Layouts of tensors: the C++ algebra of MLIR Layout, in this process.

Shapes and indices are sequences of integers, counted in elements; storage is
counted in elements, too, and in bytes where a name says so. Every fault of an
argument raises LayoutError (a ValueError), an argument of a wrong kind
TypeError.)";

static const char *const kLayoutDoc =
    R"(Where the elements of a tensor live.

`text` is an attribute of the layout dialect as in IR, or the name of a blocked
layout, 'NCHW16c': upper-case letters are axes, '16c' a block of 16. The logical
order of the axes is NC, NCW, NCHW or NCDHW, OI, OIW, OIHW or OIDHW, also after a
G, or alphabetic from A, as in 'BA' and 'AB4b'; other letters are refused.
`target` gives the figures of a machine to families that need them, `element` is
the type of the elements ('f32', 'i8', ..), which some families need and arrays
are checked against. A fault in the text is a LayoutError with line and column.

>>> from layout_mlir import Layout
>>> L = Layout('#layout.blocked<"NCHW" to "NCHW16c">')
>>> L.address((0, 16, 6, 6), shape=(1, 17, 7, 7))
{'offset': 1552}
>>> L == Layout('NCHW16c')
True

Layouts are immutable; they compare equal, and hash alike, where they are the
same map on every shape. Several threads may use one.)";

static std::shared_ptr<LayoutValue>
make(const py::str &text, const py::object &target,
     const std::optional<py::str> &element) {
  std::optional<std::string> figures, type;
  if (!target.is_none())
    figures = getTargetText(target);
  if (element)
    type = *element;
  return toPython(LayoutValue::parse(expandName(text), figures, type));
}

/// Returns the constructor arguments for pickling.
static py::tuple getArguments(const LayoutValue &layout) {
  py::object element = py::none();
  if (layout.hasElement())
    element = py::str(layout.getElementText());
  return py::make_tuple(layout.text, py::none(), element);
}

static std::string getRepr(const LayoutValue &layout) {
  std::string repr = "Layout(" + std::string(py::repr(py::str(layout.text)));
  if (layout.hasElement())
    repr += ", element='" + layout.getElementText() + "'";
  return repr + ")";
}

static bool isSame(const LayoutValue &self, const LayoutValue &other) {
  return self.isSame(other);
}

PYBIND11_MODULE(_layout, module) {
  module.doc() = kModuleDoc;
  bindErrors(module);
  bindTarget(module);

  LayoutClass layout(module, "Layout", kLayoutDoc);
  layout
      .def(py::init(&make), py::arg("text"), py::arg("target") = py::none(),
           py::arg("element") = py::none())
      .def("__str__",
           forPython(+[](const LayoutValue &self) { return self.text; }))
      .def("__repr__", forPython(getRepr))
      .def("__hash__",
           forPython(+[](const LayoutValue &self) { return self.getHash(); }))
      .def("__eq__", forPython(isSame), py::arg("other").none(false),
           py::is_operator())
      .def("__reduce__", [](const py::object &self) {
        auto value = self.cast<std::shared_ptr<LayoutValue>>();
        return py::make_tuple(py::type::of(self), getArguments(*value));
      });
  bindQueries(layout);
  bindArrays(layout);
  bindViews(layout);
  bindNotations(layout);
  bindSteps(layout);
  bindMemory(layout);
  bindCuTeAlgebra(layout);
  bindConversions(module, layout);
  bindPipeline(module);
  bindConstants(module);
  bindCostFunction(module);
  bindAssignment(module);
  bindAssigner(module);
  bindProgram(module);
  bindSolve(module);
}
