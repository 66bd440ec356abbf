//===- Arguments.cpp - Shapes and indices from Python ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "llvm/ADT/STLExtras.h"

namespace py = pybind11;
using namespace mlir;
using namespace mlir::layout;
using namespace mlir::layout::python;

int64_t mlir::layout::python::toInt(py::handle value, const Twine &what) {
  py::object number =
      py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (!number)
    throw py::error_already_set();
  int overflow = 0;
  int64_t result = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow)
    fail(what + " is " + Twine(std::string(py::str(number))) +
         " and does not fit 64 bits");
  if (result == -1 && PyErr_Occurred())
    throw py::error_already_set();
  return result;
}

/// Returns the elements of a sequence. Raises TypeError, in which `what` names
/// the argument, for a str, bytes, and an object that is not a sequence.
static std::vector<py::object> toObjects(py::handle values, StringRef what) {
  bool isText = PyUnicode_Check(values.ptr()) || PyBytes_Check(values.ptr());
  if (isText || !PySequence_Check(values.ptr()))
    throw py::type_error("the " + what.str() +
                         " must be a sequence of integers, not " +
                         Py_TYPE(values.ptr())->tp_name);
  std::vector<py::object> objects;
  for (py::handle value : py::reinterpret_borrow<py::object>(values))
    objects.push_back(py::reinterpret_borrow<py::object>(value));
  return objects;
}

SmallVector<int64_t>
mlir::layout::python::toInts(py::handle values, StringRef what,
                             std::optional<int64_t> unknown) {
  SmallVector<int64_t> result;
  for (const py::object &value : toObjects(values, what)) {
    if (unknown && value.is_none()) {
      result.push_back(*unknown);
      continue;
    }
    std::string name =
        ("entry " + Twine(result.size()) + " of the " + what).str();
    result.push_back(toInt(value, name));
    if (unknown && result.back() == *unknown)
      fail(name + " is " + Twine(*unknown) + ": use None for a dynamic size");
  }
  return result;
}

static Shape toSizes(py::handle values, std::optional<int64_t> unknown) {
  Shape shape = toInts(values, "shape", unknown);
  for (auto [d, size] : llvm::enumerate(shape))
    if (size < 0 && !(unknown && size == *unknown))
      fail("the size of dim " + Twine(d) + " is " + Twine(size) +
           ": sizes must not be negative");
  return shape;
}

Shape mlir::layout::python::toShape(py::handle values) {
  return toSizes(values, std::nullopt);
}

Shape mlir::layout::python::toDynamicShape(py::handle values) {
  return toSizes(values, kUnknownSize);
}

SmallVector<int64_t> mlir::layout::python::toIndex(py::handle values,
                                                   ArrayRef<int64_t> shape) {
  SmallVector<int64_t> index = toInts(values, "index");
  if (index.size() != shape.size())
    fail("the index has " + Twine(index.size()) + " entries, the shape has " +
         Twine(shape.size()) + " dims");
  for (auto [d, i, size] : llvm::enumerate(index, shape))
    if (i < 0 || i >= size)
      fail("index " + Twine(i) + " of dim " + Twine(d) +
           " is outside the box: the size there is " + Twine(size));
  return index;
}

std::vector<SmallVector<int64_t, 2>>
mlir::layout::python::toGroups(py::handle values) {
  std::vector<SmallVector<int64_t, 2>> groups;
  for (const py::object &group : toObjects(values, "groups")) {
    SmallVector<int64_t> dims = toInts(group, "group");
    groups.emplace_back(dims.begin(), dims.end());
  }
  return groups;
}

py::tuple mlir::layout::python::toTuple(ArrayRef<int64_t> values) {
  py::tuple result(values.size());
  for (auto [i, value] : llvm::enumerate(values)) {
    if (value == kUnknownSize)
      result[i] = py::none();
    else
      result[i] = py::int_(value);
  }
  return result;
}
