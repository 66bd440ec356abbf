//===- Constants.cpp - Constants from arrays ------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "Modules.h"

namespace py = pybind11;
using namespace mlir::layout::python;

static py::bytes attachConstants(const py::str &text,
                                 const py::object &arrays) {
  ModuleInContext module(toModuleData(py::make_tuple(text, arrays)));
  module.parse();
  return module.toBytecode();
}

void mlir::layout::python::bindConstants(py::module_ &module) {
  module.def("attach_constants", attachConstants, py::arg("module"),
             py::arg("arrays"),
             R"(Gives constants of the text of a module their elements.

A constant that the text states as `dense_resource<NAME>`, without the bytes of
it, takes them from the array of that name, whose elements are as memory has
those of the constant's type. Weights never become text in this way. What is
returned is bytecode.

>>> import numpy as np
>>> from layout_mlir import attach_constants, run_pipeline
>>> text = '''func.func @f() -> tensor<2xf32> {
...   %w = arith.constant dense_resource<w> : tensor<2xf32>
...   return %w : tensor<2xf32>
... }'''
>>> print(run_pipeline(attach_constants(text, {'w': np.array([1, 2], 'f4')}), '', bytecode=False))
module {
  func.func @f() -> tensor<2xf32> {
    %cst = arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
    return %cst : tensor<2xf32>
  }
}
<BLANKLINE>

A LayoutError says which array does not fit.)");
}
