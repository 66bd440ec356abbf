//===- Assigner.cpp - Incremental layout decisions for a module -----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Binds LayoutAssigner.h with the edits of a module that Python can make: ops
// can be pinned to layouts, and functions replaced and removed.
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "CostFunction.h"
#include "Modules.h"
#include "TensorTypes.h"
#include "layout/Analysis/LayoutAssigner.h"
#include "layout/Analysis/LayoutConstraints.h"
#include "layout/Analysis/PriceList.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Support/Places.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/ScopeExit.h"
#include <atomic>
#include <mutex>
#include <pybind11/stl.h>
#include <thread>

namespace py = pybind11;
using namespace mlir;
using namespace mlir::layout;
using namespace mlir::layout::python;

namespace {
class Assigner {
public:
  Assigner(const py::object &given, const py::object &target,
           const py::object &shapes, const py::object &costs);

  unsigned assign();
  void hold(StringRef name, std::optional<StringRef> function,
            std::optional<std::vector<std::string>> operands,
            std::optional<std::vector<std::string>> results);
  void replace(ModuleData data);
  void remove(StringRef function);

  std::string getText();
  TypesByName getTypes();
  /// Calls `ask` with the current decision; throws if the module changed since.
  template <typename Fn> auto withDecision(Fn ask) {
    py::gil_scoped_release withoutInterpreter;
    auto locked = lock();
    if (!isDecided)
      fail("the module has no assignment since its last change: call assign()");
    return ask(*assigner);
  }
  const std::string &getTarget() const { return target; }

private:
  /// Locks the assigner. The calling thread must not hold the interpreter's
  /// lock. Throws if the thread is inside assign(): the cost function called
  /// back.
  std::unique_lock<std::mutex> lock() {
    if (deciding == std::this_thread::get_id())
      fail("the cost function must not use the LayoutAssigner that calls it");
    return std::unique_lock<std::mutex>(mutex);
  }
  void forget();
  Operation *find(StringRef name, std::optional<StringRef> function);

  // Python threads may share an object. They wait without the interpreter's
  // lock.
  std::mutex mutex;
  std::atomic<std::thread::id> deciding = std::thread::id();
  ModuleInContext module;
  std::string target;
  std::unique_ptr<FunctionOfPython> function;
  OwningOpRef<ModuleOp> prices;
  std::unique_ptr<PriceList> list;
  std::optional<LayoutAssigner> assigner;
  bool isDecided = false;
};
} // namespace

namespace mlir::layout::python {
template <> struct Argument<Assigner &> {
  using Type = const std::shared_ptr<Assigner> &;
  static Assigner &get(Type value) {
    HeldArgument<Assigner>::get(value);
    return *value;
  }
};
} // namespace mlir::layout::python

Assigner::Assigner(const py::object &given, const py::object &wantedTarget,
                   const py::object &shapes, const py::object &costs)
    : module(readModule(given, shapes)) {
  std::string wanted = toTargetText(wantedTarget), file;
  if (PyCallable_Check(costs.ptr()))
    function = std::make_unique<FunctionOfPython>(costs);
  else if (!costs.is_none())
    file = py::module_::import("os").attr("fspath")(costs).cast<std::string>();
  py::gil_scoped_release withoutInterpreter;
  module.parse();
  target = module.chooseTarget(wanted);
  if (!file.empty())
    module.check(
        [&] {
          prices = readPriceList(file, &module.getContext());
          auto chosen = findTarget(module.get(), target);
          if (!prices || failed(chosen))
            return failure();
          auto read = PriceList::get(*prices, *chosen);
          if (succeeded(read))
            list = std::move(*read);
          return LogicalResult(read);
        },
        "the price list cannot be read");
  forget();
}

void Assigner::forget() {
  CostProvider *provider = list.get();
  if (function)
    provider = function.get();
  assigner.emplace(*findTarget(module.get(), target), Objective::time,
                   CandidateLimits(), SolveOptions(), provider);
  isDecided = false;
}

unsigned Assigner::assign() {
  unsigned numDecided = 0;
  std::exception_ptr error; // thrown and destroyed with the interpreter's lock
  {
    py::gil_scoped_release withoutInterpreter;
    auto locked = lock();
    deciding = std::this_thread::get_id();
    llvm::scope_exit decided([&] { deciding = std::thread::id(); });
    module.check(
        [&] {
          LogicalResult done = assigner->assign(module.get());
          // A decision with a failed price is discarded.
          if (function && (error = function->takeError())) {
            forget();
            return success();
          }
          isDecided = succeeded(done);
          return done;
        },
        "the assignment failed");
    numDecided = assigner->getNumDecided();
  }
  if (error)
    std::rethrow_exception(error);
  return numDecided;
}

