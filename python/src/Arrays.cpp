//===- Arrays.cpp - numpy arrays into storage and back --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arrays.h"
#include "Arguments.h"
#include "Bindings.h"
#include "layout/Algebra/Evaluator.h"
#include "layout/Algebra/Pack.h"
#include "llvm/ADT/STLExtras.h"

namespace py = pybind11;
using namespace mlir;
using namespace mlir::layout;
using namespace mlir::layout::python;

//===----------------------------------------------------------------------===//
// numpy
//===----------------------------------------------------------------------===//

py::object mlir::layout::python::getNumpy(const char *name) {
  return py::module_::import("numpy").attr(name);
}

py::handle mlir::layout::python::getArrayClass() {
  // Immortal: the class lives as long as the interpreter.
  static PyObject *found = getNumpy("ndarray").release().ptr();
  return found;
}

/// Converts an ndarray of any subclass to a plain ndarray, because subclasses
/// redefine operations. Raises TypeError, in which `what` names the argument,
/// for other objects and for masked arrays.
static py::object toPlainArray(const py::object &object, StringRef what) {
  py::handle plain = getArrayClass();
  if (py::type::of(object).is(plain))
    return object;
  if (!py::isinstance(object, plain))
    throw py::type_error("the " + what.str() +
                         " must be a numpy.ndarray, not " +
                         Py_TYPE(object.ptr())->tp_name);
  // Masked elements would appear as values.
  if (py::isinstance(object, getNumpy("ma").attr("MaskedArray")))
    throw py::type_error("the " + what.str() +
                         " has a mask, which layouts do not support: fill it");
  return getNumpy("asarray")(object);
}

Array::Array(const py::object &object, StringRef what)
    : object(toPlainArray(object, what)) {}

std::string Array::getDtypeName() const {
  return py::str(getDtype().attr("name"));
}

Shape Array::getShape() const { return toInts(object.attr("shape"), "shape"); }

unsigned Array::getItemBytes() const {
  return object.attr("itemsize").cast<unsigned>();
}

bool Array::isContiguous() const {
  return object.attr("flags").attr("c_contiguous").cast<bool>();
}

py::object Array::reshape(ArrayRef<int64_t> shape) const {
  return object.attr("reshape")(toTuple(shape));
}

void Bytes::Release::operator()(Py_buffer *view) const {
  PyBuffer_Release(view);
  delete view;
}

Bytes::View Bytes::tryView(const py::object &array, int flags) {
  auto view = std::make_unique<Py_buffer>();
  // Without PyBUF_FORMAT, arrays of every dtype support the protocol.
  if (PyObject_GetBuffer(array.ptr(), view.get(), flags))
    return nullptr;
  return View(view.release());
}

Bytes Bytes::toRead(const Array &array) {
  if (View view = tryView(array.object, PyBUF_C_CONTIGUOUS))
    return Bytes(std::move(view));
  PyErr_Clear();
  View copied =
      tryView(getNumpy("ascontiguousarray")(array.object), PyBUF_C_CONTIGUOUS);
  if (!copied)
    throw py::error_already_set();
  return Bytes(std::move(copied));
}

Bytes Bytes::toWrite(const py::object &array) {
  View view = tryView(array, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE);
  if (!view)
    throw py::error_already_set();
  return Bytes(std::move(view));
}

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

/// Returns the integers as Python prints a tuple.
static std::string toText(ArrayRef<int64_t> integers) {
  py::tuple tuple(integers.size());
  for (auto [i, integer] : llvm::enumerate(integers))
    tuple[i] = py::int_(integer);
  return py::str(tuple);
}

