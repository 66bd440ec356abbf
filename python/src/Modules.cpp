//===- Modules.cpp - Modules from Python and back -------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Modules.h"
#include "Bindings.h"
#include "Context.h"
#include "layout/Dialect/Layout/IR/NewerBytecode.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Registration/Registration.h"
#include "layout/Runtime/KeptMemory.h"
#include "layout/Support/Bytecode.h"
#include "layout/Support/MappedFiles.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SourceMgr.h"
#include <cstring>

namespace py = pybind11;
using namespace mlir;
using namespace mlir::layout::python;

static constexpr StringLiteral kTextName = "<module>";

const DialectRegistry &mlir::layout::python::getAllDialects() {
  static const DialectRegistry *registry = [] {
    auto *all = new DialectRegistry;
    layout::registerWithUpstream(*all);
    registerAllToLLVMIRTranslations(*all);
    return all;
  }();
  return *registry;
}

namespace {
/// A file that Python has mapped, kept alive while constants refer to it.
class MappedFile : public llvm::MemoryBuffer {
public:
  explicit MappedFile(const py::buffer &file)
      : info(std::make_unique<py::buffer_info>(file.request())) {
    auto *begin = static_cast<const char *>(info->ptr);
    init(begin, begin + info->size, /*RequiresNullTerminator=*/false);
    pages.emplace(ArrayRef<char>(begin, info->size));
  }
  ~MappedFile() override {
    pages.reset();
    py::gil_scoped_acquire interpreter;
    info.reset();
  }
  StringRef getBufferIdentifier() const override { return kTextName; }
  BufferKind getBufferKind() const override { return MemoryBuffer_MMap; }

private:
  std::unique_ptr<py::buffer_info> info;
  std::optional<layout::MappedPages> pages;
};
} // namespace

ModuleData mlir::layout::python::toModuleData(const py::object &given) {
  if (py::isinstance<py::tuple>(given) && py::len(given) == 2) {
    ModuleData module = toModuleData(given[py::int_(0)]);
    module.arrays = given[py::int_(1)];
    return module;
  }
  if (py::isinstance<py::str>(given)) {
    Py_ssize_t size = 0;
    const char *data = PyUnicode_AsUTF8AndSize(given.ptr(), &size);
    if (!data) // a lone surrogate
      throw py::error_already_set();
    std::string text(data, static_cast<size_t>(size));
    checkText(text, kMostModuleNesting);
    return {llvm::MemoryBuffer::getMemBufferCopy(text, kTextName)};
  }
  if (py::isinstance(given, py::module_::import("mmap").attr("mmap")))
    return {std::make_unique<MappedFile>(given), /*isBytecode=*/true};
  if (!py::isinstance<py::bytes>(given))
    throw py::type_error(
        "the module must be text as a str or bytecode as bytes, not " +
        std::string(Py_TYPE(given.ptr())->tp_name));
  auto bytes = py::reinterpret_borrow<py::bytes>(given);
  StringRef data = std::string_view(bytes);
  if (!isBytecode(llvm::MemoryBufferRef(data, kTextName)))
    fail("the bytes are not MLIR bytecode: pass text as a str");
  auto buffer = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(
      data.size(), kTextName, layout::kBytecodeAlignment);
  llvm::copy(data, buffer->getBufferStart());
  return {std::move(buffer), /*isBytecode=*/true};
}

ModuleData mlir::layout::python::readModule(const py::object &given,
                                            const py::object &shapes, bool maps,
                                            py::object *check) {
  py::module_ modules = py::module_::import("layout_mlir.modules");
  py::object read;
  if (check) {
    py::tuple opened = modules.attr("open_with_check")(given, shapes, maps);
    read = opened[0];
    *check = opened[1];
  } else {
    read = modules.attr("open_module")(given, shapes, maps);
  }
  bool isImported = !read.is(given);
  ModuleData module = toModuleData(read);
  read.release().dec_ref();
  if (isImported)
    layout::giveBackFreedMemory();
  return module;
}

std::string mlir::layout::python::toTargetText(const py::object &target) {
  if (target.is_none())
    return "";
  if (!py::isinstance<py::str>(target))
    return "#layout.npu<chip = " + getTargetText(target) + ">";
  auto text = target.cast<std::string>();
  checkText(text, kMostModuleNesting);
  return text;
}

ModuleInContext::ModuleInContext(ModuleData data,
                                 const DialectRegistry &registry)
    : sources(std::make_shared<llvm::SourceMgr>()), isBytecode(data.isBytecode),
      arrays(std::move(data.arrays)), context(registry),
      said(&context, isBytecode ? StringRef() : data.buffer->getBuffer(),
           kTextName) {
  sources->AddNewSourceBuffer(std::move(data.buffer), SMLoc());
  context.printOpOnDiagnostic(false);
}

/// Adds to the location of each op with results and of each block argument the
/// name of its value in the text, e.g. "%x". Leaves out those for which the
/// text states a location other than a file, line and column.
static void nameValues(const AsmParserState &state) {
  auto getNamed = [](const AsmParserState::SMDefinition &value,
                     Location loc) -> Location {
    const char *begin = value.loc.Start.getPointer();
    StringRef name(begin, value.loc.End.getPointer() - begin);
    if (name.empty() || !isa<FileLineColLoc>(loc))
      return loc;
    return NameLoc::get(StringAttr::get(loc.getContext(), name), loc);
  };
  for (const AsmParserState::OperationDefinition &it : state.getOpDefs())
    if (!it.resultGroups.empty())
      it.op->setLoc(
          getNamed(it.resultGroups.front().definition, it.op->getLoc()));
  for (const AsmParserState::BlockDefinition &it : state.getBlockDefs())
    for (auto [argument, value] :
         llvm::zip(it.block->getArguments(), it.arguments))
      argument.setLoc(getNamed(value, argument.getLoc()));
}

