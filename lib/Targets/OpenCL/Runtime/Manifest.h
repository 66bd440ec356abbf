//===- Manifest.h - A package, read and checked -----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The manifest.json of a package (GPUToOpenCL/Package.h) as a value in which
// every index is one of its list, every file was read, and every copy is as
// large as what it copies from and to. JSON is read by nlohmann's library,
// which keeps integers of 64 bits and needs no stack for nested text.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_MANIFEST_H
#define LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_MANIFEST_H

#include "layout/Targets/OpenCL/Runtime/OpenCL.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace mlir::layout::opencl {

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
    int32_t kind = 0; // as of memory; -1: a scalar
    std::string element;
  };
  std::string name, file, source; // source: empty where there is none
  LayoutClKernelFacts facts = LAYOUT_CL_UNKNOWN_FACTS;
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
  int64_t other = -1; // the input, output, kernel or memory that is copied
  std::string file;   // of an upload
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

/// What is wrong with the package, or nothing.
std::string readManifest(const std::string &directory, Manifest &manifest);

} // namespace mlir::layout::opencl

#endif // LAYOUT_LIB_TARGETS_OPENCL_RUNTIME_MANIFEST_H