/// Returns the dims in the order in which storage has them, slowest first, and
/// then those of size 1, if storage is a permutation of the dims without
/// padding. Otherwise returns std::nullopt.
static std::optional<SmallVector<int64_t>> getPermutation(const OnShape &on) {
  if (on.map.getSpace() != "buffer")
    return std::nullopt;
  SmallVector<int64_t> permutation;
  SmallVector<bool> seen(on.shape.size(), false);
  for (const BoundedIndex &dim : on.normalDims) {
    if (dim.extent.isConstantEqual(1))
      continue;
    const Digit *digit = dim.value.getSingleDigit();
    if (!digit || !digit->isDim() || !digit->isWholeSource() ||
        digit->dim >= on.shape.size() || seen[digit->dim] ||
        !dim.extent.isConstantEqual(on.shape[digit->dim]))
      return std::nullopt;
    seen[digit->dim] = true;
    permutation.push_back(digit->dim);
  }
  // Dims of size 1 are not digits, and their position makes no difference.
  for (auto [d, size] : llvm::enumerate(on.shape))
    if (!seen[d] && size != 1)
      return std::nullopt;
  for (auto [d, size] : llvm::enumerate(on.shape))
    if (!seen[d])
      permutation.push_back(d);
  return permutation;
}

static bool isRowMajor(const OnShape &on) {
  return on.normal == LayoutMap::rowMajor(on.shape.size()).specialize(on.shape);
}

/// Calls move(), which copies elements to or from the storage of `self`, with
/// the interpreter's lock released. Throws LayoutError if it returns false
/// because a position in the storage may not fit 64 bits.
template <typename Fn>
static void moveElements(const LayoutValue &self, Fn move) {
  bool done;
  {
    py::gil_scoped_release withoutInterpreter;
    done = move();
  }
  if (!done)
    fail("a position in the storage of layout " + self.text +
         " may not fit 64 bits (L1)");
}

static py::object packArray(const LayoutValue &self, const py::object &given,
                            const py::object &pad) {
  Array array(given, "array");
  auto on = self.on(array.getShape(), getElement(self, array.getDtype()));
  on->requireValid();
  py::object padding = getPadding(*on, pad, array.getDtype());
  Shape shape = on->getStoredShape();
  if (array.isContiguous() && isRowMajor(*on))
    return array.reshape(shape);
  if (auto permutation = getPermutation(*on))
    return array.object.attr("transpose")(toTuple(*permutation))
        .attr("reshape")(toTuple(shape));

  py::object storage =
      getNumpy("full")(toTuple(shape), padding, array.getDtype());
  Bytes from = Bytes::toRead(array), to = Bytes::toWrite(storage);
  unsigned itemBytes = array.getItemBytes();
  moveElements(self, [&] {
    return pack(on->map, on->shape, itemBytes, from.get(), to.getMutable());
  });
  return storage;
}

static py::object unpackArray(const LayoutValue &self, const py::object &given,
                              py::handle logicalShape) {
  Array storage(given, "storage");
  auto on =
      self.on(toShape(logicalShape), getElement(self, storage.getDtype()));
  on->requireValid();
  Shape shape = on->getStoredShape(), extents = on->getStorageExtent();
  Shape found = storage.getShape();
  if (found != shape && found != extents)
    fail("the storage of this shape must be an array of shape " +
         toText(shape) + (shape == extents ? "" : " or " + toText(extents)) +
         ", not " + toText(found));
  if (storage.isContiguous() && isRowMajor(*on))
    return storage.reshape(on->shape);
  if (auto permutation = getPermutation(*on)) {
    Shape permuted, inverse(permutation->size());
    for (auto [i, d] : llvm::enumerate(*permutation)) {
      permuted.push_back(on->shape[d]);
      inverse[d] = i;
    }
    return storage.reshape(permuted).attr("transpose")(toTuple(inverse));
  }

  py::object array = getNumpy("empty")(toTuple(on->shape), storage.getDtype());
  Bytes from = Bytes::toRead(storage), to = Bytes::toWrite(array);
  unsigned itemBytes = storage.getItemBytes();
  moveElements(self, [&] {
    return unpack(on->map, on->shape, itemBytes, from.get(), to.getMutable());
  });
  return array;
}

/// Converts an array of shape (n, rank), with one index per row, to contiguous
/// int64. Throws LayoutError for another shape, or for a dtype other than
/// integers that int64 can represent.
static py::object toIndices(const Array &indices, size_t rank) {
  std::string kind = py::str(indices.getDtype().attr("kind"));
  if (!StringRef("iu").contains(kind) ||
      !getNumpy("can_cast")(indices.getDtype(), "int64").cast<bool>())
    fail("indices of dtype " + indices.getDtypeName() +
         ": use signed integers of at most 64 bits");
  Shape shape = indices.getShape();
  if (shape.size() != 2 || size_t(shape[1]) != rank)
    fail("the indices have the shape " + toText(shape) + ", not (n, " +
         Twine(rank) + "): one index in each row");
  return getNumpy("ascontiguousarray")(indices.object, "int64");
}

