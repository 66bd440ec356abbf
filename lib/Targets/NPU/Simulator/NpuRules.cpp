//===- NpuRules.cpp - Checks of a command ---------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NpuMemory.h"
#include <algorithm>

using namespace mlir::npu;

/// The maximum N, C, H and W of a command of each engine, as documented by
/// OKKernel for each function.
static constexpr Box kMostOfCompute{65535, 4095, 65535, 65535};
static constexpr Box kMostOfTransfers{65535, 65535, 65535, 65535};

bool Simulator::checkShape(const Box &shape, int64_t elementBytes,
                           const Box &most) {
  static const char *const names[] = {"N", "C", "H", "W"};
  if (elementBytes < 1) {
    report("elements must have at least one byte");
    return false;
  }
  for (int d = 0; d < 4; ++d) {
    if (shape[d] >= 1 && (!most[d] || shape[d] <= most[d]))
      continue;
    report(std::string("a command has ") + std::to_string(shape[d]) +
           " iterations of " + names[d] + ", but the chip supports 1 to " +
           (most[d] ? std::to_string(most[d]) : "any"));
    return false;
  }
  return true;
}

bool Simulator::checkCommand(const Box &shape, int64_t elementBytes,
                             Engine engine) {
  Box most = engine == Engine::Compute ? kMostOfCompute : kMostOfTransfers;
  for (int d = 0; d < 4; ++d)
    if (chip.maxShape[d])
      most[d] = std::min(most[d], chip.maxShape[d]);
  return checkShape(shape, elementBytes, most);
}

bool Simulator::checkStrides(const Operand &operand, const Box &shape,
                             Engine engine, const std::string &where) {
  for (int d = 0; d < 4; ++d) {
    int64_t stride = operand.stride[d];
    int64_t most = shape[d] == 1 ? 0 : chip.maxStride;
    if (stride >= 0 && (!most || stride <= most))
      continue;
    report(where + " has the stride " + std::to_string(stride) +
           ", but the chip supports 0 to " +
           (most ? std::to_string(most) : "any"));
    return false;
  }
  if (engine == Engine::DMA || !chip.maxComputeStride)
    return true;
  for (int d : {0, 1}) {
    if (operand.stride[d] <= chip.maxComputeStride)
      continue;
    report(where + " has the " + (d ? "C" : "N") + " stride " +
           std::to_string(operand.stride[d]) +
           ", but the execution units support 0 to " +
           std::to_string(chip.maxComputeStride) +
           ", even for a loop with one iteration");
    return false;
  }
  return true;
}

bool Simulator::checkOperand(const Operand &operand, const Box &shape,
                             int64_t elementBytes, Engine engine,
                             const char *what) {
  std::string where =
      std::string(what) + " at address " + std::to_string(operand.address);
  // Elements of 8 bytes are moved as pairs of words, so 4 bytes are enough.
  uint64_t alignment = std::min<int64_t>(elementBytes, 4);
  if (engine == Engine::DMA)
    alignment = std::max<uint64_t>(alignment, chip.dmaAlignment);
  if (operand.address % alignment != 0) {
    report(where + " is not aligned to " + std::to_string(alignment) +
           " bytes");
    return false;
  }
  if (!checkStrides(operand, shape, engine, where))
    return false;
  if (engine == Engine::DMA && operand.stride[3] != 1) {
    report(where + " has the W stride " + std::to_string(operand.stride[3]) +
           ", but it must be 1: a transfer moves whole rows");
    return false;
  }
  if (operand.isLocal &&
      operand.address >= uint64_t(chip.npus) * uint64_t(chip.bytesPerNpu)) {
    report(where + " is not in a core");
    return false;
  }
  return true;
}

