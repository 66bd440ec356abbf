//===- Constants.cpp - Constants from arrays ------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "Modules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace py = pybind11;
using namespace mlir;
using namespace mlir::layout::python;

/// Folders know elements that are a part of the attribute; larger ones, which
/// would be hashed and copied, stay where they are.
static constexpr size_t kMostFoldedBytes = 1 << 16;

/// The value of the resource's type with the elements of an array, which may
/// not be copied.
static ElementsAttr getElements(DenseResourceElementsAttr resource,
                                const py::buffer_info &info) {
  ShapedType type = resource.getType();
  ArrayRef<char> bytes(static_cast<const char *>(info.ptr),
                       static_cast<size_t>(info.size * info.itemsize));
  bool isSplat = false; // one element for all of them
  if (!PyBuffer_IsContiguous(info.view(), 'C') || !type.hasStaticShape() ||
      type.getNumElements() != info.size ||
      !DenseElementsAttr::isValidRawBuffer(type, bytes, isSplat))
    fail("the array of '" + resource.getRawHandle().getKey().str() +
         "' does not have the elements of the constant in a row");
  // A row of equal elements is stated once, as a parser would.
  size_t size = static_cast<size_t>(info.itemsize);
  if (bytes.size() > size && bytes.drop_front(size) == bytes.drop_back(size))
    return DenseElementsAttr::getFromRawBuffer(type, bytes.take_front(size));
  if (bytes.size() <= kMostFoldedBytes)
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  resource.getRawHandle().getResource()->setBlob(
      UnmanagedAsmResourceBlob::allocateWithAlign(bytes, /*align=*/64));
  return resource;
}

static py::bytes attachConstants(const py::str &text,
                                 const py::object &arrays) {
  ModuleInContext module(toModuleData(text));
  module.parse();
  llvm::StringMap<py::buffer_info> buffers;
  module.get()->walk([&](arith::ConstantOp op) {
    auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue());
    if (!resource)
      return;
    std::string name = resource.getRawHandle().getKey().str();
    if (!arrays.contains(name))
      return;
    auto [it, isNew] = buffers.try_emplace(name);
    if (isNew)
      it->second = arrays[py::str(name)].cast<py::buffer>().request();
    op.setValueAttr(getElements(resource, it->second));
  });
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
