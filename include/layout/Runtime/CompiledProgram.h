//===- CompiledProgram.h - Compile a module and call it ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A CompiledProgram is one function of a module in the LLVM dialect, compiled
// for the machine it runs on, with the signature it had over tensors
// (Signature.h).
//
//   CompileOptions options;
//   auto program = *CompiledProgram::compile(module, "main", options);
//   auto call = *program->prepare({&x, &y});      // checks the arrays
//   double seconds = *call->run();                // as often as wanted
//   SmallVector<Array> results = *call->readResults();
//
// The module outlives the program, the program and the inputs outlive the call.
//
// A program can be kept on disk with its constants, under a key of all that the
// module was made from. A later process then has neither passes nor a compiler
// to run:
//
//   options.key = CompiledProgram::makeKey({text, target}, "main", options);
//   if (auto outline = CompiledProgram::find(options))
//     program = *CompiledProgram::load(parse(std::move(outline)), options);
//
// Laws:
//   - A run sees the inputs as they were given: the function works on a copy,
//     which is made anew, outside of the timed part, for every run.
//   - What a run returned is freed once (by allocated pointer) when the next
//     run starts or the call ends, unless it is an input's memory or a constant
//     of the module.
//   - An array that does not fit the signature never reaches the function.
//   - An assertion of the module that does not hold ends the run with an error;
//     what the run has allocated until then is lost.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_RUNTIME_COMPILEDPROGRAM_H
#define LAYOUT_RUNTIME_COMPILEDPROGRAM_H

#include "layout/Runtime/Npy.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ExecutionEngine/Orc/CoreContainers.h"
#include <functional>
#include <memory>
#include <optional>

namespace llvm {
class MemoryBuffer;
namespace orc {
class JITTargetMachineBuilder;
class LLJIT;
} // namespace orc
} // namespace llvm

namespace mlir {
namespace layout {
class DetachedConstants;
class ObjectCache;

/// LLVM's OpenMP library ends the process where there is no memory for more.
inline constexpr unsigned kMostThreads = 1024;

struct CompileOptions {
  /// Level of LLVM's code generator, 0 to 3; 0 leaves its optimizer out.
  unsigned optLevel = 3;
  /// Threads that share the loops of a run, at most kMostThreads; 0 for as many
  /// as the process may
  /// use processors, or OMP_NUM_THREADS. Results do not depend on it.
  unsigned threads = 0;
  /// Where machine code is kept for other processes, nowhere if it is empty;
  /// without it $LAYOUT_CACHE, or a directory of the user.
  std::optional<std::string> cacheDirectory;
  /// The key of makeKey that `find` and `keep` use; if it is empty, nothing is
  /// found or kept.
  std::string key;
  /// Of the inputs, for whoever loads the program from there; may be empty.
  SmallVector<std::string> inputNames;
  /// Shared libraries that resolve symbols of the module.
  SmallVector<std::string> sharedLibs;
  /// Functions of this process that the module may call, by name.
  SmallVector<std::pair<std::string, void *>> symbols;
  /// Nobody else reads the resources of the module's context: their memory is
  /// freed while the constants are copied, which takes half as much.
  bool dropsResources = false;
  /// Asked after each run: why it failed, if it did. May be null.
  std::function<std::optional<std::string>()> takeError;
};

/// What the kernels of one name took, in a program that was lowered with
/// `profile`.
struct KernelTime {
  StringRef name; // of the module
  double seconds;
  int64_t operations; // on elements; 0 where they are not known
};

class CompiledProgram;

/// One set of inputs for one program.
class Call {
public:
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;
  ~Call();

  /// Runs the function once and returns the seconds that it took. Emits an
  /// error on the function when an assertion of it does not hold, or when
  /// CompileOptions::takeError has one.
  FailureOr<double> run();

  /// Of the last run, in the order of the program; empty unless the program was
  /// lowered to measure its kernels.
  std::vector<KernelTime> readProfile() const;

  /// Copies the results of the last run into dense arrays. Emits an error on
  /// the function when a shape contradicts the signature.
  FailureOr<SmallVector<Array>> readResults();

private:
  friend class CompiledProgram;
  Call(const CompiledProgram &program, ArrayRef<const Array *> inputs);
  void freeResults();

  const CompiledProgram *program;
  SmallVector<const Array *> inputs;
  SmallVector<Array> work; // what the function is given
  SmallVector<SmallVector<int64_t, 11>> descriptors; // of `work`
  SmallVector<int64_t> result;  // the struct of result descriptors
  SmallVector<void *> pointers; // to the descriptors
};

class CompiledProgram {
public:
  ~CompiledProgram();

  /// Compiles `function` of `module`. Emits located errors.
  static FailureOr<std::unique_ptr<CompiledProgram>>
  compile(ModuleOp module, StringRef function, const CompileOptions &options);

  /// A key of what a module was made from, and of what makes code of it: this
  /// library, LLVM, the processor and `options`. Empty where this library
  /// cannot be told from another build of it.
  static std::string makeKey(ArrayRef<StringRef> source, StringRef function,
                             const CompileOptions &options);

  /// Keeps the program for other processes under the key of `options`. Needs a
  /// program of `compile`, and does nothing the second time.
  void keep(const CompileOptions &options);

  /// The outline of the program that was kept under the key of `options`, or
  /// null: the bytecode of a module.
  static std::unique_ptr<llvm::MemoryBuffer>
  find(const CompileOptions &options);

  /// A program from its outline, whose context has the LLVM dialect. Emits
  /// errors on the function.
  static FailureOr<std::unique_ptr<CompiledProgram>>
  load(ModuleOp outline, const CompileOptions &options);

  FunctionType getSignature() const { return signature; }

  ArrayRef<std::string> getInputNames() const { return inputNames; }

  /// How many threads share the loops of a program that has some and is
  /// compiled with `options`. For one, its module is better lowered without
  /// them.
  static unsigned countThreads(const CompileOptions &options);

  /// How many threads share the loops of a run.
  unsigned getNumThreads() const { return std::max(threads, 1u); }

  /// Whether its machine code was there already.
  bool isFromObjectCache() const { return isFromCache; }

  /// Checks `inputs` against the signature; errors are emitted on the function.
  FailureOr<std::unique_ptr<Call>>
  prepare(ArrayRef<const Array *> inputs) const;

private:
  friend class Call;
  CompiledProgram() = default;
  llvm::orc::SymbolMap getSymbols(const CompileOptions &options) const;
  LogicalResult setThreads(bool isParallel, const CompileOptions &options);
  llvm::Error link(StringRef archive,
                   llvm::orc::JITTargetMachineBuilder machine,
                   const CompileOptions &options);

  Operation *function = nullptr;
  FunctionType signature;
  SmallVector<std::string> inputNames;
  std::function<std::optional<std::string>()> takeError;
  std::unique_ptr<DetachedConstants> constants; // outlive the code
  std::unique_ptr<llvm::MemoryBuffer> archive;  // until it is kept
  std::unique_ptr<llvm::orc::LLJIT> engine;
  bool isFromCache = false;
  unsigned threads = 0; // 0 without parallel loops
  void (*entry)(void **) = nullptr;
  SmallVector<StringRef> profiled; // the names of kernels that it measures
  int64_t *counters = nullptr;     // two of each of them (Profile.h)
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_RUNTIME_COMPILEDPROGRAM_H
