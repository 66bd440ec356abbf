//===- CuTeAlgebra.cpp - Layouts as functions of one integer --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/CuTeAlgebra.h"
#include "Arguments.h"
#include "Bindings.h"

namespace py = pybind11;
using namespace mlir;
using namespace mlir::layout;
using namespace mlir::layout::python;

/// Returns the layout on `shape`, or on the shape that it states if `shape` is
/// None. Throws LayoutError if it states none, or if it does not apply to
/// `shape`.
static IntegerLayout toInteger(const LayoutValue &self,
                               const py::object &shape) {
  auto on = shape.is_none() ? self.onEveryShape() : self.on(toShape(shape));
  return {on->map, on->shape};
}

/// Calls makeLayout(error), which returns a layout or passes a reason to
/// `error`. Returns the tuple (layout, shape), with the element type of `self`
/// and no padding value. Throws the reason as LayoutError if there is no
/// layout.
template <typename Fn>
static py::tuple build(const LayoutValue &self, Fn makeLayout) {
  std::string reason;
  IntegerLayoutOr result;
  {
    py::gil_scoped_release withoutInterpreter;
    result = makeLayout([&](const Twine &why) { reason = why.str(); });
  }
  if (!result)
    fail(reason);
  // Padding of the result is not padding of `self`, so no padding value is
  // kept.
  std::optional<std::string> element;
  if (self.hasElement())
    element = self.getElementText();
  return py::make_tuple(
      toPython(LayoutValue::parse("#layout.map<" + result->map.str() + ">",
                                  std::nullopt, element)),
      toTuple(result->shape));
}

static py::tuple coalesceLayout(const LayoutValue &self,
                                const py::object &shape) {
  IntegerLayout a = toInteger(self, shape);
  return build(self, [&](FailureReason error) { return coalesce(a, error); });
}

static py::tuple complementLayout(const LayoutValue &self, int64_t size,
                                  const py::object &shape) {
  IntegerLayout a = toInteger(self, shape);
  return build(self,
               [&](FailureReason error) { return complement(a, size, error); });
}

static py::tuple composeLayouts(const LayoutValue &self,
                                const LayoutValue &inner,
                                const py::object &shape,
                                const py::object &innerShape) {
  IntegerLayout a = toInteger(self, shape), b = toInteger(inner, innerShape);
  return build(self,
               [&](FailureReason error) { return composition(a, b, error); });
}

static py::tuple invertFromLeft(const LayoutValue &self,
                                const py::object &shape) {
  IntegerLayout a = toInteger(self, shape);
  return build(self,
               [&](FailureReason error) { return leftInverse(a, error); });
}

static py::tuple invertFromRight(const LayoutValue &self,
                                 const py::object &shape) {
  IntegerLayout a = toInteger(self, shape);
  return build(self,
               [&](FailureReason error) { return rightInverse(a, error); });
}

static const LayoutValue &toLayout(const py::handle &object) {
  if (!py::isinstance<LayoutValue>(object))
    throw py::type_error(
        "a tile must be a Layout or a number of indices, not " +
        std::string(Py_TYPE(object.ptr())->tp_name));
  return Argument<const LayoutValue &>::get(
      object.cast<std::shared_ptr<LayoutValue>>());
}

/// Converts a tile given as a layout that states its shape, as a pair (layout,
/// shape), or as a number of consecutive indices. Raises TypeError for other
/// objects, and LayoutError if the shape is missing.
static IntegerLayout toTile(py::handle tile) {
  if (PyIndex_Check(tile.ptr()))
    return {LayoutMap::rowMajor(1), {toInt(tile, "a tile")}};
  if (py::isinstance<py::tuple>(tile) && py::len(tile) == 2) {
    auto pair = py::reinterpret_borrow<py::tuple>(tile);
    return toInteger(toLayout(pair[0]), pair[1]);
  }
  return toInteger(toLayout(tile), py::none());
}

static py::tuple divideLayout(const LayoutValue &self, py::handle tile,
                              const py::object &shape) {
  IntegerLayout a = toInteger(self, shape), b = toTile(tile);
  return build(self,
               [&](FailureReason error) { return logicalDivide(a, b, error); });
}

template <DivideForm form>
static py::tuple divideDims(const LayoutValue &self, const py::sequence &given,
                            const py::object &shape) {
  IntegerLayout a = toInteger(self, shape);
  std::vector<IntegerLayout> tiles;
  for (py::handle tile : given)
    tiles.push_back(toTile(tile));
  return build(
      self, [&](FailureReason error) { return divide(a, tiles, form, error); });
}

static py::tuple multiplyLayouts(const LayoutValue &self, py::handle other,
                                 const py::object &shape) {
  IntegerLayout a = toInteger(self, shape), b = toTile(other);
  return build(
      self, [&](FailureReason error) { return logicalProduct(a, b, error); });
}

