//===- Package.cpp - Package of kernels for other runtimes ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/OpenCL/GPUToOpenCL/Package.h"
#include "Source/KernelSource.h"
#include "layout/Support/ConstantBytes.h"
#include "layout/Support/EmittedText.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/KernelMetadata.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/Passes.h"
#include "layout/Targets/OpenCL/GPUToOpenCL/Storage.h"
#include "layout/Targets/Package/PackageFiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SPIRV/IR/TargetAndABI.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <map>
#include <set>

using namespace mlir;
using namespace mlir::layout;
namespace json = llvm::json;

static std::string toText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return toUtf8(text);
}

static StringRef getKindName(StorageKind kind) {
  switch (kind) {
  case StorageKind::Buffer:
    return "buffer";
  case StorageKind::Image2D:
    return "image2d";
  case StorageKind::Image2DArray:
    return "image2d_array";
  case StorageKind::Image3D:
    return "image3d";
  }
  llvm_unreachable("a kind of storage that is not listed");
}

static StringRef getChannelType(Type element) {
  if (element.isF32())
    return "CL_FLOAT";
  if (element.isF16())
    return "CL_HALF_FLOAT";
  return element.isInteger(8)    ? "CL_SIGNED_INT8"
         : element.isInteger(16) ? "CL_SIGNED_INT16"
                                 : "CL_SIGNED_INT32";
}

namespace {
/// Makes names unique by appending numbers.
class UniqueNames {
public:
  std::string add(const std::string &name) {
    std::string unique = name;
    for (unsigned i = 1; !used.insert(unique).second; ++i)
      unique = name + "_" + std::to_string(i);
    return unique;
  }

private:
  std::set<std::string> used;
};

class PackageWriter {
public:
  PackageWriter(ModuleOp module, func::FuncOp function)
      : module(module), function(function) {}

  LogicalResult collect();
  LogicalResult write(StringRef directory);

private:
  LogicalResult addKernels(gpu::BinaryOp binary);
  LogicalResult add(Operation &op);
  LogicalResult addAlloc(gpu::AllocOp op);
  LogicalResult addCopy(gpu::MemcpyOp op);
  LogicalResult addLaunch(gpu::LaunchFuncOp op);
  LogicalResult addReturn(func::ReturnOp op);
  void nameMemory();
  void nameArguments();

  LogicalResult setHostSource(gpu::MemcpyOp op, json::Object &command);
  LogicalResult addFile(Operation *op, StringRef symbol, json::Object &command);
  std::optional<int64_t> getMemory(Value value) const;
  FailureOr<int64_t> getNumber(Operation *op, Value value) const;

  ModuleOp module;
  func::FuncOp function;
  llvm::DenseMap<Value, int64_t> memoryIds;
  llvm::DenseMap<Value, SmallVector<size_t>> downloads; // by host memref
  std::map<std::string, std::string> files;             // contents by name
  std::vector<std::string> inputNames, memoryNames;
  json::Array kernels, memory, commands;
};
} // namespace

std::optional<int64_t> PackageWriter::getMemory(Value value) const {
  auto place = memoryIds.find(getMemoryBase(value));
  return place == memoryIds.end() ? std::nullopt
                                  : std::make_optional(place->second);
}

FailureOr<int64_t> PackageWriter::getNumber(Operation *op, Value value) const {
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return number.getSExtValue();
  return op->emitError()
         << "has a size that is not a constant; a package lists commands "
            "without variables, so give the inputs static sizes";
}

/// Adds the known counts and properties of a kernel to its entry in the
/// manifest.
static void addKernelMetadata(const LayoutClKernelMetadata &facts,
                              json::Object &entry) {
  if (facts.any_groups)
    entry["any_groups"] = true;
  if (facts.may_repeat)
    entry["may_repeat"] = true;
  if (facts.operations >= 0)
    entry["operations"] = facts.operations;
  if (facts.bytes >= 0)
    entry["bytes"] = facts.bytes;
  if (llvm::any_of(facts.items, [](int64_t count) { return count >= 0; }))
    entry["items"] = json::Array(facts.items);
}

