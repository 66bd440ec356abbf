//===- CompiledProgram.cpp - Compile a module and call it -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Runtime/CompiledProgram.h"
#include "Assertions.h"
#include "BuildId.h"
#include "MachineCode.h"
#include "ParallelLoops.h"
#include "layout/Runtime/Constants.h"
#include "layout/Runtime/KeptMemory.h"
#include "layout/Runtime/Signature.h"
#include "layout/Support/Profile.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Target/LLVMIR/LLVMTranslationInterface.h"
#include "llvm/ExecutionEngine/JITEventListener.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/ExecutionEngine/Orc/RTDyldObjectLinkingLayer.h"
#include "llvm/ExecutionEngine/SectionMemoryManager.h"
#include "llvm/Support/DynamicLibrary.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <malloc.h>

using namespace mlir;
using namespace mlir::layout;

CompiledProgram::~CompiledProgram() { releaseKeptMemory(); }

//===----------------------------------------------------------------------===//
// Checks before compiling
//===----------------------------------------------------------------------===//

/// The prefix that func-to-LLVM gives to C interface wrappers.
static constexpr StringLiteral kWrapperPrefix("_mlir_ciface_");

/// Checks that every op can be translated to LLVM IR. Emits an error at the
/// first op that cannot, and returns failure.
static LogicalResult checkDialects(ModuleOp module) {
  LLVMTranslationInterface interfaces(module.getContext());
  WalkResult walk = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (interfaces.getInterfaceFor(op))
      return WalkResult::advance();
    op->emitError()
        << "cannot be compiled, because it is not in the LLVM dialect; lower "
           "the module first, for example with layout-opt --layout-to-cpu";
    return WalkResult::interrupt();
  });
  return failure(walk.wasInterrupted());
}

static unsigned getDescriptorWords(RankedTensorType type) {
  return 3 + 2 * type.getRank();
}

/// Returns the type that a function of type `signature` has after bufferization
/// and func-to-LLVM. The fields of a memref descriptor are separate arguments,
/// and results are returned as a struct of descriptors.
static LLVM::LLVMFunctionType getLoweredType(FunctionType signature) {
  MLIRContext *context = signature.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto word = IntegerType::get(context, 64);
  SmallVector<Type> arguments, results;
  for (Type type : signature.getInputs()) {
    arguments.append({pointer, pointer, word});
    arguments.append(2 * cast<RankedTensorType>(type).getRank(), word);
  }
  for (Type type : signature.getResults()) {
    SmallVector<Type> fields{pointer, pointer, word};
    int64_t rank = cast<RankedTensorType>(type).getRank();
    if (rank)
      fields.append(2, LLVM::LLVMArrayType::get(word, rank));
    results.push_back(LLVM::LLVMStructType::getLiteral(context, fields));
  }
  Type result = results.empty() ? LLVM::LLVMVoidType::get(context)
                : results.size() == 1
                    ? results.front()
                    : LLVM::LLVMStructType::getLiteral(context, results);
  return LLVM::LLVMFunctionType::get(result, arguments);
}

