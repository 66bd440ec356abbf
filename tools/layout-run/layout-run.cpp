//===- layout-run.cpp - Run and time compiled modules ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles one function of each module for the host, runs it on .npy arrays,
// and reports times and differences. Runs of several modules are interleaved in
// one process, so that drift of the machine does not affect their ratio.
//
//===----------------------------------------------------------------------===//

#include "Cases.h"
#include "layout/Dialect/Layout/IR/NewerBytecode.h"
#include "layout/Runtime/Compare.h"
#include "layout/Runtime/CompiledProgram.h"
#include "layout/Runtime/Npy.h"
#include "layout/Support/Bytecode.h"
#include "layout/Support/EmittedText.h"
#include "layout/Support/WholeFile.h"
#include "layout/Targets/OpenCL/Runtime/OpenCLProgram.h"
#include "layout/Targets/OpenCL/Runtime/VulkanProgram.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/WithColor.h"
#include <chrono>
#include <cmath>
#include <dlfcn.h>
#if defined(__GLIBC__)
#include <climits>
#include <malloc.h>
#endif

using namespace mlir;
using namespace mlir::layout;
namespace cl = llvm::cl;

static cl::OptionCategory category("layout-run options");
static cl::list<std::string>
    modulePaths(cl::Positional, cl::ZeroOrMore, cl::cat(category),
                cl::desc("<modules in the LLVM dialect, text or bytecode>"));
static cl::opt<std::string> functionName("function", cl::init("main"),
                                         cl::cat(category),
                                         cl::desc("Function to run"),
                                         cl::value_desc("name"));
static cl::list<std::string>
    inputPaths("input", cl::cat(category), cl::value_desc("file.npy"),
               cl::desc("The next input of the function (repeatable)"));
static cl::list<std::string> outputPaths(
    "output", cl::cat(category), cl::value_desc("file.npy"),
    cl::desc("File for the next result of the first module (repeatable)"));
static cl::opt<std::string>
    casesPath("cases", cl::cat(category), cl::value_desc("file"),
              cl::desc("Run on many inputs: each line of the file names the "
                       "inputs of one run, '->' and the files of its results"));
static cl::opt<std::string> programsPath(
    "programs", cl::cat(category), cl::value_desc("file"),
    cl::desc("Run many modules, one after the other: each line of the file "
             "names a module, its inputs, '->' and the files of its results. "
             "Failures are reported, and the other modules run"));
static cl::opt<unsigned>
    repeat("repeat", cl::init(1), cl::cat(category),
           cl::desc("Timed runs of each module, for each case"));
static cl::opt<unsigned>
    warmup("warmup", cl::init(0), cl::cat(category),
           cl::desc("Runs of each module before the timed ones"));
static cl::opt<bool>
    compareResults("compare", cl::cat(category),
                   cl::desc("Report the difference between the results of each "
                            "module and of the first one"));
static cl::opt<double>
    maxRel("max-rel", cl::cat(category), cl::value_desc("limit"),
           cl::desc("Exit with status 2 if a maximum relative difference "
                    "exceeds this, or is NaN; implies --compare"));
static cl::opt<std::string>
    jsonPath("json", cl::cat(category), cl::value_desc("file"),
             cl::desc("Write one line of JSON per module ('-' for stdout)"));
static cl::opt<unsigned> optLevel(
    "opt-level", cl::init(2), cl::cat(category),
    cl::desc("Optimization level of LLVM, 0 to 3; 0 skips its optimizer"));
// LLVM registers an option with the name "threads", too, in a part that this
// tool does not use.
[[maybe_unused]] static const bool isNameFree = [] {
  auto found = cl::getRegisteredOptions().find("threads");
  if (found != cl::getRegisteredOptions().end())
    found->second->removeArgument();
  return true;
}();
static cl::opt<unsigned>
    threads("threads", cl::init(0), cl::cat(category),
            cl::desc("Number of threads of parallel loops; by default the "
                     "number of processors that this process may use"));
static cl::opt<std::string> cacheDirectory(
    "cache", cl::cat(category), cl::value_desc("directory"),
    cl::desc("Directory of the cache of machine code, no cache if it is empty; "
             "by default $LAYOUT_CACHE, or mlir-layout/programs in the user's "
             "cache directory"));
static cl::list<std::string> sharedLibs(
    "shared-libs", cl::CommaSeparated, cl::cat(category),
    cl::value_desc("lib,.."),
    cl::desc("Libraries that define symbols of the modules; a plain file name "
             "is also looked up beside libMLIR"));
