//===- Package.h - Run a package of kernels ---------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The parts of packages that do not depend on the API of the device. A runtime
// derives a class with its transfers and waits, and its load function
// passes an object of it to `loadPackage`.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_COMMON_PACKAGE_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_COMMON_PACKAGE_H

#include "Manifest.h"
#include "PendingError.h"
#include "layout/Targets/OpenCL/Runtime/Package.h"
#include <cstdint>
#include <memory>

namespace mlir::layout {

/// The functions of a runtime that packages call; OpenCL.h documents them.
struct RuntimeFunctions {
  decltype(&layoutClCreateBuffer) createBuffer;
  decltype(&layoutClCreateImage) createImage;
  decltype(&layoutClRelease) release;
  decltype(&layoutClGetConstant) getConstant;
  decltype(&layoutClCopy) copy;
  decltype(&layoutClGetKernel) getKernel;
  decltype(&layoutClLaunch) launch;
  /// Releases a kernel, which may be null.
  void (*releaseKernel)(void *kernel);
};

/// A size in bytes that a device or its API states, and its name there.
struct MemoryLimit {
  uint64_t bytes;
  const char *name;
};

/// An input or output tensor and its data between runs.
struct HostTensor {
  LayoutPackageTensor description;
  std::string data;
  bool isSet = false;
};

/// Loads a package to `package`. Returns the package, or null after an error.
LayoutPackage *loadPackage(const char *directory,
                           std::unique_ptr<LayoutPackage> package);

} // namespace mlir::layout

struct LayoutPackage {
  LayoutPackage(const mlir::layout::RuntimeFunctions &functions,
                mlir::layout::PendingError &error)
      : error(error), functions(functions) {}
  virtual ~LayoutPackage();

  /// Returns true if the device is open, after opening it if necessary.
  virtual bool open() = 0;
  /// Return the limits of one buffer or image, and of all memory, of the open
  /// device.
  virtual mlir::layout::MemoryLimit getObjectLimit() const = 0;
  virtual mlir::layout::MemoryLimit getTotalLimit() const = 0;
  /// Waits until the inputs of earlier runs were read. Returns false after an
  /// error.
  virtual bool waitForInputs() = 0;
  /// Waits for all runs. Returns false after an error.
  virtual bool waitForRuns() = 0;

  /// Checks the sizes in the manifest against the limits of the open device,
  /// before memory is allocated. Returns the first error, or "".
  std::string checkSizes() const;
  bool load();
  void start();
  void wait();

  mlir::layout::PendingError &error;
  mlir::layout::Manifest manifest;
  std::vector<mlir::layout::HostTensor> inputs, outputs;

protected:
  /// Starts an upload of `data`. The data of an input may change after
  /// `waitForInputs`, other data does not change.
  virtual void startUpload(void *memory, const std::string &data,
                           bool isInput) = 0;
  /// Starts a download to `data`, which is done after `waitForRuns`.
  virtual void startDownload(std::string &data, void *memory) = 0;
  /// Submits the commands of a run.
  virtual void endRun() = 0;

private:
  void *getMemory(int64_t number);
  void getConstant(int64_t number, const std::string &bytes);
  void launch(const mlir::layout::PackageCommand &command);
  void execute(const mlir::layout::PackageCommand &command);

  const mlir::layout::RuntimeFunctions &functions;
  std::vector<void *> kernels; // null if never launched
  std::vector<void *> memory;  // null except from first to last use
};

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_COMMON_PACKAGE_H