/// Returns the function `name` and sets `signature` to its attribute
/// `layout.signature`. Emits an error and returns failure if there is no such
/// function with a body, or if it has no valid signature, not the type that the
/// signature lowers to, or no C interface.
static FailureOr<LLVM::LLVMFuncOp> findFunction(ModuleOp module, StringRef name,
                                                FunctionType &signature) {
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(name);
  if (!function || function.isExternal()) {
    InFlightDiagnostic error = module.emitError()
                               << "has no function '" << name << "' to run";
    for (auto each : module.getOps<LLVM::LLVMFuncOp>())
      if (!each.isExternal() && !each.getName().starts_with("_mlir_"))
        error.attachNote(each.getLoc()) << "has '" << each.getName() << "'";
    return error;
  }
  FailureOr<FunctionType> type = readSignature(function);
  if (failed(type))
    return failure();
  signature = *type;

  LLVM::LLVMFunctionType expected = getLoweredType(signature);
  if (function.getFunctionType() != expected)
    return function.emitError()
           << "does not have the type that its '" << kSignatureAttrName << "' "
           << signature << " lowers to, " << expected
           << "; it must be lowered with memref descriptors and the attribute "
              "must be the function's type before bufferization";
  auto wrapper =
      module.lookupSymbol<LLVM::LLVMFuncOp>((kWrapperPrefix + name).str());
  if (!wrapper || wrapper.isExternal())
    return function.emitError()
           << "has no C interface; the pipeline 'layout-to-cpu' adds it, for "
              "another pipeline put '"
           << kCInterfaceAttrName << "' on the function before func-to-LLVM";
  return function;
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

/// Returns the time in nanoseconds of a steady clock. Compiled code calls it
/// too.
static int64_t readClock() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

/// Returns the names of the kernels whose time `module` measures. Its global
/// with counters, `layout_profile`, has two elements for each name. The list is
/// empty if it measures none. Emits an error and returns failure if the names
/// and the global do not match.
static FailureOr<SmallVector<StringRef>> readProfiledNames(ModuleOp module) {
  SmallVector<StringRef> names;
  Attribute attr = module->getAttr(kProfileAttrName);
  if (!attr)
    return names;
  auto rows = dyn_cast<ArrayAttr>(attr);
  for (Attribute row : rows ? rows.getValue() : ArrayRef<Attribute>())
    if (auto name = dyn_cast<StringAttr>(row))
      names.push_back(name);
  auto global = module.lookupSymbol<LLVM::GlobalOp>(kProfileGlobalName);
  if (!rows || names.size() != rows.size() || !global ||
      global.getGlobalType() !=
          LLVM::LLVMArrayType::get(IntegerType::get(module.getContext(), 64),
                                   2 * names.size()))
    return module.emitError()
           << "has a '" << kProfileAttrName
           << "' that layout-cpu-profile-kernels did not write: it must be an "
              "array with a name for every two elements of the global '"
           << kProfileGlobalName << "'";
  return names;
}

static void noteUnresolved(ModuleOp module, const CompileOptions &options,
                           InFlightDiagnostic &error) {
  for (auto each : module.getOps<LLVM::LLVMFuncOp>()) {
    std::string name = each.getName().str();
    bool isGiven = llvm::any_of(
        options.symbols, [&](auto &symbol) { return symbol.first == name; });
    if (each.isExternal() && !isGiven &&
        !StringRef(name).starts_with("llvm.") &&
        !llvm::sys::DynamicLibrary::SearchForAddressOfSymbol(name))
      error.attachNote(each.getLoc())
          << "'" << name
          << "' is defined nowhere; name the library that has it in "
             "--shared-libs";
  }
}

unsigned CompiledProgram::countThreads(const CompileOptions &options) {
  return options.threads ? options.threads : getDefaultThreads();
}

LogicalResult CompiledProgram::setThreads(LoopRuntime runtime,
                                          const CompileOptions &options) {
  loopRuntime = runtime;
  if (runtime == LoopRuntime::openMP && !publishOpenMP())
    return function->emitError()
           << "has ops of OpenMP beside parallel loops, and LLVM's OpenMP "
              "library cannot be found in this process; lower them first";
  threads = runtime == LoopRuntime::none ? 1 : countThreads(options);
  return success();
}

/// Creates a JIT engine that links object files and announces them to GDB and
/// perf.
static llvm::Expected<std::unique_ptr<llvm::orc::LLJIT>>
createEngine(llvm::orc::JITTargetMachineBuilder machine) {
  auto createLinker = [](llvm::orc::ExecutionSession &session) {
    auto layer = std::make_unique<llvm::orc::RTDyldObjectLinkingLayer>(
        session, [](const llvm::MemoryBuffer &) {
          return std::make_unique<llvm::SectionMemoryManager>();
        });
    for (auto *listener :
         {llvm::JITEventListener::createGDBRegistrationListener(),
          llvm::JITEventListener::createPerfJITEventListener()})
      if (listener)
        layer->registerJITEventListener(*listener);
    return layer;
  };
  return llvm::orc::LLJITBuilder()
      .setJITTargetMachineBuilder(std::move(machine))
      .setObjectLinkingLayerCreator(createLinker)
      .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
      .create();
}

/// Rounds `value` to bf16. LLVM calls this function, __truncsfbf2 or
/// __truncdfbf2, on processors without an instruction for it, and libgcc 12
/// lacks it. A bf16 is returned in the register of a half, and GCC 12 supports
/// only the latter type.
template <typename Float> static _Float16 roundToBF16(Float value) {
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(llvm::APFloat::BFloat(), llvm::APFloat::rmNearestTiesToEven,
                 &losesInfo);
  auto bits = static_cast<uint16_t>(number.bitcastToAPInt().getLimitedValue());
  _Float16 result;
  std::memcpy(&result, &bits, sizeof(result));
  return result;
}

/// Returns the symbols that are linked in place of those of this process: the
/// large constants, which were removed from the module, functions of this
/// library such as malloc and abort, and the functions of `options`.
llvm::orc::SymbolMap
CompiledProgram::getSymbols(const CompileOptions &options) const {
  llvm::orc::SymbolMap symbols;
  auto define = [&](StringRef name, const void *address,
                    llvm::JITSymbolFlags flags) {
    symbols[engine->mangleAndIntern(name)] = {
        llvm::orc::ExecutorAddr::fromPtr(address),
        flags | llvm::JITSymbolFlags::Exported};
  };
  for (const DetachedConstants::Entry &entry : constants->getEntries())
    define(entry.name, entry.blob.getData().data(), llvm::JITSymbolFlags::None);
  auto defineFunction = [&](StringRef name, const void *address) {
    define(name, address, llvm::JITSymbolFlags::Callable);
  };
  defineFunction("puts", reinterpret_cast<void *>(putsOfModule));
  defineFunction("abort", reinterpret_cast<void *>(abortOfModule));
  defineFunction(kClockName, reinterpret_cast<void *>(readClock));
  defineFunction("malloc", reinterpret_cast<void *>(allocateMemory));
  defineFunction("free", reinterpret_cast<void *>(freeMemory));
  defineFunction("__truncsfbf2", reinterpret_cast<void *>(roundToBF16<float>));
  defineFunction("__truncdfbf2", reinterpret_cast<void *>(roundToBF16<double>));
  if (loopRuntime == LoopRuntime::team)
    for (const auto &[name, address] : getTeamFunctions())
      defineFunction(name, address);
  for (const auto &[name, address] : options.symbols)
    defineFunction(name, address);
  return symbols;
}

/// Returns a builder of target machines for the host processor, with the
/// optimization level of `options`, or the error of detecting the processor.
static llvm::Expected<llvm::orc::JITTargetMachineBuilder>
describeMachine(const CompileOptions &options) {
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder;
  auto level = llvm::CodeGenOpt::getLevel(options.optLevel);
  assert(level && "the level must be 0 to 3");
  builder->setCodeGenOptLevel(*level);
  // Large constants are outside of the code, anywhere in memory, so they are
  // accessed through an address table.
  builder->setRelocationModel(llvm::Reloc::PIC_);
  return builder;
}

static ObjectCache getCache(const CompileOptions &options) {
  return ObjectCache(
      options.cacheDirectory.value_or(ObjectCache::getDefaultDirectory()));
}

static LogicalResult loadLibraries(Operation *function,
                                   const CompileOptions &options) {
  for (const std::string &lib : options.sharedLibs) {
    std::string message;
    if (llvm::sys::DynamicLibrary::LoadLibraryPermanently(lib.c_str(),
                                                          &message))
      return function->emitError()
             << "shared library '" << lib << "' cannot be loaded: " << message;
  }
  return success();
}

/// Links the object files in `archive`, and looks up the entry function and, if
/// kernels are measured, their counters. If a symbol is undefined, returns
/// success, and `entry`, the entry function, stays nullptr.
llvm::Error CompiledProgram::link(StringRef archive,
                                  llvm::orc::JITTargetMachineBuilder machine,
                                  const CompileOptions &options) {
  auto created = createEngine(std::move(machine));
  if (!created)
    return created.takeError();
  engine = std::move(*created);
  if (llvm::Error error = engine->getMainJITDylib().define(
          absoluteSymbols(getSymbols(options))))
    return error;
  auto objects = readArchive(archive);
  if (!objects)
    return objects.takeError();
  for (std::unique_ptr<llvm::MemoryBuffer> &object : *objects)
    if (llvm::Error error = engine->addObjectFile(std::move(object)))
      return error;
  auto found = engine->lookup(kEntryName);
  if (!found) {
    llvm::consumeError(found.takeError());
    return llvm::Error::success();
  }
  entry = found->toPtr<void (*)(void **)>();
  if (profiled.empty())
    return llvm::Error::success();
  auto global = engine->lookup(kProfileGlobalName);
  if (!global)
    return global.takeError();
  counters = global->toPtr<int64_t *>();
  return llvm::Error::success();
}

void CompileOptions::addRuntime(
    ArrayRef<std::pair<StringRef, void *>> functions, const char *(*take)()) {
  for (auto [name, function] : functions)
    symbols.push_back({name.str(), function});
  takeError = [takeOther = std::move(takeError),
               take]() -> std::optional<std::string> {
    if (takeOther)
      if (std::optional<std::string> message = takeOther())
        return message;
    const char *message = take();
    return message ? std::optional<std::string>(message) : std::nullopt;
  };
}

FailureOr<std::unique_ptr<CompiledProgram>>
CompiledProgram::compile(ModuleOp module, StringRef name,
                         const CompileOptions &options) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  if (failed(checkDialects(module)))
    return failure();
  std::unique_ptr<CompiledProgram> program(new CompiledProgram);
  FailureOr<LLVM::LLVMFuncOp> function =
      findFunction(module, name, program->signature);
  if (failed(function))
    return failure();
  program->function = *function;
  program->takeError = options.takeError;
  program->inputNames = options.inputNames;
  FailureOr<SmallVector<StringRef>> profiled = readProfiledNames(module);
  if (failed(program->setThreads(findLoopRuntime(module), options)) ||
      failed(profiled) || failed(loadLibraries(*function, options)))
    return failure();
  program->profiled = std::move(*profiled);

  auto fail = [&](llvm::Error error) {
    return function->emitError()
           << "could not be compiled: " << llvm::toString(std::move(error));
  };
  auto builder = describeMachine(options);
  if (!builder)
    return fail(builder.takeError());

  // Work on a clone to keep the caller's module unchanged.
  OwningOpRef<ModuleOp> clone = module.clone();
  program->constants = std::make_unique<DetachedConstants>(
      *clone, options.dropsResources, options.findArray != nullptr);
  ObjectCache cache = getCache(options);
  auto code = compileToArchive(*clone, (kWrapperPrefix + name).str(), *builder,
                               options.optLevel, cache);
  if (!code)
    return fail(code.takeError());
  program->isFromCache = code->isFromCache;
  if (llvm::Error error = program->link(code->archive->getBuffer(),
                                        std::move(*builder), options))
    return fail(std::move(error));
  if (!program->entry) {
    InFlightDiagnostic error = function->emitError() << "could not be linked";
    noteUnresolved(module, options, error);
    return error;
  }
  if (!options.key.empty())
    program->archive = std::move(code->archive);
  return program;
}

