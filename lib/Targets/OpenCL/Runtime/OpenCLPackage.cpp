//===- OpenCLPackage.cpp - Run a package of OpenCL kernels ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/OpenCL/Runtime/OpenCLPackage.h"
#include "DeviceMemory.h"
#include "Manifest.h"
#include "Profile.h"
#include "Programs.h"
#include <cstring>
#include <set>

using namespace mlir::layout::opencl;
using Lock = std::lock_guard<std::recursive_mutex>;

namespace {
/// An input or output tensor and its data between runs.
struct HostTensor {
  LayoutClTensor description;
  std::string data;
  bool isSet = false;
};
} // namespace

namespace {
/// Owns the event of a command, or null.
class Event {
public:
  ~Event() { set(nullptr); }
  /// Takes ownership of `next` and releases the old event.
  void set(cl_event next) {
    if (event)
      clReleaseEvent(event);
    event = next;
  }
  cl_int wait() const {
    return event ? clWaitForEvents(1, &event) : CL_SUCCESS;
  }

private:
  cl_event event = nullptr;
};
} // namespace

struct LayoutClPackage {
  Manifest manifest;
  std::vector<HostTensor> inputs, outputs;
  std::vector<void *> kernels; // null if never launched
  std::vector<void *> memory;  // null except from first to last use
  Event uploaded, done;        // of the last run

  bool load();
  void start();
  void wait();
  ~LayoutClPackage();

private:
  void *getMemory(int64_t number);
  void *getConstant(int64_t number, const std::string &bytes);
  void launch(const PackageCommand &command);
  void execute(const PackageCommand &command);
};

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

void *LayoutClPackage::getConstant(int64_t number, const std::string &bytes) {
  const PackageMemory &of = manifest.memory[number];
  return layoutClGetConstant(&memory[number], of.kind, of.channel, of.width,
                             of.height, of.slices, bytes.data(), bytes.size());
}

/// Builds the kernels and uploads the constants, and frees host data that no
/// run needs. Returns false if an error was reported.
bool LayoutClPackage::load() {
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
      layoutClGetKernel(&kernels[command.other], spirv.data(), spirv.size(),
                        kernel.source.empty()
                            ? nullptr
                            : manifest.files[kernel.source].c_str(),
                        kernel.name.c_str(), &kernel.facts);
    } else if (command.action == PackageCommand::Upload &&
               manifest.memory[command.memory].isConstant) {
      getConstant(command.memory, manifest.files[command.file]);
      continue;
    }
    if (hasError())
      return false;
    filesOfRuns.insert(command.file);
    eachRun.push_back(std::move(command));
  }
  manifest.commands = std::move(eachRun);
  for (auto it = manifest.files.begin(); it != manifest.files.end();)
    it =
        filesOfRuns.count(it->first) ? std::next(it) : manifest.files.erase(it);
  return Session::get() != nullptr;
}

void *LayoutClPackage::getMemory(int64_t number) {
  const PackageMemory &of = manifest.memory[number];
  void *&place = memory[number];
  if (!place)
    place = of.kind ? layoutClCreateImage(of.kind, of.channel, of.width,
                                          of.height, of.slices)
                    : layoutClCreateBuffer(of.bytes);
  return place;
}

void LayoutClPackage::launch(const PackageCommand &command) {
  std::vector<const void *> values;
  std::vector<int64_t> sizes;
  for (const PackageCommand::Value &value : command.values) {
    values.push_back(value.memory < 0 ? value.data : getMemory(value.memory));
    sizes.push_back(value.bytes);
  }
  layoutClLaunch(kernels[command.other], command.grid,
                 static_cast<int32_t>(values.size()), values.data(),
                 sizes.data());
}

void LayoutClPackage::execute(const PackageCommand &command) {
  if (command.action == PackageCommand::Launch)
    return launch(command);
  if (command.action == PackageCommand::Release) {
    layoutClRelease(memory[command.memory]);
    memory[command.memory] = nullptr;
    return;
  }
  void *on = getMemory(command.memory);
  int64_t bytes = manifest.memory[command.memory].bytes;
  if (command.action == PackageCommand::Copy) {
    layoutClCopy(on, getMemory(command.other), bytes);
  } else if (command.action == PackageCommand::Upload) {
    const std::string &data = command.file.empty()
                                  ? inputs[command.other].data
                                  : manifest.files[command.file];
    cl_event event = nullptr;
    startUpload(on, data.data(), bytes,
                command.file.empty() ? &event : nullptr);
    if (event)
      uploaded.set(event);
  } else {
    startDownload(outputs[command.other].data.data(), on, bytes);
  }
}