AsmResourceBlob
mlir::layout::python::makeBlob(std::shared_ptr<py::buffer_info> info) {
  ArrayRef<char> bytes(static_cast<const char *>(info->ptr),
                       static_cast<size_t>(info->size * info->itemsize));
  auto release = [info = std::move(info)](void *, size_t, size_t) mutable {
    py::gil_scoped_acquire interpreter;
    info.reset();
  };
  return UnmanagedAsmResourceBlob::allocateWithAlign(bytes, /*align=*/64,
                                                     std::move(release));
}

/// The size in bytes up to which the array of a constant becomes a dense
/// attribute. Larger ones remain resources, because an attribute is hashed and
/// copied; folders do not read them.
static constexpr size_t kMostFoldedBytes = 1 << 16;

/// Returns an attribute of the type of `resource` with the elements of `array`:
/// a dense attribute if they are all equal or have at most 64 KiB, and
/// otherwise the resource, which from now on refers to the array. Throws
/// LayoutError if the array does not fit the type.
static ElementsAttr getElements(DenseResourceElementsAttr resource,
                                const py::buffer &array) {
  auto info = std::make_shared<py::buffer_info>(array.request());
  ShapedType type = resource.getType();
  ArrayRef<char> bytes(static_cast<const char *>(info->ptr),
                       static_cast<size_t>(info->size * info->itemsize));
  bool isSplat = false; // set if `bytes` is one element
  if (!PyBuffer_IsContiguous(info->view(), 'C') || !type.hasStaticShape() ||
      type.getNumElements() != info->size ||
      !DenseElementsAttr::isValidRawBuffer(type, bytes, isSplat))
    fail("the array of '" + resource.getRawHandle().getKey().str() +
         "' does not store the elements of the constant contiguously");
  // Equal elements become a splat, as the parser creates it.
  size_t size = static_cast<size_t>(info->itemsize);
  if (bytes.size() > size && bytes.drop_front(size) == bytes.drop_back(size))
    return DenseElementsAttr::getFromRawBuffer(type, bytes.take_front(size));
  if (bytes.size() <= kMostFoldedBytes)
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  resource.getRawHandle().getResource()->setBlob(makeBlob(std::move(info)));
  return resource;
}

void ModuleInContext::attach(const py::object &arrays) {
  module->walk([&](arith::ConstantOp op) {
    auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue());
    if (!resource)
      return;
    py::str name(resource.getRawHandle().getKey().str());
    if (arrays.contains(name))
      op.setValueAttr(getElements(resource, arrays[name].cast<py::buffer>()));
  });
}

void ModuleInContext::parse() {
  ParserConfig config = layout::getParserConfig(&context);
  Block block;
  if (isBytecode) {
    if (failed(
            readBytecodeFile(std::exchange(sources, nullptr), &block, config)))
      throw takeError("the bytecode is not a module");
  } else {
    AsmParserState state;
    if (failed(parseAsmSourceFile(*sources, &block, config, &state)))
      throw takeError("the text is not a module");
    nameValues(state);
  }
  module = mlir::detail::constructContainerOpForParserIfNecessary<ModuleOp>(
      &block, &context, FileLineColLoc::get(&context, kTextName, 1, 1));
  if (!module)
    throw takeError("there is no module");
  if (arrays) {
    py::gil_scoped_acquire interpreter;
    attach(std::exchange(arrays, {}));
  }
}

void ModuleInContext::run(PassManager &passes) {
  if (failed(passes.run(*module)))
    throw takeError("the pipeline failed");
}

std::string ModuleInContext::chooseTarget(StringRef wanted) {
  FailureOr<TargetInterface> target = findTarget(*module, wanted);
  if (failed(target))
    throw takeError("there is no target");
  std::string text(kDefaultTarget);
  if (*target) {
    text.clear();
    llvm::raw_string_ostream(text) << *target;
  }
  return text;
}

void ModuleInContext::issueWarnings() const {
  py::module_ warnings = py::module_::import("warnings");
  for (const std::string &warning : said.getWarnings())
    warnings.attr("warn")(toPythonString(warning), py::arg("stacklevel") = 2);
}

std::string ModuleInContext::getText() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  // `<<` would print without aliases.
  module.get().print(os);
  return text;
}

namespace {
/// Writes to memory of sufficient size, or only counts bytes for nullptr.
class MemoryStream : public llvm::raw_ostream {
public:
  explicit MemoryStream(char *memory)
      : raw_ostream(/*unbuffered=*/true), memory(memory) {}

private:
  void write_impl(const char *data, size_t size) override {
    if (memory)
      std::memcpy(memory + written, data, size);
    written += size;
  }
  uint64_t current_pos() const override { return written; }

  char *memory;
  uint64_t written = 0;
};
} // namespace

py::bytes ModuleInContext::toBytecode() const {
  // Computes the size first, so that weights are copied once.
  MemoryStream counter(nullptr);
  if (failed(writeBytecodeToFile(*module, counter)))
    throw takeError("the module cannot be written as bytecode");
  py::bytes bytes(nullptr, counter.tell());
  MemoryStream stream(PyBytes_AsString(bytes.ptr()));
  LogicalResult written = writeBytecodeToFile(*module, stream);
  assert(succeeded(written) && stream.tell() == counter.tell() &&
         "a module is written the same twice");
  (void)written;
  return bytes;
}