LogicalResult PackageWriter::addKernels(gpu::BinaryOp binary) {
  auto object = cast<gpu::ObjectAttr>(binary.getObjects()[0]);
  std::string file = toWord(binary.getName()) + ".spv";
  files[file] = object.getObject().getValue().str();
  std::optional<StringRef> source = getOpenCLSource(binary);
  std::string sourceFile = toWord(binary.getName()) + ".cl";
  if (source)
    files[sourceFile] = source->str();
  if (!object.getKernels())
    return binary.emitError()
           << "has no kernel table; run "
              "layout-opencl-serialize-kernels on the GPU module";
  for (gpu::KernelMetadataAttr kernel : object.getKernels()) {
    json::Array arguments;
    LayoutClKernelMetadata facts = readKernelMetadata(kernel.getMetadata());
    auto type = cast<FunctionType>(kernel.getFunctionType());
    for (auto [i, input] : llvm::enumerate(type.getInputs())) {
      auto memref = dyn_cast<MemRefType>(input);
      if (!memref) {
        // The type of the binary's parameter (see
        // layout-opencl-kernels-to-spirv).
        std::string scalar = input.isIndex() ? "i64"
                             : input.isF16() ? "f32"
                                             : toText(input);
        arguments.push_back(json::Object{{"kind", "scalar"}, {"type", scalar}});
        continue;
      }
      auto storage =
          getDeviceStorage(memref, [&] { return binary.emitError(); });
      if (failed(storage))
        return failure();
      json::Object argument{{"kind", getKindName(storage->kind)},
                            {"element", toText(storage->element)}};
      DictionaryAttr attributes = kernel.getArgAttrDict(i);
      if (auto access = attributes ? attributes.getAs<StringAttr>("access")
                                   : StringAttr())
        argument["access"] = toUtf8(access.getValue());
      else
        argument["access"] =
            i < 63 && !(facts.writes >> i & 1) ? "read_only" : "read_write";
      arguments.push_back(std::move(argument));
    }
    std::string name = toUtf8(kernel.getName().getValue());
    json::Object entry{
        {"name", name}, {"file", file}, {"arguments", std::move(arguments)}};
    addKernelMetadata(facts, entry);
    if (source) {
      entry["source"] = sourceFile;
      entry["source_name"] = kKernelPrefix.str() + name;
    }
    kernels.push_back(std::move(entry));
  }
  return success();
}

LogicalResult PackageWriter::addAlloc(gpu::AllocOp op) {
  MemRefType type = op.getType();
  auto storage = getDeviceStorage(type, [&] { return op.emitError(); });
  if (failed(storage))
    return failure();
  SmallVector<int64_t> sizes;
  unsigned next = 0;
  for (int64_t size : type.getShape()) {
    if (ShapedType::isDynamic(size)) {
      auto number = getNumber(op, op.getDynamicSizes()[next++]);
      if (failed(number))
        return failure();
      size = *number;
    }
    sizes.push_back(size);
  }
  json::Object entry{{"kind", getKindName(storage->kind)}};
  if (storage->isImage()) {
    entry["width"] = sizes.back();
    entry["height"] = sizes[sizes.size() - 2];
    if (sizes.size() == 3)
      entry["slices"] = sizes[0];
    entry["channel_order"] = "CL_RGBA";
    entry["channel_type"] = getChannelType(storage->element);
  } else {
    entry["elements"] = sizes[0];
    entry["element"] = toText(storage->element);
  }
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (attribute.getName() != kConstantAttrName &&
        attribute.getName().strref().starts_with("layout.")) {
      std::string text;
      llvm::raw_string_ostream(text) << attribute.getValue();
      entry[toUtf8(attribute.getName())] = toUtf8(text);
    }
  memoryIds[op.getMemref()] = memory.size();
  memoryNames.push_back(getNodeName(op.getLoc()));
  memory.push_back(std::move(entry));
  if (auto data = op->getAttrOfType<FlatSymbolRefAttr>(kConstantAttrName)) {
    (*memory.back().getAsObject())["constant"] = true;
    // Image data is row by row, with four channels per pixel.
    json::Object command{{"command", "upload"},
                         {"memory", static_cast<int64_t>(memory.size()) - 1}};
    if (failed(addFile(op, data.getValue(), command)))
      return failure();
    commands.push_back(std::move(command));
  }
  return success();
}

