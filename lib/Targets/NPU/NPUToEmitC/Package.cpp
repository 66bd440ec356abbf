//===- Package.cpp - Packages of NPU programs -----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/NPU/NPUToEmitC/Package.h"
#include "FunctionEmitter.h"
#include "layout/Dialect/NPU/IR/ArgumentRanges.h"
#include "layout/Support/EmittedText.h"
#include "layout/Targets/NPU/NPUToEmitC/Passes.h"
#include "layout/Targets/Package/PackageFiles.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/Cpp/CppEmitter.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::npu;
namespace json = llvm::json;

/// Returns the role of an argument for the manifest: "scratch" or "result" by
/// its attribute, "result" if it is in `written`, the arguments that copies or
/// fills write, and otherwise "input".
static StringRef getRole(func::FuncOp function, BlockArgument argument,
                         const DenseSet<Value> &written) {
  unsigned number = argument.getArgNumber();
  if (function.getArgAttr(number, kScratchArgument))
    return "scratch";
  bool isResult = function.getArgAttr(number, kResultArgument) != nullptr;
  return isResult || written.contains(argument) ? "result" : "input";
}

static DenseSet<Value> getWritten(func::FuncOp function) {
  DenseSet<Value> written;
  function.walk([&](Operation *op) {
    Value dest;
    if (auto copy = dyn_cast<CopyOp>(op))
      dest = copy.getDest();
    else if (auto fill = dyn_cast<FillOp>(op))
      dest = fill.getDest();
    if (dest)
      written.insert(getLinearMemory(dest));
  });
  return written;
}

/// Returns the index ranges of argument `number` (npu.ranges) that the host
/// checks before a run, as JSON. Emits an error if one lacks a field.
static FailureOr<json::Array> getRanges(func::FuncOp function,
                                        unsigned number) {
  json::Array ranges;
  auto listed = function.getArgAttrOfType<ArrayAttr>(number, kRangesArgument);
  for (Attribute attr : listed ? listed.getValue() : ArrayRef<Attribute>()) {
    auto range = dyn_cast<DictionaryAttr>(attr);
    if (!range)
      range = DictionaryAttr::get(function.getContext()); // no fields: an error
    auto least = range.getAs<IntegerAttr>("least");
    auto most = range.getAs<IntegerAttr>("most");
    auto first = range.getAs<DenseI64ArrayAttr>("first");
    auto count = range.getAs<DenseI64ArrayAttr>("count");
    auto text = range.getAs<StringAttr>("text");
    if (!least || !most || !first || !count || !text)
      return function.emitOpError()
             << "argument " << number << " has the range " << attr
             << ", which lacks one of 'least', 'most', 'first', 'count' and "
                "'text' (npu-check-on-host)";
    ranges.push_back(json::Object{{"least", least.getInt()},
                                  {"most", most.getInt()},
                                  {"first", json::Array(first.asArrayRef())},
                                  {"count", json::Array(count.asArrayRef())},
                                  {"text", layout::toUtf8(text.getValue())}});
  }
  return ranges;
}

static FailureOr<json::Array> getArguments(func::FuncOp function,
                                           ChipAttr chip) {
  DenseSet<Value> written = getWritten(function);
  json::Array arguments;
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    if (!type)
      return function.emitOpError()
             << "needs memrefs in system memory to become OKKernel code, found "
             << argument.getType();
    FailureOr<Storage> storage =
        getStorage(type, [&] { return function.emitOpError(); });
    if (failed(storage))
      return failure();
    int64_t bytes = (*storage->map.storageExtent(type.getShape()))[0] *
                    storage->elementBytes;
    // An argument passed in another type, e.g. i64 as 32-bit words, has its
    // original type in the manifest.
    std::string element;
    ArrayRef<int64_t> shape = type.getShape();
    auto given = function.getArgAttrOfType<TypeAttr>(argument.getArgNumber(),
                                                     kElementArgument);
    auto whole = given ? dyn_cast<RankedTensorType>(given.getValue())
                       : RankedTensorType();
    if (whole) {
      if (!whole.hasStaticShape() || !whole.getElementType().isIntOrFloat() ||
          whole.getNumElements() *
                  int64_t(llvm::divideCeil(whole.getElementTypeBitWidth(), 8)) >
              bytes)
        return function.emitOpError()
               << "has an argument of type " << type << " for " << whole
               << ", but its bytes do not suffice";
      llvm::raw_string_ostream(element) << whole.getElementType();
      shape = whole.getShape();
    } else if (given) {
      int64_t words = shape.empty() ? 0 : shape.back();
      Type whole = given.getValue();
      if (!whole.isIntOrFloat() ||
          whole.getIntOrFloatBitWidth() != words * storage->elementBytes * 8)
        return function.emitOpError()
               << "has an argument of type " << type << " for elements of type "
               << whole << ", but its last dim does not have their size";
      llvm::raw_string_ostream(element) << whole;
      shape = shape.drop_back();
    } else {
      llvm::raw_string_ostream(element) << type.getElementType();
    }
    bool isSlice =
        function.getArgAttr(argument.getArgNumber(), kSliceArgument) != nullptr;
    if (isSlice && chip && bytes % chip.getDmaAlignment() != 0)
      return function.emitOpError()
             << "argument " << argument.getArgNumber() << " takes " << bytes
             << " bytes for each index of a dynamic batch, which is not a "
                "multiple of the "
             << chip.getDmaAlignment()
             << " bytes that the DMA engine requires: use wider elements, or "
                "state the size of the batch";
    FailureOr<json::Array> ranges =
        getRanges(function, argument.getArgNumber());
    if (failed(ranges))
      return failure();
    arguments.push_back(
        json::Object{{"shape", json::Array(shape)},
                     {"element", element},
                     {"bytes", bytes},
                     {"slice", isSlice},
                     {"ranges", std::move(*ranges)},
                     {"role", getRole(function, argument, written)}});
  }
  return arguments;
}