void LayoutClPackage::start() {
  for (const HostTensor &input : inputs)
    if (!input.isSet)
      return report("running a package failed: its input " +
                    std::to_string(&input - inputs.data()) + ", '" +
                    input.description.name + "', was not set");
  for (const PackageCommand &command : manifest.commands) {
    if (hasError())
      break;
    execute(command);
  }
  cl_event event = nullptr;
  cl_command_queue queue = Session::getOpened()->queue;
  if (clEnqueueMarkerWithWaitList(queue, 0, nullptr, &event) == CL_SUCCESS)
    clFlush(queue);
  else
    clFinish(queue);
  done.set(event);
  for (HostTensor &output : outputs)
    output.isSet = !hasError();
  for (size_t i = 0; i < memory.size(); ++i)
    if (!manifest.memory[i].isConstant) {
      layoutClRelease(memory[i]);
      memory[i] = nullptr;
    }
}

void LayoutClPackage::wait() {
  cl_int code = done.wait();
  Lock lock(getMutex());
  done.set(nullptr);
  collectProfile();
  if (!check(code, "clWaitForEvents", "running a package"))
    for (HostTensor &output : outputs)
      output.isSet = false;
}

LayoutClPackage::~LayoutClPackage() {
  // Copies may be in flight even after an error.
  done.wait();
  for (void *each : memory)
    layoutClRelease(each);
  for (void *kernel : kernels)
    releaseKernel(static_cast<Kernel *>(kernel));
}

//===----------------------------------------------------------------------===//
// C API
//===----------------------------------------------------------------------===//

LayoutClPackage *layoutClLoadPackage(const char *directory) {
  Lock lock(getMutex());
  if (hasError())
    return nullptr;
  auto *package = new LayoutClPackage;
  std::string wrong = readManifest(directory, package->manifest);
  if (!wrong.empty())
    report(std::string("the package '") + directory +
           "' cannot be loaded: " + wrong + "; write it again");
  else if (package->load())
    return package;
  delete package;
  return nullptr;
}

/// Returns the tensor `number`. Reports an error and returns null unless it
/// exists and has `bytes` bytes.
template <typename Tensors>
static auto *find(Tensors &tensors, const char *what, int32_t number,
                  int64_t bytes) {
  if (number < 0 || size_t(number) >= tensors.size())
    report(std::string("a package has no ") + what + " " +
           std::to_string(number) + ", only " + std::to_string(tensors.size()));
  else if (tensors[number].description.bytes != bytes)
    report(std::string(what) + " " + std::to_string(number) +
           " of a package has " +
           std::to_string(tensors[number].description.bytes) + " bytes, not " +
           std::to_string(bytes));
  else
    return &tensors[number];
  return decltype(&tensors[0])(nullptr);
}

int32_t layoutClCountInputs(const LayoutClPackage *package) {
  return package ? static_cast<int32_t>(package->inputs.size()) : 0;
}

int32_t layoutClCountOutputs(const LayoutClPackage *package) {
  return package ? static_cast<int32_t>(package->outputs.size()) : 0;
}

const LayoutClTensor *layoutClGetInput(const LayoutClPackage *package,
                                       int32_t number) {
  return number >= 0 && number < layoutClCountInputs(package)
             ? &package->inputs[number].description
             : nullptr;
}

const LayoutClTensor *layoutClGetOutput(const LayoutClPackage *package,
                                        int32_t number) {
  return number >= 0 && number < layoutClCountOutputs(package)
             ? &package->outputs[number].description
             : nullptr;
}

void layoutClSetInput(LayoutClPackage *package, int32_t number,
                      const void *data, int64_t bytes) {
  if (!package || hasError())
    return;
  HostTensor *input = find(package->inputs, "input", number, bytes);
  if (!input)
    return;
  if (!check(package->uploaded.wait(), "clWaitForEvents", "running a package"))
    return;
  input->data.assign(static_cast<const char *>(data), bytes);
  input->isSet = true;
}

void layoutClRunPackage(LayoutClPackage *package) {
  Lock lock(getMutex());
  if (package && Session::get())
    package->start();
}

void layoutClWaitPackage(LayoutClPackage *package) {
  if (package)
    package->wait();
}

void layoutClCopyOutput(LayoutClPackage *package, int32_t number, void *data,
                        int64_t bytes) {
  if (!package || hasError())
    return;
  const HostTensor *output = find(package->outputs, "output", number, bytes);
  if (!output)
    return;
  package->wait();
  if (hasError())
    return;
  if (!output->isSet)
    return report("output " + std::to_string(number) +
                  " of a package was read before a run");
  std::memcpy(data, output->data.data(), bytes);
}

void layoutClDestroyPackage(LayoutClPackage *package) {
  Lock lock(getMutex());
  delete package;
}