/// Sets the source of an upload: an input, or the file of a constant. Emits an
/// error and fails for other host memory.
LogicalResult PackageWriter::setHostSource(gpu::MemcpyOp op,
                                           json::Object &command) {
  Value base = getMemoryBase(op.getSrc());
  if (auto argument = dyn_cast<BlockArgument>(base)) {
    command["input"] = argument.getArgNumber();
    return success();
  }
  if (auto get = base.getDefiningOp<memref::GetGlobalOp>())
    return addFile(op, get.getName(), command);
  return op.emitError() << "copies host memory that is neither an argument of "
                           "the function nor a constant; a package cannot hold "
                           "values that the host computes";
}

/// Returns the bytes of a constant, with those of a splat repeated for each
/// element. Returns std::nullopt for other globals, and if the program does not
/// contain the elements.
static std::optional<std::string> getBytes(memref::GlobalOp global) {
  if (!global || !global.getConstant() || !global.getInitialValue())
    return std::nullopt;
  Attribute value = *global.getInitialValue();
  std::optional<ArrayRef<char>> once = layout::getConstantBytes(value);
  if (!once)
    return std::nullopt;
  auto splat = dyn_cast<SplatElementsAttr>(value);
  std::string bytes;
  for (int64_t i = 0, e = splat ? splat.getNumElements() : 1; i < e; ++i)
    bytes.append(once->begin(), once->end());
  return bytes;
}

LogicalResult PackageWriter::addFile(Operation *op, StringRef symbol,
                                     json::Object &command) {
  std::optional<std::string> bytes =
      getBytes(module.lookupSymbol<memref::GlobalOp>(symbol));
  if (!bytes)
    return op->emitError() << "copies '" << symbol
                           << "', which is not a constant with data";
  std::string file = toWord(symbol) + ".bin";
  files[file] = std::move(*bytes);
  command["file"] = file;
  return success();
}

LogicalResult PackageWriter::addCopy(gpu::MemcpyOp op) {
  std::optional<int64_t> to = getMemory(op.getDst()),
                         from = getMemory(op.getSrc());
  if (to && from) {
    commands.push_back(
        json::Object{{"command", "copy"}, {"memory", *to}, {"from", *from}});
  } else if (to) {
    json::Object command{{"command", "upload"}, {"memory", *to}};
    if (failed(setHostSource(op, command)))
      return failure();
    commands.push_back(std::move(command));
  } else if (from) {
    downloads[getMemoryBase(op.getDst())].push_back(commands.size());
    commands.push_back(
        json::Object{{"command", "download"}, {"memory", *from}});
  } else {
    return op.emitError()
           << "copies memory that this function does not allocate";
  }
  return success();
}

/// Returns the JSON value of a number: a string for an infinity or NaN, which
/// JSON does not have, and for -0.
static json::Value describeReal(double real) {
  if (std::isnan(real))
    return "nan";
  if (std::isinf(real))
    return real < 0 ? "-inf" : "inf";
  if (real == 0 && std::signbit(real))
    return "-0.0";
  return real;
}

LogicalResult PackageWriter::addLaunch(gpu::LaunchFuncOp op) {
  json::Array groups, items, arguments;
  auto add = [&](json::Array &array, gpu::KernelDim3 sizes) {
    for (Value size : {sizes.x, sizes.y, sizes.z}) {
      auto number = getNumber(op, size);
      if (failed(number))
        return failure();
      array.push_back(*number);
    }
    return success();
  };
  if (failed(add(groups, op.getGridSizeOperandValues())) ||
      failed(add(items, op.getBlockSizeOperandValues())))
    return failure();
  for (Value operand : op.getKernelOperands()) {
    FloatAttr real;
    if (std::optional<int64_t> id = getMemory(operand)) {
      arguments.push_back(json::Object{{"memory", *id}});
    } else if (matchPattern(operand, m_Constant(&real))) {
      arguments.push_back(
          json::Object{{"scalar", describeReal(real.getValueAsDouble())}});
    } else {
      auto number = getNumber(op, operand);
      if (failed(number))
        return failure();
      arguments.push_back(json::Object{{"scalar", *number}});
    }
  }
  commands.push_back(json::Object{
      {"command", "launch"},
      {"kernel", toUtf8(op.getKernelName().getValue())},
      {"file", toWord(op.getKernelModuleName().getValue()) + ".spv"},
      {"groups", std::move(groups)},
      {"items", std::move(items)},
      {"arguments", std::move(arguments)}});
  return success();
}

