//===- Package.cpp - Run a package of kernels -----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Package.h"
#include <cstring>
#include <set>

using namespace mlir::layout;
using Lock = std::lock_guard<std::recursive_mutex>;

static std::vector<HostTensor>
describe(const std::vector<PackageTensor> &tensors) {
  std::vector<HostTensor> described;
  for (const PackageTensor &tensor : tensors)
    described.push_back({{tensor.name.c_str(), tensor.element.c_str(),
                          static_cast<int32_t>(tensor.sizes.size()),
                          tensor.sizes.data(), tensor.bytes},
                         ""});
  return described;
}

void LayoutPackage::getConstant(int64_t number, const std::string &bytes) {
  const PackageMemory &of = manifest.memory[number];
  functions.getConstant(&memory[number], of.kind, of.channel, of.width,
                        of.height, of.slices, bytes.data(), bytes.size());
}

std::string LayoutPackage::checkSizes() const {
  MemoryLimit object = getObjectLimit(), total = getTotalLimit();
  std::string wrong;
  auto check = [&](const std::string &what, uint64_t bytes, MemoryLimit limit) {
    if (wrong.empty() && bytes > limit.bytes)
      wrong = what + " " + std::to_string(bytes) +
              " bytes, which is beyond the limit of the device, " +
              std::to_string(limit.bytes) + " bytes (" + limit.name + ")";
  };
  uint64_t constants = 0, tensors = 0;
  for (size_t i = 0; i < manifest.memory.size(); ++i) {
    const PackageMemory &each = manifest.memory[i];
    check("manifest.memory[" + std::to_string(i) + "] has", each.bytes, object);
    constants += each.isConstant ? each.bytes : 0;
    check("the constants have", constants, total);
  }
  // Their data are also on the host.
  for (const auto *list : {&manifest.inputs, &manifest.outputs})
    for (const PackageTensor &each : *list) {
      check("an input or output has", each.bytes, object);
      tensors += each.bytes;
      check("the inputs and outputs have", tensors, total);
    }
  return wrong;
}

/// Builds the kernels and uploads the constants, and frees host data that no
/// run needs. Returns false if an error was reported.
bool LayoutPackage::load() {
  inputs = describe(manifest.inputs);
  outputs = describe(manifest.outputs);
  for (HostTensor &output : outputs)
    output.data.resize(output.description.bytes);
  kernels.resize(manifest.kernels.size());
  memory.resize(manifest.memory.size());
  std::vector<PackageCommand> eachRun;
  std::set<std::string> filesOfRuns;
  for (PackageCommand &command : manifest.commands) {
    if (command.action == PackageCommand::Launch) {
      const PackageKernel &kernel = manifest.kernels[command.other];
      const std::string &spirv = manifest.files[kernel.file];
      functions.getKernel(&kernels[command.other], spirv.data(), spirv.size(),
                          kernel.source.empty()
                              ? nullptr
                              : manifest.files[kernel.source].c_str(),
                          kernel.name.c_str(), &kernel.facts);
    } else if (command.action == PackageCommand::Upload &&
               manifest.memory[command.memory].isConstant) {
      getConstant(command.memory, manifest.files[command.file]);
      continue;
    }
    if (error.isPending())
      return false;
    filesOfRuns.insert(command.file);
    eachRun.push_back(std::move(command));
  }
  manifest.commands = std::move(eachRun);
  for (auto it = manifest.files.begin(); it != manifest.files.end();)
    it =
        filesOfRuns.count(it->first) ? std::next(it) : manifest.files.erase(it);
  return true;
}

void *LayoutPackage::getMemory(int64_t number) {
  const PackageMemory &of = manifest.memory[number];
  void *&place = memory[number];
  if (!place)
    place = of.kind ? functions.createImage(of.kind, of.channel, of.width,
                                            of.height, of.slices)
                    : functions.createBuffer(of.bytes);
  return place;
}

void LayoutPackage::launch(const PackageCommand &command) {
  std::vector<const void *> values;
  std::vector<int64_t> sizes;
  for (const PackageCommand::Value &value : command.values) {
    values.push_back(value.memory < 0 ? value.data : getMemory(value.memory));
    sizes.push_back(value.bytes);
  }
  functions.launch(kernels[command.other], command.grid,
                   static_cast<int32_t>(values.size()), values.data(),
                   sizes.data());
}

void LayoutPackage::execute(const PackageCommand &command) {
  if (command.action == PackageCommand::Launch)
    return launch(command);
  if (command.action == PackageCommand::Release) {
    functions.release(memory[command.memory]);
    memory[command.memory] = nullptr;
    return;
  }
  void *on = getMemory(command.memory);
  if (command.action == PackageCommand::Copy) {
    functions.copy(on, getMemory(command.other),
                   manifest.memory[command.memory].bytes);
  } else if (command.action == PackageCommand::Upload) {
    bool isInput = command.file.empty();
    startUpload(
        on, isInput ? inputs[command.other].data : manifest.files[command.file],
        isInput);
  } else {
    startDownload(outputs[command.other].data, on);
  }
}

