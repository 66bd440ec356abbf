//===- NpuCompute.cpp - Kernels on images of local tensors ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NpuMemory.h"
#include <algorithm>
#include <cstring>

using namespace mlir::npu;

void Simulator::beginCompute(const char *name, int64_t points,
                             const layout::ChipClock::Work &work,
                             const layout::ChipClock::Planes &planes) {
  computation = std::make_unique<Computation>();
  computation->name = name;
  computation->points = points;
  computation->work = work;
  computation->planes = planes;
}

void Simulator::addImage(int64_t bytes, unsigned access) {
  if (!computation)
    return report("an operand is outside a computation");
  Image image;
  image.bytes = bytes;
  image.access = access;
  image.data.reset(new uint8_t[std::max<int64_t>(bytes, 1)]);
  computation->images.push_back(std::move(image));
}

void Simulator::keepInCore(int64_t inner, int64_t count) {
  if (!computation || computation->images.empty() || inner < 1 || count < 1)
    return report("keys are outside an operand, or for no elements");
  computation->images.back().inner = inner;
  computation->images.back().count = count;
}

void Simulator::addBox(uint64_t address, int64_t imageByte,
                       int64_t elementBytes, const Box &shape,
                       const Box &stride, const Box &imageStride) {
  if (!computation || computation->images.empty())
    return report("a box is outside an operand");
  Image &image = computation->images.back();
  Operand operand{true, address, stride};
  std::string what = computation->name + ": operand " +
                     std::to_string(computation->images.size() - 1);
  bool isGood =
      checkCommand(shape, elementBytes, Engine::Compute) &&
      checkOperand(operand, shape, elementBytes, Engine::Compute, what.c_str());
  computation->isGood &= isGood;
  if (!isGood)
    return;
  image.elementBytes = elementBytes;
  image.steps += chip.clock.getSteps(getPlanes(address, shape), elementBytes,
                                     chip.euBytes);
  // Elements that are contiguous in local memory and in the image form one run.
  bool isRow = stride[3] == 1 && imageStride[3] == 1;
  int64_t columns = isRow ? 1 : shape[3];
  int64_t length = elementBytes * (isRow ? shape[3] : 1);
  int64_t start = address / chip.bytesPerNpu, base = address % chip.bytesPerNpu;
  for (int64_t n = 0; n < shape[0]; ++n)
    for (int64_t c = 0; c < shape[1]; ++c) {
      int64_t core = (start + c) % chip.npus, row = (start + c) / chip.npus;
      int64_t first = base + elementBytes * (n * stride[0] + row * stride[1]);
      int64_t place =
          imageByte + elementBytes * (n * imageStride[0] + c * imageStride[1]);
      for (int64_t h = 0; h < shape[2]; ++h)
        for (int64_t w = 0; w < columns; ++w) {
          Run run{&local[core], core,
                  first + elementBytes * (h * stride[2] + w * stride[3]),
                  length};
          int64_t at =
              place + elementBytes * (h * imageStride[2] + w * imageStride[3]);
          if (run.byte + length > chip.bytesPerNpu) {
            computation->isGood = false;
            return report(what + " leaves its memory at " + describe(run) +
                          ": it has " + std::to_string(chip.bytesPerNpu) +
                          " bytes");
          }
          if (at < 0 || at + length > image.bytes) {
            computation->isGood = false;
            return report(what + " leaves its image of " +
                          std::to_string(image.bytes) + " bytes");
          }
          if (!checkExpectedImage(run, at, what.c_str())) {
            computation->isGood = false;
            return;
          }
          Run *last = image.runs.empty() ? nullptr : &image.runs.back();
          if (last && last->memory == run.memory &&
              last->byte + last->bytes == run.byte &&
              image.places.back() + last->bytes == at) {
            last->bytes += length;
            continue;
          }
          image.runs.push_back(run);
          image.places.push_back(at);
        }
    }
}

