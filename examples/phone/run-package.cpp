//===- run-package.cpp - Run a package on a Vulkan device -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs what `layout-translate --layout-to-vulkan-package` wrote:
//
//   run-package DIRECTORY [REPEAT] [INPUT.. [-- OUTPUT..]]
//
// Files have the bytes of one tensor each, little-endian. Inputs that are not
// given have the numbers of a fixed generator, so that all devices get the
// same. Prints the device, the time of each run, and a summary of each result.
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/OpenCL/Runtime/VulkanPackage.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using Bytes = std::vector<char>;

/// Returns numbers from -1 to 1 for floats, and small ones for integers.
static Bytes makeInput(const LayoutPackageTensor &tensor) {
  Bytes bytes(tensor.bytes);
  uint32_t state = 1;
  auto next = [&] {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
  };
  if (!std::strcmp(tensor.element, "f32")) {
    for (size_t i = 0; i + sizeof(float) <= bytes.size(); i += sizeof(float)) {
      float number = float(next()) / float(1 << 23) - 1;
      std::memcpy(&bytes[i], &number, sizeof(number));
    }
    return bytes;
  }
  // The first byte of each element: f16 subnormals, or small integers.
  int64_t count = 1;
  for (int32_t d = 0; d < tensor.rank; ++d)
    count *= tensor.sizes[d];
  for (int64_t i = 0; i < count; ++i)
    bytes[i * (tensor.bytes / count)] = char(next() & 1);
  return bytes;
}

static bool readInput(const char *path, Bytes &bytes) {
  std::ifstream file(path, std::ios::binary);
  bytes.assign(std::istreambuf_iterator<char>(file), {});
  return bool(file);
}

static bool writeOutput(const char *path, const Bytes &bytes) {
  std::ofstream file(path, std::ios::binary);
  return bool(file.write(bytes.data(), bytes.size()).flush());
}

static void describe(const char *what, const LayoutPackageTensor &tensor) {
  std::printf("%s '%s', %s, sizes", what, tensor.name, tensor.element);
  for (int32_t d = 0; d < tensor.rank; ++d)
    std::printf(" %lld", static_cast<long long>(tensor.sizes[d]));
}

/// Prints a hash of the bytes and, for f32, the mean and the largest absolute
/// number.
static void summarize(const LayoutPackageTensor &tensor, const Bytes &bytes) {
  uint64_t hash = 0xcbf29ce484222325;
  for (unsigned char byte : bytes)
    hash = (hash ^ byte) * 0x100000001b3;
  describe("output", tensor);
  std::printf(": hash %016llx", static_cast<unsigned long long>(hash));
  size_t count = bytes.size() / sizeof(float);
  if (!std::strcmp(tensor.element, "f32") && count) {
    double sum = 0, most = 0;
    for (size_t i = 0; i < count; ++i) {
      float number;
      std::memcpy(&number, &bytes[i * sizeof(number)], sizeof(number));
      sum += number;
      most = std::max(most, double(std::fabs(number)));
    }
    std::printf(", mean %.9g, largest %.9g", sum / count, most);
  }
  std::printf("\n");
}

static int fail(const char *what, const char *path) {
  std::fprintf(stderr, "run-package: error: %s '%s'\n", what, path);
  return 1;
}

/// Sets the inputs from the files `given`, in order, and from the generator.
/// Returns the first file that cannot be read, or null.
static const char *setInputs(LayoutPackage *net,
                             const std::vector<const char *> &given) {
  for (int32_t i = 0; i < layoutPackageCountInputs(net); ++i) {
    const LayoutPackageTensor &tensor = *layoutPackageGetInput(net, i);
    Bytes bytes;
    if (size_t(i) >= given.size())
      bytes = makeInput(tensor);
    else if (!readInput(given[i], bytes))
      return given[i];
    describe("input", tensor);
    std::printf("\n");
    layoutPackageSetInput(net, i, bytes.data(), bytes.size());
  }
  return nullptr;
}

static void run(LayoutPackage *net, int repeat) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (int i = 0; i < repeat; ++i) {
    Clock::time_point start = Clock::now();
    layoutPackageRun(net);
    layoutPackageWait(net);
    times.push_back(
        std::chrono::duration<double, std::milli>(Clock::now() - start)
            .count());
  }
  std::printf("runs in ms:");
  for (double time : times)
    std::printf(" %.3f", time);
  std::sort(times.begin(), times.end());
  std::printf("\nfastest %.3f ms, median %.3f ms\n", times.front(),
              times[times.size() / 2]);
}

int main(int argc, char **argv) {
  if (argc < 2)
    return fail("state the directory of a package after", argv[0]);
  int repeat = argc > 2 ? std::max(std::atoi(argv[2]), 1) : 10;
  std::vector<const char *> inputs, outputs;
  bool isOutput = false;
  for (int i = 3; i < argc; ++i) {
    if (!std::strcmp(argv[i], "--"))
      isOutput = true;
    else
      (isOutput ? outputs : inputs).push_back(argv[i]);
  }
  LayoutPackage *net = layoutVkLoadPackage(argv[1]);
  int32_t isGpu = 0;
  if (const char *name = layoutVkGetUsedDevice(&isGpu))
    std::printf("device %s%s\n", name, isGpu ? "" : " (not a GPU)");
  if (const char *path = setInputs(net, inputs))
    return fail("cannot read", path);
  if (net)
    run(net, repeat);
  for (int32_t i = 0; i < layoutPackageCountOutputs(net); ++i) {
    const LayoutPackageTensor &tensor = *layoutPackageGetOutput(net, i);
    Bytes bytes(tensor.bytes);
    layoutPackageCopyOutput(net, i, bytes.data(), bytes.size());
    if (size_t(i) < outputs.size() && !writeOutput(outputs[i], bytes))
      return fail("cannot write", outputs[i]);
    summarize(tensor, bytes);
  }
  layoutPackageDestroy(net);
  // The runtime has printed the message.
  return layoutVkTakeError() != nullptr;
}