Operation *Assigner::find(StringRef name, std::optional<StringRef> function) {
  Operation *root = module.get();
  if (function)
    root = SymbolTable::lookupSymbolIn(module.get(), *function);
  if (!root)
    fail("there is no function '" + *function + "'");
  SmallVector<Operation *> found;
  root->walk([&](Operation *op) {
    if (op->getNumResults() != 0 && printPlace(op->getLoc()) == name)
      found.push_back(op);
  });
  if (found.empty())
    fail("no op is named '" + name + "'");
  if (found.size() > 1)
    fail("several ops are named '" + name +
         "': select the function with 'function', and use different locations "
         "in one function");
  return found.front();
}

void Assigner::hold(StringRef name, std::optional<StringRef> function,
                    std::optional<std::vector<std::string>> operands,
                    std::optional<std::vector<std::string>> results) {
  py::gil_scoped_release withoutInterpreter;
  auto locked = lock();
  Operation *op = find(name, function);
  MLIRContext *context = &module.getContext();
  auto set = [&](StringRef attr,
                 const std::optional<std::vector<std::string>> &layouts) {
    if (!layouts) {
      op->removeDiscardableAttr(attr);
      return;
    }
    SmallVector<Attribute> entries;
    for (const std::string &layout : *layouts) {
      entries.push_back(layout.empty() ? UnitAttr::get(context)
                                       : parseAttribute(layout, context));
      if (!entries.back())
        fail("'" + layout + "' is not a layout");
    }
    op->setDiscardableAttr(attr, ArrayAttr::get(context, entries));
  };
  set(kOperandLayouts, operands);
  set(kResultLayouts, results);
  isDecided = false;
}

void Assigner::replace(ModuleData data) {
  py::gil_scoped_release withoutInterpreter;
  auto locked = lock();
  module.replaceSymbols(std::move(data));
  isDecided = false;
}

void Assigner::remove(StringRef name) {
  py::gil_scoped_release withoutInterpreter;
  auto locked = lock();
  Operation *op = SymbolTable::lookupSymbolIn(module.get(), name);
  if (!op)
    fail("there is no function '" + name + "'");
  if (!SymbolTable::symbolKnownUseEmpty(op, module.get()))
    fail("'" + name + "' is used, e.g. by a call");
  op->erase();
  isDecided = false;
}

std::string Assigner::getText() {
  py::gil_scoped_release withoutInterpreter;
  auto locked = lock();
  return module.getText();
}

TypesByName Assigner::getTypes() {
  return withDecision([&](const LayoutAssigner &decided) {
    DenseMap<Value, Type> chosen;
    for (const LayoutAssigner::Part *part : decided.getParts()) {
      const LayoutAssignment &it = part->assignment;
      auto add = [&](Value value, LayoutId layout) {
        auto type = dyn_cast<RankedTensorType>(value.getType());
        if (type && !type.getEncoding() && layout != kAnyLayout)
          chosen[value] = part->costs.getStoredType(type, layout);
      };
      for (auto [n, node] : llvm::enumerate(it.program.nodes)) {
        ArrayRef<LayoutId> results = it.getConfig(n).exact.results;
        if (node.op)
          for (auto [value, layout] :
               llvm::zip_equal(node.op->getResults(), results))
            add(value, layout);
        else
          for (Value value : it.program.flow.ties[node.tie].values)
            add(value, results.front());
      }
    }
    // Values without a chosen layout map to a null type, which is skipped.
    return collectTypes(module.get(),
                        [&](Value value) { return chosen.lookup(value); });
  });
}

/// Returns the texts of layouts, with an empty text for None, or std::nullopt
/// if `layouts` is None.
static std::optional<std::vector<std::string>>
toLayouts(const py::object &layouts) {
  if (layouts.is_none())
    return std::nullopt;
  std::vector<std::string> texts;
  for (py::handle layout : layouts) {
    if (!layout.is_none() && !py::isinstance<py::str>(layout) &&
        !py::isinstance<LayoutValue>(layout))
      throw py::type_error("a layout must be a Layout, a str or None");
    if (layout.is_none())
      texts.emplace_back();
    else if (py::isinstance<py::str>(layout))
      texts.push_back(LayoutValue::parse(expandName(layout.cast<std::string>()),
                                         std::nullopt, std::nullopt)
                          ->text);
    else
      texts.push_back(Argument<const LayoutValue &>::get(
                          layout.cast<std::shared_ptr<LayoutValue>>())
                          .text);
  }
  return texts;
}