//===----------------------------------------------------------------------===//
// Storing whole programs
//===----------------------------------------------------------------------===//

// An outline is a module with the function, declared without body and
// arguments. Attributes hold the other parts of a program, and resources its
// bytes. A constant that is an array of the caller is the name of the array.
static constexpr StringLiteral kArchiveName("layout.code");
static constexpr StringLiteral kConstantsName("layout.constants");
static constexpr StringLiteral kInputNamesName("layout.input_names");
static constexpr StringLiteral kLoopRuntimeName("layout.loop_runtime");

std::string CompiledProgram::makeKey(ArrayRef<StringRef> source,
                                     StringRef function,
                                     const CompileOptions &options) {
  std::string build = getBuildId();
  auto machine = describeMachine(options);
  if (build.empty() || !machine) {
    llvm::consumeError(machine.takeError());
    return "";
  }
  SmallVector<StringRef> parts(source);
  std::string features = machine->getFeatures().getString();
  std::string triple = machine->getTargetTriple().str();
  std::string level = std::to_string(options.optLevel);
  parts.append({function, level, triple, machine->getCPU(), features, build,
                LLVM_VERSION_STRING});
  return ObjectCache::makeKey(parts);
}

/// Creates a `dense_resource` of i8 elements, in order to write them as
/// bytecode. It refers to `bytes` without a copy, so they must outlive it.
static DenseResourceElementsAttr
makeResource(MLIRContext *context, StringRef name, ArrayRef<char> bytes) {
  auto type = RankedTensorType::get({static_cast<int64_t>(bytes.size())},
                                    IntegerType::get(context, 8));
  return DenseResourceElementsAttr::get(
      type, name, UnmanagedAsmResourceBlob::allocateInferAlign(bytes));
}