/// Returns the index of the first of `count` rows that is not an index of
/// `shape`, or `count` if all are.
static size_t findOutside(const int64_t *rows, size_t count,
                          ArrayRef<int64_t> shape) {
  for (size_t row = 0; row < count; ++row)
    for (size_t d = 0; d < shape.size(); ++d, ++rows)
      if (*rows < 0 || *rows >= shape[d])
        return row;
  return count;
}

static py::object forwardArray(const LayoutValue &self, const py::object &given,
                               py::handle shape) {
  auto on = self.on(toShape(shape));
  size_t rank = on->shape.size();
  Array indices(toIndices(Array(given, "array of indices"), rank), "indices");
  size_t count = indices.getShape().front();
  std::optional<Evaluator> evaluator =
      Evaluator::ofCoordinates(on->normal, on->shape);
  if (!evaluator)
    fail("an address on this shape may not fit 64 bits (L1): the tensor is too "
         "large");
  py::object points = getNumpy("empty")(
      py::make_tuple(count, evaluator->getNumValues()), "int64");
  Bytes from = Bytes::toRead(indices), to = Bytes::toWrite(points);
  const auto *rows = reinterpret_cast<const int64_t *>(from.get().data());
  auto *values = reinterpret_cast<int64_t *>(to.getMutable().data());
  size_t outside;
  {
    py::gil_scoped_release withoutInterpreter;
    outside = findOutside(rows, count, on->shape);
    if (outside == count)
      evaluator->evaluate(rows, rank, count, values);
  }
  if (outside != count)
    fail("row " + Twine(outside) + " is the index " +
         toText(ArrayRef<int64_t>(rows + outside * rank, rank)) +
         ", outside the shape " + toText(on->shape));
  return points;
}

void mlir::layout::python::bindArrays(LayoutClass &layout) {
  layout
      .def("pack", forPython(packArray), py::arg("array"),
           py::arg("pad") = py::none(),
           R"(Returns the storage of a logical array, padding included.

Its shape is `stored_shape`, so storage[forward_index(i, shape)] is array[i].
Outside of linear memory the stored dims are the coordinates. Padding has the
value that the layout states (P1), or else the value `pad`, by default 0.

If storage is the array in row-major order, or a permutation of its dims, the
result is a view of the array without a copy. Other results are contiguous.

>>> import numpy as np
>>> L = Layout('#layout.blocked<"AB" to "AB4b">')
>>> L.pack(np.arange(10, dtype='i4').reshape(2, 5), pad=-1)
array([[[ 0,  1,  2,  3],
        [ 4, -1, -1, -1]],
<BLANKLINE>
       [[ 5,  6,  7,  8],
        [ 9, -1, -1, -1]]], dtype=int32)

Raises LayoutError if the layout is not valid for the shape, or if the dtype
does not match `element` or cannot represent `pad`.)")
      .def("unpack", forPython(unpackArray), py::arg("storage"),
           py::arg("shape"),
           R"(Returns the logical array of a given shape from its storage.

`storage` has the shape of a result of `pack`, or one dim for each coordinate.
Padding is not read. The result is a view if that of `pack` is one. Raises
LayoutError if the shape or the dtype of `storage` does not fit.

>>> import numpy as np
>>> L = Layout('#layout.blocked<"AB" to "BA">')
>>> L.unpack(np.arange(6).reshape(3, 2), (2, 3))
array([[0, 2, 4],
       [1, 3, 5]])
)")
      .def("forward", forPython(forwardArray), py::arg("indices"),
           py::arg("shape"),
           R"(Maps many indices to storage points, one in each row.

The shape of `indices` is [n, rank], that of the result [n, coordinates]. Raises
LayoutError if an index is outside the shape.

>>> import numpy as np
>>> L = Layout('#layout.blocked<"AB" to "AB4b">')
>>> L.forward(np.array([[0, 4], [1, 4]]), (2, 5))
array([[ 4],
       [12]])
)");
}
