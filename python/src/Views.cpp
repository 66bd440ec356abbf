//===- Views.cpp - Layouts of views of laid-out tensors -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Views.h"
#include "Arguments.h"
#include "Bindings.h"
#include "llvm/ADT/STLExtras.h"

namespace py = pybind11;
using namespace mlir;
using namespace mlir::layout;
using namespace mlir::layout::python;

/// Returns the layout on `shape`, or as one map for every shape if `shape` is
/// None. Throws LayoutError if the map depends on the shape in that case.
static std::shared_ptr<const OnShape> getOn(const LayoutValue &self,
                                            const py::object &shape) {
  return shape.is_none() ? self.onEveryShape() : self.on(toDynamicShape(shape));
}

/// Builds the layout that view(error) returns, and throws LayoutError with the
/// reason that it passes to `error` if there is none. The padding value of
/// `self` is kept if `keepsPadding`, i.e. if padding of the result is padding
/// of `self`. `view` may set `keepsPadding`, which is read after it.
template <typename Fn>
static std::shared_ptr<LayoutValue> build(const LayoutValue &self, Fn view,
                                          const bool &keepsPadding = true) {
  std::string reason;
  std::optional<LayoutMap> map;
  {
    py::gil_scoped_release withoutInterpreter;
    map = view([&](const Twine &why) { reason = why.str(); });
  }
  if (!map)
    fail(reason);
  return toPython(LayoutValue::fromMap(*map, self, keepsPadding));
}

static std::shared_ptr<LayoutValue> transposeView(const LayoutValue &self,
                                                  py::handle permutation,
                                                  const py::object &shape) {
  auto on = getOn(self, shape);
  auto dims = toInts(permutation, "permutation");
  return build(self, [&](FailureReason error) {
    return transpose(on->map, dims, error);
  });
}

static std::shared_ptr<LayoutValue>
sliceView(const LayoutValue &self, py::handle offsets, py::handle sizes,
          const py::object &strides, const py::object &drop,
          const py::object &shape) {
  auto on = getOn(self, shape);
  auto begin = toInts(offsets, "offsets");
  auto length = toInts(sizes, "sizes", kWholeDim);
  SmallVector<int64_t> step(begin.size(), 1);
  if (!strides.is_none())
    step = toInts(strides, "strides");
  auto dropped = toInts(drop, "dropped dims");
  // Elements that the slice excludes become padding with arbitrary values.
  bool isWhole = llvm::all_of(llvm::zip(length, on->shape), [](auto pair) {
    auto [taken, size] = pair;
    return taken == kWholeDim || taken == size;
  });
  return build(
      self,
      [&](FailureReason error) {
        return slice(on->map, on->shape, begin, length, step, dropped, error);
      },
      isWhole);
}

static std::shared_ptr<LayoutValue> expandView(const LayoutValue &self,
                                               py::handle groups,
                                               py::handle sizes,
                                               const py::object &shape) {
  auto on = getOn(self, shape);
  auto dims = toGroups(groups);
  auto newSizes = toDynamicShape(sizes);
  return build(self, [&](FailureReason error) {
    return expandShape(on->map, dims, newSizes, error);
  });
}

static std::shared_ptr<LayoutValue>
collapseView(const LayoutValue &self, py::handle groups, py::handle shape) {
  auto on = self.on(toDynamicShape(shape));
  auto dims = toGroups(groups);
  return build(self, [&](FailureReason error) {
    return collapseShape(on->map, dims, on->shape, error);
  });
}

static std::shared_ptr<LayoutValue> broadcastView(const LayoutValue &self,
                                                  int64_t position,
                                                  int64_t size,
                                                  const py::object &shape) {
  auto on = getOn(self, shape);
  return build(
      self,
      [&](FailureReason error) {
        return broadcast(on->map, position, size, error);
      },
      /*keepsPadding=*/size != 0);
}

static std::shared_ptr<LayoutValue>
replicateDim(const LayoutValue &self, int64_t dim, py::handle shape) {
  auto on = self.on(toDynamicShape(shape));
  return build(self, [&](FailureReason error) {
    return replicateOver(on->map, dim, on->shape, error);
  });
}