static void pin(Assigner &self, const std::string &name,
                const py::object &operands, const py::object &results,
                const std::optional<std::string> &function) {
  self.hold(name, function, toLayouts(operands), toLayouts(results));
}

static unsigned assign(Assigner &self) { return self.assign(); }

static void replace(Assigner &self, const py::object &module) {
  ModuleData data = toModuleData(module);
  if (data.arrays)
    throw py::type_error(
        "a replacement must be text or bytecode, without arrays");
  self.replace(std::move(data));
}

static void removeFunction(Assigner &self, const std::string &function) {
  self.remove(function);
}

static py::dict getLayouts(Assigner &self) {
  TypesByName types = self.getTypes();
  LayoutsOfTypes layouts;
  return toDict(types, layouts);
}

static Cost getCost(Assigner &self) {
  return self.withDecision([](auto &it) { return it.getCost(); });
}

static Cost getLowerBound(Assigner &self) {
  return self.withDecision([](auto &it) { return it.getLowerBound(); });
}

static size_t getNumParts(Assigner &self) {
  return self.withDecision([](auto &it) { return it.getParts().size(); });
}

void mlir::layout::python::bindAssigner(py::module_ &module) {
  py::class_<Assigner, std::shared_ptr<Assigner>>(
      module, "LayoutAssigner",
      R"(Assigns layouts to a module repeatedly while the module changes.

The arguments are those of `assign`, without `weight_budget`. The module is used
as it is, without the rewrites that the pipeline `layout-assign` does first.
Functions that call each other are a part. An unchanged part keeps its decision;
all results are those of a new LayoutAssigner. After a change, results other
than `module` and `target` raise LayoutError until `assign()` is called.

>>> from layout_mlir import LayoutAssigner
>>> f = '''func.func @f(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
...   %y = arith.negf %x : tensor<4x6xf32>
...   return %y : tensor<4x6xf32>
... }
... '''
>>> a = LayoutAssigner(f + f.replace('@f', '@g'))
>>> a.assign(), a.parts
(2, 2)
>>> a.pin('%y', operands=['BA'], results=['BA'], function='g')
>>> a.assign()
1
>>> a.layouts['%y']
Layout('#layout.map<(d0, d1) -> buffer(d1, d0)>', element='f32')

Threads may share an object.)")
      .def(py::init<const py::object &, const py::object &, const py::object &,
                    const py::object &>(),
           py::arg("module"), py::arg("target") = py::none(), py::kw_only(),
           py::arg("shapes") = py::none(), py::arg("costs") = py::none())
      .def("assign", forPython(assign),
           "Decides the layouts of parts that changed; returns their number.")
      .def("pin", forPython(pin), py::arg("name"),
           py::arg("operands") = py::none(), py::arg("results") = py::none(),
           py::kw_only(), py::arg("function") = py::none(),
           R"(Pins an op to layouts, one for each operand and each result.

`name` is the name of the first result of the op, and `function` the function
to search in if several ops have that name. An entry None is the layout of the
type. If a list is None, these layouts are not constrained; without lists the
op is released. Raises LayoutError if there is not exactly one such op.)")
      .def("replace", forPython(replace), py::arg("module"),
           R"(Replaces functions and globals by those of `module`, by name.

`module` is text or bytecode. Functions and globals with new names are appended.
Raises LayoutError, without a change, if the result is not a valid module.)")
      .def("remove", forPython(removeFunction), py::arg("function"),
           "Removes a function; raises LayoutError if it is used, e.g. by a "
           "call.")
      .def_property_readonly(
          "target", forPython(+[](Assigner &self) { return self.getTarget(); }),
          "The target for which layouts are assigned, as in IR.")
      .def_property_readonly("parts", forPython(getNumParts),
                             "The number of parts.")
      .def_property_readonly("cost", forPython(getCost),
                             "The cost of the ops and conversions of all "
                             "parts.")
      .def_property_readonly("lower_bound", forPython(getLowerBound),
                             "A lower bound on the cost of any assignment.")
      .def_property_readonly(
          "layouts", forPython(getLayouts),
          "The Layout of every tensor whose layout an op or control flow "
          "chooses, by name\nas in Assignment.layouts.")
      .def_property_readonly("module", forPython(+[](Assigner &self) {
                               return toPythonString(self.getText());
                             }),
                             "The current module with the pinned layouts, as "
                             "text.");
}
