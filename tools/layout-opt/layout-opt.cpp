//===- layout-opt.cpp - The layout driver ---------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// mlir-opt with the dialects, passes and pipelines of the project and of
// upstream.
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/NewerBytecode.h"
#include "layout/Registration/Registration.h"
#include "layout/Support/Bytecode.h"
#include "layout/Support/WholeFile.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Debug.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

/// Returns the bytecode of another version of MLIR in the encoding of this one,
/// because MlirOptMain cannot be given a parser configuration. Returns a null
/// pointer after an error.
static std::unique_ptr<llvm::MemoryBuffer>
translate(std::unique_ptr<llvm::MemoryBuffer> source, DialectRegistry &registry,
          const MlirOptMainConfig &config) {
  MLIRContext context(registry);
  context.allowUnregisteredDialects(config.shouldAllowUnregisteredDialects());
  context.printOpOnDiagnostic(false);
  std::string name = source->getBufferIdentifier().str();
  // Constants refer to the buffer.
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(source), SMLoc());
  SourceMgrDiagnosticHandler handler(*sources, &context);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(sources, layout::getParserConfig(&context));
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  if (!module || failed(writeBytecodeToFile(*module, os)))
    return nullptr;
  auto buffer = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(
      bytes.size(), name, layout::kBytecodeAlignment);
  llvm::copy(bytes, buffer->getBufferStart());
  return buffer;
}

/// Runs like the main function of mlir-opt, but writes the output file
/// atomically. If that fails, prints an error, leaves the file as it was and
/// returns failure.
static LogicalResult optimize(llvm::StringRef inputPath,
                              llvm::StringRef outputPath,
                              DialectRegistry &registry,
                              const MlirOptMainConfig &config) {
  if (inputPath == "-" &&
      llvm::sys::Process::FileDescriptorIsDisplayed(fileno(stdin)))
    llvm::errs() << "(reading the standard input)\n";
  std::string message;
  auto source = openInputFile(inputPath, layout::kBytecodeAlignment, &message);
  if (!source) {
    llvm::errs() << message << "\n";
    return failure();
  }
  if (layout::isForeignBytecode(*source) &&
      !(source = translate(std::move(source), registry, config)))
    return failure();
  layout::WholeFile file(outputPath);
  std::error_code code = file.getError();
  if (!code) {
    if (failed(MlirOptMain(file.os(), std::move(source), registry, config)))
      return failure();
    code = file.commit();
  }
  if (code)
    llvm::errs() << "cannot write '" << outputPath << "': " << code.message()
                 << "\n";
  return failure(bool(code));
}

#ifndef NDEBUG
/// Adds the -debug-only option, which release builds of LLVM lack. Returns the
/// list that parsing the command line fills with its values, or nullptr if LLVM
/// has the option.
static std::vector<std::string> *addDebugOnly() {
  if (llvm::cl::getRegisteredOptions().count("debug-only"))
    return nullptr;
  static llvm::cl::list<std::string> types(
      "debug-only", llvm::cl::CommaSeparated, llvm::cl::value_desc("types"),
      llvm::cl::desc("Print the debug output of these DEBUG_TYPEs"));
  return &types;
}

static void enableDebugging(ArrayRef<std::string> types) {
  SmallVector<const char *> names;
  for (const std::string &type : types)
    names.push_back(type.c_str());
  llvm::DebugFlag = true;
  llvm::setCurrentDebugTypes(names.data(), names.size());
}
#endif

int main(int argc, char **argv) {
  DialectRegistry registry;
  layout::registerWithUpstream(registry);

#ifndef NDEBUG
  std::vector<std::string> *debugOnly = addDebugOnly();
#endif
  auto [input, output] = registerAndParseCLIOptions(
      argc, argv, "MLIR Layout optimizer driver\n", registry);
#ifndef NDEBUG
  if (debugOnly && !debugOnly->empty())
    enableDebugging(*debugOnly);
#endif
  auto config = MlirOptMainConfig::createFromCLOptions();
  // Dialect and pass lists need no output file.
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(MlirOptMain(argc, argv, input, output, registry));
  llvm::InitLLVM init(argc, argv);
  return asMainReturnCode(optimize(input, output, registry, config));
}