static std::shared_ptr<LayoutValue> composeWith(const LayoutValue &self,
                                                const LayoutValue &first,
                                                const py::object &shape) {
  auto inner = getOn(first, shape);
  // A layout without a single map is resolved on the stored shape of `first`.
  auto outer = shape.is_none() ? self.onEveryShape() : self.tryEveryShape();
  if (!outer) {
    Shape stored;
    for (const BoundedIndex &dim : inner->normalDims)
      stored.push_back(dim.extent.getConstant().value_or(kUnknownSize));
    outer = self.on(stored);
  }
  // Padding of the result is padding of either layout.
  return build(
      self,
      [&](FailureReason error) {
        return compose(outer->map, inner->map, inner->storedDims, error);
      },
      self.statesSamePadding(first));
}

static std::shared_ptr<LayoutValue> invert(const LayoutValue &self,
                                           const py::object &shape) {
  auto on = getOn(self, shape);
  return build(
      self,
      [&](FailureReason error) {
        return inverse(on->map, on->storedDims, on->shape, error);
      },
      /*keepsPadding=*/false);
}

/// Returns the layout that a Python object holds, valid while the object lives.
/// Throws pybind11::cast_error for an object of another type.
static const LayoutValue &toLayout(const py::object &object) {
  return Argument<const LayoutValue &>::get(
      object.cast<std::shared_ptr<LayoutValue>>());
}

/// Returns a tuple of the layout of the concatenated tensor and of a list. The
/// list has, for each part, a dict with the shift of each coordinate from the
/// part's storage to that of the whole. Throws LayoutError if there is no such
/// layout.
static py::tuple concatenate(const py::sequence &layouts,
                             const py::sequence &shapes, int64_t axis) {
  if (layouts.size() != shapes.size() || layouts.empty())
    fail("concat needs one shape for each of at least one layout, found " +
         Twine(layouts.size()) + " layouts and " + Twine(shapes.size()) +
         " shapes");
  std::vector<ConcatPart> parts;
  for (size_t i = 0; i < layouts.size(); ++i) {
    auto on = toLayout(layouts[i]).on(toShape(shapes[i]));
    parts.push_back({on->map, on->shape});
  }
  std::optional<Concatenation> found;
  const LayoutValue &first = toLayout(layouts[0]);
  bool keepsPadding = true;
  for (size_t i = 1; i < layouts.size(); ++i)
    keepsPadding &= toLayout(layouts[i]).statesSamePadding(first);
  auto whole = build(
      first,
      [&](FailureReason error) -> std::optional<LayoutMap> {
        found = concat(parts, axis, error);
        if (!found)
          return std::nullopt;
        keepsPadding = keepsPadding && isTiledByParts(*found, parts);
        return found->whole;
      },
      keepsPadding);
  py::list shifts;
  for (const auto &shift : found->shifts) {
    py::dict named;
    for (auto [coordinate, by] :
         llvm::zip(found->whole.getCoordinates(), shift)) {
      std::optional<int64_t> number = by.getConstant();
      if (!number)
        fail("the shift of a part does not fit 64 bits (L1)");
      named[py::str(coordinate.name)] = *number;
    }
    shifts.append(named);
  }
  return py::make_tuple(whole, shifts);
}

