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
    R"(Tensor layouts: the C++ algebra of MLIR Layout in the Python process.

Shapes and indices are sequences of integers. Storage is counted in elements, or
in bytes if a name says so. An invalid argument raises LayoutError, a subclass
of ValueError; an argument of a wrong type raises TypeError.)";

static const char *const kLayoutDoc =
    R"(A map from the elements of a tensor to storage positions.

`text` is an attribute of the layout dialect as in IR, or the name of a blocked
layout, e.g. 'NCHW16c': upper-case letters are axes, and '16c' is a block of
16. The logical order of the axes is NC, NCW, NCHW, NCDHW, OI, OIW, OIHW or
OIDHW, the last three also after a G, or alphabetic from A, as in 'BA' and
'AB4b'. Other letters raise LayoutError. `target` supplies the parameters of a
chip to layout families that need them. `element` is the element type ('f32',
'i8', ..), which some families need; the dtypes of arrays must match it. A
syntax error raises LayoutError with line and column.

>>> from layout_mlir import Layout
>>> L = Layout('#layout.blocked<"NCHW" to "NCHW16c">')
>>> L.address((0, 16, 6, 6), shape=(1, 17, 7, 7))
{'offset': 1552}
>>> L == Layout('NCHW16c')
True

Layouts are immutable; threads may share them. Two layouts are equal, and have
equal hashes, if their map on every shape, stored dims, element type and padding
value are equal.)";

static std::shared_ptr<LayoutValue>
make(const py::str &text, const py::object &target,
     const std::optional<py::str> &element) {
  std::optional<std::string> targetText, type;
  if (!target.is_none())
    targetText = getTargetText(target);
  if (element)
    type = *element;
  return toPython(LayoutValue::parse(expandName(text), targetText, type));
}

/// Returns the arguments of Layout(..) that create an equal layout, for
/// pickling.
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
  bindBundles(module);
  bindPipeline(module);
  bindConstants(module);
  bindCostFunction(module);
  bindAssignment(module);
  bindProgram(module);
}
