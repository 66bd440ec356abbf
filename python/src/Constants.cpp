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
             R"(Attaches arrays to constants of a module; returns bytecode.

A constant that the text states as `dense_resource<NAME>`, without its bytes,
gets the elements of `arrays[NAME]`. The array must be C-contiguous, with the
number of elements and the in-memory representation of the constant's type.
Weights are never converted to text.

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

Raises LayoutError, with the name of the array, if an array does not fit.)");
}
