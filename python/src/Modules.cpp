//===- Modules.cpp - Modules from Python and back -------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Modules.h"
#include "Bindings.h"
#include "Context.h"
#include "layout/Dialect/Layout/Transforms/Passes.h"
#include "layout/Pipelines/Registration.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/AsmParser/AsmParserState.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/SourceMgr.h"
#include <cstring>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace py = pybind11;
using namespace mlir;
using namespace mlir::layout::python;

static constexpr StringLiteral kTextName = "<module>";

/// All that layout-opt and layout-run have, once for the process.
static const DialectRegistry &getRegistry() {
  static const DialectRegistry *registry = [] {
    auto *all = new DialectRegistry;
    layout::registerWithUpstream(*all);
    registerAllToLLVMIRTranslations(*all);
    return all;
  }();
  return *registry;
}

/// An import, and constants that are packed, free as much as the
/// weights take, in pieces that malloc keeps.
void mlir::layout::python::giveBackFreedMemory() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

ModuleData mlir::layout::python::toModuleData(const py::object &given) {
  if (py::isinstance<py::str>(given)) {
    auto text = given.cast<std::string>();
    checkText(text, kMostModuleNesting);
    return {llvm::MemoryBuffer::getMemBufferCopy(text, kTextName)};
  }
  if (!py::isinstance<py::bytes>(given))
    throw py::type_error("the module is to be text as a str or bytecode as "
                         "bytes, not " +
                         std::string(Py_TYPE(given.ptr())->tp_name));
  auto bytes = py::reinterpret_borrow<py::bytes>(given);
  StringRef data = std::string_view(bytes);
  if (!isBytecode(llvm::MemoryBufferRef(data, kTextName)))
    fail("the bytes are no MLIR bytecode: text is given as a str");
  auto buffer = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(
      data.size(), kTextName, llvm::Align(4096));
  llvm::copy(data, buffer->getBufferStart());
  return {std::move(buffer), /*isBytecode=*/true};
}

ModuleData mlir::layout::python::readModule(const py::object &given,
                                            const py::object &shapes) {
  py::object read =
      py::module_::import("layout_mlir.modules").attr("read")(given, shapes);
  bool isImported = !read.is(given);
  ModuleData module = toModuleData(read);
  read.release().dec_ref();
  if (isImported)
    giveBackFreedMemory();
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

ModuleInContext::ModuleInContext(ModuleData data)
    : sources(std::make_shared<llvm::SourceMgr>()), isBytecode(data.isBytecode),
      context(getRegistry()),
      said(&context, isBytecode ? StringRef() : data.buffer->getBuffer(),
           kTextName) {
  sources->AddNewSourceBuffer(std::move(data.buffer), SMLoc());
  context.printOpOnDiagnostic(false);
}

/// Gives ops and block arguments the names of the text as locations.
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

void ModuleInContext::parse() {
  ParserConfig config(&context);
  Block block;
  if (isBytecode) {
    if (failed(
            readBytecodeFile(std::exchange(sources, nullptr), &block, config)))
      throw takeError("the bytecode is no module");
  } else {
    AsmParserState state;
    if (failed(parseAsmSourceFile(*sources, &block, config, &state)))
      throw takeError("the text is no module");
    nameValues(state);
  }
  module = mlir::detail::constructContainerOpForParserIfNecessary<ModuleOp>(
      &block, &context, FileLineColLoc::get(&context, kTextName, 1, 1));
  if (!module)
    throw takeError("there is no module");
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
  llvm::raw_string_ostream(text) << *module << "\n";
  return text;
}

namespace {
/// Writes to memory that is large enough, or counts alone.
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
  // Weights are most of it: its size first, so that they are copied once.
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
