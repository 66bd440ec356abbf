//===- Queries.cpp - Queries of a layout on a shape -----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Bindings.h"
#include "layout/Algebra/Box.h"
#include "layout/Algebra/Pack.h"
#include "layout/Algebra/Proof.h"
#include "llvm/ADT/STLExtras.h"

namespace py = pybind11;
using namespace mlir;
using namespace mlir::layout;
using namespace mlir::layout::python;

static constexpr StringRef kNoNumber =
    "does not fit 64 bits (L1): the tensor is too large";

py::object mlir::layout::python::toPython(ProofResult answer) {
  if (answer == ProofResult::Unknown)
    return py::none();
  return py::bool_(answer == ProofResult::Proved);
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

static std::string getSpace(const LayoutValue &self) {
  return self.onSomeShape()->map.getSpace().str();
}

static py::object getElement(const LayoutValue &self) {
  if (!self.hasElement())
    return py::none();
  return py::str(self.getElementText());
}

static py::tuple getCoordinates(const LayoutValue &self) {
  auto on = self.onSomeShape();
  ArrayRef<Coordinate> coordinates = on->map.getCoordinates();
  py::tuple names(coordinates.size());
  for (auto [i, coordinate] : llvm::enumerate(coordinates))
    names[i] = py::str(coordinate.name);
  return names;
}

static py::object getRank(const LayoutValue &self) {
  std::optional<Shape> stated = self.layout.getStatedShape();
  return stated ? py::object(py::int_(stated->size())) : py::none();
}

/// Creates a dict with the value of each coordinate, by the name of the
/// coordinate.
static py::dict toDict(const OnShape &on, ArrayRef<int64_t> values) {
  py::dict result;
  for (auto [coordinate, value] : llvm::zip(on.map.getCoordinates(), values))
    result[py::str(coordinate.name)] = value;
  return result;
}

static py::tuple getStoredShape(const LayoutValue &self, py::handle shape) {
  return toTuple(self.on(toShape(shape))->getStoredShape());
}

static py::dict getStorageExtent(const LayoutValue &self, py::handle shape) {
  auto on = self.on(toShape(shape));
  return toDict(*on, on->getStorageExtent());
}

static py::tuple getForwardIndex(const LayoutValue &self, py::handle index,
                                 py::handle shape) {
  auto on = self.on(toShape(shape));
  SmallVector<int64_t> at = toIndex(index, on->shape);
  // Selects the first replica.
  Shape box = on->map.getBox(on->shape);
  at.resize(box.size(), 0);
  SmallVector<int64_t> stored;
  for (const BoundedIndex &dim : on->normalDims) {
    std::optional<int64_t> value = dim.value.evaluate(at, box);
    if (!value)
      fail("the stored index " + kNoNumber);
    stored.push_back(*value);
  }
  return toTuple(stored);
}

std::optional<int64_t>
mlir::layout::python::getElementBytes(const OnShape &on) {
  if (!on.element.isIntOrFloat() || on.element.getIntOrFloatBitWidth() % 8)
    return std::nullopt;
  return on.element.getIntOrFloatBitWidth() / 8;
}

/// Returns the byte inside a core that an address in the space `npu` has: its
/// offset times the bytes of an element. Returns std::nullopt in other spaces,
/// if the element size is not known, or if the address has no offset. Throws
/// LayoutError if the bytes do not fit 64 bits.
static std::optional<int64_t> getByte(const OnShape &on, py::dict address) {
  std::optional<int64_t> bytes = getElementBytes(on);
  if (on.map.getSpace() != "npu" || !bytes || !address.contains("offset"))
    return std::nullopt;
  int64_t byte;
  if (llvm::MulOverflow(address["offset"].cast<int64_t>(), *bytes, byte))
    fail("the byte of the element " + kNoNumber);
  return byte;
}

static py::dict getAddress(const LayoutValue &self, py::handle index,
                           py::handle shape) {
  auto on = self.on(toShape(shape));
  SmallVector<int64_t> at = toIndex(index, on->shape);
  std::optional<SmallVector<int64_t>> point = on->normal.forward(at, on->shape);
  if (!point)
    fail("the address " + kNoNumber);
  py::dict address = toDict(*on, *point);
  if (std::optional<int64_t> byte = getByte(*on, address))
    address["byte"] = *byte;
  return address;
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

/// Converts a dict of coordinate values by name to a list of the values in the
/// order of the map. The dict may contain the redundant 'byte' that `address`
/// returns. Throws LayoutError if names are missing or unknown, or if 'byte'
/// contradicts the offset.
static SmallVector<int64_t> toPoint(const OnShape &on,
                                    const py::dict &address) {
  ArrayRef<Coordinate> coordinates = on.map.getCoordinates();
  SmallVector<std::optional<int64_t>> found(coordinates.size());
  std::optional<int64_t> byte;
  for (auto [key, value] : address) {
    std::string name = py::str(key);
    int64_t number = toInt(value, "coordinate '" + name + "'");
    const auto *it = llvm::find_if(
        coordinates, [&](const Coordinate &c) { return c.name == name; });
    if (it != coordinates.end())
      found[it - coordinates.begin()] = number;
    else if (name == "byte")
      byte = number;
    else
      fail("the space '" + on.map.getSpace() + "' has no coordinate '" + name +
           "'");
  }
  SmallVector<int64_t> point;
  for (auto [coordinate, number] : llvm::zip(coordinates, found)) {
    if (!number)
      fail("the address lacks the coordinate '" + coordinate.name + "'");
    point.push_back(*number);
  }
  if (byte && byte != getByte(on, toDict(on, point)))
    fail("byte " + Twine(*byte) +
         " of the address is not at its offset: omit it");
  return point;
}

/// Converts an address to coordinate values. It is a mapping by name, a
/// sequence in coordinate order, whose length is not checked, or, if there is
/// one coordinate, an integer. Raises TypeError for other objects.
static SmallVector<int64_t> toPoint(const OnShape &on, py::handle address) {
  py::object mapping = py::module_::import("collections.abc").attr("Mapping");
  if (py::isinstance(address, mapping))
    return toPoint(on, py::dict(py::reinterpret_borrow<py::object>(address)));
  if (PyIndex_Check(address.ptr()) && !PySequence_Check(address.ptr()))
    return {toInt(address, "the address")};
  return toInts(address, "address");
}

static py::object getBackwardIndex(const LayoutValue &self, py::handle address,
                                   py::handle shape) {
  auto on = self.on(toShape(shape));
  on->requireValid();
  SmallVector<int64_t> point = toPoint(*on, address);
  Shape extents = on->getStorageExtent();
  if (point.size() != extents.size())
    fail("the address has " + Twine(point.size()) +
         " coordinates, the space '" + Twine(on->map.getSpace()) + "' has " +
         Twine(extents.size()));
  for (auto [coordinate, x, extent] :
       llvm::zip(on->map.getCoordinates(), point, extents))
    if (x < 0 || x >= extent)
      fail(Twine(coordinate.name) + " " + Twine(x) +
           " is outside the storage: its extent is " + Twine(extent));
  std::optional<SmallVector<int64_t>> index;
  bool isKnown;
  {
    // Searches if no inverse formula exists.
    py::gil_scoped_release withoutInterpreter;
    index = on->normal.backward(point, on->shape, &isKnown);
  }
  if (!isKnown)
    fail("layout " + self.text +
         " has no known inverse, and the index at this address was not found "
         "within the bound (L3): use a layout whose strides exceed the extent "
         "of the faster digits");
  return index ? py::object(toTuple(*index)) : py::none();
}

//===----------------------------------------------------------------------===//
// Properties
//===----------------------------------------------------------------------===//

static py::object isInjective(const LayoutValue &self, py::handle shape) {
  auto on = self.on(toDynamicShape(shape));
  if (on->isEmpty())
    return py::bool_(true);
  PairProof proof;
  {
    py::gil_scoped_release withoutInterpreter;
    proof = proveInjective(on->map, on->shape);
  }
  return toPython(proof.answer);
}

static int64_t countPadding(const LayoutValue &self, py::handle shape) {
  auto on = self.on(toShape(shape));
  on->requireValid();
  std::optional<int64_t> stored = getStorageSize(on->map, on->shape);
  std::optional<int64_t> logical = countPoints(on->map, on->shape);
  if (!stored || !logical)
    fail("the storage " + kNoNumber);
  return *stored - *logical;
}

static void check(const LayoutValue &self, py::handle shape) {
  self.on(toDynamicShape(shape))->requireValid();
}

static std::shared_ptr<LayoutValue> getCanonical(const LayoutValue &self,
                                                 const py::object &shape) {
  auto on =
      shape.is_none() ? self.onEveryShape() : self.on(toDynamicShape(shape));
  return toPython(LayoutValue::fromMap(on->map, self, /*keepsPadding=*/true,
                                       on->getStored()));
}

static py::object isEqualOn(const LayoutValue &self, const LayoutValue &other,
                            py::handle shape) {
  Shape sizes = toDynamicShape(shape);
  auto mine = self.on(sizes), theirs = other.on(sizes);
  ProofResult answer;
  {
    py::gil_scoped_release withoutInterpreter;
    answer = equalOn(mine->map, theirs->map, sizes);
  }
  return toPython(answer);
}

static void bindStorage(LayoutClass &layout) {
  auto shape = py::arg("shape");
  layout
      .def_property_readonly(
          "space", forPython(getSpace),
          "The storage space, e.g. 'buffer', 'image2d', 'npu' or a "
          "user-defined name.")
      .def_property_readonly("coordinates", forPython(getCoordinates),
                             R"(The names of the coordinates of the space.

>>> Layout('#layout.map<(h, w) -> image2d(x = w, y = h, lane = 0)>').coordinates
('x', 'y', 'lane')
)")
      .def_property_readonly("rank", forPython(getRank),
                             "The number of logical dims, or None if the "
                             "layout accepts several ranks.")
      .def_property_readonly("element", forPython(getElement),
                             "The element type as in IR, or None if it is not "
                             "stated.")
      .def("stored_shape", forPython(getStoredShape), shape,
           R"(Returns the extents of the stored dims, slowest first.

Extents include padding.

>>> Layout('#layout.blocked<"NCHW" to "NCHW16c">').stored_shape((1, 17, 7, 7))
(1, 2, 7, 7, 16)
)")
      .def("storage_extent", forPython(getStorageExtent), shape,
           R"(Returns the number of positions along each coordinate, by name.

Extents include padding.

>>> Layout('#layout.blocked<"NCHW" to "NCHW16c">').storage_extent((1, 17, 7, 7))
{'offset': 1568}
)");
}

static void bindIndices(LayoutClass &layout) {
  auto index = py::arg("index"), shape = py::arg("shape");
  layout
      .def("forward_index", forPython(getForwardIndex), index, shape,
           R"(Returns the stored index of the element at a logical index.

The result has one entry for each stored dim.

>>> L = Layout('#layout.blocked<"NCHW" to "NCHW16c">')
>>> L.forward_index((0, 18, 6, 6), (1, 32, 7, 7))
(0, 1, 6, 6, 2)

Raises LayoutError if the index is outside the shape.)")
      .def("address", forPython(getAddress), index, shape,
           R"(Returns the address of the element at a logical index.

The result has the value of each coordinate, by name. Offsets count elements. In
the space 'npu', 'byte' is the offset inside the core in bytes, if the element
type is stated and its width is a multiple of 8 bits.

>>> L = Layout('#layout.blocked<"NCHW" to "NCHW16c">')
>>> L.address((0, 18, 6, 6), (1, 32, 7, 7))
{'offset': 1554}
)")
      .def("backward_index", forPython(getBackwardIndex), py::arg("address"),
           shape,
           R"(Returns the logical index at an address, or None for padding.

`address` is a dict as `address()` returns it, a sequence in the order of
`coordinates` or, if there is one coordinate, an integer.

>>> L = Layout('#layout.blocked<"NCHW" to "NCHW16c">')
>>> L.backward_index({'offset': 1554}, (1, 32, 7, 7))
(0, 18, 6, 6)
>>> L.backward_index(1567, (1, 17, 7, 7)) is None
True

Raises LayoutError if the address is outside the storage, or if the layout is
not valid for the shape (L1). If a layout has no inverse by construction, the
index is searched within a bound: over the indices of a small shape, with
integer sets for a large one. An inconclusive search raises LayoutError.)");
}

static void bindProofs(LayoutClass &layout) {
  auto shape = py::arg("shape");
  layout
      .def("is_injective", forPython(isInjective), shape,
           R"(Returns True if all indices have distinct storage points (L1).

Returns False if two indices share one, or None if neither is proven within the
bound. None in `shape` is a dynamic size.

>>> L = Layout('#layout.map<(i, j) -> buffer(offset = i * 4 + j)>')
>>> L.is_injective((3, 4)), L.is_injective((3, 5))
(True, False)
)")
      .def("padding", forPython(countPadding), shape,
           R"(Returns the number of storage points without an element (L2).

>>> Layout('#layout.blocked<"NCHW" to "NCHW16c">').padding((1, 17, 7, 7))
735

Raises LayoutError if the layout is not valid for the shape.)")
      .def("check", forPython(check), shape,
           R"(Raises LayoutError if the layout is not valid for the shape (L1).

The errors are those of the verifier of a tensor type.)")
      .def("canonical", forPython(getCanonical), py::arg("shape") = py::none(),
           R"(Returns this layout as `#layout.map`, in canonical form (L5).

>>> str(Layout('#layout.blocked<"NCHW" to "NHWC">').canonical())
'#layout.map<(d0, d1, d2, d3) -> buffer(d0, d2, d3, d1)>'

`shape` is required if the map depends on the shape. None in `shape` is a
dynamic size.)")
      .def("equal_on", forPython(isEqualOn), py::arg("other"), shape,
           R"(Returns True if both layouts are the same map on a shape (L6).

Returns False if they are not, or None if neither is proven within the bound.
None in `shape` is a dynamic size.

>>> L, M = Layout('#layout.blocked<"NCHW" to "NHWC">'), Layout('#layout.blocked<"NCHW" to "NCHW">')
>>> L == M, L.equal_on(M, (8, 64, 1, 1)), L.equal_on(M, (8, 64, 2, 2))
(False, True, False)
)");
}

void mlir::layout::python::bindQueries(LayoutClass &layout) {
  bindStorage(layout);
  bindIndices(layout);
  bindProofs(layout);
}
