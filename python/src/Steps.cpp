//===- Steps.cpp - Strides, runs and symbolic shapes ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Steps.h"
#include "Arguments.h"
#include "Bindings.h"
#include "layout/Algebra/LogicalShape.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace mlir;
using namespace mlir::layout;
using namespace mlir::layout::python;

//===----------------------------------------------------------------------===//
// Sizes with names
//===----------------------------------------------------------------------===//

namespace {
/// A shape in which a dynamic size is None or a name.
struct NamedShape {
  Shape sizes;
  SmallVector<std::string> names; // empty if unnamed

  static NamedShape get(py::handle given);
  /// Returns a size as a Python int, or as a formula of the names of dynamic
  /// sizes, e.g. "ceil(c, 16)"; the size of dim 1 without a name is "size(d1)".
  /// Throws LayoutError if it does not fit 64 bits.
  py::object toPython(const SizeExpr &size) const;
};
} // namespace

static bool isName(StringRef text) {
  return !text.empty() && !llvm::isDigit(text.front()) &&
         llvm::all_of(text,
                      [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

NamedShape NamedShape::get(py::handle given) {
  NamedShape shape;
  if (PyUnicode_Check(given.ptr()) || !PySequence_Check(given.ptr())) {
    shape.sizes = toDynamicShape(given); // throws the error
    return shape;
  }
  py::list dynamic;
  for (py::handle size : py::reinterpret_borrow<py::object>(given)) {
    std::string name;
    if (py::isinstance<py::str>(size)) {
      name = py::str(size);
      if (!isName(name))
        fail("the size '" + name +
             "' is not a valid name: use letters, digits and '_', without a "
             "leading digit");
      dynamic.append(py::none());
    } else {
      dynamic.append(size);
    }
    shape.names.push_back(name);
  }
  shape.sizes = toDynamicShape(dynamic);
  return shape;
}

py::object NamedShape::toPython(const SizeExpr &size) const {
  if (size.isOverflow())
    fail("a number of the layout does not fit 64 bits (L1): the tensor is too "
         "large");
  if (std::optional<int64_t> number = size.getConstant())
    return py::int_(*number);
  std::string text, named;
  llvm::raw_string_ostream os(text);
  size.print(os);
  StringRef rest(os.str());
  // SizeExpr prints the size of dim 1 as `size(d1)`.
  while (!rest.empty()) {
    unsigned dim;
    StringRef after = rest;
    if (after.consume_front("size(d") && !after.consumeInteger(10, dim) &&
        after.consume_front(")") && dim < names.size() && !names[dim].empty()) {
      named += names[dim];
      rest = after;
      continue;
    }
    named += rest.front();
    rest = rest.drop_front();
  }
  return py::str(named);
}

//===----------------------------------------------------------------------===//
// Strides, runs and alignments
//===----------------------------------------------------------------------===//

static constexpr StringRef kNotKnown =
    " was not found within the bound: dims that share a digit have many "
    "indices or a dynamic size; state the sizes, or use a slice";

static unsigned toDim(const OnShape &on, int64_t dim) {
  if (dim < 0 || dim >= int64_t(on.shape.size()))
    fail("dim " + Twine(dim) + " of a layout of rank " +
         Twine(on.shape.size()));
  return dim;
}

/// Returns the number of a coordinate by name, or of the last one for None.
/// Throws LayoutError if the name is unknown or there is no coordinate.
static unsigned toCoordinate(const OnShape &on, const py::object &name) {
  ArrayRef<Coordinate> coordinates = on.map.getCoordinates();
  if (coordinates.empty())
    fail("the space '" + on.map.getSpace() + "' has no coordinate");
  if (name.is_none())
    return coordinates.size() - 1;
  std::string wanted = py::str(name);
  const auto *it = llvm::find_if(
      coordinates, [&](const Coordinate &c) { return c.name == wanted; });
  if (it == coordinates.end())
    fail("the space '" + on.map.getSpace() + "' has no coordinate '" + wanted +
         "'");
  return it - coordinates.begin();
}

static py::dict getStrides(const LayoutValue &self, py::handle given) {
  NamedShape shape = NamedShape::get(given);
  auto on = self.on(shape.sizes);
  py::dict result;
  for (auto [c, coordinate] : llvm::enumerate(on->map.getCoordinates())) {
    py::tuple strides(shape.sizes.size());
    for (unsigned d = 0; d < shape.sizes.size(); ++d) {
      std::optional<Steps> steps = getSteps(on->map, c, d, shape.sizes);
      if (!steps)
        fail("the stride of dim " + Twine(d) + kNotKnown);
      std::optional<SizeExpr> stride = getStride(*steps);
      strides[d] = stride ? shape.toPython(*stride) : py::none();
    }
    result[py::str(coordinate.name)] = strides;
  }
  return result;
}

static py::dict getDigits(const LayoutValue &self, py::handle given) {
  NamedShape shape = NamedShape::get(given);
  auto on = self.on(shape.sizes);
  py::dict result;
  for (auto [c, coordinate] : llvm::enumerate(on->map.getCoordinates())) {
    py::list digits;
    for (const PlacedPart &part : getPlacedParts(on->map, c, shape.sizes))
      digits.append(py::make_tuple(part.digit, shape.toPython(part.extent),
                                   shape.toPython(part.stride)));
    result[py::str(coordinate.name)] = py::tuple(digits);
  }
  return result;
}

static py::object getContiguousRun(const LayoutValue &self, py::handle shape,
                                   const std::optional<int64_t> &dim,
                                   const py::object &coordinate) {
  auto on = self.on(toDynamicShape(shape));
  unsigned along = toCoordinate(*on, coordinate);
  std::optional<Run> run;
  std::string why;
  if (dim)
    run = getRun(on->map, along, toDim(*on, *dim), on->shape);
  else
    run = getRowMajorRun(on->map, along, on->shape,
                         [&](const Twine &reason) { why = reason.str(); });
  if (!run)
    fail(why.empty() ? "the run" + kNotKnown.str() : why);
  return run->length < 0 ? py::none() : py::object(py::int_(run->length));
}

static int64_t getWidth(const LayoutValue &self, py::handle shape, int64_t dim,
                        int64_t most, const py::object &coordinate) {
  auto on = self.on(toDynamicShape(shape));
  if (most < 1)
    fail("a vector must have at least 1 element, not " + Twine(most));
  std::optional<int64_t> width = getVectorWidth(
      on->map, toCoordinate(*on, coordinate), toDim(*on, dim), on->shape, most);
  if (!width)
    fail("the vector width" + kNotKnown);
  return *width;
}

static int64_t getAlignmentOf(const LayoutValue &self, py::handle shape,
                              const py::object &blocks,
                              const py::object &coordinate, bool inBytes) {
  auto on = self.on(toDynamicShape(shape));
  SmallVector<int64_t> lengths(on->shape.size(), 1);
  if (!blocks.is_none())
    lengths = toInts(blocks, "blocks");
  if (lengths.size() != on->shape.size())
    fail("there are " + Twine(lengths.size()) +
         " blocks for a layout of rank " + Twine(on->shape.size()));
  for (int64_t length : lengths)
    if (length < 1)
      fail("a block must have at least 1 index, not " + Twine(length));
  std::optional<int64_t> alignment =
      getAlignment(on->map, toCoordinate(*on, coordinate), lengths, on->shape);
  if (!alignment)
    fail("the alignment" + kNotKnown);
  if (!inBytes)
    return *alignment;
  std::optional<int64_t> bytes = getElementBytes(*on);
  if (!bytes)
    fail("the bytes of an element are unknown: state the type, e.g. with "
         "Layout(text, element='f32')");
  int64_t result;
  if (llvm::MulOverflow(*alignment, *bytes, result))
    fail("the alignment in bytes does not fit 64 bits");
  return result;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static py::tuple getSymbolicShape(const LayoutValue &self, py::handle given) {
  NamedShape shape = NamedShape::get(given);
  auto on = self.on(shape.sizes);
  py::tuple result(on->normalDims.size());
  for (auto [k, dim] : llvm::enumerate(on->normalDims))
    result[k] = shape.toPython(dim.extent);
  return result;
}

static py::tuple getShapeOfStored(const LayoutValue &self, py::handle stored,
                                  const py::object &known) {
  auto on =
      known.is_none() ? self.onEveryShape() : self.on(toDynamicShape(known));
  Shape storedShape = toShape(stored);
  std::string why;
  std::optional<SmallVector<int64_t>> shape =
      getLogicalShape(on->storedDims, storedShape, on->shape,
                      [&](const Twine &reason) { why = reason.str(); });
  if (!shape)
    fail(why);
  return toTuple(*shape);
}

static py::object getLogicalIndex(const LayoutValue &self, py::handle stored,
                                  py::handle shape) {
  auto on = self.on(toShape(shape));
  on->requireValid();
  SmallVector<int64_t> at = toIndex(stored, on->getStoredShape());
  std::optional<SmallVector<int64_t>> index;
  {
    py::gil_scoped_release withoutInterpreter;
    index =
        getMapOfStoredDims(on->normal, on->normalDims).backward(at, on->shape);
  }
  return index ? py::object(toTuple(*index)) : py::none();
}

static void bindAccess(LayoutClass &layout) {
  auto shape = py::arg("shape");
  auto coordinate = py::arg("coordinate") = py::none();
  layout
      .def("strides", forPython(getStrides), shape,
           R"(Returns the stride of each dim, by coordinate.

A stride is None if the steps along the dim differ.

>>> L = Layout('#layout.blocked<"NCHW" to "NCHW16c">')
>>> L.strides((1, 32, 7, 7))
{'offset': (0, None, 112, 16)}
>>> L.strides(('n', 32, 'h', 'w'))
{'offset': ('32 * h * w', None, '16 * w', 16)}

A dim with at most one index has stride 0. A dynamic size is None or a name;
strides are formulas in the names. Raises LayoutError if neither a stride nor
its absence is proven.)")
      .def("digits", forPython(getDigits), shape,
           R"(Returns the digits of each coordinate as (digit, extent, stride).

>>> L = Layout('#layout.blocked<"NCHW" to "NCHW16c">')
>>> L.digits((1, 32, 7, 7))['offset'][:2]
(('d1 mod 16', 16, 1), ('d1 floordiv 16', 2, 784))

The coordinate is a constant plus the sum of the digits, each times its stride.
`shape` is as in `strides`.)")
      .def("contiguous_run", forPython(getContiguousRun), shape,
           py::arg("dim") = py::none(), coordinate,
           R"(Returns the length of the longest contiguous blocks of indices.

Blocks along `dim` start at multiples of the result, and the last one may be
shorter. The result is the size of the dim if all of it is contiguous, or None
if that size is dynamic. Without `dim`, blocks of all indices in row-major
order are measured.

>>> L = Layout('#layout.blocked<"NCHW" to "NCHW16c">')
>>> [L.contiguous_run((1, 32, 7, 7), dim) for dim in range(4)]
[1, 16, 1, 1]
>>> Layout('#layout.blocked<"NCHW" to "NHWC">').contiguous_run((2, 1, 7, 7))
98

A block is contiguous if its positions are consecutive along `coordinate`, by
default the last one, and equal along the others.)")
      .def("vector_width", forPython(getWidth), shape, py::arg("dim"),
           py::arg("most") = 64, coordinate,
           R"(Returns the widest aligned vector access along a dim, in elements.

It is the largest power of two, at most `most`, such that blocks of that many
indices are contiguous in storage and start at multiples of it. The last block
of a dim may be shorter.

>>> L = Layout('#layout.blocked<"NCHW" to "NCHW16c">')
>>> L.vector_width((1, 32, 7, 7), 1), L.vector_width((1, 32, 7, 7), 3)
(16, 1)
)")
      .def("alignment", forPython(getAlignmentOf), shape,
           py::arg("blocks") = py::none(), coordinate,
           py::arg("in_bytes") = false,
           R"(Returns the greatest divisor of the positions of index blocks.

Blocks start at multiples of blocks[d] in dim d; by default a block is one
index. 0 means that the only position is 0. With dynamic sizes, the result is
the greatest divisor that the strides prove.

>>> L = Layout('#layout.blocked<"NCHW" to "NCHW16c">', element='f32')
>>> L.alignment((1, 32, 7, 7), (1, 16, 1, 1))
16
>>> L.alignment((1, 32, 7, 7), (1, 16, 1, 7), in_bytes=True)
448

The result is in elements, or in bytes with `in_bytes`, which requires an
element type. Positions are relative to the start of the storage, whose own
alignment is not part of a layout.)");
}

static void bindShapes(LayoutClass &layout) {
  auto shape = py::arg("shape");
  layout
      .def("symbolic_shape", forPython(getSymbolicShape), shape,
           R"(Returns the stored shape as ints and formulas in named sizes.

>>> Layout('#layout.blocked<"NCHW" to "NCHW16c">').symbolic_shape(('n', 'c', 7, 7))
('n', 'ceil(c, 16)', 7, 7, 16)

`ceil(c, 16)` is c / 16, rounded up. None in `shape` is a dynamic size without a
name.)")
      .def("logical_shape", forPython(getShapeOfStored),
           py::arg("stored_shape"), py::arg("shape") = py::none(),
           R"(Returns the largest logical shape with a given stored shape.

>>> L = Layout('#layout.blocked<"NCHW" to "NCHW16c">')
>>> L.logical_shape((1, 2, 7, 7, 16))
(1, 32, 7, 7)

`shape` has the logical sizes that are known, and None for the others. If a
stored dim fuses two logical dims, the size of one of them is required. Raises
LayoutError if no shape matches or a size is ambiguous.)")
      .def("logical_index", forPython(getLogicalIndex), py::arg("stored_index"),
           shape,
           R"(Returns the logical index at a stored index, or None for padding.

>>> L = Layout('#layout.blocked<"NCHW" to "NCHW16c">')
>>> L.logical_index((0, 1, 6, 6, 2), (1, 32, 7, 7))
(0, 18, 6, 6)

This is the inverse of `forward_index`.)");
}

void mlir::layout::python::bindSteps(LayoutClass &layout) {
  bindAccess(layout);
  bindShapes(layout);
}