/// Replaces each download command, a copy from the device to a host memref, by
/// one command for each result of `op` that is this memref, and drops a command
/// without such a result. Emits an error and fails if a result is not copied
/// from the device.
LogicalResult PackageWriter::addReturn(func::ReturnOp op) {
  std::vector<SmallVector<int64_t>> outputs(commands.size());
  for (auto [i, value] : llvm::enumerate(op.getOperands())) {
    auto place = downloads.find(getMemoryBase(value));
    if (place == downloads.end())
      return op.emitError() << "returns result " << i
                            << ", which is not copied from the device";
    for (size_t command : place->second)
      outputs[command].push_back(i);
  }
  json::Array all;
  for (auto [command, given] : llvm::zip_equal(commands, outputs)) {
    const json::Object &fields = *command.getAsObject();
    if (fields.getString("command") != "download") {
      all.push_back(std::move(command));
      continue;
    }
    for (int64_t output : given) {
      json::Object download(fields);
      download["output"] = output;
      all.push_back(std::move(download));
    }
  }
  commands = std::move(all);
  return success();
}

LogicalResult PackageWriter::add(Operation &op) {
  if (auto alloc = dyn_cast<gpu::AllocOp>(op))
    return addAlloc(alloc);
  if (auto copy = dyn_cast<gpu::MemcpyOp>(op))
    return addCopy(copy);
  if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op))
    return addLaunch(launch);
  if (auto done = dyn_cast<func::ReturnOp>(op))
    return addReturn(done);
  if (auto dealloc = dyn_cast<gpu::DeallocOp>(op)) {
    if (std::optional<int64_t> id = getMemory(dealloc.getMemref()))
      commands.push_back(json::Object{{"command", "release"}, {"memory", *id}});
    return success();
  }
  if (isa<memref::AllocOp, memref::DeallocOp, memref::GetGlobalOp,
          memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp>(op) ||
      matchPattern(&op, m_Constant()))
    return success();
  return op.emitOpError() << "cannot be in a package, which lists allocations, "
                             "copies and launches with constant sizes";
}

/// Names each memory object of the package after the input that is uploaded to
/// it, else after the network node of its gpu.alloc, else after its constant or
/// the output that is downloaded from it, else "memory".
void PackageWriter::nameMemory() {
  UniqueNames inputs, unique;
  for (BlockArgument argument : function.getArguments()) {
    std::string name = getNodeName(argument.getLoc());
    inputNames.push_back(inputs.add(
        name.empty() ? "input" + std::to_string(argument.getArgNumber())
                     : name));
  }
  for (const json::Value &command : commands) {
    const json::Object &fields = *command.getAsObject();
    std::optional<int64_t> id = fields.getInteger("memory");
    if (!id)
      continue;
    std::string &name = memoryNames[*id];
    if (std::optional<int64_t> input = fields.getInteger("input"))
      name = inputNames[*input];
    else if (!name.empty())
      continue;
    else if (std::optional<StringRef> file = fields.getString("file"))
      name = file->drop_back(StringRef(".bin").size()).str();
    else if (std::optional<int64_t> output = fields.getInteger("output"))
      name = "output" + std::to_string(*output);
  }
  for (auto [name, entry] : llvm::zip_equal(memoryNames, memory)) {
    name = unique.add(name.empty() ? "memory" : name);
    (*entry.getAsObject())["name"] = name;
  }
}

