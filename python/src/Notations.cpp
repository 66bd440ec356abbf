//===- Notations.cpp - Pictures, and notations of other projects ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Bindings.h"
#include "layout/Interop/Interop.h"
#include "layout/Visualization/Svg.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace mlir;
using namespace mlir::layout;
using namespace mlir::layout::python;

static PictureOptions::View toView(const std::string &name) {
  if (name == "storage")
    return PictureOptions::View::Storage;
  if (name == "logical")
    return PictureOptions::View::Logical;
  fail("the view of a picture must be 'storage' or 'logical', not '" + name +
       "'");
}

static PictureOptions::Label toLabel(const std::string &name) {
  if (name == "tuple")
    return PictureOptions::Label::Tuple;
  if (name == "number")
    return PictureOptions::Label::Number;
  if (name == "device")
    return PictureOptions::Label::Device;
  fail("the label of a cell must be 'tuple', 'number' or 'device', not '" +
       name + "'");
}

static std::string draw(const LayoutValue &self, py::handle shape,
                        const std::string &view, const std::string &label,
                        const std::optional<std::string> &title,
                        int64_t columns, int64_t maxCells) {
  auto on = self.on(toShape(shape));
  on->requireValid();
  PictureOptions options;
  options.view = toView(view);
  options.label = toLabel(label);
  options.title = title.value_or(self.text);
  if (self.hasElement())
    options.element = self.getElementText();
  options.columns = columns;
  options.maxCells = maxCells;
  std::string svg, reason;
  bool isDrawn;
  {
    py::gil_scoped_release withoutInterpreter;
    llvm::raw_string_ostream os(svg);
    isDrawn = succeeded(drawSvg(on->map, on->shape, options, os,
                                [&](const Twine &why) { reason = why.str(); }));
  }
  if (!isDrawn)
    fail(reason);
  return svg;
}

static Notation toNotation(const std::string &name) {
  if (std::optional<Notation> notation = getNotation(name))
    return *notation;
  fail("there is no notation '" + name +
       "': notations are 'xla', 'onednn', 'cute' and 'triton'");
}

static std::string exportText(const LayoutValue &self,
                              const std::string &notation, py::handle shape) {
  Notation to = toNotation(notation);
  auto on = self.on(toShape(shape));
  on->requireValid();
  std::string reason;
  std::optional<std::string> text;
  {
    py::gil_scoped_release withoutInterpreter;
    text = exportAs(to, on->map, on->shape,
                    [&](const Twine &why) { reason = why.str(); });
  }
  if (!text)
    fail(reason);
  return *text;
}

static std::shared_ptr<LayoutValue>
importText(const py::str &notation, const py::str &text,
           const std::optional<py::str> &element) {
  std::optional<std::string> type;
  if (element)
    type = *element;
  return toPython(
      LayoutValue::import(toNotation(notation), std::string(text), type));
}

std::string mlir::layout::python::expandName(const std::string &text) {
  static constexpr StringLiteral kOrders[] = {
      "NC",   "NCW",   "NCHW",  "NCDHW", // activations
      "OI",   "OIW",   "OIHW",  "OIDHW", // weights
      "GOIW", "GOIHW", "GOIDHW"};
  StringRef name = StringRef(text).trim();
  if (name.empty() || !llvm::isUpper(name.front()) ||
      !llvm::all_of(name, [](char c) {
        return llvm::isAlnum(c) || c == '[' || c == ']';
      }))
    return text;
  auto sort = [](StringRef letters) {
    std::string sorted = letters.str();
    llvm::sort(sorted);
    return sorted;
  };
  std::string axes;
  llvm::copy_if(name, std::back_inserter(axes),
                [](char c) { return llvm::isUpper(c); });
  axes = sort(axes);
  std::string order = StringRef("ABCDEFGHIJKL").starts_with(axes) ? axes : "";
  for (StringRef known : kOrders)
    if (sort(known) == axes)
      order = known.str();
  if (order.empty())
    fail("the name '" + name +
         "' does not determine the logical order of its axes, which is known "
         "for NC, NCW, NCHW, NCDHW, for weights OI to GOIDHW, and for A, B, "
         "..: write #layout.blocked<\"..\" to \"" +
         name + "\">");
  return ("#layout.blocked<\"" + order + "\" to \"" + name + "\">").str();
}

