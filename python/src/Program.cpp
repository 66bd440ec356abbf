//===- Program.cpp - Modules as functions of numpy arrays -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Binds the pipeline layout-to-cpu and the execution engine of layout-run.
//
//===----------------------------------------------------------------------===//

#include "Arguments.h"
#include "Arrays.h"
#include "Bindings.h"
#include "Modules.h"
#include "layout/Runtime/CompiledProgram.h"
#include "layout/Runtime/KeptMemory.h"
#include "layout/Runtime/ObjectCache.h"
#include "layout/Support/Cpu.h"
#include "layout/Support/Places.h"
#include "layout/Targets/CPU/Pipelines/LayoutToCPU.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/STLExtras.h"
#include <pybind11/stl.h>

namespace py = pybind11;
using namespace mlir;
using namespace mlir::layout;
using namespace mlir::layout::python;

/// The array of the runtime, in contrast to the numpy `Array` of the bindings.
using RuntimeArray = mlir::layout::Array;

namespace {
/// The type of one argument or result of a program.
struct ArrayType {
  std::string name; // empty if unnamed
  RankedTensorType type;
  Shape shape;
  py::object dtype;
};

struct Program {
  Program(ModuleData data, const DialectRegistry &registry,
          std::string function)
      : module(std::move(data), registry), function(std::move(function)) {}

  ModuleInContext module;
  std::string function;
  std::vector<std::shared_ptr<ArrayType>> inputs, results;
  std::unique_ptr<CompiledProgram> compiled;
  bool isKept = false; // a former compilation stored it
};
} // namespace

namespace mlir::layout::python {
template <> struct Argument<const ArrayType &> : HeldArgument<ArrayType> {};
template <> struct Argument<const Program &> : HeldArgument<Program> {};
} // namespace mlir::layout::python

static std::string getRepr(const ArrayType &self) {
  std::string text = self.name.empty() ? "" : self.name + ": ";
  text += py::str(self.dtype.attr("name"));
  return text + std::string(py::str(toTuple(self.shape)));
}