static void dropResource(DenseResourceElementsAttr resource) {
  resource.getRawHandle().getResource()->setBlob({});
}

/// Returns true if a constant is all of an array that the caller of a later
/// process also has.
static bool isArray(const DetachedConstants::Entry &entry,
                    const CompileOptions &options) {
  if (entry.resource.empty() || !options.findArray)
    return false;
  std::optional<AsmResourceBlob> array = options.findArray(entry.resource);
  ArrayRef<char> bytes = entry.blob.getData();
  return array && array->getData().data() == bytes.data() &&
         array->getData().size() == bytes.size();
}

void CompiledProgram::keep(const CompileOptions &options) {
  if (!archive || options.key.empty())
    return;
  OpBuilder b(function->getContext());
  OwningOpRef<ModuleOp> outline = ModuleOp::create(b, function->getLoc());
  b.setInsertionPointToEnd(outline->getBody());
  auto empty =
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), {});
  auto named = cast<LLVM::LLVMFuncOp>(function);
  auto declared =
      LLVM::LLVMFuncOp::create(b, function->getLoc(), named.getName(), empty);
  declared->setAttr(kSignatureAttrName, TypeAttr::get(signature));
  if (function->hasAttr(kReadOnlyInputsAttrName))
    declared->setAttr(kReadOnlyInputsAttrName, b.getUnitAttr());

  SmallVector<DenseResourceElementsAttr> resources{
      makeResource(b.getContext(), kArchiveName,
                   {archive->getBufferStart(), archive->getBufferSize()})};
  (*outline)->setAttr(kArchiveName, resources.back());
  SmallVector<NamedAttribute> rows;
  for (const DetachedConstants::Entry &entry : constants->getEntries()) {
    Attribute value;
    if (isArray(entry, options)) {
      value = b.getStringAttr(entry.resource);
    } else {
      resources.push_back(
          makeResource(b.getContext(), entry.name, entry.blob.getData()));
      value = resources.back();
    }
    auto alignment = b.getI64IntegerAttr(entry.blob.getDataAlignment());
    rows.push_back(
        b.getNamedAttr(entry.name, b.getArrayAttr({value, alignment})));
  }
  (*outline)->setAttr(kConstantsName, b.getDictionaryAttr(rows));
  SmallVector<StringRef> names(inputNames.begin(), inputNames.end());
  (*outline)->setAttr(kInputNamesName, b.getStrArrayAttr(names));
  (*outline)->setAttr(kProfileAttrName, b.getStrArrayAttr(profiled));
  (*outline)->setAttr(kLoopRuntimeName,
                      b.getI32IntegerAttr(static_cast<int32_t>(loopRuntime)));
  getCache(options).add(options.key, [&](raw_ostream &os) {
    [[maybe_unused]] LogicalResult written = writeBytecodeToFile(*outline, os);
    assert(succeeded(written) && "the newest version can be written");
  });
  llvm::for_each(resources, dropResource);
  archive.reset();
}

