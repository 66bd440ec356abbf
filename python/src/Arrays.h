//===- Arrays.h - numpy arrays and element types ----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// numpy is spoken to in Python's own terms, attributes and the buffer protocol:
// its binary interface changed between the versions that are supported.
//
// Elements are moved as bytes. So an integer type takes a dtype of either
// signedness, and types that numpy lacks (bf16, the 8-bit floats) are held by
// unsigned integers of their width, or by a dtype of their name. Byte orders
// other than the machine's, and objects, are no elements.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PYTHON_ARRAYS_H
#define LAYOUT_PYTHON_ARRAYS_H

#include "LayoutValue.h"
#include <pybind11/pybind11.h>

namespace mlir {
namespace layout {
namespace python {

/// A function of numpy.
pybind11::object getNumpy(const char *name);

/// A numpy.ndarray; of anything else a TypeError that calls it `what`.
class Array {
public:
  Array(const pybind11::object &object, StringRef what);

  const pybind11::object object;

  pybind11::object getDtype() const { return object.attr("dtype"); }
  std::string getDtypeName() const;
  Shape getShape() const;
  unsigned getItemBytes() const;
  bool isContiguous() const;

  /// A view where numpy can make one, and else a copy.
  pybind11::object reshape(ArrayRef<int64_t> shape) const;
};

/// The bytes of an array, row-major, kept as they are while this lives.
class Bytes {
public:
  /// Of a copy where the array is not contiguous.
  static Bytes toRead(const Array &array);
  /// Of the array itself, which is contiguous.
  static Bytes toWrite(const pybind11::object &array);

  ArrayRef<char> get() const { return {begin(), size()}; }
  MutableArrayRef<char> getMutable() { return {begin(), size()}; }

private:
  Bytes(const pybind11::object &contiguous, bool writable);
  char *begin() const { return static_cast<char *>(info.ptr); }
  size_t size() const { return size_t(info.size); }

  pybind11::buffer_info info;
};

/// The element type of `layout` for data of this dtype: the stated one if it
/// fits, and else that of the dtype. Throws where there is none.
Type getElement(const LayoutValue &layout, const pybind11::object &dtype);

/// Whether arrays of this dtype hold elements of the type.
bool holds(const pybind11::object &dtype, Type element);

/// The dtype of arrays that are made for elements of the type: of ml_dtypes
/// where numpy lacks it and that is installed, else the stored one.
pybind11::object getDtype(Type element);

/// A dtype of numpy for the bytes of elements as the runtime has them: an i4 is
/// a value in an int8.
pybind11::object getStoredDtype(Type element);

/// An array of elements of the type as one of getStoredDtype, and back.
Array toStored(const Array &array, Type element);
pybind11::object fromStored(const pybind11::object &array, Type element);

/// What padding is to hold, an array without dims: what the layout states (P1),
/// which `given` may repeat; else `given`, and zero for None.
pybind11::object getPadding(const OnShape &on, const pybind11::object &given,
                            const pybind11::object &dtype);

} // namespace python
} // namespace layout
} // namespace mlir

#endif // LAYOUT_PYTHON_ARRAYS_H