static json::Value describe(ChipAttr chip) {
  if (!chip)
    return nullptr;
  json::Array maxShape(chip.getMaxShape());
  while (maxShape.size() < 4)
    maxShape.push_back(0);
  layout::ChipClock clock = chip.getClock();
  json::Object params;
  for (auto [i, name] : llvm::enumerate(layout::kClockNames))
    params[StringRef(name)] = clock.get(layout::ClockParam(i));
  return json::Object{{"npus", chip.getNpus()},
                      {"bytes_per_npu", chip.getBytesPerNpu()},
                      {"eu_bytes", chip.getEuBytes()},
                      {"dma_alignment", chip.getDmaAlignment()},
                      {"max_shape", std::move(maxShape)},
                      {"max_stride", chip.getMaxStride().value_or(0)},
                      {"max_compute_stride", chip.getMaxComputeStride()},
                      {"banks", chip.getBanks().value_or(0)},
                      {"megahertz", chip.getMegahertz()},
                      {"clock", std::move(params)}};
}

/// Writes the kernel that calls `function` with addresses in the order of the
/// manifest, and registers it. `steps` has the bytes of each parameter per
/// index of a dynamic batch, or 0; if `isSliced`, calls it for each index.
static void writeKernel(raw_ostream &os, StringRef function,
                        ArrayRef<int64_t> steps, bool isSliced, KernelApi api) {
  bool isTpu = api == KernelApi::TPUKernel;
  StringRef prefix = isTpu ? "tpu" : "okk";
  os << "struct " << function << "_arguments {\n";
  for (size_t i = 0; i < steps.size(); ++i)
    os << "  system_addr_t argument" << i << ";\n";
  os << (isSliced ? "  unsigned long long extent;\n" : "") << "};\nstatic void "
     << function << "_kernel(const void *arguments) {\n  const " << function
     << "_arguments *given =\n      static_cast<const " << function
     << "_arguments *>(arguments);\n  static_cast<void>(given);\n  " << prefix
     << "_initialize();\n";
  if (isSliced)
    os << "  for (unsigned long long i = 0; i < given->extent; ++i)\n  ";
  os << "  " << function << "(";
  for (auto [i, step] : llvm::enumerate(steps)) {
    os << (i ? ", " : "") << "given->argument" << i;
    if (step)
      os << " + i * " << step << "u";
  }
  os << ");\n  " << prefix << "_poll();\n}\n"
     << (isTpu ? "TPUKERNEL" : "OKKERNEL") << "_FUNC_REGISTER(" << function
     << "_kernel)\n";
}

LogicalResult npu::writeNpuPackage(ModuleOp module, StringRef symbol,
                                   StringRef directory, bool checks,
                                   bool isStrict) {
  auto function = module.lookupSymbol<func::FuncOp>(symbol);
  if (!function || function.isExternal())
    return module.emitError() << "has no function '" << symbol
                              << "' with a body to make a package of";
  FailureOr<json::Array> arguments = getArguments(function, findChip(module));
  FailureOr<ConstantBlock> constants = getConstantBlock(module);
  if (failed(arguments) || failed(constants))
    return failure();
  // The conversion erases the function with its name.
  std::string name = symbol.str();
  // The bytes of each parameter per index of a dynamic batch, or 0.
  SmallVector<int64_t> steps(!constants->isEmpty(), 0);
  bool isSliced = false;
  for (const json::Value &argument : *arguments) {
    const json::Object &given = *argument.getAsObject();
    bool isSlice = *given.getBoolean("slice");
    steps.push_back(isSlice ? *given.getInteger("bytes") : 0);
    isSliced |= isSlice;
  }
  json::Object manifest{{"function", layout::toUtf8(name)},
                        {"kernel", getEmittedName(name) + "_kernel"},
                        {"constants", constants->bytes},
                        {"chip", describe(findChip(module))},
                        {"arguments", std::move(*arguments)}};
  KernelApi api = getKernelApi(module);
  PassManager pm(module.getContext());
  ConvertNPUToEmitCPassOptions options;
  options.checks = checks;
  options.strictOKKernel = isStrict;
  pm.addPass(createConvertNPUToEmitCPass(options));
  if (failed(pm.run(module)))
    return failure();
  // The conversion has erased the memref.global ops, but not their data.
  auto writeConstants = [&](raw_ostream &os) {
    constants->write(os);
    return success();
  };
  auto writeProgram = [&](raw_ostream &os) {
    if (failed(emitc::translateToCpp(module, os)))
      return failure();
    writeKernel(os, getEmittedName(name), steps, isSliced, api);
    return success();
  };
  auto writeManifest = [&](raw_ostream &os) {
    os << llvm::formatv("{0:2}\n", json::Value(std::move(manifest)));
    return success();
  };
  auto write = [&](StringRef file,
                   function_ref<LogicalResult(raw_ostream &)> fill) {
    return layout::writePackageFile(module, directory, file, fill);
  };
  return failure(failed(layout::makePackageDirectory(module, directory)) ||
                 (!constants->isEmpty() &&
                  failed(write("constants.bin", writeConstants))) ||
                 failed(write("program.cpp", writeProgram)) ||
                 failed(write(layout::kManifestName, writeManifest)));
}
