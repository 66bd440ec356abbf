//===- NpuRules.cpp - What the simulator checks of a command --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NpuMemory.h"
#include <algorithm>

using namespace mlir::npu;

bool Simulator::checkShape(const Box &shape, int64_t elementBytes) {
  static const char *const names[] = {"N", "C", "H", "W"};
  if (elementBytes < 1) {
    report("elements have at least one byte");
    return false;
  }
  for (int d = 0; d < 4; ++d) {
    if (shape[d] >= 1 && (!chip.maxShape[d] || shape[d] <= chip.maxShape[d]))
      continue;
    report(std::string("a command has ") + std::to_string(shape[d]) +
           " iterations of " + names[d] + ", the chip takes 1 to " +
           (chip.maxShape[d] ? std::to_string(chip.maxShape[d]) : "any"));
    return false;
  }
  return true;
}

bool Simulator::checkOperand(const Operand &operand, const Box &shape,
                             int64_t elementBytes, Unit unit,
                             const char *what) {
  std::string where =
      std::string(what) + " at address " + std::to_string(operand.address);
  // Wide elements are pairs of words to the engines.
  uint64_t alignment = std::min<int64_t>(elementBytes, 4);
  if (unit == Unit::DMA)
    alignment = std::max<uint64_t>(alignment, chip.dmaAlignment);
  if (operand.address % alignment != 0) {
    report(where + " is not aligned to " + std::to_string(alignment) +
           " bytes");
    return false;
  }
  for (int d = 0; d < 4; ++d) {
    int64_t stride = operand.stride[d];
    if (stride >= 0 &&
        (shape[d] == 1 || !chip.maxStride || stride <= chip.maxStride))
      continue;
    report(where + " has the stride " + std::to_string(stride) +
           ", the chip takes 0 to " +
           (chip.maxStride ? std::to_string(chip.maxStride) : "any"));
    return false;
  }
  if (unit == Unit::DMA && operand.stride[3] != 1) {
    report(where + " has the W stride " + std::to_string(operand.stride[3]) +
           ", a transfer moves whole rows: it is 1");
    return false;
  }
  if (operand.isLocal &&
      operand.address >= uint64_t(chip.npus) * uint64_t(chip.bytesPerNpu)) {
    report(where + " is in no unit");
    return false;
  }
  return true;
}

/// The bytes of the box, element by element in its order, neighbours joined.
bool Simulator::collectRuns(const Operand &operand, const Box &shape,
                            int64_t elementBytes, const char *what,
                            std::vector<Run> &runs) {
  Memory *buffer = operand.isLocal ? nullptr : findSystem(operand.address);
  if (!operand.isLocal && !buffer) {
    report(std::string(what) + " at system address " +
           std::to_string(operand.address) + " is in no buffer");
    return false;
  }
  int64_t start = operand.isLocal ? operand.address / chip.bytesPerNpu : 0;
  int64_t base = operand.isLocal ? operand.address % chip.bytesPerNpu
                                 : operand.address - buffer->base;
  bool isRow = operand.stride[3] == 1;
  int64_t length = elementBytes * (isRow ? shape[3] : 1);
  for (int64_t n = 0; n < shape[0]; ++n)
    for (int64_t c = 0; c < shape[1]; ++c)
      for (int64_t h = 0; h < shape[2]; ++h)
        for (int64_t w = 0; w < (isRow ? 1 : shape[3]); ++w) {
          int64_t row = operand.isLocal ? (start + c) / chip.npus : c;
          int64_t unit = operand.isLocal ? (start + c) % chip.npus : -1;
          Run run{operand.isLocal ? &local[unit] : buffer, unit,
                  base + elementBytes *
                             (n * operand.stride[0] + row * operand.stride[1] +
                              h * operand.stride[2] + w * operand.stride[3]),
                  length};
          if (run.byte + length > int64_t(run.memory->data.size())) {
            report(std::string(what) + " leaves its memory at " +
                   describe(run) + ": it has " +
                   std::to_string(run.memory->data.size()) + " bytes");
            return false;
          }
          Run *last = runs.empty() ? nullptr : &runs.back();
          if (last && last->memory == run.memory &&
              last->byte + last->bytes == run.byte)
            last->bytes += length;
          else
            runs.push_back(run);
        }
  return true;
}

/// Whether the run lies in one tensor, among its elements.
bool Simulator::isOwned(const Run &run, const char *&why) const {
  if (!tracksTensors || run.unit < 0)
    return true;
  why = ", which is no part of one tensor";
  for (const Tensor &tensor : tensors) {
    if (run.byte < tensor.byte ||
        run.byte + run.bytes > tensor.byte + tensor.bytes)
      continue;
    why = ", where the tensor has a hole";
    auto first = run.memory->state.begin() + run.byte;
    return !tensor.hasElements ||
           std::all_of(first, first + run.bytes,
                       [](uint8_t state) { return state & Element; });
  }
  return false;
}

bool Simulator::checkAccess(const std::vector<Run> &runs, Unit unit,
                            Access access, const char *what) {
  bool isWrite = access == Access::Write, isOnce = access != Access::Read;
  uint8_t written = unit == Unit::DMA ? WrittenByDMA : WrittenByCompute;
  uint8_t read = unit == Unit::DMA ? ReadByDMA : ReadByCompute;
  uint8_t conflict = unit == Unit::DMA ? WrittenByCompute : WrittenByDMA;
  if (isWrite)
    conflict |= unit == Unit::DMA ? ReadByCompute : ReadByDMA;
  bool good = true;
  auto fail = [&](const Run &run, int64_t byte, const char *why) {
    report(std::string(what) + (isWrite ? " writes " : " reads ") +
           describe({run.memory, run.unit, byte, 1}) + why);
    good = false;
  };
  for (const Run &run : runs) {
    const char *why = nullptr;
    if (!good)
      break;
    if (!isOwned(run, why))
      fail(run, run.byte, why);
    for (int64_t i = run.byte; i < run.byte + run.bytes && good; ++i) {
      uint8_t &state = run.memory->state[i];
      if (!isWrite && !(state & Written))
        fail(run, i, ", which was never written");
      else if (parallel && (state & conflict))
        fail(run, i, ", which the other engine touches in the same region");
      else if (isOnce && (state & TouchedNow))
        fail(run, i, " twice");
      else if (isOnce)
        state |= TouchedNow;
    }
  }
  for (const Run &run : runs) {
    for (int64_t i = run.byte; i < run.byte + run.bytes; ++i) {
      uint8_t &state = run.memory->state[i];
      state &= ~TouchedNow;
      if (good && parallel)
        state |= isWrite ? written : read;
    }
    if (good && parallel)
      touched.push_back(run);
  }
  return good;
}

bool Simulator::prepare(const Operand &operand, const Box &shape,
                        int64_t elementBytes, Unit unit, Access access,
                        const char *what, std::vector<Run> &runs) {
  return checkOperand(operand, shape, elementBytes, unit, what) &&
         collectRuns(operand, shape, elementBytes, what, runs) &&
         checkAccess(runs, unit, access, what);
}