static std::string
getRepr(const std::vector<std::shared_ptr<ArrayType>> &types) {
  std::string text;
  for (const auto &type : types)
    text += (text.empty() ? "" : ", ") + getRepr(*type);
  return "(" + text + ")";
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

/// Returns the names of a function's arguments, empty for unnamed ones. Returns
/// an empty list if there is no such function, or if it has no body.
static SmallVector<std::string> getNames(ModuleOp module, StringRef function) {
  SmallVector<std::string> names;
  auto op = SymbolTable::lookupNearestSymbolFrom<FunctionOpInterface>(
      module, StringAttr::get(module.getContext(), function));
  if (op && !op.isExternal())
    for (BlockArgument argument : op.getArguments())
      names.push_back(
          isa<NameLoc>(argument.getLoc()) ? printPlace(argument.getLoc()) : "");
  return names;
}

static std::vector<std::shared_ptr<ArrayType>>
toArrayTypes(TypeRange types, ArrayRef<std::string> names = {}) {
  std::vector<std::shared_ptr<ArrayType>> result;
  for (auto [i, each] : llvm::enumerate(types)) {
    auto type = cast<RankedTensorType>(each);
    result.push_back(std::make_shared<ArrayType>(
        ArrayType{i < names.size() ? names[i] : "", type,
                  Shape(type.getShape()), getDtype(type.getElementType())}));
  }
  return result;
}

/// The processor that programs are compiled for.
static constexpr StringLiteral kCpu = "host";

/// Returns the cache key of a program, made from the bytes that its module is
/// read from, the target, the function and the options. Returns an empty string
/// if the module cannot be read or may depend on further files, or if
/// CompiledProgram::makeKey returns one.
static std::string makeKey(const py::object &given, const py::object &shapes,
                           const std::string &target,
                           const std::string &function, bool parallelLoops,
                           const CompileOptions &options) {
  py::object source = py::module_::import("layout_mlir.modules")
                          .attr("get_source")(given, shapes);
  if (source.is_none())
    return "";
  std::vector<py::buffer_info> parts;
  for (py::handle part : source)
    parts.push_back(py::reinterpret_borrow<py::buffer>(part).request());
  CpuModelParams params = *findCpuParams(kCpu);
  static_assert(std::has_unique_object_representations_v<CpuModelParams>,
                "equal params are equal bytes");
  SmallVector<StringRef> texts{
      target, parallelLoops ? "parallel" : "",
      options.findArray ? "shares arrays" : "",
      StringRef(reinterpret_cast<const char *>(&params), sizeof(params))};
  for (const py::buffer_info &part : parts)
    texts.emplace_back(static_cast<const char *>(part.ptr), part.size);
  py::gil_scoped_release withoutInterpreter;
  return CompiledProgram::makeKey(texts, function, options);
}

/// Returns the registry for the outline of a compiled program. Registering all
/// dialects and passes would take longer than loading a small program, and
/// reads most pages of their libraries.
static const DialectRegistry &getOutlineDialects() {
  static const DialectRegistry *registry = [] {
    auto *own = new DialectRegistry;
    own->insert<LLVM::LLVMDialect>();
    return own;
  }();
  return *registry;
}

/// Returns a function that finds the arrays of a module of text and arrays.
static decltype(CompileOptions::findArray)
makeFindArray(const py::object &given) {
  bool hasArrays = py::isinstance<py::tuple>(given) && py::len(given) == 2;
  return [&given, hasArrays](StringRef name) -> std::optional<AsmResourceBlob> {
    py::gil_scoped_acquire interpreter;
    py::str key(name.str());
    if (!hasArrays || !given[py::int_(1)].contains(key))
      return std::nullopt;
    py::buffer array = given[py::int_(1)][key];
    return makeBlob(std::make_shared<py::buffer_info>(array.request()));
  };
}

/// Erases the bodies of all functions, and all other ops. A compiled program
/// only refers to the function that it runs, for its attributes and location.
static void dropBodies(ModuleOp module) {
  for (Operation &op : llvm::make_early_inc_range(*module.getBody()))
    if (auto function = dyn_cast<FunctionOpInterface>(op))
      function.eraseBody();
    else
      op.erase();
}

namespace {
/// The arguments of compile(), and what follows from them.
struct Request {
  Request(const py::object &given, const py::object &target,
          const std::string &function, const py::object &shapes,
          const py::object &threads, bool sharesArrays);

  py::object given, shapes;
  std::string target, function;
  bool parallelLoops;
  CompileOptions options;
};
} // namespace

Request::Request(const py::object &given, const py::object &target,
                 const std::string &function, const py::object &shapes,
                 const py::object &threads, bool sharesArrays)
    : given(given), shapes(shapes), target(toTargetText(target)),
      function(function) {
  options.dropsResources = true;
  if (sharesArrays)
    options.findArray = makeFindArray(this->given);
  if (!threads.is_none()) {
    int64_t count = toInt(threads, "the number of threads");
    if (count < 1 || count > kMostThreads)
      fail("the number of threads is " + std::to_string(count) +
           ": it must be from 1 to " + std::to_string(kMostThreads));
    options.threads = count;
  }
  // Sequential loops compile faster.
  parallelLoops = CompiledProgram::countThreads(options) > 1;
  options.key =
      makeKey(given, shapes, this->target, function, parallelLoops, options);
}

/// Sets the compiled program, and what Python sees of it.
static void setCompiled(Program &program,
                        FailureOr<std::unique_ptr<CompiledProgram>> compiled) {
  if (failed(compiled))
    throw program.module.takeError("the program could not be compiled");
  program.compiled = std::move(*compiled);
  FunctionType signature = program.compiled->getSignature();
  program.inputs =
      toArrayTypes(signature.getInputs(), program.compiled->getInputNames());
  program.results = toArrayTypes(signature.getResults());
}

/// Loads a program that this process or another one stored.
static std::shared_ptr<Program>
load(const Request &request, std::unique_ptr<llvm::MemoryBuffer> outline,
     bool isKept) {
  auto program = std::make_shared<Program>(
      ModuleData{std::move(outline), /*isBytecode=*/true, {}},
      getOutlineDialects(), request.function);
  FailureOr<std::unique_ptr<CompiledProgram>> compiled;
  {
    py::gil_scoped_release withoutInterpreter;
    program->module.parse();
    compiled = CompiledProgram::load(program->module.get(), request.options);
  }
  setCompiled(*program, std::move(compiled));
  program->isKept = isKept;
  return program;
}

/// Compiles the module of a request in this process, compares the program of a
/// model, and stores it.
static std::shared_ptr<Program> compileHere(Request &request) {
  py::object check = py::none();
  auto program = std::make_shared<Program>(
      readModule(request.given, request.shapes, /*maps=*/true, &check),
      getAllDialects(), request.function);
  ModuleInContext &module = program->module;
  FailureOr<std::unique_ptr<CompiledProgram>> compiled;
  {
    py::gil_scoped_release withoutInterpreter;
    module.parse();
    request.options.inputNames = getNames(module.get(), request.function);
    LayoutToCPUOptions options;
    options.target = module.chooseTarget(request.target);
    options.cpu = kCpu.str();
    options.parallelLoops = request.parallelLoops;
    PassManager passes(&module.getContext());
    // The parser has verified the module; verification after each pass takes
    // a third of the time.
    passes.enableVerifier(false);
    buildLayoutToCPUPipeline(passes, options);
    module.run(passes);
    // A program loaded from the cache would not repeat the warnings.
    if (module.hasWarnings())
      request.options.key.clear();
    compiled = CompiledProgram::compile(module.get(), request.function,
                                        request.options);
  }
  setCompiled(*program, std::move(compiled));
  program->isKept = program->compiled->isFromObjectCache();
  module.issueWarnings();
  if (!check.is_none())
    check(program);
  // Frees the imported model, which the check refers to.
  check = py::none();
  program->compiled->keep(request.options);
  dropBodies(module.get());
  return program;
}

/// Compiles the file of a request in a child process, with whose end its memory
/// is free, and loads what it stored. Returns null if compile_apart of
/// modules.py starts no child for this module, or if the child stored nothing.
static std::shared_ptr<Program> compileApart(Request &request) {
  CompileOptions &options = request.options;
  if (options.key.empty())
    return nullptr;
  std::shared_ptr<Program> program;
  auto compile = [&](const std::string &directory) {
    options.cacheDirectory = directory;
    return compileHere(request)->isKept;
  };
  auto loadFrom = [&](const std::string &directory, bool isKept) {
    std::optional<std::string> own =
        std::exchange(options.cacheDirectory, directory);
    if (auto outline = CompiledProgram::find(options))
      program = load(request, std::move(outline), isKept);
    options.cacheDirectory = std::move(own);
    return program != nullptr;
  };
  py::module_::import("layout_mlir.modules")
      .attr("compile_apart")(request.given, ObjectCache::getDefaultDirectory(),
                             py::cpp_function(compile),
                             py::cpp_function(loadFrom));
  return program;
}

static std::shared_ptr<Program>
compile(const py::object &given, const py::object &target,
        const std::string &function, const py::object &shapes,
        const py::object &threads, bool sharesArrays) {
  Request request(given, target, function, shapes, threads, sharesArrays);
  std::unique_ptr<llvm::MemoryBuffer> outline =
      CompiledProgram::find(request.options);
  std::shared_ptr<Program> program =
      outline ? load(request, std::move(outline), /*isKept=*/true)
              : compileApart(request);
  if (!program)
    program = compileHere(request);
  layout::giveBackFreedMemory();
  layout::giveBackCompilerPages();
  return program;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

static bool fits(ArrayRef<int64_t> shape, ArrayRef<int64_t> wanted) {
  return shape.size() == wanted.size() &&
         llvm::all_of(llvm::zip(shape, wanted), [](auto sizes) {
           auto [size, known] = sizes;
           return ShapedType::isDynamic(known) || size == known;
         });
}

namespace {
/// An input of a run: the memory of a numpy array, kept alive, or a copy.
struct Input {
  Bytes bytes;
  RuntimeArray array;
};
} // namespace

/// Returns the contiguous bytes of `bytes` as an array. Copies them only if
/// they are not aligned to the elements.
static RuntimeArray toRuntimeArray(const Bytes &bytes, ElementKind kind,
                                   ArrayRef<int64_t> shape) {
  ArrayRef<char> from = bytes.get();
  llvm::Align alignment(std::min<int64_t>(getByteSize(kind), 8));
  if (llvm::isAddrAligned(alignment, from.data()))
    return RuntimeArray(kind, shape, const_cast<char *>(from.data()));
  RuntimeArray copy(kind, shape);
  llvm::copy(from, copy.data());
  return copy;
}

static Input toInput(size_t number, const ArrayType &type,
                     const py::object &given) {
  std::string what = "argument " + std::to_string(number);
  if (!type.name.empty())
    what += " (" + type.name + ")";
  python::Array array(given, what);
  Type element = type.type.getElementType();
  py::object dtype = array.getDtype();
  // Most arrays have the dtype of results, which is one object.
  if (dtype.is(type.dtype) || holds(dtype, element)) {
    Bytes bytes = Bytes::toRead(toStored(array, element));
    Shape shape = llvm::to_vector_of<int64_t>(bytes.getShape());
    if (fits(shape, type.shape)) {
      RuntimeArray input =
          toRuntimeArray(bytes, *getElementKind(element), shape);
      return {std::move(bytes), std::move(input)};
    }
  }
  fail(what + " must be an array of " +
       std::string(py::str(type.dtype.attr("name"))) + " and of shape " +
       std::string(py::str(toTuple(type.shape))) + ", not of " +
       std::string(py::str(dtype)) + " and of shape " +
       std::string(py::str(toTuple(array.getShape()))));
}

/// Returns a numpy array with the elements of `result`. It owns the memory of
/// `result`, or for integers of 2 to 7 bits a copy. An array without elements
/// is a new one.
static py::object fromResult(const ArrayType &type, RuntimeArray result) {
  py::tuple shape = toTuple(result.getShape());
  if (!result.getNumElements())
    return getNumpy("empty")(shape, type.dtype);
  py::object memory = py::cast(std::move(result));
  Type element = type.type.getElementType();
  bool isPartial = isPartialInteger(element);
  py::object dtype = isPartial ? getStoredDtype(element) : type.dtype;
  py::object array = getArrayClass()(shape, dtype, memory);
  return isPartial ? array.attr("astype")(type.dtype) : array;
}

static py::object call(const std::shared_ptr<Program> &program,
                       const py::args &arrays) {
  const Program &self = Argument<const Program &>::get(program);
  if (arrays.size() != self.inputs.size())
    throw py::type_error("@" + self.function + " takes " +
                         std::to_string(self.inputs.size()) + " arrays, " +
                         getRepr(self.inputs) + ", not " +
                         std::to_string(arrays.size()));
  std::vector<Input> inputs;
  for (auto [i, type] : llvm::enumerate(self.inputs))
    inputs.push_back(toInput(i, *type, arrays[i]));
  SmallVector<const RuntimeArray *> pointers;
  for (const Input &input : inputs)
    pointers.push_back(&input.array);
  FailureOr<SmallVector<RuntimeArray>> results = failure();
  {
    py::gil_scoped_release withoutInterpreter;
    DiagnosticCollector said(self.compiled->getSignature().getContext(), "", "",
                             /*ofThisThread=*/true);
    auto call = self.compiled->prepare(pointers);
    if (failed(call) || failed((*call)->run()) ||
        failed(results = (*call)->takeResults()))
      throw said.takeError("the run failed");
  }
  if (results->size() == 1)
    return fromResult(*self.results.front(), std::move(results->front()));
  py::tuple tuple(results->size());
  for (auto [i, result] : llvm::enumerate(*results))
    tuple[i] = fromResult(*self.results[i], std::move(result));
  return tuple;
}

//===----------------------------------------------------------------------===//
// Bindings
//===----------------------------------------------------------------------===//

static py::tuple
toObjects(const std::vector<std::shared_ptr<ArrayType>> &types) {
  return py::tuple(py::cast(types));
}

static void bindArrayType(py::module_ &module) {
  py::class_<ArrayType, std::shared_ptr<ArrayType>>(
      module, "ArrayType", "The type of an input or a result of a Program.")
      .def_property_readonly(
          "name", forPython(+[](const ArrayType &self) -> py::object {
            return self.name.empty() ? py::none()
                                     : py::object(toPythonString(self.name));
          }),
          "The name of the argument in the module, or None if it has none.")
      .def_property_readonly("shape", forPython(+[](const ArrayType &self) {
                               return toTuple(self.shape);
                             }),
                             "The shape, with None for dynamic sizes.")
      .def_property_readonly(
          "dtype", forPython(+[](const ArrayType &self) { return self.dtype; }),
          R"(The numpy dtype.

Types that numpy lacks are dtypes of ml_dtypes if it is installed, otherwise
unsigned integers of their width, or int8 for i2 and i4.)")
      .def("__repr__", forPython(+[](const ArrayType &self) {
             return toPythonString("<" + getRepr(self) + ">");
           }));
}

static std::string getRepr(const Program &self) {
  return "<Program @" + self.function + getRepr(self.inputs) + " -> " +
         getRepr(self.results) + ">";
}

void mlir::layout::python::bindProgram(py::module_ &module) {
  bindArrayType(module);
  py::class_<RuntimeArray>(module, "_ResultMemory", py::buffer_protocol(),
                           "The memory of an array that a Program returned.")
      .def_buffer([](RuntimeArray &self) {
        return py::buffer_info(self.data(), self.getNumBytes());
      });
  py::class_<Program, std::shared_ptr<Program>>(
      module, "Program",
      "A compiled function of numpy arrays; created by compile(module).")
      .def_property_readonly("inputs", forPython(+[](const Program &self) {
                               return toObjects(self.inputs);
                             }),
                             "An ArrayType for each argument.")
      .def_property_readonly("results", forPython(+[](const Program &self) {
                               return toObjects(self.results);
                             }),
                             "An ArrayType for each result.")
      .def_property_readonly("threads", forPython(+[](const Program &self) {
                               return self.compiled->getNumThreads();
                             }),
                             "The number of threads that share the loops of a "
                             "call.")
      .def_property_readonly(
          "kept", forPython(+[](const Program &self) { return self.isKept; }),
          "True if the machine code was loaded from the "
          "cache of a former compilation.")
      .def("__call__", call,
           R"(Runs the program on arrays; returns an array or a tuple of arrays.

Raises LayoutError if an array does not fit its ArrayType or an assertion of the
module fails, and TypeError for a wrong number of arrays. Threads may call one
program at the same time.)")
      .def("__repr__", forPython(+[](const Program &self) {
             return toPythonString(getRepr(self));
           }));
  module.def("compile", compile, py::arg("module"),
             py::arg("target") = py::none(), py::kw_only(),
             py::arg("function") = "main", py::arg("shapes") = py::none(),
             py::arg("threads") = py::none(), py::arg("shares_arrays") = false,
             R"(Compiles a function of a module to a Program for this CPU.

The pipeline is `layout-to-cpu`, and the engine is that of layout-run, in this
process. Files of up to 256 MB are compiled in a child process, so that the
memory of the compiler is free afterwards, unless other threads of Python run.
`module`, `target` and `shapes` are those of `assign`. The program runs on this
CPU, whatever target its layouts are chosen for. `threads` is the number of
threads that share its long loops, by default the number of processors that this
process may use; results do not depend on it.

With `shares_arrays`, constants that keep the layout of the array that was given
for them are read from this array as long as the program lives.

The program of an ONNX model is compared with ONNX Runtime, if that is
installed; a difference raises LayoutError.

>>> import numpy as np
>>> from layout_mlir import compile
>>> program = compile('''
... func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
...   %z = arith.addf %x, %y : tensor<2x3xf32>
...   return %z : tensor<2x3xf32>
... }''')
>>> program
<Program @main(%x: float32(2, 3), %y: float32(2, 3)) -> (float32(2, 3))>
>>> x = np.ones((2, 3), 'f4')
>>> program(x, 2 * x)
array([[3., 3., 3.],
       [3., 3., 3.]], dtype=float32)
)");
}