std::unique_ptr<llvm::MemoryBuffer>
CompiledProgram::find(const CompileOptions &options) {
  return options.key.empty() ? nullptr : getCache(options).find(options.key);
}

FailureOr<std::unique_ptr<CompiledProgram>>
CompiledProgram::load(ModuleOp outline, const CompileOptions &options) {
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  std::unique_ptr<CompiledProgram> program(new CompiledProgram);
  LLVM::LLVMFuncOp function = *outline.getOps<LLVM::LLVMFuncOp>().begin();
  program->function = function;
  program->takeError = options.takeError;
  FailureOr<FunctionType> signature = readSignature(function);
  auto runtime = static_cast<LoopRuntime>(
      outline->getAttrOfType<IntegerAttr>(kLoopRuntimeName).getInt());
  if (failed(signature) || failed(program->setThreads(runtime, options)) ||
      failed(loadLibraries(function, options)))
    return failure();
  program->signature = *signature;
  for (auto name : outline->getAttrOfType<ArrayAttr>(kInputNamesName)
                       .getAsRange<StringAttr>())
    program->inputNames.push_back(name.str());
  for (auto name : outline->getAttrOfType<ArrayAttr>(kProfileAttrName)
                       .getAsRange<StringAttr>())
    program->profiled.push_back(name);

  auto getBytes = [](DenseResourceElementsAttr resource) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    return blob ? blob->getData() : ArrayRef<char>();
  };
  program->constants = std::make_unique<DetachedConstants>();
  for (NamedAttribute entry :
       outline->getAttrOfType<DictionaryAttr>(kConstantsName)) {
    auto row = cast<ArrayAttr>(entry.getValue());
    int64_t alignment = cast<IntegerAttr>(row[1]).getInt();
    if (auto name = dyn_cast<StringAttr>(row[0])) {
      std::optional<AsmResourceBlob> array = options.findArray(name);
      assert(array && "the key is a hash of all arrays and their names");
      program->constants->add(entry.getName(), std::move(*array), alignment);
      continue;
    }
    auto resource = cast<DenseResourceElementsAttr>(row[0]);
    ArrayRef<char> bytes = getBytes(resource);
    llvm::copy(bytes, program->constants->add(entry.getName(), bytes.size(),
                                              alignment));
    dropResource(resource);
  }
  auto fail = [&](llvm::Error error) {
    return function->emitError()
           << "could not be loaded: " << llvm::toString(std::move(error));
  };
  auto builder = describeMachine(options);
  if (!builder)
    return fail(builder.takeError());
  auto code = outline->getAttrOfType<DenseResourceElementsAttr>(kArchiveName);
  ArrayRef<char> archive = getBytes(code);
  program->isFromCache = true;
  if (llvm::Error error = program->link({archive.data(), archive.size()},
                                        std::move(*builder), options))
    return fail(std::move(error));
  dropResource(code);
  if (!program->entry)
    return function->emitError()
           << "could not be linked: a library or function that it calls is not "
              "in this process";
  return program;
}

