//===- Conversions.cpp - The cost and plan of a layout conversion ---------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Bindings.h"
#include "Context.h"
#include "layout/Analysis/ConversionSummary.h"
#include "mlir/AsmParser/AsmParser.h"

namespace py = pybind11;
using namespace mlir;
using namespace mlir::layout;
using namespace mlir::layout::python;

namespace mlir::layout::python {
template <>
struct Argument<const ConversionSummary &> : HeldArgument<ConversionSummary> {};
} // namespace mlir::layout::python

static FailureOr<RankedTensorType> getType(const LayoutValue &layout,
                                           ArrayRef<int64_t> shape,
                                           Type element, MLIRContext *context) {
  auto emit = [&] { return emitError(UnknownLoc::get(context)); };
  return nonNull(
      RankedTensorType::getChecked(emit, shape, element, layout.layout));
}

static ConversionSummary convert(const LayoutValue &self,
                                 const LayoutValue &other, py::handle given,
                                 const py::object &target) {
  Shape shape = toDynamicShape(given);
  self.on(shape)->requireValid();
  other.on(shape)->requireValid();
  if (!self.hasElement() || self.element != other.element)
    fail("both layouts of a conversion must have the same element type: state "
         "it with Layout(text, element='f32')");
  std::string text =
      target.is_none() ? kDefaultTarget.str() : std::string(py::str(target));
  return inContext(text,
                   [&](MLIRContext *context) -> FailureOr<ConversionSummary> {
                     Attribute attr = parseAttribute(text, context);
                     if (!attr)
                       return failure();
                     auto targetAttr = dyn_cast<TargetInterface>(attr);
                     if (!targetAttr) {
                       emitError(UnknownLoc::get(context))
                           << attr << " is not a target: write it as in IR, "
                           << kDefaultTarget;
                       return failure();
                     }
                     auto from = getType(self, shape, self.element, context),
                          to = getType(other, shape, self.element, context);
                     if (failed(from) || failed(to))
                       return failure();
                     return ConversionSummary::get(*from, *to, targetAttr);
                   });
}

static std::string getRepr(const ConversionSummary &self) {
  std::string text;
  llvm::raw_string_ostream(text)
      << "<Conversion " << stringify(self.plan.kind) << " by "
      << stringify(self.plan.getMethod()) << ", " << self.plan.bytesRead
      << " bytes read, " << self.plan.bytesWritten << " written>";
  return text;
}

template <int64_t ConversionSummary::*member>
static int64_t getNumber(const ConversionSummary &self) {
  return self.*member;
}

template <int64_t ConversionPlan::*member>
static int64_t getPlanned(const ConversionSummary &self) {
  return self.plan.*member;
}

void mlir::layout::python::bindConversions(py::module_ &module,
                                           LayoutClass &layout) {
  using Summary = ConversionSummary;
  py::class_<Summary, std::shared_ptr<Summary>>(
      module, "Conversion",
      R"(The plan and the cost of a conversion between two layouts.

Layout.conversion_to returns it. Sizes are in bytes; dynamic dims count as the
size that the target assumes.

>>> from layout_mlir import Layout
>>> A = Layout('#layout.blocked<"NCHW" to "NCHW">', element='f32')
>>> B = Layout('#layout.padded<#layout.blocked<"NCHW" to "NCHW16c">, zero>', element='f32')
>>> plan = A.conversion_to(B, (1, 61, 7, 7))
>>> plan
<Conversion relayout by copy, 11956 bytes read, 12544 written>
>>> plan.padding_bytes, plan.run_bytes, plan.runs
(588, 4, 2989)
)")
      .def_property_readonly(
          "kind", forPython(+[](const Summary &self) {
            return stringify(self.plan.kind).str();
          }),
          "'same' (equal maps), 'view' (equal storage points on this shape), "
          "'padding'\n(only padding is written) or 'relayout' (elements move).")
      .def_property_readonly(
          "method", forPython(+[](const Summary &self) {
            return stringify(self.plan.getMethod()).str();
          }),
          "'none', 'fill' (only padding), 'copy' (boxes), 'gather' (single "
          "elements),\n'transfers' (of a DMA engine) or 'messages' (between "
          "devices of a mesh).")
      .def_property_readonly("bytes_read",
                             forPython(getPlanned<&ConversionPlan::bytesRead>),
                             "The bytes that are read.")
      .def_property_readonly(
          "bytes_written", forPython(getPlanned<&ConversionPlan::bytesWritten>),
          "The bytes that are written, padding included.")
      .def_property_readonly("padding_bytes",
                             forPython(getNumber<&Summary::paddingBytes>),
                             "The bytes of padding whose value the result "
                             "layout states.")
      .def_property_readonly("run_bytes",
                             forPython(getPlanned<&ConversionPlan::runBytes>),
                             "The bytes of a segment that is contiguous in "
                             "source and destination.")
      .def_property_readonly("runs", forPython(getNumber<&Summary::runs>),
                             "The number of segments of `run_bytes` bytes that "
                             "are moved.")
      .def_property_readonly("cost", forPython(getNumber<&Summary::cost>),
                             "The cost on the target. Its unit is the time in "
                             "which memory moves one byte.")
      .def_property_readonly(
          "how", forPython(+[](const Summary &self) { return self.how; }),
          "The steps of the conversion, on one line.")
      .def("__repr__", forPython(getRepr));
  layout.def(
      "conversion_to", forPython(convert), py::arg("other"), py::arg("shape"),
      py::arg("target") = py::none(),
      R"(Returns the plan of `layout.convert` from this layout to another.

>>> A = Layout('#layout.blocked<"NCHW" to "NHWC">', element='f32')
>>> A.conversion_to(A, (1, 64, 7, 7)).method
'none'

Both layouts must state the same element type. `target` is a target attribute
as in IR, by default that of a CPU. The plan is the one that the compiler
prices and emits for this target.)");
}
