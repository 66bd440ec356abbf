//===- CostFunction.cpp - Prices from a Python function -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CostFunction.h"
#include "Bindings.h"
#include "Errors.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace mlir;
using namespace mlir::layout;
using namespace mlir::layout::python;

namespace mlir::layout::python {
struct PricedOp {
  std::string name, text;
  std::vector<std::string> operands, results;
  Cost modeled;
};

template <> struct Argument<const PricedOp &> : HeldArgument<PricedOp> {};
} // namespace mlir::layout::python

static std::vector<std::string> print(ArrayRef<Type> types) {
  std::vector<std::string> texts;
  for (Type type : types)
    llvm::raw_string_ostream(texts.emplace_back()) << type;
  return texts;
}

Cost FunctionOfPython::getOpCost(const OpToPrice &op) {
  return getPrice([&] {
    std::string text;
    llvm::raw_string_ostream os(text);
    op.op->print(os, OpPrintingFlags().useLocalScope().assumeVerified());
    return PricedOp{op.op->getName().getStringRef().str(), text,
                    print(op.operands), print(op.results), op.modeled};
  });
}

Cost FunctionOfPython::getConversionCost(const ConversionToPrice &conversion) {
  return getPrice([&] {
    StringRef name = ConvertOp::getOperationName();
    return PricedOp{name.str(), name.str(), print({conversion.from}),
                    print({conversion.to}), conversion.modeled};
  });
}

Cost FunctionOfPython::getPrice(llvm::function_ref<PricedOp()> describe) {
  PricedOp op = describe();
  if (error)
    return op.modeled;
  py::gil_scoped_acquire interpreter;
  try {
    Cost modeled = op.modeled;
    py::object answer = function(std::make_shared<PricedOp>(std::move(op)));
    Cost cost = answer.is_none() ? modeled : answer.cast<Cost>();
    if (cost >= 0 && cost < kInfiniteCost)
      return cost;
    throw py::value_error("'costs' returned a price of " +
                          std::to_string(cost) + ": it must be at least 0");
  } catch (const py::cast_error &) {
    error = std::make_exception_ptr(py::type_error(
        "'costs' must return an int, or None for the modeled price"));
  } catch (...) {
    error = std::current_exception();
  }
  return 0;
}

void mlir::layout::python::bindCostFunction(py::module_ &module) {
  py::class_<PricedOp, std::shared_ptr<PricedOp>>(
      module, "PricedOp",
      "An op or a conversion whose price assign(costs=..) requests.")
      .def_property_readonly("name", forPython(+[](const PricedOp &self) {
                               return toPythonString(self.name);
                             }),
                             "The op name as in IR, e.g. 'linalg.matmul' or "
                             "'layout.convert'.")
      .def_property_readonly("text", forPython(+[](const PricedOp &self) {
                               return toPythonString(self.text);
                             }),
                             "The op as text, with its attributes and body, "
                             "before layouts are assigned.")
      .def_property_readonly("operands", forPython(+[](const PricedOp &self) {
                               return py::tuple(py::cast(self.operands));
                             }),
                             "The operand types, with layouts, as texts.")
      .def_property_readonly("results", forPython(+[](const PricedOp &self) {
                               return py::tuple(py::cast(self.results));
                             }),
                             "The result types, with layouts, as texts.")
      .def_property_readonly(
          "modeled",
          forPython(+[](const PricedOp &self) { return self.modeled; }),
          "The price in the cost model of the target. Its unit is the time in "
          "which memory moves one byte.");
}
