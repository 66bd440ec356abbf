//===- CompiledProgram.h - Compile a module and call it ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A CompiledProgram is one function of a module in the LLVM dialect, compiled
// for the host, with its signature over tensors (Signature.h).
//
//   CompileOptions options;
//   auto program = *CompiledProgram::compile(module, "main", options);
//   auto call = *program->prepare({&x, &y});      // checks the arrays
//   double seconds = *call->run();                // as often as wanted
//   SmallVector<Array> results = *call->takeResults();
//
// The module must outlive the program, and the program and the inputs must
// outlive the call.
//
// A program can be stored on disk with its constants, under a key of everything
// that the module was made from. A later process then needs neither passes nor
// a compiler:
//
//   options.key = CompiledProgram::makeKey({text, target}, "main", options);
//   if (auto outline = CompiledProgram::find(options))
//     program = *CompiledProgram::load(parse(std::move(outline)), options);
//
// Laws:
//   - Every run gets the original inputs: unless the function has
//     `layout.read_only_inputs`, it works on a copy, which is made before each
//     run, outside of the timed part.
//   - The results of a run are freed once (by allocated pointer) when the next
//     run starts or the call is destroyed, except memory of inputs and
//     constants, and results that takeResults returned.
//   - An array that does not match the signature never reaches the function.
//   - A failed assertion of the module ends the run with an error; memory that
//     the run has allocated until then leaks.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_RUNTIME_COMPILEDPROGRAM_H
#define LAYOUT_RUNTIME_COMPILEDPROGRAM_H

#include "layout/Runtime/Npy.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
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

namespace mlir::layout {
class DetachedConstants;
class ObjectCache;
enum class LoopRuntime;

/// The maximum number of threads to request for a program. LLVM's OpenMP
/// library aborts the process if it cannot create the threads requested.
inline constexpr unsigned kMostThreads = 1024;

struct CompileOptions {
  /// The optimization level of LLVM's code generator, 0 to 3; 0 also skips the
  /// passes on LLVM IR. Level 3 takes a tenth longer than 2 for equal code.
  unsigned optLevel = 2;
  /// The maximum number of threads that share a loop, at most kMostThreads. If
  /// it is 0, it is OMP_NUM_THREADS if that is set, and otherwise the number of
  /// available processors. Results do not depend on it.
  unsigned threads = 0;
  /// The directory of the disk cache, which keeps machine code for other
  /// processes. If it is empty, nothing is cached; if it is std::nullopt, it is
  /// $LAYOUT_CACHE or a folder in the user's cache directory.
  std::optional<std::string> cacheDirectory;
  /// The cache key of the program, a hash that CompiledProgram::makeKey
  /// returns. `keep` stores the program under it, and `find` looks it up. If it
  /// is empty, both do nothing.
  std::string key;
  /// The names of the inputs of the function, in their order, which `keep`
  /// stores with the program; may be empty.
  SmallVector<std::string> inputNames;
  /// Paths of shared libraries to load, in which symbols that the module does
  /// not define are looked up.
  SmallVector<std::string> sharedLibs;
  /// Functions of this process that the module may call, by name.
  SmallVector<std::pair<std::string, void *>> symbols;
  /// True if no other code reads the resources of the module's context. They
  /// are freed while the constants are copied, which halves peak memory.
  bool dropsResources = false;
  /// If not null, the program may also read resources in place, in whatever
  /// memory they are; has an effect only with `dropsResources`. The function
  /// returns the caller's array that resource `name` refers to, or std::nullopt
  /// if it has none. `keep` stores only the names of such resources, and `load`
  /// calls the function for them.
  std::function<std::optional<AsmResourceBlob>(StringRef name)> findArray;
  /// If not null, called after each run. Returns the error of that run, e.g. of
  /// a device, which makes the run fail, or std::nullopt.
  std::function<std::optional<std::string>()> takeError;

  /// Adds the functions of a runtime, and the error that `take` returns and
  /// clears, null without one, to those of other runtimes.
  void addRuntime(ArrayRef<std::pair<StringRef, void *>> functions,
                  const char *(*take)());
};

/// A device other than the CPU that runs kernels of a program.
struct KernelDevice {
  std::string name; // for OpenCL, also that of its platform
  bool isGpu;
};

/// The time of all kernels of one name in the last run of a program that was
/// lowered with the option `profile` of the CPU pipeline.
struct KernelTime {
  StringRef name; // owned by the module
  double seconds;
  int64_t operations; // on elements; 0 if unknown
};

class CompiledProgram;

/// A compiled program with one set of input arrays, which it can run
/// repeatedly.
class Call {
public:
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;
  ~Call();

  /// Runs the function once and returns the elapsed seconds. Emits an error on
  /// the function and returns failure if an assertion fails, or if the caller's
  /// hook for errors of a device (`takeError` of the options) returns one.
  FailureOr<double> run();

  /// Returns the kernel times of the last run, one entry per kernel name, in
  /// program order. Returns an empty list unless the program was lowered with
  /// `profile`.
  std::vector<KernelTime> readProfile() const;