//===----------------------------------------------------------------------===//
// Calling
//===----------------------------------------------------------------------===//

/// Returns the byte that represents a sub-byte element of `type` in an Array:
/// the sign-extended value of a signed or signless integer, and otherwise the
/// bits with zeros above. Only the low bits of `byte` are read.
static char extend(Type type, char byte) {
  unsigned bits = getPartialBits(type);
  if (isa<FloatType>(type) || type.isUnsignedInteger())
    return byte & llvm::maskTrailingOnes<uint8_t>(bits);
  return static_cast<char>(llvm::SignExtend32(byte, bits));
}
/// Clears the unused upper bits of sub-byte elements, which compiled code
/// expects to be zero.
static void toMemory(RankedTensorType type, Array &array) {
  if (unsigned bits = getPartialBits(type.getElementType()))
    for (char &byte : array.bytes())
      byte &= llvm::maskTrailingOnes<uint8_t>(bits);
}
static void fromMemory(RankedTensorType type, Array &array) {
  if (getPartialBits(type.getElementType()))
    for (char &byte : array.bytes())
      byte = extend(type.getElementType(), byte);
}

static bool fits(RankedTensorType type, const Array &array) {
  return canHold(array.getKind(), type.getElementType()) &&
         succeeded(verifyCompatibleShape(type.getShape(), array.getShape()));
}

