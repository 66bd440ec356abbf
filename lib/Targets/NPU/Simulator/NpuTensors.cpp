//===- NpuTensors.cpp - Tensors that programs declare ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NpuMemory.h"
#include <algorithm>

using namespace mlir::npu;

void Simulator::declareTensor(uint64_t address, int64_t bytes,
                              int64_t alignment) {
  tracksTensors = true;
  std::string name = "the tensor at address " + std::to_string(address);
  if (address >= uint64_t(chip.npus) * uint64_t(chip.bytesPerNpu))
    return report(name + " is not in a core");
  int64_t byte = address % chip.bytesPerNpu;
  if (alignment > 0 && address % alignment != 0)
    return report(name + " is not aligned to " + std::to_string(alignment) +
                  " bytes");
  if (byte + bytes > chip.bytesPerNpu)
    return report(name + " needs " + std::to_string(bytes) +
                  " bytes from byte " + std::to_string(byte) +
                  " on, but a core has " + std::to_string(chip.bytesPerNpu));
  for (const Tensor &other : tensors)
    if (!sharesHoles && byte < other.byte + other.bytes &&
        other.byte < byte + bytes)
      return report(name + " overlaps the tensor at address " +
                    std::to_string(other.address));
  tensors.push_back({address, byte, bytes, false, {}, {}});
  counters.peakBytes = std::max(counters.peakBytes, byte + bytes);
  int64_t live = sharesHoles ? bytes : 0;
  for (const Tensor &tensor : tensors)
    live += sharesHoles ? 0 : tensor.bytes;
  counters.liveBytes = std::max(counters.liveBytes, live);
}

/// Returns true if one of `ranges`, which are disjoint and not adjacent,
/// contains all of [begin, end).
static bool isCovered(const std::map<int64_t, int64_t> &ranges, int64_t begin,
                      int64_t end) {
  auto after = ranges.upper_bound(begin);
  return after != ranges.begin() && std::prev(after)->second >= end;
}

bool Simulator::holds(const Tensor &tensor, const Run &run) const {
  if (run.byte < tensor.byte ||
      run.byte + run.bytes > tensor.byte + tensor.bytes)
    return false;
  return !sharesHoles || !tensor.hasElements ||
         (run.core >= 0 &&
          isCovered(tensor.owned[run.core], run.byte, run.byte + run.bytes));
}

/// Adds the bytes of `run` to those that `tensor` owns. Reports an error and
/// returns false if another tensor owns some of them.
bool Simulator::claim(Tensor &tensor, const Run &run) {
  int64_t begin = run.byte, end = run.byte + run.bytes;
  for (const Tensor &other : tensors) {
    if (&other == &tensor || other.owned.empty())
      continue;
    const std::map<int64_t, int64_t> &ranges = other.owned[run.core];
    auto after = ranges.lower_bound(end);
    if (after == ranges.begin() || std::prev(after)->second <= begin)
      continue;
    report("declared elements at " + describe(run) +
           " share bytes with those of the tensor at address " +
           std::to_string(other.address));
    return false;
  }
  tensor.owned.resize(chip.npus);
  ownedBytes.resize(chip.npus);
  std::map<int64_t, int64_t> &ranges = tensor.owned[run.core];
  int64_t added = end - begin, first = begin, last = end;
  // Merge with all adjacent ranges.
  auto range = ranges.upper_bound(begin);
  if (range != ranges.begin() && std::prev(range)->second >= begin)
    --range;
  while (range != ranges.end() && range->first <= end) {
    added -= std::max<int64_t>(
        std::min(range->second, end) - std::max(range->first, begin), 0);
    first = std::min(first, range->first);
    last = std::max(last, range->second);
    range = ranges.erase(range);
  }
  ranges[first] = last;
  ownedBytes[run.core] += added;
  counters.liveBytes = std::max(counters.liveBytes, ownedBytes[run.core]);
  return true;
}

void Simulator::declareElements(const Operand &elements, const Box &shape,
                                int64_t elementBytes) {
  std::vector<Run> runs;
  if (!checkShape(shape, elementBytes) ||
      !collectRuns(elements, shape, elementBytes, "a declared tensor", runs))
    return;
  for (const Run &run : runs) {
    Tensor *owner = nullptr; // the last declared one that contains the run
    for (Tensor &tensor : tensors)
      if (run.byte >= tensor.byte &&
          run.byte + run.bytes <= tensor.byte + tensor.bytes)
        owner = &tensor;
    if (!owner || run.core < 0)
      return report("declared elements at " + describe(run) +
                    " are not part of one tensor");
    if (sharesHoles && !claim(*owner, run))
      return;
    owner->hasElements = true;
    setBits(run.memory->state.data() + run.byte, run.bytes, Element);
  }
}

void Simulator::releaseTensor(uint64_t address) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    Tensor &tensor = tensors[i];
    if (tensor.address != address)
      continue;
    for (size_t core = 0; core < local.size(); ++core) {
      uint8_t *state = local[core].state.data();
      if (!tensor.hasElements || !sharesHoles) {
        clearBits(state + tensor.byte, tensor.bytes, Written | Element);
        continue;
      }
      for (auto [begin, end] : tensor.owned[core]) {
        clearBits(state + begin, end - begin, Written | Element);
        ownedBytes[core] -= end - begin;
      }
    }
    tensors.erase(tensors.begin() + i);
    return;
  }
  report("no tensor is at address " + std::to_string(address));
}
