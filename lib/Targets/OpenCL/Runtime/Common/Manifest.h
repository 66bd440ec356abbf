//===- Manifest.h - Read and check a package --------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The manifest.json of a package (GPUToOpenCL/Package.h) after validation:
// every index is in range, every file has been read, and every copy has the
// size of its source and destination. It is parsed by nlohmann's JSON library,
// which keeps 64-bit integers and parses nested text without recursion.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_COMMON_MANIFEST_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_COMMON_MANIFEST_H

#include "layout/Targets/OpenCL/Runtime/OpenCL.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mlir::layout {

struct PackageTensor {
  std::string name, element;
  std::vector<int64_t> sizes;
  int64_t bytes;
};

struct PackageMemory {
  int32_t kind = 0;    // LayoutClKind; 0: a buffer
  int32_t channel = 0; // LayoutClChannel
  int64_t width = 0, height = 0, slices = 1, bytes = 0;
  std::string element;
  bool isConstant = false;
};

struct PackageKernel {
  struct Argument {
    int32_t kind = 0; // like that of memory; -1: a scalar
    std::string element;
  };
  std::string name, file, source; // source may be empty
  LayoutClKernelMetadata facts = LAYOUT_CL_UNKNOWN_FACTS;
  std::vector<Argument> arguments;
};

struct PackageCommand {
  enum Action { Upload, Copy, Download, Launch, Release };
  struct Value {
    int64_t memory = -1; // -1: a scalar
    int64_t bytes = 0;
    char data[8] = {};
  };
  Action action;
  int64_t memory = -1;
  int64_t other = -1; // the input, output, kernel or source memory
  std::string file;   // uploaded if not empty
  int64_t grid[6] = {};
  std::vector<Value> values;
};

struct Manifest {
  std::vector<PackageTensor> inputs, outputs;
  std::vector<PackageKernel> kernels;
  std::vector<PackageMemory> memory;
  std::vector<PackageCommand> commands;
  std::map<std::string, std::string> files; // contents by name
};

/// Reads the package in `directory` to `manifest` and checks it. Returns the
/// first error, or "" if there is none.
std::string readManifest(const std::string &directory, Manifest &manifest);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_COMMON_MANIFEST_H
