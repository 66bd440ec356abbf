//===- Arrays.h - numpy arrays and element types ----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// numpy is called through Python attributes and the buffer protocol, because
// its binary interface differs between the supported versions.
//
// Elements are moved as bytes. An integer type therefore accepts dtypes of
// either signedness, and types that numpy lacks (bf16, the 8-bit floats) are
// held by unsigned integers of their width or by the ml_dtypes dtype of that
// name. Dtypes in foreign byte order and object dtypes are rejected.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PYTHON_SRC_ARRAYS_H
#define LAYOUT_PYTHON_SRC_ARRAYS_H

#include "LayoutValue.h"
#include <memory>
#include <pybind11/pybind11.h>

namespace mlir::layout::python {

/// Returns the attribute `name` of numpy.
pybind11::object getNumpy(const char *name);

/// Returns numpy.ndarray, which is looked up once.
pybind11::handle getArrayClass();

/// A plain numpy.ndarray, to which one of a subclass is converted. Constructing
/// it from another object or a masked array raises a TypeError that calls the
/// object `what`.
class Array {
public:
  Array(const pybind11::object &object, StringRef what);

  const pybind11::object object;

  pybind11::object getDtype() const { return object.attr("dtype"); }
  std::string getDtypeName() const;
  Shape getShape() const;
  unsigned getItemBytes() const;
  bool isContiguous() const;

  /// Returns the array in another shape: a view if numpy can create one, else a
  /// copy.
  pybind11::object reshape(ArrayRef<int64_t> shape) const;
};

/// The row-major bytes of an array, which stay valid while this object lives.
class Bytes {
public:
  /// Returns the bytes of `array`, or of a contiguous copy of it.
  static Bytes toRead(const Array &array);
  /// Returns the bytes of `array` itself, to write them. The caller guarantees
  /// that it is contiguous; the bytes would otherwise be those of a copy, and
  /// the array would stay unchanged.
  static Bytes toWrite(const pybind11::object &array);

  ArrayRef<char> get() const { return {begin(), size()}; }
  MutableArrayRef<char> getMutable() { return {begin(), size()}; }

  /// Returns the shape of the array.
  ArrayRef<Py_ssize_t> getShape() const {
    return {view->shape, size_t(view->ndim)};
  }

private:
  struct Release {
    void operator()(Py_buffer *view) const;
  };
  using View = std::unique_ptr<Py_buffer, Release>;

  explicit Bytes(View view) : view(std::move(view)) {}
  /// Returns the bytes of `array`. Sets a Python error and returns nullptr if
  /// it is not contiguous.
  static View tryView(const pybind11::object &array, int flags);
  char *begin() const { return static_cast<char *>(view->buf); }
  size_t size() const { return size_t(view->len); }

  View view;
};

/// Returns the element type of `layout` for data of this dtype: the stated type
/// if the dtype fits it, and the type of the dtype if none is stated. Throws
/// LayoutError if there is no such type, or if the dtype is in foreign byte
/// order.
Type getElement(const LayoutValue &layout, const pybind11::object &dtype);

/// Returns true if arrays of this dtype can hold elements of type `element`;
/// false for a foreign byte order.
bool holds(const pybind11::object &dtype, Type element);

/// Returns the dtype of result arrays with elements of this type: the ml_dtypes
/// one if numpy lacks the type and the installed ml_dtypes has it, else the
/// stored dtype.
pybind11::object getDtype(Type element);

/// Returns the numpy dtype for the bytes of elements as the runtime stores
/// them. An i4 is stored as its value in an int8.
pybind11::object getStoredDtype(Type element);

/// Returns true for integers of 2 to 7 bits (not i1), which arrays store as one
/// byte with the value. The runtime stores all other elements as arrays do.
bool isPartialInteger(Type type);

/// Converts an array of elements of type `element` from the dtype of result
/// arrays, e.g. of ml_dtypes, to the dtype in which the runtime stores their
/// bytes. Changes only integers of 2 to 7 bits, and returns other arrays as
/// they are, because their bytes are the stored ones.
Array toStored(const Array &array, Type element);

/// Returns the padding value as an array of rank 0: the value that the layout
/// states, or otherwise `given`, or zero if that is None. Throws LayoutError if
/// `given` differs from the stated value, or if the dtype cannot represent it.
pybind11::object getPadding(const OnShape &on, const pybind11::object &given,
                            const pybind11::object &dtype);

} // namespace mlir::layout::python

#endif // LAYOUT_PYTHON_SRC_ARRAYS_H