/// Names kernel arguments after the operands of the first launch.
void PackageWriter::nameArguments() {
  auto getKey = [](const json::Object &fields, StringRef name) {
    return (*fields.getString("file") + "\n" + *fields.getString(name)).str();
  };
  std::map<std::string, const json::Array *> launches;
  for (const json::Value &command : commands) {
    const json::Object &fields = *command.getAsObject();
    if (fields.getString("command") == "launch")
      launches.try_emplace(getKey(fields, "kernel"),
                           fields.getArray("arguments"));
  }
  for (json::Value &kernel : kernels) {
    auto launch = launches.find(getKey(*kernel.getAsObject(), "name"));
    if (launch == launches.end())
      continue;
    UniqueNames unique;
    for (auto [argument, given] : llvm::zip(
             *kernel.getAsObject()->getArray("arguments"), *launch->second)) {
      std::optional<int64_t> id = given.getAsObject()->getInteger("memory");
      (*argument.getAsObject())["name"] =
          unique.add(id ? memoryNames[*id] : "scalar");
    }
  }
}

LogicalResult PackageWriter::collect() {
  for (auto binary : module.getOps<gpu::BinaryOp>())
    if (failed(addKernels(binary)))
      return failure();
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitError() << "has control flow; a package lists commands "
                                   "in order";
  for (Operation &op : function.getBody().front())
    if (failed(add(op)))
      return failure();
  nameMemory();
  nameArguments();
  return success();
}

static json::Object describeTensor(Type type) {
  json::Object entry{{"type", toText(type)}};
  if (auto memref = dyn_cast<MemRefType>(type)) {
    entry["element"] = toText(memref.getElementType());
    entry["sizes"] = json::Array(memref.getShape());
  }
  return entry;
}

LogicalResult PackageWriter::write(StringRef directory) {
  FunctionType type = function.getFunctionType();
  json::Array inputs, outputs;
  for (auto [name, input] : llvm::zip_equal(inputNames, type.getInputs())) {
    json::Object entry = describeTensor(input);
    entry["name"] = name;
    inputs.push_back(std::move(entry));
  }
  for (Type output : type.getResults())
    outputs.push_back(describeTensor(output));
  json::Object manifest{{"function", toUtf8(function.getName())},
                        {"inputs", std::move(inputs)},
                        {"outputs", std::move(outputs)},
                        {"kernels", std::move(kernels)},
                        {"memory", std::move(memory)},
                        {"commands", std::move(commands)}};
  if (failed(makePackageDirectory(function, directory)))
    return failure();
  auto write = [&](StringRef name, StringRef contents) {
    return writePackageFile(function, directory, name, [&](raw_ostream &os) {
      os << contents;
      return success();
    });
  };
  for (const auto &[name, contents] : files)
    if (failed(write(name, contents)))
      return failure();
  return write(
      kManifestName,
      llvm::formatv("{0:2}\n", json::Value(std::move(manifest))).str());
}

/// Emits an error and fails if a binary of the module was made for another API.
static LogicalResult checkBinaries(ModuleOp module, KernelAPI api) {
  for (auto binary : module.getOps<gpu::BinaryOp>()) {
    auto object = cast<gpu::ObjectAttr>(binary.getObjects()[0]);
    auto target = dyn_cast_or_null<spirv::TargetEnvAttr>(object.getTarget());
    bool isVulkan = target && llvm::is_contained(target.getCapabilities(),
                                                 spirv::Capability::Shader);
    if (isVulkan != (api == KernelAPI::Vulkan))
      return binary.emitError()
             << "has SPIR-V for " << (isVulkan ? "Vulkan" : "OpenCL")
             << ", and the package is for the other API; write the package "
                "from the GPU module";
  }
  return success();
}

LogicalResult layout::writeKernelPackage(ModuleOp module, StringRef name,
                                         StringRef directory, KernelAPI api) {
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (!function || function.isExternal())
    return module.emitError() << "has no function '" << name
                              << "' with a body to make a package of";
  PackageWriter writer(module, function);
  return failure(failed(checkBinaries(module, api)) ||
                 failed(writer.collect()) || failed(writer.write(directory)));
}
