//===- LiveBytes.cpp - How much lives at which time -----------------------===//
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
  std::vector<std::pair<size_t, int64_t>> placed; // what still lives, and where
  for (size_t i = 0; i < blocks.size(); ++i) {
    llvm::erase_if(placed, [&](const auto &other) {
      return blocks[other.first].end <= blocks[i].begin;
    });
    if (blocks[i].place) {
      placed.push_back({i, *blocks[i].place});
      continue;
    }
    int64_t place = blocks[i].fit(0);
    for (size_t next = 0; next < placed.size(); ++next) {
      auto [other, there] = placed[next];
      if (place >= there + blocks[other].size ||
          there >= place + blocks[i].size)
        continue;
      place = blocks[i].fit(there + blocks[other].size);
      next = size_t(-1); // from the first one again
    }
    if (blocks[i].limit && place + blocks[i].size > *blocks[i].limit)
      return blocks[i].begin;
    placed.push_back({i, place});
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
