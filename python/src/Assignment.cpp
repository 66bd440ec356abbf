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
/// A conversion in a module, with the name of the converted value, the reason,
/// the shape of the tensor, and the layouts of both sides.
struct AssignedConversion : ConversionSummary {
  std::string name, why;
  Shape shape;
  LayoutValue::Ptr from, to;
};

struct Assignment {
  explicit Assignment(ModuleData data) : module(std::move(data)) {}

  ModuleInContext module;
  std::string target;
  AssignmentStats stats;
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
    fail("weight_budget must not be negative");
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
    types = collectTypes(module.get());
  }
  if (std::exception_ptr error = provider ? provider->takeError() : nullptr)
    std::rethrow_exception(error);
  // There is no assignment if the module has no tensors.
  result->stats = table.assignment.value_or(AssignmentStats());
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
  const AssignmentStats &stats = self.stats;
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "<Assignment of cost " << stats.cost;
  if (stats.cost == stats.lowerBound)
    os << ", which is optimal";
  else
    os << ", at least " << stats.lowerBound;
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
      R"(A conversion of an Assignment, with its value and its reason.)")
      .def_property_readonly("name", forPython(+[](const Class &self) {
                               return toPythonString(self.name);
                             }),
                             "The name of the converted value.")
      .def_property_readonly("shape", forPython(+[](const Class &self) {
                               return toTuple(self.shape);
                             }),
                             "The logical shape, with None for dynamic sizes.")
      .def_property_readonly("from_layout", forPython(+[](const Class &self) {
                               return toPython(self.from);
                             }),
                             "The layout of the source.")
      .def_property_readonly("to_layout", forPython(+[](const Class &self) {
                               return toPython(self.to);
                             }),
                             "The layout of the result.")
      .def_property_readonly(
          "why", forPython(+[](const Class &self) {
            return toPythonString(self.why);
          }),
          "The op that needs one of the layouts and the op that makes the "
          "other.")
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
      "The layouts of all tensors of a module; created by assign(module).")
      .def_property_readonly("target", forPython(+[](const Assignment &self) {
                               return self.target;
                             }),
                             "The target for which layouts are assigned, as in "
                             "IR.")
      .def_property_readonly(
          "cost",
          forPython(+[](const Assignment &self) { return self.stats.cost; }),
          "The cost of ops and conversions. Its unit is the time in which "
          "memory moves one\nbyte, or that of the `costs` of assign().")
      .def_property_readonly("lower_bound",
                             forPython(+[](const Assignment &self) {
                               return self.stats.lowerBound;
                             }),
                             "A lower bound on the cost of any assignment.")
      .def_property_readonly("gap", forPython(+[](const Assignment &self) {
                               return self.stats.cost - self.stats.lowerBound;
                             }),
                             "cost - lower_bound; 0 if the assignment is "
                             "proven optimal.")
      .def_property_readonly("conversions",
                             forPython(+[](const Assignment &self) {
                               return toObjects(self.conversions);
                             }),
                             "The conversions of every run, including views.")
      .def_property_readonly("constants",
                             forPython(+[](const Assignment &self) {
                               return toObjects(self.constants);
                             }),
                             "The conversions of constants, which are packed "
                             "at compile time.")
      .def_property_readonly("layouts", forPython(+[](const Assignment &self) {
                               return py::dict(self.layouts.attr("copy")());
                             }),
                             R"(The Layout of every tensor, by name.

The name is that of the location, which importers set to the node of a model,
or else that of the value in the text, e.g. '%x'. If an op has several results,
each has its number, e.g. '%x#1'. If several ops have one name, the layout is
that of the last one.)")
      .def_property_readonly(
          "module", forPython(+[](const Assignment &self) {
            return toPythonString(getText(self));
          }),
          "The module with layouts and conversions, as text.")
      .def_property_readonly("bytecode", forPython(+[](const Assignment &self) {
                               return self.module.toBytecode();
                             }),
                             "The module with layouts and conversions, as "
                             "bytecode.")
      .def("__repr__",
           forPython(+[](const Assignment &self) { return getRepr(self); }));
}

void mlir::layout::python::bindAssignment(py::module_ &module) {
  bindConversion(module);
  bindClass(module);
  module.def("assign", assign, py::arg("module"),
             py::arg("target") = py::none(), py::kw_only(),
             py::arg("shapes") = py::none(), py::arg("costs") = py::none(),
             py::arg("weight_budget") = py::none(),
             R"(Assigns layouts to all tensors of a module by `layout-assign`.

`module` is text, bytecode as bytes, or a file: a path object, or a str that
ends in .mlir, .mlirbc or .onnx. A file may also be a model in ONNX or
StableHLO, if the packages that import it are installed; `shapes` then sets the
dynamic sizes of inputs of an .onnx file, by name or number. `target` is an
attribute as in IR or a Target, by default the target of the module, or else a
CPU.

`costs` replaces the cost model of the target. It is the path of a price list,
or a function that takes a PricedOp and returns an int in any unit, or None for
the modeled price. The cost of the assignment and its bound are in that unit.
Exceptions of the function are raised again.

`weight_budget` limits the bytes of all constants together, where each constant
counts once for every layout that is needed.

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

Raises LayoutError for errors in the module. Nothing is printed. Calls of
several threads run concurrently.)");
}
