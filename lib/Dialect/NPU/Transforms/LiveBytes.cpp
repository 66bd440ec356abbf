//===- LiveBytes.cpp - Live bytes over time -------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LiveBytes.h"
#include "llvm/ADT/STLExtras.h"
#include <utility>

using namespace mlir::npu;

std::optional<int64_t>
mlir::npu::findUnplaced(const std::vector<PlacedBlock> &blocks) {
  std::vector<int64_t> places(blocks.size());
  std::vector<size_t> live;
  for (size_t i = 0; i < blocks.size(); ++i) {
    llvm::erase_if(live, [&](size_t other) {
      return blocks[other].end <= blocks[i].begin;
    });
    places[i] = blocks[i].place ? *blocks[i].place
                                : findFreePlace(blocks, i, 0, live, places);
    if (!blocks[i].place && blocks[i].limit &&
        places[i] + blocks[i].size > *blocks[i].limit)
      return blocks[i].begin;
    live.push_back(i);
  }
  return std::nullopt;
}

std::vector<LiveBytes>
mlir::npu::getLiveBytes(const std::vector<PlacedBlock> &blocks) {
  std::vector<LiveBytes> changes;
  for (const PlacedBlock &each : blocks) {
    changes.push_back({each.begin, each.size});
    changes.push_back({each.end, -each.size});
  }
  llvm::sort(changes, [](const LiveBytes &a, const LiveBytes &b) {
    return std::make_pair(a.time, a.bytes) < std::make_pair(b.time, b.bytes);
  });
  int64_t bytes = 0;
  for (LiveBytes &change : changes)
    change.bytes = bytes += change.bytes;
  return changes;
}

llvm::SmallVector<LiveBytes>
mlir::npu::getFullest(const std::vector<PlacedBlock> &blocks, int64_t most) {
  llvm::SmallVector<LiveBytes> fullest;
  bool isFull = false;
  for (const LiveBytes &each : getLiveBytes(blocks)) {
    bool wasFull = std::exchange(isFull, each.bytes > most);
    if (isFull && !wasFull)
      fullest.push_back(each);
    else if (isFull && each.bytes > fullest.back().bytes)
      fullest.back() = each;
  }
  llvm::stable_sort(fullest, isFuller);
  return fullest;
}
