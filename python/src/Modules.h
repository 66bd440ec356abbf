//===- Modules.h - Modules from Python and back -----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A module is passed as text in a str or as bytecode in bytes. Each has its own
// context, so that threads do not share one.
//
//   ModuleInContext module(readModule(given, shapes));
//   py::gil_scoped_release withoutInterpreter;
//   module.parse();                           // throws LayoutError
//   PassManager passes(&module.getContext());
//   ..
//   module.run(passes);
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PYTHON_SRC_MODULES_H
#define LAYOUT_PYTHON_SRC_MODULES_H

#include "Errors.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir {
class DialectRegistry;
class PassManager;
} // namespace mlir

namespace mlir::layout::python {

/// The limit on nested brackets in the text of a module, a target or a
/// pipeline, whose parsers recurse. Deeper text is a LayoutError.
constexpr unsigned kMostModuleNesting = 1000;

struct ModuleData {
  /// Text, or bytecode aligned as its sections require.
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  bool isBytecode = false;
  /// A mapping from NAME to the array of a constant that the text states as
  /// dense_resource<NAME>, or null.
  pybind11::object arrays;
};

/// Converts a str, bytes with bytecode, a mapped bytecode file, or a pair of
/// one of these and a mapping of arrays. Raises TypeError for other objects,
/// and LayoutError for bytes that are not bytecode and a str that `checkText`
/// rejects.
ModuleData toModuleData(const pybind11::object &given);

/// Reads a module, also from a file or a model of another project
/// (layout_mlir/modules.py), whose dynamic sizes `shapes` sets. With `maps` a
/// bytecode file is mapped, not copied; it must not change while the module is
/// alive.
///
/// The module of an ONNX model is compared with ONNX Runtime, if that is
/// installed; LayoutError is thrown if the results differ. If `check` is given,
/// the comparison is left to the caller: `check` is set to a function that
/// compares a Program of the module, or to None for other modules.
ModuleData readModule(const pybind11::object &given,
                      const pybind11::object &shapes, bool maps = false,
                      pybind11::object *check = nullptr);

/// Returns a blob in the memory of a buffer of Python, which it keeps alive.
AsmResourceBlob makeBlob(std::shared_ptr<pybind11::buffer_info> info);

/// Returns the registry with the dialects of layout-opt and layout-run, created
/// once per process. Creating it registers their passes, too.
const DialectRegistry &getAllDialects();

class ModuleInContext {
public:
  explicit ModuleInContext(ModuleData data,
                           const DialectRegistry &registry = getAllDialects());

  MLIRContext &getContext() { return context; }
  ModuleOp get() const { return *module; }

  /// Parses the data, or throws LayoutError if it is not a module. A value that
  /// the text calls "%x" gets this name in its location, unless the text states
  /// one other than a file, line and column. Large arrays are not copied: they
  /// live as long as the resource that refers to them.
  void parse();

  void run(PassManager &passes);

  /// Returns the text of the target `wanted`. If that is empty, returns that of
  /// the target that the module states, or else of the default target. Throws
  /// LayoutError if `wanted` is not a target.
  std::string chooseTarget(StringRef wanted);

  /// Returns the diagnostics so far as an error to throw, with the message
  /// `otherwise` if there are none.
  LayoutError takeError(const llvm::Twine &otherwise) const {
    return said.takeError(otherwise);
  }

  bool hasWarnings() const { return !said.getWarnings().empty(); }

  /// Issues the collected warnings as Python warnings.
  void issueWarnings() const;

  std::string getText() const;
  pybind11::bytes toBytecode() const;

private:
  void attach(const pybind11::object &arrays);

  /// The buffer with the text or bytecode. Diagnostics quote it if it is text.
  /// `parse` hands bytecode over to the constants, which refer to it and keep
  /// it alive.
  std::shared_ptr<llvm::SourceMgr> sources;
  bool isBytecode;
  pybind11::object arrays;
  MLIRContext context;
  DiagnosticCollector said;
  OwningOpRef<ModuleOp> module;
};

/// Returns the text of a target, given as a str in IR syntax or as a Target
/// object; empty for None. Raises TypeError for other objects, and LayoutError
/// for a str that `checkText` rejects.
std::string toTargetText(const pybind11::object &target);

} // namespace mlir::layout::python

#endif // LAYOUT_PYTHON_SRC_MODULES_H