static void bindReindexing(LayoutClass &layout) {
  auto shape = py::arg("shape") = py::none();
  layout
      .def("transpose", forPython(transposeView), py::arg("perm"), shape,
           R"(Returns the layout of a view whose dim j is dim perm[j] here.

>>> str(Layout('#layout.map<(i, j) -> buffer(i, j)>').transpose((1, 0)))
'#layout.map<(d0, d1) -> buffer(d1, d0)>'

Views do not move elements: an element of the view has the storage point that
this layout assigns to it (L7). Raises LayoutError with the reason if no such
layout exists. `shape` is that of this layout's tensor; without it the result is
valid for every shape.)")
      .def("slice", forPython(sliceView), py::arg("offsets"), py::arg("sizes"),
           py::arg("strides") = py::none(), py::arg("drop") = py::tuple(),
           shape,
           R"(Returns the layout of a slice with offsets, sizes and strides.

In each dim it is tensor[offset : offset + size * stride : stride]. A size of
None selects the entire dim. The dims in `drop`, of size 1, are removed. `shape`
is required if a dim is cut, because the result depends on its full size.

>>> L = Layout('#layout.blocked<"NCHW" to "NCHW16c">')
>>> M = L.slice((0, 16, 0, 0), (1, 16, 7, 7), shape=(1, 64, 7, 7))
>>> M.address((0, 0, 0, 0), (1, 16, 7, 7)) == L.address((0, 16, 0, 0), (1, 64, 7, 7))
True
)")
      .def("expand_shape", forPython(expandView), py::arg("groups"),
           py::arg("sizes"), shape,
           R"(Returns the layout of a view that splits dim d into groups[d].

`sizes` is the shape of the view; None in it is a dynamic size.

>>> L = Layout('#layout.blocked<"NC" to "NC4c">')
>>> M = L.expand_shape([[0], [1, 2]], (3, 2, 4))
>>> M.address((2, 1, 3), (3, 2, 4)) == L.address((2, 7), (3, 8))
True
)")
      .def("collapse_shape", forPython(collapseView), py::arg("groups"),
           py::arg("shape"),
           R"(Returns the layout of a view that fuses groups[d] into dim d.

`shape` is that of this layout's tensor; None in it is a dynamic size.

>>> str(Layout('#layout.map<(i, j, k) -> buffer(i, j, k)>').collapse_shape([[0], [1, 2]], (3, 2, 4)))
'#layout.map<(d0, d1) -> buffer(d0, d1)>'
)");
}

static void bindCombinations(LayoutClass &layout) {
  auto shape = py::arg("shape") = py::none();
  layout
      .def("broadcast", forPython(broadcastView), py::arg("position"),
           py::arg("size"), shape,
           R"(Returns the layout with a new dim before dim `position`.

All elements along the new dim are equal. Because layouts are injective, `size`
must be at most 1, or this layout must have a replica of that extent, which
becomes the dim.

>>> L = Layout('#layout.map<(i, j) replicate(r : 4) -> buffer(r, i, j)>')
>>> L.broadcast(0, 4) == Layout('#layout.map<(r, i, j) -> buffer(r mod 4, i, j)>')
True
)")
      .def("replicate_over", forPython(replicateDim), py::arg("dim"),
           py::arg("shape"),
           R"(Returns the layout without `dim`, which becomes a replica.

This is the inverse of `broadcast`. The size of the dim must be static.

>>> L = Layout('#layout.map<(i, j) -> buffer(i, j)>')
>>> str(L.replicate_over(0, (4, 6)))
'#layout.map<(d0) replicate(r0 : 4) -> buffer(r0, d0)>'
)")
      .def("compose", forPython(composeWith), py::arg("first"), shape,
           R"(Returns the layout that applies `first`, then this layout.

This layout is a layout of the stored dims of `first`.

>>> store = Layout('#layout.blocked<"NCHW" to "NCHW16c">')
>>> swap = Layout('#layout.map<(n, co, h, w, ci) -> buffer(n, h, w, co, ci)>')
>>> str(swap.compose(store))
'#layout.map<(d0, d1, d2, d3) -> buffer(d0, d2, d3, [d1] align 16)>'

`shape` is that of the tensor with the layout `first`.)")
      .def(
          "inverse", forPython(invert), shape,
          R"(Returns a layout of the stored box that stores it in logical order.

The box includes padding: `NCHW16c to NCHW` for `NCHW to NCHW16c`. Raises
LayoutError if logical indices are not formulas of the stored ones.)")
      .def_static(
          "concat", forPython(concatenate), py::arg("layouts"),
          py::arg("shapes"), py::arg("axis"),
          R"(Returns a layout of a concatenation of tensors with given layouts.

Every part is stored in its own layout, up to a shift. Returns the layout and a
list with a dict for each part: the shift of its storage from the start of the
whole storage, by coordinate. Raises LayoutError if no such layout is found.)");
}

void mlir::layout::python::bindViews(LayoutClass &layout) {
  bindReindexing(layout);
  bindCombinations(layout);
}