static void bindComposition(LayoutClass &layout) {
  auto shape = py::arg("shape") = py::none();
  layout
      .def("coalesce", forPython(coalesceLayout), shape,
           R"(Returns this function of one integer on one dim: (layout, shape).

This method is part of CuTe's algebra. It treats a layout with the single
coordinate `offset` as a function of one integer, which is split into the dims,
the first one fastest. `shape` may be omitted if the layout states its own.
Raises LayoutError with the reason if there is no result.

>>> L, shape = Layout.from_notation('cute', '(2,(1,6)):(1,(6,2))').coalesce()
>>> L.to('cute', shape), shape
('12:1', (12,))
)")
      .def(
          "complement", forPython(complementLayout), py::arg("size"), shape,
          R"(Returns a layout that fills the gaps below `size`: (layout, shape).

The result increases from 0. The sums of an offset of this layout and an offset
of the result take each value of 0 .. m - 1 exactly once, where m is the least
possible number >= `size`.

>>> L, shape = Layout.from_notation('cute', '(2,2):(1,6)').complement(24)
>>> L.to('cute', shape)
'((3,2)):((2,12))'
)")
      .def("composition", forPython(composeLayouts), py::arg("inner"), shape,
           py::arg("inner_shape") = py::none(),
           R"(Returns this layout after `inner`: (layout, shape of inner).

The offsets of `inner` must be indices of this layout. `compose`, in contrast,
applies a layout to the stored dims of another.

>>> A = Layout.from_notation('cute', '(6,2):(8,2)')
>>> L, shape = A.composition(Layout.from_notation('cute', '(4,3):(3,1)'))
>>> L.to('cute', shape)
'((2,2),3):((24,2),8)'
)")
      .def("left_inverse", forPython(invertFromLeft), shape,
           R"(Returns the map from offsets to their indices: (layout, shape).

Its domain is every offset up to the highest one. Values at offsets that this
layout does not have are unspecified.

>>> L, shape = Layout.from_notation('cute', '(4,2):(1,5)').left_inverse()
>>> [L.address((k,), shape)['offset'] for k in (0, 1, 2, 3, 5, 6, 7, 8)]
[0, 1, 2, 3, 4, 5, 6, 7]
)")
      .def("right_inverse", forPython(invertFromRight), shape,
           R"(Returns the indices of offsets 0, 1, .. to a gap: (layout, shape).

The domain ends before the first offset that this layout does not have.

>>> L, shape = Layout.from_notation('cute', '(4,8):(8,1)').right_inverse()
>>> L.to('cute', shape)
'((8,4)):((4,1))'
)");
}

static void bindDivision(LayoutClass &layout) {
  auto shape = py::arg("shape") = py::none();
  layout
      .def("logical_divide", forPython(divideLayout), py::arg("tile"), shape,
           R"(Divides this layout as a whole by a tile: (layout, shape).

The result has two dims: the index in the tile, and the tile. `tile` is a layout
that states its shape, a pair (layout, shape), or a number of consecutive
indices.

>>> A = Layout.from_notation('cute', '(4,2,3):(2,1,8)')
>>> L, shape = A.logical_divide(Layout.from_notation('cute', '4:2'))
>>> L.to('cute', shape)
'((2,2),(2,3)):((4,1),(2,8))'
)")
      .def("flat_divide", forPython(divideDims<DivideForm::Flat>),
           py::arg("tiles"), shape,
           R"(Divides each dim by a tile; dims T0, T1, .., R0, R1, ..

Returns (layout, shape). T is the index in the tile of a dim, and R the tile.
`tiles` has one tile for each dim, as in `logical_divide`.

>>> A = Layout.from_notation('cute', '(4,6):(1,4)')
>>> A.flat_divide([2, 3])[1], A.tiled_divide([2, 3])[1], A.zipped_divide([2, 3])[1]
((2, 3, 2, 2), (6, 2, 2), (6, 4))
)")
      .def("zipped_divide", forPython(divideDims<DivideForm::Zipped>),
           py::arg("tiles"), shape,
           "Divides each dim by a tile; dims (T0, T1, ..) and (R0, R1, ..).\n\n"
           "Returns (layout, shape); `flat_divide` describes the dims.")
      .def("tiled_divide", forPython(divideDims<DivideForm::Tiled>),
           py::arg("tiles"), shape,
           "Divides each dim by a tile; dims (T0, T1, ..), R0, R1, ..\n\n"
           "Returns (layout, shape); `flat_divide` describes the dims.")
      .def("dimwise_divide", forPython(divideDims<DivideForm::Logical>),
           py::arg("tiles"), shape,
           R"(Divides each dim by a tile; dims (T0, R0), (T1, R1), ..

Returns (layout, shape); `flat_divide` describes the dims. This is CuTe's
logical_divide by modes.)")
      .def("logical_product", forPython(multiplyLayouts), py::arg("other"),
           shape,
           R"(Repeats this layout at the offsets of `other`: (layout, shape).

The result has two dims: the index in this layout, and the index in `other`.

>>> A = Layout.from_notation('cute', '(2,2):(4,1)')
>>> L, shape = A.logical_product(Layout.from_notation('cute', '6:1'))
>>> L.to('cute', shape)
'((2,2),(2,3)):((4,1),(2,8))'
)");
}

void mlir::layout::python::bindCuTeAlgebra(LayoutClass &layout) {
  bindComposition(layout);
  bindDivision(layout);
}