/// Returns the sizes of the picture that notebooks show: the stated size, or
/// for a dynamic dim one more than its largest block, so that the second block
/// is partial.
static Shape getSmallShape(const OnShape &on) {
  Shape shape = on.shape;
  for (auto [d, size] : llvm::enumerate(shape)) {
    if (size != kUnknownSize)
      continue;
    int64_t block = 1;
    for (const BoundedIndex &stored : on.storedDims)
      for (const DigitTerm &term : stored.value.terms)
        if (term.digit.isDim() && term.digit.dim == d)
          block = std::max(block, term.digit.divisor);
    size = block + 1;
  }
  return shape;
}

/// Returns the sizes as text, with the axis names of a blocked layout, e.g. "N
/// = 2, C = 17", or else with d0, d1, .. as names.
static std::string printSizes(const LayoutValue &self,
                              ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto blocked = dyn_cast<BlockedAttr>(self.layout);
  bool isNamed = blocked && blocked.getLogical().size() == shape.size();
  for (auto [d, size] : llvm::enumerate(shape)) {
    os << (d ? ", " : "");
    if (isNamed)
      os << blocked.getLogical()[d];
    else
      os << "d" << d;
    os << " = " << size;
  }
  return text;
}

/// Returns the notebook picture, or None if there is none; Jupyter then shows
/// the repr.
static py::object drawForNotebook(const LayoutValue &self) {
  try {
    Shape shape = getSmallShape(*self.onEveryShape());
    return py::str(draw(self, toTuple(shape), "storage", "tuple",
                        self.text + " on " + printSizes(self, shape),
                        /*columns=*/0, /*maxCells=*/1024));
  } catch (const LayoutError &) {
    return py::none();
  }
}

void mlir::layout::python::bindNotations(LayoutClass &layout) {
  layout.def("_repr_svg_", forPython(drawForNotebook))
      .def("svg", forPython(draw), py::arg("shape"), py::kw_only(),
           py::arg("view") = "storage", py::arg("label") = "tuple",
           py::arg("title") = py::none(), py::arg("columns") = 0,
           py::arg("max_cells") = 4096,
           R"(Returns an SVG picture of the layout on a small shape, as text.

view: 'storage' draws every position with its index and hatches padding;
'logical' draws every index with its position. label: cells contain a 'tuple', a
'number' or, in the logical view of a mesh, each 'device' that has the index.
title: the first line, by default the text of the layout. columns: the positions
per row of linear memory; 0 uses the stored dims. Raises LayoutError for a
picture of more than `max_cells` cells.

>>> Layout('#layout.blocked<"AB" to "AB4b">').svg((2, 5)).startswith('<svg')
True
)")
      .def("to", forPython(exportText), py::arg("notation"), py::arg("shape"),
           R"(Returns the layout on a shape in the notation of another project.

notation: 'xla', 'onednn', 'cute' or 'triton'. Raises LayoutError with the
reason if the notation cannot express the layout.

>>> Layout('#layout.blocked<"NCHW" to "NCHW16c">').to('onednn', (1, 64, 7, 7))
'aBcd16b'
)")
      .def_static("from_notation", forPython(importText), py::arg("notation"),
                  py::arg("text"), py::arg("element") = py::none(),
                  R"(Parses a layout in the notation of another project.

The result is `#layout.import<notation, "text">`. A syntax error raises
LayoutError with line and column.

>>> Layout.from_notation('xla', '{1,0:T(2,2)}').address((2, 3), (3, 5))
{'offset': 17}
)");
}