/// Checks that an operand has its elements in the cores of the results.
/// Elements of all operands with equal keys, (byte in the image / inner) mod
/// count, must be in one core. `coreOf` has the core of each key, which the
/// operand that is checked first sets. Returns true if the operand has no keys
/// (`count` is 0). Reports an error and returns false for other cores.
bool Simulator::checkCores(const Image &image, std::vector<int64_t> &coreOf,
                           const std::string &what) {
  if (!image.count)
    return true;
  coreOf.resize(std::max<size_t>(coreOf.size(), image.count), -1);
  for (size_t r = 0; r < image.runs.size(); ++r) {
    const Run &run = image.runs[r];
    int64_t last = (image.places[r] + run.bytes - 1) / image.inner;
    for (int64_t key = image.places[r] / image.inner; key <= last; ++key) {
      int64_t &core = coreOf[key % image.count];
      if (core < 0)
        core = run.core;
      if (core == run.core)
        continue;
      report(what + " has " + describe(run) +
             " for a result computed in core " + std::to_string(core) +
             ": execution units access their own memory only");
      return false;
    }
  }
  return true;
}

void *const *Simulator::getImages() {
  if (!computation) {
    report("a kernel runs without a description");
    return nullptr;
  }
  // Results are the last operands, and determine the core of each key.
  std::vector<int64_t> coreOf;
  for (size_t i = computation->images.size(); computation->isGood && i-- > 0;)
    computation->isGood =
        checkCores(computation->images[i], coreOf,
                   computation->name + ": operand " + std::to_string(i));
  for (size_t i = 0; computation->isGood && i < computation->images.size();
       ++i) {
    Image &image = computation->images[i];
    std::string what = computation->name + ": operand " + std::to_string(i);
    int64_t bytes = 0;
    for (const Run &run : image.runs)
      bytes += run.bytes;
    if (bytes != image.bytes) {
      report(what + " has boxes of " + std::to_string(bytes) +
             " bytes, but its image has " + std::to_string(image.bytes));
      computation->isGood = false;
    }
    if (computation->isGood && (image.access & ReadImage))
      computation->isGood = checkAccess(image.runs, Engine::Compute,
                                        Access::ReadOnce, what.c_str());
    if (computation->isGood && (image.access & WrittenImage))
      computation->isGood =
          checkAccess(image.runs, Engine::Compute, Access::Write, what.c_str());
    if (!computation->isGood)
      break;
    if (image.access & ReadImage)
      for (size_t r = 0; r < image.runs.size(); ++r)
        std::memcpy(image.data.get() + image.places[r],
                    image.runs[r].memory->data.data() + image.runs[r].byte,
                    image.runs[r].bytes);
    computation->pointers.push_back(image.data.get());
  }
  if (computation->isGood)
    return computation->pointers.data();
  computation.reset();
  return nullptr;
}

/// Counts the kernel that ends, whose lane operand is `image`.
void Simulator::countKernel(const Image &image, bool usesBankTwice) {
  int64_t elements = std::max<int64_t>(image.bytes / image.elementBytes, 1);
  int64_t perElement = std::max<int64_t>(computation->points / elements, 1);
  int64_t steps = image.steps, cycles;
  if (computation->work.function.empty()) {
    cycles = steps * perElement * chip.clock.getStepCycles(computation->work);
  } else {
    const layout::ChipClock::Planes &planes = computation->planes;
    steps = chip.clock.getSteps(planes, image.elementBytes, chip.euBytes);
    cycles = chip.clock.getCycles(computation->work, planes, image.elementBytes,
                                  chip.euBytes);
  }
  countCommand(cycles, computation->points,
               steps * perElement * getLanes(image.elementBytes), usesBankTwice,
               computation->name);
}

void Simulator::endCompute() {
  if (!computation)
    return report("a kernel ends before it starts");
  for (Image &image : computation->images) {
    if (!(image.access & WrittenImage))
      continue;
    for (size_t r = 0; r < image.runs.size(); ++r) {
      const Run &run = image.runs[r];
      std::memcpy(run.memory->data.data() + run.byte,
                  image.data.get() + image.places[r], run.bytes);
      markWritten(run);
    }
  }
  std::vector<const std::vector<Run> *> operands;
  for (const Image &image : computation->images)
    if (image.access & (ReadImage | WrittenImage))
      operands.push_back(&image.runs);
  bool usesBankTwice = shareBank(operands), isCounted = false;
  for (const Image &image : computation->images) {
    if (image.access & BroadcastImage)
      counters.broadcastBytes += image.bytes;
    if (!(image.access & LanesImage) || isCounted)
      continue;
    countKernel(image, usesBankTwice);
    isCounted = true;
  }
  if (!isCounted)
    report(computation->name + ": no operand is along the lanes");
  computation.reset();
}
