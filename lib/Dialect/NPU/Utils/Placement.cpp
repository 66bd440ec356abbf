//===- Placement.cpp - Live ranges in one memory --------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/NPU/Utils/Placement.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>
#include <numeric>
#include <random>

using namespace mlir::npu;

/// Blocks up to this many are placed in every order, 5040 of them.
static constexpr size_t kEveryOrder = 7;
/// Orders beyond the ones by size and time, for more blocks.
static constexpr int kRandomOrders = 500;

Placement mlir::npu::boundBlocks(const std::vector<PlacedBlock> &blocks) {
  // What ends at a time makes room for what begins then.
  std::vector<std::pair<int64_t, int64_t>> changes;
  for (const PlacedBlock &block : blocks)
    if (block.begin < block.end) {
      changes.push_back({block.begin, block.size});
      changes.push_back({block.end, -block.size});
    }
  llvm::sort(changes);
  Placement bound;
  int64_t bytes = 0;
  for (auto [time, change] : changes) {
    bytes += change;
    if (bytes > bound.lowerBound) {
      bound.lowerBound = bytes;
      bound.lowerBoundAt = time;
    }
  }
  return bound;
}

static bool liveTogether(const PlacedBlock &a, const PlacedBlock &b) {
  return a.begin < b.end && b.begin < a.end;
}

/// Each block of `order` at its lowest free place; false where one has none.
static bool placeInOrder(const std::vector<PlacedBlock> &blocks,
                         llvm::ArrayRef<size_t> order, Placement &placement) {
  placement.places.assign(blocks.size(), 0);
  placement.peak = 0;
  std::vector<size_t> placed;
  auto put = [&](size_t i, int64_t place) {
    placement.places[i] = place;
    placement.peak = std::max(placement.peak, place + blocks[i].size);
    placed.push_back(i);
  };
  for (size_t i = 0; i < blocks.size(); ++i)
    if (blocks[i].place)
      put(i, *blocks[i].place);
  for (size_t i : order) {
    int64_t place = blocks[i].fit(0);
    bool isFree = false;
    while (!isFree) {
      isFree = true;
      for (size_t other : placed) {
        int64_t begin = placement.places[other];
        int64_t end = begin + blocks[other].size;
        if (!liveTogether(blocks[i], blocks[other]) || place >= end ||
            begin >= place + blocks[i].size)
          continue;
        place = blocks[i].fit(end);
        isFree = false;
      }
    }
    if (blocks[i].limit && place + blocks[i].size > *blocks[i].limit)
      return false;
    put(i, place);
  }
  return true;
}

std::optional<Placement>
mlir::npu::placeBlocks(const std::vector<PlacedBlock> &blocks) {
  Placement bound = boundBlocks(blocks);
  std::optional<Placement> best;
  // Fixed blocks may lie higher than the bound.
  int64_t least = bound.lowerBound;
  std::vector<size_t> order;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].place)
      least = std::max(least, *blocks[i].place + blocks[i].size);
    else
      order.push_back(i);
  }
  /// True when no other order can do better.
  auto attempt = [&] {
    Placement placement = bound;
    if (placeInOrder(blocks, order, placement) &&
        (!best || placement.peak < best->peak))
      best = placement;
    return best && best->peak <= least;
  };
  if (attempt()) // as the program has them
    return best;
  auto by = [&](llvm::function_ref<int64_t(const PlacedBlock &)> rank) {
    llvm::stable_sort(order, [&](size_t a, size_t b) {
      return rank(blocks[a]) > rank(blocks[b]);
    });
    return attempt();
  };
  auto duration = [](const PlacedBlock &b) { return b.end - b.begin; };
  if (by([](const PlacedBlock &b) { return b.size; }) || by(duration) ||
      by([&](const PlacedBlock &b) { return b.size * duration(b); }))
    return best;
  if (order.size() <= kEveryOrder) {
    llvm::sort(order);
    while (std::next_permutation(order.begin(), order.end()))
      if (attempt())
        break;
    return best;
  }
  std::mt19937 random(1);
  for (int i = 0; i < kRandomOrders; ++i) {
    std::shuffle(order.begin(), order.end(), random);
    if (attempt())
      break;
  }
  return best;
}