static bool isInRange(Type element, const Array &array) {
  return !getPartialBits(element) ||
         llvm::all_of(array.bytes(),
                      [&](char byte) { return byte == extend(element, byte); });
}

FailureOr<std::unique_ptr<Call>>
CompiledProgram::prepare(ArrayRef<const Array *> inputs) const {
  if (inputs.size() != signature.getNumInputs())
    return function->emitError()
           << "takes " << signature.getNumInputs() << " inputs, got "
           << inputs.size() << "; its signature is " << signature;
  for (auto [i, array, type] : llvm::enumerate(inputs, signature.getInputs())) {
    auto tensor = cast<RankedTensorType>(type);
    if (!fits(tensor, *array))
      return function->emitError() << "takes " << tensor << " as input " << i
                                   << ", got " << array->describe();
    if (!isInRange(tensor.getElementType(), *array))
      return function->emitError()
             << "takes " << tensor << " as input " << i
             << ", got values that its elements do not have";
  }
  return std::unique_ptr<Call>(new Call(*this, inputs));
}

Call::Call(const CompiledProgram &program, ArrayRef<const Array *> inputs)
    : program(&program), inputs(inputs.begin(), inputs.end()) {
  bool isReadOnly = program.function->hasAttr(kReadOnlyInputsAttrName);
  for (auto [input, type] :
       llvm::zip_equal(inputs, program.signature.getInputs())) {
    // Sub-byte elements have another form in memory.
    if (isReadOnly &&
        !getPartialBits(cast<RankedTensorType>(type).getElementType()))
      work.emplace_back(input->getKind(), input->getShape(),
                        const_cast<char *>(input->data()));
    else
      work.emplace_back(input->getKind(), input->getShape());
    auto address = reinterpret_cast<intptr_t>(work.back().data());
    SmallVector<int64_t, 11> descriptor{address, address, 0};
    ArrayRef<int64_t> shape = input->getShape();
    descriptor.append(shape.begin(), shape.end());
    descriptor.append(shape.size(), 1);
    for (size_t d = shape.size(); d > 1; --d)
      descriptor[3 + shape.size() + d - 2] =
          descriptor[3 + shape.size() + d - 1] * shape[d - 1];
    descriptors.push_back(std::move(descriptor));
  }
  size_t words = 0;
  for (Type type : program.signature.getResults())
    words += getDescriptorWords(cast<RankedTensorType>(type));
  result.assign(words, 0);
  // The result struct, if any, is the first argument.
  if (words)
    pointers.push_back(result.data());
  for (auto &descriptor : descriptors)
    pointers.push_back(descriptor.data());
}

Call::~Call() { freeResults(); }

llvm::SmallDenseMap<void *, unsigned> Call::countBlocks() const {
  // The allocated pointer of a memref that must not be freed, as set by the
  // upstream lowering of memref.get_global.
  constexpr int64_t global = 0xdeadbeef;
  llvm::SmallDenseMap<void *, unsigned> blocks;
  ArrayRef<int64_t> words = result;
  for (Type type : program->signature.getResults()) {
    ++blocks[reinterpret_cast<void *>(words.front())];
    words = words.drop_front(getDescriptorWords(cast<RankedTensorType>(type)));
  }
  for (const Array &input : work)
    blocks.erase(const_cast<char *>(input.data()));
  blocks.erase(nullptr);
  blocks.erase(reinterpret_cast<void *>(global));
  return blocks;
}

void Call::freeResults() {
  for (auto [block, results] : countBlocks())
    freeResultMemory(block);
  llvm::fill(result, 0);
}