  /// Returns the results of the last run as dense arrays, which may outlive
  /// this object. Must be called at most once for each run, because a result
  /// that is alone in a block, not much larger than the result, is moved, not
  /// copied. Emits an error on the function and returns failure if a shape
  /// contradicts the signature.
  FailureOr<SmallVector<Array>> takeResults();

private:
  friend class CompiledProgram;
  Call(const CompiledProgram &program, ArrayRef<const Array *> inputs);
  void freeResults();

  /// Returns the memory blocks that the last run allocated for results, and how
  /// many results are in each.
  llvm::SmallDenseMap<void *, unsigned> countBlocks() const;

  const CompiledProgram *program;
  SmallVector<const Array *> inputs;
  // The arguments of the function: copies of the inputs, or the inputs' memory.
  SmallVector<Array> work;
  SmallVector<SmallVector<int64_t, 11>>
      descriptors;              // memref descriptors of `work`
  SmallVector<int64_t> result;  // the struct of result descriptors
  SmallVector<void *> pointers; // to `result` and `descriptors`
};

class CompiledProgram {
public:
  ~CompiledProgram();

  /// Compiles `function` of `module`, which must be in the LLVM dialect. If
  /// that fails, emits an error at the op that is the reason, or else at the
  /// function or the module, and returns failure.
  static FailureOr<std::unique_ptr<CompiledProgram>>
  compile(ModuleOp module, StringRef function, const CompileOptions &options);

  /// Returns the cache key of a program: a hash of `source` (the texts that the
  /// module is made from), `function`, the optimization level, the processor,
  /// and the builds of this library and LLVM. Returns an empty string if this
  /// library has no build id, or if the processor is unknown.
  static std::string makeKey(ArrayRef<StringRef> source, StringRef function,
                             const CompileOptions &options);

  /// Stores the program on disk for other processes, under the key of
  /// `options`, which must be those given to `compile`. Does nothing if the key
  /// is empty, if this object was made by `load`, or if `keep` was called
  /// before. It is no error if the file cannot be written.
  void keep(const CompileOptions &options);

  /// Returns the outline (bytecode of a module) of the program that `keep`
  /// stored under the key of `options`, or nullptr if there is none.
  static std::unique_ptr<llvm::MemoryBuffer>
  find(const CompileOptions &options);

  /// Loads a program that another process stored by `keep`, without compiling.
  /// `outline` is the parsed module that `find` returned, in a context with the
  /// LLVM dialect. Emits an error on the function and returns failure if it
  /// cannot be loaded.
  static FailureOr<std::unique_ptr<CompiledProgram>>
  load(ModuleOp outline, const CompileOptions &options);

  FunctionType getSignature() const { return signature; }

  ArrayRef<std::string> getInputNames() const { return inputNames; }

  /// Returns the number of threads that parallel loops get under `options`:
  /// `threads`, or if that is 0, OMP_NUM_THREADS or the number of available
  /// processors. If it is 1, the module should be lowered without parallel
  /// loops.
  static unsigned countThreads(const CompileOptions &options);

  /// Returns the maximum number of threads that share a loop of a run; 1 if the
  /// program has no parallel loops.
  unsigned getNumThreads() const { return threads; }

  /// Returns true if the machine code was found in the disk cache instead of
  /// being compiled by this process.
  bool isFromObjectCache() const { return isFromCache; }

  /// Makes a call with `inputs`, which it does not own, so they must outlive
  /// it. Each run works on a fresh copy of an input. It works on the input
  /// itself if the function has `layout.read_only_inputs` and elements have
  /// whole bytes, unlike i4. Emits an error on the function and returns failure
  /// if the number, element types, shapes or sub-byte values of the inputs
  /// contradict the signature.
  FailureOr<std::unique_ptr<Call>>
  prepare(ArrayRef<const Array *> inputs) const;

private:
  friend class Call;
  CompiledProgram() = default;
  llvm::orc::SymbolMap getSymbols(const CompileOptions &options) const;
  LogicalResult setThreads(LoopRuntime runtime, const CompileOptions &options);
  llvm::Error link(StringRef archive,
                   llvm::orc::JITTargetMachineBuilder machine,
                   const CompileOptions &options);

  Operation *function = nullptr;
  FunctionType signature;
  SmallVector<std::string> inputNames;
  std::function<std::optional<std::string>()> takeError;
  std::unique_ptr<DetachedConstants> constants; // must outlive the code
  std::unique_ptr<llvm::MemoryBuffer>
      archive; // the code, until `keep` stores it
  std::unique_ptr<llvm::orc::LLJIT> engine;
  bool isFromCache = false;
  LoopRuntime loopRuntime; // set by setThreads
  unsigned threads = 1;
  void (*entry)(void **) = nullptr;
  SmallVector<StringRef> profiled; // names of measured kernels
  int64_t *counters = nullptr;     // two per kernel (Profile.h)
};

} // namespace mlir::layout

#endif // LAYOUT_RUNTIME_COMPILEDPROGRAM_H