static cl::opt<bool> openclProfile(
    "opencl-profile", cl::cat(category),
    cl::desc("Print launches, times and rates of the kernels that modules run "
             "on an OpenCL device"));
static cl::opt<bool>
    openclTune("opencl-tune", cl::cat(category),
               cl::desc("Measure work-groups of several sizes at the first "
                        "launch of a kernel on a grid, and store the best for "
                        "later runs, including those without this option"));
static cl::opt<bool> keepFreedMemory(
    "keep-freed-memory", cl::init(true), cl::cat(category),
    cl::desc("Keep memory that a module frees in the process, which avoids "
             "page faults in runs after the first"));

namespace {
struct Module {
  std::string path;
  OwningOpRef<ModuleOp> op;
  std::unique_ptr<CompiledProgram> program;
  std::unique_ptr<Call> call;
  double compileSeconds = 0;
  std::vector<double> runs;
  std::vector<KernelTime> kernels; // with the shortest time of each
  SmallVector<Array> results;      // of the last case
  /// With --compare, for each result, the largest difference from that of the
  /// first module over all cases.
  SmallVector<Difference> differences;

  double min() const { return *llvm::min_element(runs); }
};
} // namespace

static double now() {
  return std::chrono::duration<double>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

static double median(std::vector<double> values) {
  llvm::sort(values);
  size_t n = values.size();
  return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/// Returns how many times faster `other` is than `first`: the median, over all
/// recorded rounds, of the time of `first` / that of `other` in the same round.
static double speedup(const Module &first, const Module &other) {
  std::vector<double> ratios;
  for (auto [a, b] : llvm::zip_equal(first.runs, other.runs))
    ratios.push_back(a / b);
  return median(ratios);
}

static LogicalResult fail(const Twine &message) {
  llvm::WithColor::error(llvm::errs(), "layout-run") << message << "\n";
  return failure();
}

static LogicalResult checkOptions() {
  bool isList = !programsPath.empty();
  if (modulePaths.empty() != isList)
    return fail(isList ? "--programs names the modules; omit other modules"
                       : "no module is given");
  if (isList && !(casesPath.empty() && inputPaths.empty() &&
                  outputPaths.empty() && jsonPath.empty()))
    return fail("--programs names all inputs and outputs; --cases, --input, "
                "--output and --json are for other runs");
  if (repeat == 0)
    return fail("--repeat must be at least 1");
  if (optLevel > 3)
    return fail("--opt-level must be 0, 1, 2 or 3");
  if (threads.getNumOccurrences() && (threads == 0 || threads > kMostThreads))
    return fail("--threads must be a number from 1 to " + Twine(kMostThreads));
  if (maxRel.getNumOccurrences()) {
    if (!(maxRel >= 0))
      return fail("--max-rel must be a non-negative number");
    compareResults = true;
  }
  if (compareResults && modulePaths.size() < 2)
    return fail("--compare and --max-rel need a second module to compare with "
                "the first");
  if (!casesPath.empty() && !(inputPaths.empty() && outputPaths.empty()))
    return fail("--cases names all inputs and outputs; --input and --output "
                "are for a single run");
  return success();
}

/// Returns the path of a library. A plain name that is not in the working
/// directory is looked up next to libMLIR, with the runner libraries, and
/// returned unchanged if it is not there.
static std::string resolveLibrary(StringRef name) {
  if (llvm::sys::path::has_parent_path(name) || llvm::sys::fs::exists(name))
    return name.str();
  Dl_info info;
  auto *inMlir =
      static_cast<void (*)(DialectRegistry &)>(&registerLLVMDialectTranslation);
  if (dladdr(reinterpret_cast<void *>(inMlir), &info)) {
    SmallString<256> path(llvm::sys::path::parent_path(info.dli_fname));
    llvm::sys::path::append(path, name);
    if (llvm::sys::fs::exists(path))
      return path.str().str();
  }
  return name.str();
}

/// Parses the file `module.path`, compiles the function to run, and sets the
/// compile time. Reports an error and returns failure if it cannot.
static LogicalResult load(MLIRContext &context, Module &module) {
  double start = now();
  std::string message;
  auto file = openInputFile(module.path, kBytecodeAlignment, &message);
  if (!file) {
    llvm::WithColor::error() << message << "\n";
    return failure();
  }
  // Constants stay in the mapped file while they are used.
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  module.op = parseSourceFile<ModuleOp>(sources, getParserConfig(&context));
  if (!module.op)
    return failure();
  double parsed = now();
  llvm::errs() << "layout-run: parsed " << module.path << " in "
               << llvm::format("%.2f", parsed - start) << " s, compiling\n";
  CompileOptions options;
  options.optLevel = optLevel;
  options.threads = threads;
  if (cacheDirectory.getNumOccurrences())
    options.cacheDirectory = cacheDirectory;
  for (StringRef lib : sharedLibs)
    options.sharedLibs.push_back(resolveLibrary(lib));
  useOpenCL(options);
  useVulkan(options);
  auto program = CompiledProgram::compile(*module.op, functionName, options);
  if (failed(program))
    return failure();
  module.program = std::move(*program);
  module.compileSeconds = now() - parsed;
  return success();
}

/// Runs all modules in alternation, for `warmup` rounds and then for `repeat`
/// rounds whose times are recorded. Every second round is reversed, so that no
/// module always follows the same other one. Returns failure at the first run
/// that fails, which has emitted an error.
static LogicalResult runAll(MutableArrayRef<Module> modules) {
  double reported = now();
  for (unsigned round = 0; round < warmup + repeat; ++round) {
    if (now() - reported > 2) {
      reported = now();
      llvm::errs() << "layout-run: round " << round + 1 << " of "
                   << warmup + repeat << "\n";
    }
    for (size_t i = 0; i < modules.size(); ++i) {
      Module &module = modules[round % 2 ? modules.size() - 1 - i : i];
      FailureOr<double> seconds = module.call->run();
      if (failed(seconds))
        return failure();
      if (round < warmup)
        continue;
      module.runs.push_back(*seconds);
      std::vector<KernelTime> kernels = module.call->readProfile();
      for (auto [kernel, known] : llvm::zip(kernels, module.kernels))
        kernel.seconds = std::min(kernel.seconds, known.seconds);
      module.kernels = std::move(kernels);
    }
  }
  return success();
}

/// Returns the larger number, or NaN if one of the two is NaN.
static double larger(double a, double b) {
  return std::isnan(a) || std::isnan(b) ? NAN : std::max(a, b);
}

/// Reads the results of all modules. With --compare, updates the largest
/// differences from those of the first module. Reports an error and returns
/// failure if the results cannot be read, or with --compare if their number,
/// element types or shapes differ.
static LogicalResult takeResults(MutableArrayRef<Module> modules) {
  for (Module &module : modules) {
    auto results = module.call->takeResults();
    if (failed(results))
      return failure();
    module.results = std::move(*results);
    if (!compareResults)
      continue;
    ArrayRef<Array> expected = modules.front().results;
    if (module.results.size() != expected.size())
      return fail(module.path + " has " + Twine(module.results.size()) +
                  " results, but " + modules.front().path + " has " +
                  Twine(expected.size()));
    module.differences.resize(expected.size());
    for (auto [i, a, b] : llvm::enumerate(expected, module.results)) {
      if (a.getKind() != b.getKind() || a.getShape() != b.getShape())
        return fail("result " + Twine(i) + " of " + module.path + " is " +
                    b.describe() + ", but that of " + modules.front().path +
                    " is " + a.describe());
      Difference here = compare(a, b), &all = module.differences[i];
      all = {larger(all.maxAbs, here.maxAbs), larger(all.maxRel, here.maxRel)};
    }
  }
  return success();
}

/// Prints the shortest time of each kernel, its share of the total and, if the
/// number of operations is known, its rate; the longest first. Prints nothing
/// for a module that was not lowered with `profile`.
static void printKernels(const Module &module) {
  std::vector<KernelTime> kernels = module.kernels;
  llvm::stable_sort(kernels, [](const KernelTime &a, const KernelTime &b) {
    return a.seconds > b.seconds;
  });
  double total = 0;
  for (const KernelTime &kernel : kernels)
    total += kernel.seconds;
  for (const KernelTime &kernel : kernels) {
    llvm::outs() << llvm::format("%10.3f us %5.1f %%", kernel.seconds * 1e6,
                                 100 * kernel.seconds / total);
    if (kernel.operations)
      llvm::outs() << llvm::format("%8.1f Gop/s",
                                   kernel.operations / kernel.seconds * 1e-9);
    else
      llvm::outs().indent(14);
    llvm::outs() << "  " << kernel.name << "\n";
  }
}

static void printReport(ArrayRef<Module> modules) {
  raw_ostream &os = llvm::outs();
  for (const Module &module : modules) {
    os << module.path << ": compile "
       << llvm::format(
              "%.3f s%s, run min %.4g ms, median %.4g ms over %zu runs",
              module.compileSeconds,
              module.program->isFromObjectCache() ? " (kept code)" : "",
              module.min() * 1e3, median(module.runs) * 1e3,
              module.runs.size());
    if (&module != modules.begin())
      os << llvm::format(", speedup %.3f", speedup(modules.front(), module));
    os << "\n";
    printKernels(module);
    if (&module == modules.begin())
      continue;
    for (auto [i, d] : llvm::enumerate(module.differences))
      os << module.path << ": result " << i
         << llvm::format(" differs by at most %.3e, relative %.3e\n", d.maxAbs,
                         d.maxRel);
  }
  os.flush();
}

/// Encodes a number; NaN and infinity, which JSON lacks, become null.
static llvm::json::Value number(double value) {
  return std::isfinite(value) ? llvm::json::Value(value)
                              : llvm::json::Value(nullptr);
}

static LogicalResult writeJson(ArrayRef<Module> modules) {
  WholeFile file(jsonPath);
  std::optional<KernelDevice> device = getUsedOpenCLDevice();
  if (!device)
    device = getUsedVulkanDevice();
  for (const Module &module : modules) {
    llvm::json::Object line{{"module", toUtf8(module.path)},
                            {"function", toUtf8(functionName)},
                            {"threads", module.program->getNumThreads()},
                            {"compile_seconds", module.compileSeconds},
                            {"kept_code", module.program->isFromObjectCache()},
                            {"run_min_seconds", module.min()},
                            {"run_median_seconds", median(module.runs)},
                            {"runs_seconds", llvm::json::Array(module.runs)},
                            {"speedup", speedup(modules.front(), module)}};
    if (device)
      line["device"] = llvm::json::Object{{"name", toUtf8(device->name)},
                                          {"is_gpu", device->isGpu}};
    llvm::json::Array kernels;
    for (const KernelTime &kernel : module.kernels)
      kernels.push_back(llvm::json::Object{{"name", toUtf8(kernel.name)},
                                           {"operations", kernel.operations},
                                           {"min_seconds", kernel.seconds}});
    if (!kernels.empty())
      line["kernels"] = std::move(kernels);
    if (compareResults) {
      llvm::json::Array differences;
      for (const Difference &d : module.differences)
        differences.push_back(llvm::json::Object{
            {"max_abs", number(d.maxAbs)}, {"max_rel", number(d.maxRel)}});
      line["differences"] = std::move(differences);
    }
    file.os() << llvm::json::Value(std::move(line)) << "\n";
  }
  if (std::error_code code = file.commit())
    return fail("cannot write '" + jsonPath + "': " + code.message());
  return success();
}

static LogicalResult writeOutputs(const Case &which, const Module &module) {
  if (which.outputs.empty())
    return success();
  for (auto [path, result] : llvm::zip_equal(which.outputs, module.results))
    if (llvm::Error error = writeNpy(path, result))
      return fail(llvm::toString(std::move(error)));
  return success();
}

/// Returns the runs that the command line requests: the lines of the file
/// --cases, or one run with --input and --output. Reports an error and returns
/// failure if the file cannot be read.
static FailureOr<std::vector<Case>> findCases() {
  if (casesPath.empty())
    return std::vector<Case>{{inputPaths, outputPaths, ""}};
  llvm::Expected<std::vector<Case>> cases = readCases(casesPath);
  if (!cases)
    return fail(llvm::toString(cases.takeError()));
  return *cases;
}

static FailureOr<std::vector<Array>> readInputs(const Case &which) {
  std::vector<Array> inputs;
  for (const std::string &path : which.inputs) {
    llvm::Expected<Array> array = readNpy(path);
    if (!array)
      return fail(llvm::toString(array.takeError()));
    inputs.push_back(std::move(*array));
  }
  return inputs;
}

/// Runs all modules on the inputs of one case, compares the results if
/// --compare is set, and writes those of the first module to the output files
/// of the case. Reports an error and returns failure if one of these fails;
/// different numbers in results are no failure.
static LogicalResult runCase(const Case &which,
                             const std::vector<Array> &inputs,
                             MutableArrayRef<Module> modules) {
  SmallVector<const Array *> pointers;
  for (const Array &input : inputs)
    pointers.push_back(&input);
  for (Module &module : modules) {
    auto call = module.program->prepare(pointers);
    if (failed(call))
      return failure();
    module.call = std::move(*call);
  }
  LogicalResult done =
      success(succeeded(runAll(modules)) && succeeded(takeResults(modules)) &&
              succeeded(writeOutputs(which, modules.front())));
  // A call must not outlive its inputs.
  for (Module &module : modules)
    module.call.reset();
  return done;
}

/// Checks that each case names no outputs or one per result of the function in
/// the first module. Reports an error and returns failure for the first case
/// that does not.
static LogicalResult checkOutputs(ArrayRef<Case> cases, const Module &module) {
  size_t results = module.program->getSignature().getNumResults();
  for (const Case &which : cases) {
    size_t outputs = which.outputs.size();
    if (!outputs || outputs == results)
      continue;
    std::string has =
        (module.path + " has " + Twine(results) + " results, but ").str();
    return which.where.empty()
               ? fail(has + "--output is given " + Twine(outputs) + " times")
               : fail(has + which.where + " names " + Twine(outputs));
  }
  return success();
}

/// Reports each result whose relative difference is NaN or exceeds --max-rel,
/// and returns false if there is one. Returns true if the option is not set.
static bool checkLimit(ArrayRef<Module> modules) {
  bool within = true;
  if (!maxRel.getNumOccurrences())
    return within;
  for (const Module &module : modules.drop_front())
    for (auto [i, difference] : llvm::enumerate(module.differences))
      if (!difference.isWithin(maxRel)) {
        within = false;
        (void)fail("result " + Twine(i) + " of " + module.path +
                   " is farther from that of " + modules.front().path +
                   " than --max-rel allows");
      }
  return within;
}

/// Runs the programs that the file --programs lists, one after the other. If
/// one fails, reports it, continues with the next one, and returns failure at
/// the end. A line that names no module ends the runs at once, with an error.
static LogicalResult runPrograms(MLIRContext &context) {
  llvm::Expected<std::vector<Case>> programs = readCases(programsPath);
  if (!programs)
    return fail(llvm::toString(programs.takeError()));
  bool haveAllRun = true;
  for (Case &program : *programs) {
    if (program.inputs.empty())
      return fail(program.where + ": begins with no module");
    std::vector<Module> module(1);
    module.front().path = program.inputs.front();
    program.inputs.erase(program.inputs.begin());
    FailureOr<std::vector<Array>> inputs = readInputs(program);
    if (failed(inputs) || failed(load(context, module.front())) ||
        failed(checkOutputs(program, module.front())) ||
        failed(runCase(program, *inputs, module)))
      haveAllRun = false, (void)fail(program.where + ": this program failed");
  }
  return success(haveAllRun);
}

static FailureOr<int> runTool() {
  if (failed(checkOptions()))
    return failure();

  // Loads all upstream dialects, so that a module that is not lowered gets a
  // diagnostic at the op. Unknown attributes are ignored.
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerAllToLLVMIRTranslations(registry);
  MLIRContext context(registry);
  context.allowUnregisteredDialects();
  // Most errors are at a function, which may contain the weights of a network.
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sourceMgr;
  SourceMgrDiagnosticHandler diagnostics(sourceMgr, &context);

  setOpenCLProfiling(openclProfile);
  setOpenCLTuning(openclTune);
  if (!programsPath.empty())
    return failed(runPrograms(context)) ? 1 : 0;
  FailureOr<std::vector<Case>> cases = findCases();
  if (failed(cases))
    return failure();
  // Read inputs before compiling, to report missing files early.
  FailureOr<std::vector<Array>> inputs = readInputs(cases->front());
  if (failed(inputs))
    return failure();
  std::vector<Module> modules(modulePaths.size());
  for (auto [module, path] : llvm::zip_equal(modules, modulePaths)) {
    module.path = path;
    if (failed(load(context, module)))
      return failure();
  }
  if (failed(checkOutputs(*cases, modules.front())))
    return failure();

  for (const Case &which : *cases) {
    if (&which != &cases->front())
      inputs = readInputs(which);
    if (failed(inputs) || failed(runCase(which, *inputs, modules))) {
      if (!which.where.empty())
        (void)fail(which.where + ": this run failed");
      return failure();
    }
  }
  printReport(modules);
  if (openclProfile)
    printOpenCLProfile();
  if (!jsonPath.empty() && failed(writeJson(modules)))
    return failure();
  return checkLimit(modules) ? 0 : 2;
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv, "Run and time functions of modules in the LLVM dialect\n");
#if defined(__GLIBC__)
  if (keepFreedMemory) {
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, INT_MAX);
  }
#endif
  FailureOr<int> status = runTool();
  return failed(status) ? 1 : *status;
}
