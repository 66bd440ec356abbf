//===- Modules.h - Modules from Python and back -----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module comes as text in a str or as bytecode in bytes, and lives in a
// context of its own: modules of several threads do not meet.
//
//   ModuleInContext module(readModule(given, shapes));
//   py::gil_scoped_release withoutInterpreter;
//   module.parse();                           // throws LayoutError
//   PassManager passes(&module.getContext());
//   ..
//   module.run(passes);
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PYTHON_MODULES_H
#define LAYOUT_PYTHON_MODULES_H

#include "Errors.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir {
class PassManager;
namespace layout {
namespace python {

/// Of brackets in the text of a module, a target or a pipeline: parsers
/// recurse.
constexpr unsigned kMostModuleNesting = 1000;

struct ModuleData {
  /// Aligned as sections of bytecode have to be.
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  bool isBytecode = false;
  /// Those of constants that the text has as dense_resource<NAME>, by name.
  pybind11::object arrays;
};

/// Of a str, bytes, a mapped file of bytecode, or a str with arrays; anything
/// else is a TypeError.
ModuleData toModuleData(const pybind11::object &given);

/// Also reads files, and models of other projects: layout_mlir/modules.py. With
/// `maps` a file of bytecode is not copied: it must not change while the module
/// is alive.
///
/// A model in ONNX is compared with ONNX Runtime. If `check` is given, it is
/// set to a function that does so with a Program of the module, or to None.
ModuleData readModule(const pybind11::object &given,
                      const pybind11::object &shapes, bool maps = false,
                      pybind11::object *check = nullptr);

class ModuleInContext {
public:
  explicit ModuleInContext(ModuleData data);

  MLIRContext &getContext() { return context; }
  ModuleOp get() const { return *module; }

  /// Reads the data. What a text calls "%x" has that name as its location where
  /// none is written. Large arrays are not copied: they live as long as the
  /// resource that they become.
  void parse();

  void run(PassManager &passes);

  /// Throws what is said by `run` where that fails.
  void check(llvm::function_ref<LogicalResult()> run,
             const llvm::Twine &otherwise);

  /// Puts the functions and globals of another module in the place of those
  /// that have their names, others at the end. Throws, with the module as it
  /// was, where there is something else, or the result is no valid module.
  void replaceSymbols(ModuleData data);

  /// The text of the target that `wanted` is, else of the one that the module
  /// states, else of a machine with caches.
  std::string chooseTarget(StringRef wanted);

  /// What was said until now, to be thrown; `otherwise` where nothing was.
  LayoutError takeError(const llvm::Twine &otherwise) const {
    return said.takeError(otherwise);
  }

  bool hasWarnings() const { return !said.getWarnings().empty(); }

  /// Issues what was said as warnings of Python.
  void issueWarnings() const;

  std::string getText() const;
  pybind11::bytes toBytecode() const;

private:
  void attach(const pybind11::object &arrays);
  OwningOpRef<ModuleOp> read(std::shared_ptr<llvm::SourceMgr> sources,
                             bool isBytecode, const DiagnosticCollector &said);

  /// Of text it is what diagnostics show; the constants of bytecode, which are
  /// not copied, keep it while they need it.
  std::shared_ptr<llvm::SourceMgr> sources;
  bool isBytecode;
  pybind11::object arrays;
  MLIRContext context;
  DiagnosticCollector said;
  OwningOpRef<ModuleOp> module;
};

/// A target that is an attribute as in IR, or the chip of a Target, as text;
/// empty for None.
std::string toTargetText(const pybind11::object &target);

} // namespace python
} // namespace layout
} // namespace mlir

#endif // LAYOUT_PYTHON_MODULES_H