FailureOr<double> Call::run() {
  freeResults();
  for (auto [given, copy, type] :
       llvm::zip_equal(inputs, work, program->signature.getInputs())) {
    if (copy.data() == given->data())
      continue;
    std::memcpy(copy.data(), given->data(), given->getNumBytes());
    toMemory(cast<RankedTensorType>(type), copy);
  }
  LoopThreads threads(program->loopRuntime, program->threads);
  std::fill_n(program->counters, 2 * program->profiled.size(), 0);
  int64_t start = readClock();
  bool returned = callGuarded([&] { program->entry(pointers.data()); });
  double seconds = (readClock() - start) * 1e-9;
  if (!returned)
    return program->function->emitError()
           << "failed: an assertion does not hold: " << getLastMessage();
  if (program->takeError)
    if (std::optional<std::string> reason = program->takeError())
      return program->function->emitError() << "failed: " << *reason;
  return seconds;
}

std::vector<KernelTime> Call::readProfile() const {
  std::vector<KernelTime> kernels;
  const int64_t *counter = program->counters;
  for (StringRef name : program->profiled) {
    double seconds = *counter++ * 1e-9;
    kernels.push_back({name, seconds, *counter++});
  }
  return kernels;
}

/// A result takes over its memory block only if the block has at most twice the
/// bytes of the elements plus this number of bytes.
static constexpr size_t kMostSlack = 4096;

/// Copies elements of `bytes` bytes from a memref, with strides in elements, to
/// dense row-major memory at `to`. Returns the address after the last byte
/// written.
static char *copyDense(const char *from, char *to, ArrayRef<int64_t> sizes,
                       ArrayRef<int64_t> strides, int64_t bytes) {
  if (sizes.empty()) {
    std::memcpy(to, from, bytes);
    return to + bytes;
  }
  if (sizes.size() == 1 && strides[0] == 1) {
    std::memcpy(to, from, sizes[0] * bytes);
    return to + sizes[0] * bytes;
  }
  for (int64_t i = 0; i < sizes[0]; ++i)
    to = copyDense(from + i * strides[0] * bytes, to, sizes.drop_front(),
                   strides.drop_front(), bytes);
  return to;
}

/// Returns true if the elements are dense and in row-major order.
static bool isRowMajor(ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  int64_t stride = 1;
  for (auto [size, step] : llvm::reverse(llvm::zip_equal(sizes, strides))) {
    if (size != 1 && step != stride)
      return false;
    stride *= size;
  }
  return true;
}

FailureOr<SmallVector<Array>> Call::takeResults() {
  SmallVector<Array> arrays;
  llvm::SmallDenseMap<void *, unsigned> blocks = countBlocks();
  MutableArrayRef<int64_t> words = result;
  for (auto [i, type] : llvm::enumerate(program->signature.getResults())) {
    auto tensor = cast<RankedTensorType>(type);
    int64_t rank = tensor.getRank();
    ElementKind kind = *getElementKind(tensor.getElementType());
    ArrayRef<int64_t> sizes = words.slice(3, rank);
    ArrayRef<int64_t> strides = words.slice(3 + rank, rank);
    if (!Array::byteSize(kind, sizes) ||
        failed(verifyCompatibleShape(tensor.getShape(), sizes))) {
      InFlightDiagnostic error = program->function->emitError()
                                 << "returned result " << i << " with sizes [";
      llvm::interleaveComma(sizes, error);
      return error << "], its '" << kSignatureAttrName << "' says " << tensor;
    }
    int64_t bytes = getByteSize(kind);
    auto *block = reinterpret_cast<void *>(words[0]);
    auto *data = reinterpret_cast<char *>(words[1]) + words[2] * bytes;
    // The block becomes that of the array if it has no other use and is not
    // much larger.
    if (blocks.lookup(block) == 1 && isRowMajor(sizes, strides) &&
        malloc_usable_size(block) <=
            2 * size_t(*Array::byteSize(kind, sizes)) + kMostSlack) {
      arrays.emplace_back(kind, sizes, data, block, freeResultMemory);
      words[0] = 0;
    } else {
      Array &array = arrays.emplace_back(kind, sizes);
      if (array.getNumElements())
        copyDense(data, array.data(), sizes, strides, bytes);
    }
    fromMemory(tensor, arrays.back());
    words = words.drop_front(getDescriptorWords(tensor));
  }
  return arrays;
}