void LayoutPackage::start() {
  for (const HostTensor &input : inputs)
    if (!input.isSet)
      return error.report("running a package failed: its input " +
                          std::to_string(&input - inputs.data()) + ", '" +
                          input.description.name + "', was not set");
  for (const PackageCommand &command : manifest.commands) {
    if (error.isPending())
      break;
    execute(command);
  }
  endRun();
  for (HostTensor &output : outputs)
    output.isSet = !error.isPending();
  for (size_t i = 0; i < memory.size(); ++i)
    if (!manifest.memory[i].isConstant) {
      functions.release(memory[i]);
      memory[i] = nullptr;
    }
}

void LayoutPackage::wait() {
  if (!waitForRuns())
    for (HostTensor &output : outputs)
      output.isSet = false;
}

LayoutPackage::~LayoutPackage() {
  for (void *each : memory)
    functions.release(each);
  for (void *kernel : kernels)
    functions.releaseKernel(kernel);
}

//===----------------------------------------------------------------------===//
// C API
//===----------------------------------------------------------------------===//

LayoutPackage *
mlir::layout::loadPackage(const char *directory,
                          std::unique_ptr<LayoutPackage> package) {
  PendingError &error = package->error;
  Lock lock(error.mutex);
  if (error.isPending())
    return nullptr;
  std::string wrong = readManifest(directory, package->manifest);
  if (wrong.empty()) {
    if (!package->open())
      return nullptr;
    wrong = package->checkSizes();
  }
  if (!wrong.empty())
    error.report(std::string("the package '") + directory +
                 "' cannot be loaded: " + wrong + "; write it again");
  else if (package->load())
    return package.release();
  return nullptr;
}

/// Returns the tensor `number`. Reports an error and returns null unless it
/// exists and has `bytes` bytes.
static HostTensor *find(PendingError &error, std::vector<HostTensor> &tensors,
                        const char *what, int32_t number, int64_t bytes) {
  if (number < 0 || size_t(number) >= tensors.size())
    error.report(std::string("a package has no ") + what + " " +
                 std::to_string(number) + ", only " +
                 std::to_string(tensors.size()));
  else if (tensors[number].description.bytes != bytes)
    error.report(std::string(what) + " " + std::to_string(number) +
                 " of a package has " +
                 std::to_string(tensors[number].description.bytes) +
                 " bytes, not " + std::to_string(bytes));
  else
    return &tensors[number];
  return nullptr;
}

int32_t layoutPackageCountInputs(const LayoutPackage *package) {
  return package ? static_cast<int32_t>(package->inputs.size()) : 0;
}

int32_t layoutPackageCountOutputs(const LayoutPackage *package) {
  return package ? static_cast<int32_t>(package->outputs.size()) : 0;
}

const LayoutPackageTensor *layoutPackageGetInput(const LayoutPackage *package,
                                                 int32_t number) {
  return number >= 0 && number < layoutPackageCountInputs(package)
             ? &package->inputs[number].description
             : nullptr;
}

const LayoutPackageTensor *layoutPackageGetOutput(const LayoutPackage *package,
                                                  int32_t number) {
  return number >= 0 && number < layoutPackageCountOutputs(package)
             ? &package->outputs[number].description
             : nullptr;
}

void layoutPackageSetInput(LayoutPackage *package, int32_t number,
                           const void *data, int64_t bytes) {
  if (!package || package->error.isPending())
    return;
  HostTensor *input =
      find(package->error, package->inputs, "input", number, bytes);
  if (!input || !package->waitForInputs())
    return;
  input->data.assign(static_cast<const char *>(data), bytes);
  input->isSet = true;
}

void layoutPackageRun(LayoutPackage *package) {
  if (!package)
    return;
  Lock lock(package->error.mutex);
  if (package->open())
    package->start();
}

void layoutPackageWait(LayoutPackage *package) {
  if (package)
    package->wait();
}

void layoutPackageCopyOutput(LayoutPackage *package, int32_t number, void *data,
                             int64_t bytes) {
  if (!package || package->error.isPending())
    return;
  const HostTensor *output =
      find(package->error, package->outputs, "output", number, bytes);
  if (!output)
    return;
  package->wait();
  if (package->error.isPending())
    return;
  if (!output->isSet)
    return package->error.report("output " + std::to_string(number) +
                                 " of a package was read before a run");
  std::memcpy(data, output->data.data(), bytes);
}

void layoutPackageDestroy(LayoutPackage *package) {
  if (!package)
    return;
  Lock lock(package->error.mutex);
  delete package;
}
