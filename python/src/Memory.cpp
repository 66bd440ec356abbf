//===- Memory.cpp - Cores, banks, and overlap of two tensors --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Bindings.h"
#include "layout/Algebra/Cores.h"
#include "layout/Algebra/Overlap.h"
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace mlir;
using namespace mlir::layout;
using namespace mlir::layout::python;

/// Calls query(error) with the interpreter's lock released. It returns an
/// optional value, empty after it has passed a reason to `error`. Returns the
/// value, or throws the reason as LayoutError.
template <typename Fn> static auto answer(Fn query) {
  std::string reason;
  decltype(query(FailureReason())) result;
  {
    py::gil_scoped_release withoutInterpreter;
    result = query([&](const Twine &why) { reason = why.str(); });
  }
  if (!result)
    fail(reason);
  return *result;
}

static int64_t requireElementBytes(const OnShape &on) {
  std::optional<int64_t> bytes = getElementBytes(on);
  if (!bytes)
    fail("the bytes of an element are unknown: state the type, e.g. with "
         "Layout(text, element='f32')");
  return *bytes;
}

static py::tuple getChannelsPerCore(const LayoutValue &self, py::handle shape) {
  auto on = self.on(toShape(shape));
  return toTuple(answer([&](FailureReason error) {
    return countChannels(on->map, on->shape, error);
  }));
}

static py::dict getBanks(const LayoutValue &self, const py::sequence &indices,
                         py::handle shape, const py::object &given,
                         int64_t stripeBytes,
                         const std::optional<int64_t> &wordBytes) {
  auto on = self.on(toShape(shape));
  std::vector<SmallVector<int64_t>> at;
  for (py::handle index : indices)
    at.push_back(toIndex(index, on->shape));
  std::optional<Banks> ofTarget = getBanksOfTarget(given);
  Banks banks = ofTarget ? *ofTarget
                         : Banks{toInt(given, "the number of banks"),
                                 stripeBytes, wordBytes.value_or(stripeBytes)};
  int64_t bytes = requireElementBytes(*on);
  BankUse use = answer([&](FailureReason error) {
    return getBankUse(on->map, on->shape, at, bytes, banks, error);
  });
  py::dict result;
  result["cycles"] = use.cycles;
  result["banks"] = toTuple(use.banks);
  return result;
}

static py::object doOverlap(const LayoutValue &self, py::handle shape,
                            const LayoutValue &other, py::handle otherShape,
                            int64_t byte, int64_t otherByte, bool holes) {
  auto mine = self.on(toDynamicShape(shape)),
       theirs = other.on(toDynamicShape(otherShape));
  PlacedTensor a{mine->map, mine->shape, requireElementBytes(*mine), byte},
      b{theirs->map, theirs->shape, requireElementBytes(*theirs), otherByte};
  return toPython(answer([&](FailureReason error) {
                    return findOverlap(
                        a, b, holes ? Owned::Storage : Owned::Elements, error);
                  }).answer);
}

static py::object doesRefine(const LayoutValue &self, const LayoutValue &other,
                             py::handle shape, int64_t group,
                             int64_t otherGroup) {
  Shape sizes = toDynamicShape(shape);
  auto mine = self.on(sizes), theirs = other.on(sizes);
  return toPython(answer([&](FailureReason error) {
    return refines(mine->map, group, theirs->map, otherGroup, sizes, error);
  }));
}

void mlir::layout::python::bindMemory(LayoutClass &layout) {
  auto shape = py::arg("shape");
  layout
      .def("channels_per_core", forPython(getChannelsPerCore), shape,
           R"(Returns the number of channels of each core in the space 'npu'.

>>> chip = Target(npus=4, eu_bytes=128, bytes_per_npu=1024)
>>> L = Layout('#layout.npu_scatter<aligned, start = 2>', chip, 'f32')
>>> L.channels_per_core((2, 5, 3, 4))
(1, 1, 2, 1)

Channels are the values of the digit that is distributed over the cores.)")
      .def("bank_use", forPython(getBanks), py::arg("indices"), shape,
           py::arg("banks"), py::arg("stripe_bytes") = 4,
           py::arg("word_bytes") = py::none(),
           R"(Returns the bank conflicts of a simultaneous access to `indices`.

Byte b is in bank b // stripe_bytes % banks. A bank serves one word of
`word_bytes` (default: `stripe_bytes`) in a cycle. In the result, 'cycles' is the
number of cycles, which is the largest number of distinct words in one bank: 1
without conflicts. 'banks' is the bank of each element.

>>> plain = Layout('#layout.map<(i, j) -> buffer(i, j)>', element='f32')
>>> swizzled = Layout('#layout.map<(i, j) -> buffer(i, xor(i, j : 32))>', element='f32')
>>> column = [(i, 3) for i in range(32)]
>>> [L.bank_use(column, (32, 32), banks=32)['cycles'] for L in (plain, swizzled)]
[32, 1]

If `banks` is a Target, its parameters describe the memory of one core:
contiguous banks with words of `eu_bytes`. `stripe_bytes` and `word_bytes` are
then ignored. The element type must be stated, here and for `overlaps`.)")
      .def("overlaps", forPython(doOverlap), shape, py::arg("other"),
           py::arg("other_shape"), py::arg("byte") = 0,
           py::arg("other_byte") = 0, py::arg("holes") = true,
           R"(Returns True if two tensors in one memory share a byte.

Returns False if they do not, or None if neither is proven. `byte` and
`other_byte` are the start addresses of the storage, in every core. With
`holes`, a tensor owns all bytes from its lowest element to the end of its
storage, in every core; otherwise it owns the bytes of its elements only.

>>> chip = Target(npus=4, eu_bytes=128, bytes_per_npu=1024)
>>> L, shape = Layout('#layout.npu_scatter<aligned, start = 0>', chip, 'f32'), (1, 4, 1, 8)
>>> L.overlaps(shape, L, shape, other_byte=32)
True
>>> L.overlaps(shape, L, shape, other_byte=32, holes=False)
False
)")
      .def("refines", forPython(doesRefine), py::arg("other"), shape,
           py::arg("group") = 1, py::arg("other_group") = 1,
           R"(Returns True if this layout refines `other` on a shape.

It does if every storage group of `other` is a union of groups of this layout.
A group is `group` consecutive positions of storage, row-major over the
coordinates, that start at a multiple of `group`: a vector, a cache line or a
pixel. `other` has groups of `other_group`. Returns False if this layout does
not refine `other`, or None if neither is proven.

>>> four, sixteen = (Layout(f'#layout.blocked<"NCHW" to "NCHW{n}c">') for n in (4, 16))
>>> four.refines(sixteen, (1, 32, 7, 7), 4, 16)
True
>>> sixteen.refines(four, (1, 32, 7, 7), 16, 4)
False
)");
}