/// Appends to `runs` the bytes of the box in the order of its elements, with
/// adjacent elements merged. Reports an error and returns false if the box is
/// not inside of one system buffer, or leaves local memory.
bool Simulator::collectRuns(const Operand &operand, const Box &shape,
                            int64_t elementBytes, const char *what,
                            std::vector<Run> &runs) {
  Memory *buffer = operand.isLocal ? nullptr : findSystem(operand.address);
  if (!operand.isLocal && !buffer) {
    report(std::string(what) + " at system address " +
           std::to_string(operand.address) + " is not in a buffer");
    return false;
  }
  int64_t start = operand.isLocal ? operand.address / chip.bytesPerNpu : 0;
  int64_t base = operand.isLocal ? operand.address % chip.bytesPerNpu
                                 : operand.address - buffer->base;
  bool isRow = operand.stride[3] == 1;
  int64_t length = elementBytes * (isRow ? shape[3] : 1);
  int64_t columns = isRow ? 1 : shape[3];
  for (int64_t n = 0; n < shape[0]; ++n)
    for (int64_t c = 0; c < shape[1]; ++c) {
      int64_t row = operand.isLocal ? (start + c) / chip.npus : c;
      int64_t core = operand.isLocal ? (start + c) % chip.npus : -1;
      for (int64_t h = 0; h < shape[2]; ++h)
        for (int64_t w = 0; w < columns; ++w) {
          Run run{operand.isLocal ? &local[core] : buffer, core,
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
    }
  return true;
}

void Simulator::markWritten(const Run &run) {
  setBits(run.memory->state.data() + run.byte, run.bytes, Written);
}

/// Returns a declared tensor that contains all bytes of the run, or a null
/// pointer if there is none.
const Simulator::Tensor *Simulator::findTensor(const Run &run) const {
  // The runs of one command are usually in one tensor, so try the last one.
  if (lastTensor < tensors.size() && holds(tensors[lastTensor], run))
    return &tensors[lastTensor];
  for (lastTensor = 0; lastTensor < tensors.size(); ++lastTensor)
    if (holds(tensors[lastTensor], run))
      return &tensors[lastTensor];
  return nullptr;
}

bool Simulator::checkAccess(const std::vector<Run> &runs, Engine engine,
                            Access access, const char *what) {
  bool isPadding = access == Access::WritePadding;
  bool isWrite = isPadding || access == Access::Write,
       isOnce = access != Access::Read;
  uint8_t conflict = 0, mark = 0;
  if (parallel) {
    bool isDMA = engine == Engine::DMA;
    conflict = isDMA ? WrittenByCompute : WrittenByDMA;
    if (isWrite)
      conflict |= isDMA ? ReadByCompute : ReadByDMA;
    mark = isWrite ? (isDMA ? WrittenByDMA : WrittenByCompute)
                   : (isDMA ? ReadByDMA : ReadByCompute);
  }
  uint8_t refused = conflict | (isOnce ? TouchedNow : 0);
  uint8_t needed = isWrite ? 0 : Written;
  auto fail = [&](const Run &run, int64_t byte, const char *why) {
    report(std::string(what) + (isWrite ? " writes " : " reads ") +
           describe({run.memory, run.core, byte, 1}) + why);
  };
  /// Reports the first byte of `run` that breaks a rule, and the rule.
  /// `elements` is Element if the bytes must be declared elements, and
  /// otherwise 0.
  auto explain = [&](const Run &run, uint8_t elements) {
    for (int64_t i = run.byte; i < run.byte + run.bytes; ++i) {
      uint8_t state = run.memory->state[i];
      if (elements & ~state)
        return fail(run, i, ", where the tensor has a hole");
      if (needed & ~state)
        return fail(run, i, ", which was never written");
      if (state & conflict)
        return fail(run, i,
                    ", which the other engine accesses in the same region");
      if (state & refused)
        return fail(run, i, " twice");
    }
  };
  bool good = true;
  size_t checked = 0;
  for (; checked < runs.size() && good; ++checked) {
    const Run &run = runs[checked];
    uint8_t elements = 0;
    if (tracksTensors && run.core >= 0) {
      const Tensor *tensor = findTensor(run);
      if (!tensor) {
        fail(run, run.byte, ", which is not part of one tensor");
        good = false;
        break;
      }
      elements = tensor->hasElements && !isPadding ? Element : 0;
    }
    uint8_t *state = run.memory->state.data() + run.byte;
    Summary found = summarize(state, run.bytes);
    if (((needed | elements) & ~found.all) || (found.any & refused)) {
      explain(run, elements);
      good = false;
      break;
    }
    if (isOnce)
      setBits(state, run.bytes, TouchedNow);
  }
  for (size_t r = 0; isOnce && r < checked; ++r)
    clearBits(runs[r].memory->state.data() + runs[r].byte, runs[r].bytes,
              TouchedNow);
  if (!good || !parallel)
    return good;
  for (const Run &run : runs) {
    setBits(run.memory->state.data() + run.byte, run.bytes, mark);
    touched.push_back({run, engine});
  }
  return true;
}

bool Simulator::prepare(const Operand &operand, const Box &shape,
                        int64_t elementBytes, Engine engine, Access access,
                        const char *what, std::vector<Run> &runs) {
  return checkOperand(operand, shape, elementBytes, engine, what) &&
         collectRuns(operand, shape, elementBytes, what, runs) &&
         checkAccess(runs, engine, access, what);
}
