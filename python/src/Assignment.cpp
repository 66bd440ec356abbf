//===- Assignment.cpp - Layouts for all tensors of a module ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Binds the pipeline layout-assign and returns the table of layout-print-cost
// as objects.
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Bindings.h"
#include "CostFunction.h"
#include "Errors.h"
#include "Modules.h"
#include "TensorTypes.h"
#include "layout/Analysis/ConversionSummary.h"
#include "layout/Dialect/Layout/Transforms/CostTable.h"
#include "layout/Pipelines/AssignLayouts.h"
#include "layout/Support/Places.h"
#include "mlir/Pass/PassManager.h"
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace mlir;
using namespace mlir::layout;
using namespace mlir::layout::python;

namespace {
/// A conversion in a module, with its location and reason.
struct AssignedConversion : ConversionSummary {
  std::string name, why;
  Shape shape;
  LayoutValue::Ptr from, to;
};

struct Assignment {
  explicit Assignment(ModuleData data) : module(std::move(data)) {}

  ModuleInContext module;
  std::string target;
  DecisionFigures figures;
  std::vector<std::shared_ptr<AssignedConversion>> conversions, constants;
  py::dict layouts;
};
} // namespace

namespace mlir::layout::python {
template <>
struct Argument<const AssignedConversion &> : HeldArgument<AssignedConversion> {
};
template <> struct Argument<const Assignment &> : HeldArgument<Assignment> {};
} // namespace mlir::layout::python

static std::vector<std::shared_ptr<AssignedConversion>>
toConversions(ArrayRef<CostTable::Row> rows, TargetInterface target,
              LayoutsOfTypes &layouts) {
  std::vector<std::shared_ptr<AssignedConversion>> conversions;
  for (const CostTable::Row &row : rows)
    conversions.push_back(std::make_shared<AssignedConversion>(
        AssignedConversion{ConversionSummary::get(row.plan, row.to, target),
                           printPlace(row.loc), row.why,
                           Shape(row.to.getShape()), layouts.get(row.from),
                           layouts.get(row.to)}));
  return conversions;
}

static std::shared_ptr<Assignment> assign(const py::object &given,
                                          const py::object &target,
                                          const py::object &shapes,
                                          const py::object &costs,
                                          std::optional<int64_t> weightBudget) {
  std::string wanted = toTargetText(target);
  SolvePassOptions options;
  if (weightBudget && *weightBudget < 0)
    fail("weight_budget is less than 0");
  options.weightBudget = weightBudget.value_or(-1);
  std::shared_ptr<FunctionOfPython> provider;
  if (PyCallable_Check(costs.ptr()))
    provider = std::make_shared<FunctionOfPython>(costs);
  else if (!costs.is_none())
    options.costsFile =
        py::module_::import("os").attr("fspath")(costs).cast<std::string>();
  auto result = std::make_shared<Assignment>(readModule(given, shapes));
  ModuleInContext &module = result->module;
  TargetInterface chosen;
  CostTable table;
  TypesByName types;
  {
    py::gil_scoped_release withoutInterpreter;
    module.parse();
    result->target = module.chooseTarget(wanted);
    PassManager passes(&module.getContext());
    options.target = result->target;
    buildAssignLayoutsPipeline(passes, options, provider);
    module.run(passes);
    // The pipeline has set this attribute.
    chosen = *findTarget(module.get(), "");
    table = CostTable::get(module.get(), chosen);
    types =
        collectTypes(module.get(), [](Value value) { return value.getType(); });
  }
  if (std::exception_ptr error = provider ? provider->takeError() : nullptr)
    std::rethrow_exception(error);
  // There is no assignment if the module has no tensors.
  result->figures = table.assignment.value_or(DecisionFigures());
  LayoutsOfTypes layouts;
  result->conversions = toConversions(table.activations, chosen, layouts);
  result->constants = toConversions(table.constants, chosen, layouts);
  result->layouts = toDict(types, layouts);
  module.issueWarnings();
  return result;
}

static std::string getRepr(const Assignment &self) {
  Cost moved = 0;
  size_t moving = 0;
  for (const auto &it : self.conversions) {
    moved =
        addCosts(moved, addCosts(it->plan.bytesRead, it->plan.bytesWritten));
    moving += !it->plan.isFree();
  }
  const DecisionFigures &figures = self.figures;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "<Assignment of cost " << figures.cost;
  if (figures.cost == figures.lowerBound)
    os << ", which is optimal";
  else
    os << ", at least " << figures.lowerBound;
  auto count = [&](size_t n, StringRef what) -> raw_ostream & {
    return os << n << " " << what << (n == 1 ? "" : "s");
  };
  os << ": ";
  count(moving, "conversion") << ", " << moved << " bytes moved, ";
  count(self.constants.size(), "constant") << " packed>";
  return text;
}

static std::string getRepr(const AssignedConversion &self) {
  std::string text;
  llvm::raw_string_ostream(text)
      << "<" << stringify(self.plan.kind) << " of " << self.name << " from "
      << self.from->text << " to " << self.to->text << ", "
      << self.plan.bytesRead << " bytes read, " << self.plan.bytesWritten
      << " written: " << self.why << ">";
  return text;
}

/// Returns a tuple of the objects, without copying them.
static py::tuple
toObjects(const std::vector<std::shared_ptr<AssignedConversion>> &rows) {
  return py::tuple(py::cast(rows));
}

static void bindConversion(py::module_ &module) {
  using Class = AssignedConversion;
  py::class_<Class, ConversionSummary, std::shared_ptr<Class>>(
      module, "AssignedConversion",
      R"(A conversion of an Assignment: a Conversion with its place and reason.)")
      .def_property_readonly("name", forPython(+[](const Class &self) {
                               return toPythonString(self.name);
                             }),
                             "Of the value that is converted.")
      .def_property_readonly(
          "shape",
          forPython(+[](const Class &self) { return toTuple(self.shape); }),
          "The logical shape; None where a size is not known.")
      .def_property_readonly("from_layout", forPython(+[](const Class &self) {
                               return toPython(self.from);
                             }),
                             "The layout that is read.")
      .def_property_readonly("to_layout", forPython(+[](const Class &self) {
                               return toPython(self.to);
                             }),
                             "The layout that is written.")
      .def_property_readonly(
          "why", forPython(+[](const Class &self) {
            return toPythonString(self.why);
          }),
          "Which op needs the one layout and which makes the other.")
      .def("__repr__", forPython(+[](const Class &self) {
             return toPythonString(getRepr(self));
           }));
}

static std::string getText(const Assignment &self) {
  py::gil_scoped_release withoutInterpreter;
  return self.module.getText();
}

static void bindClass(py::module_ &module) {
  py::class_<Assignment, std::shared_ptr<Assignment>>(
      module, "Assignment",
      "Layouts for all tensors of a module: assign(module).")
      .def_property_readonly("target", forPython(+[](const Assignment &self) {
                               return self.target;
                             }),
                             "What the layouts are decided for, as in IR.")
      .def_property_readonly(
          "cost",
          forPython(+[](const Assignment &self) { return self.figures.cost; }),
          "The price of ops and conversions: 1 is the time in which memory "
          "moves a byte, unless assign() got other prices.")
      .def_property_readonly("lower_bound",
                             forPython(+[](const Assignment &self) {
                               return self.figures.lowerBound;
                             }),
                             "No assignment costs less.")
      .def_property_readonly("gap", forPython(+[](const Assignment &self) {
                               return self.figures.cost -
                                      self.figures.lowerBound;
                             }),
                             "cost - lower_bound: 0 where the assignment is "
                             "proven to be the cheapest one.")
      .def_property_readonly("conversions",
                             forPython(+[](const Assignment &self) {
                               return toObjects(self.conversions);
                             }),
                             "The conversions that every run makes, views "
                             "included.")
      .def_property_readonly("constants",
                             forPython(+[](const Assignment &self) {
                               return toObjects(self.constants);
                             }),
                             "Those of constants, which are packed at compile "
                             "time.")
      .def_property_readonly("layouts", forPython(+[](const Assignment &self) {
                               return py::dict(self.layouts.attr("copy")());
                             }),
                             R"(The Layout of every tensor, by name.

The name is that of the location, as importers give it to the nodes of a model;
where a text has none, it is the one of the value, '%x'. Of several results,
each has its number, '%x#1'; of several ops with one name, the last one
counts.)")
      .def_property_readonly(
          "module", forPython(+[](const Assignment &self) {
            return toPythonString(getText(self));
          }),
          "The module with layouts and conversions, as text.")
      .def_property_readonly("bytecode", forPython(+[](const Assignment &self) {
                               return self.module.toBytecode();
                             }),
                             "The same as bytecode.")
      .def("__repr__",
           forPython(+[](const Assignment &self) { return getRepr(self); }));
}

void mlir::layout::python::bindAssignment(py::module_ &module) {
  bindConversion(module);
  bindClass(module);
  module.def(
      "assign", assign, py::arg("module"), py::arg("target") = py::none(),
      py::kw_only(), py::arg("shapes") = py::none(),
      py::arg("costs") = py::none(), py::arg("weight_budget") = py::none(),
      R"(Layouts for all tensors of a module: the pipeline `layout-assign`.

`module` is text, bytecode as bytes, or a file: a path object, or a str that ends
in .mlir, .mlirbc or .onnx. A file may also hold a model in ONNX or StableHLO,
where the packages that import it are installed; `shapes` then gives inputs of an
.onnx file, by name or number, the sizes that it leaves open. `target` is written
as in IR; without one the module's own counts, or a CPU.

`costs` has other prices than the model of the target: the path of a price list,
or a function that takes a PricedOp and returns an int of any unit, or None for
the modeled price. The cost of the assignment and its bound are in that unit.

`weight_budget` is the most bytes that all constants may take together, each once
for every layout that it is wanted in.

>>> from layout_mlir import assign
>>> a = assign('''
... func.func @f(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
...   %y = layout.convert %x : tensor<4x6xf32> to tensor<4x6xf32, #layout.blocked<"AB" to "BA">>
...   %z = layout.convert %y : tensor<4x6xf32, #layout.blocked<"AB" to "BA">> to tensor<4x6xf32>
...   return %z : tensor<4x6xf32>
... }''')
>>> a
<Assignment of cost 0, which is optimal: 0 conversions, 0 bytes moved, 0 constants packed>
>>> a.layouts['%x']
Layout('#layout.map<(d0, d1) -> buffer(d0, d1)>', element='f32')

What is wrong with the module is raised as LayoutError. Nothing is printed, and
threads run at the same time.)");
}
