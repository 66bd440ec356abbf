//===- AddressPlacement.cpp - Dynamic storage allocation ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/NPU/Utils/AddressPlacement.h"
#include "layout/Support/FirstFit.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>
#include <numeric>
#include <random>
#include <tuple>

using namespace mlir::npu;

/// The maximum number of blocks for which all orders of placing them are tried
/// (7! = 5040), if kMostPlaces permits it.
static constexpr size_t kEveryOrder = 7;
/// If not all orders are tried, the maximum number of orders of each of two
/// kinds. Until one order places all blocks, each order starts with the blocks
/// for which the previous one found no address. Afterwards, orders are random.
static constexpr int kMostOrders = 500;
/// The maximum of orders times blocks, and of orders times the byte ranges that
/// blocks own. It limits the orders for functions with many blocks.
static constexpr int64_t kMostPlaces = 200000;

namespace {
/// Counts the live bytes of each core while blocks begin and end.
class CoreLoads {
public:
  void change(const PlacedBlock &block, int64_t sign) {
    if (!block.owned) {
      everywhere += sign * block.size;
      return;
    }
    for (const Bytes &bytes : *block.owned) {
      int64_t size = sign * (bytes.end - bytes.begin);
      if (bytes.core == kEveryCore) {
        everywhere += size;
        continue;
      }
      if (bytes.core >= int64_t(cores.size()))
        cores.resize(bytes.core + 1);
      cores[bytes.core] += size;
    }
  }
  int64_t getMost() const {
    int64_t most = 0;
    for (int64_t bytes : cores)
      most = std::max(most, bytes);
    return everywhere + most;
  }

private:
  int64_t everywhere = 0;
  std::vector<int64_t> cores;
};
} // namespace

AddressPlacement
mlir::npu::boundBlocks(const std::vector<PlacedBlock> &blocks) {
  // A block that ends at a time frees its bytes for one that begins then.
  struct Change {
    int64_t time;
    bool begins;
    size_t block;
  };
  std::vector<Change> changes;
  AddressPlacement bound;
  for (auto [i, block] : llvm::enumerate(blocks)) {
    if (block.begin >= block.end)
      continue;
    changes.push_back({block.begin, true, i});
    changes.push_back({block.end, false, i});
    // The peak counts whole blocks, with the bytes between the ranges that they
    // own.
    if (block.size > bound.lowerBound) {
      bound.lowerBound = block.size;
      bound.lowerBoundAt = block.begin;
    }
  }
  llvm::sort(changes, [](const Change &a, const Change &b) {
    return std::tie(a.time, a.begins, a.block) <
           std::tie(b.time, b.begins, b.block);
  });
  CoreLoads loads;
  for (const Change &change : changes) {
    loads.change(blocks[change.block], change.begins ? 1 : -1);
    if (!change.begins)
      continue;
    int64_t most = loads.getMost();
    if (most > bound.lowerBound) {
      bound.lowerBound = most;
      bound.lowerBoundAt = change.time;
    }
  }
  return bound;
}

std::vector<std::vector<size_t>>
mlir::npu::findNeighbors(const std::vector<PlacedBlock> &blocks) {
  std::vector<size_t> order;
  for (size_t i = 0; i < blocks.size(); ++i)
    if (blocks[i].begin < blocks[i].end)
      order.push_back(i);
  llvm::stable_sort(order, [&](size_t a, size_t b) {
    return blocks[a].begin < blocks[b].begin;
  });
  std::vector<std::vector<size_t>> neighbors(blocks.size());
  std::vector<size_t> live;
  for (size_t i : order) {
    llvm::erase_if(live, [&](size_t other) {
      return blocks[other].end <= blocks[i].begin;
    });
    for (size_t other : live) {
      neighbors[i].push_back(other);
      neighbors[other].push_back(i);
    }
    live.push_back(i);
  }
  return neighbors;
}

/// Returns the lowest place above `place` at which the bytes of `a` are above
/// those bytes of `b` that they overlap now, or std::nullopt if the blocks
/// share no byte.
static std::optional<int64_t> getPast(const PlacedBlock &a, int64_t place,
                                      const PlacedBlock &b, int64_t placeOfB) {
  if (place >= placeOfB + b.size || placeOfB >= place + a.size)
    return std::nullopt;
  if (!a.owned && !b.owned)
    return placeOfB + b.size;
  auto getRows = [](const PlacedBlock &block) {
    return OwnedBytes{{kEveryCore, 0, block.size}};
  };
  std::optional<SharedBytes> shared =
      findShared(a.owned ? *a.owned : getRows(a), place,
                 b.owned ? *b.owned : getRows(b), placeOfB);
  return shared ? std::optional(shared->next) : std::nullopt;
}

int64_t mlir::npu::findFreePlace(const std::vector<PlacedBlock> &blocks,
                                 size_t block, int64_t least,
                                 llvm::ArrayRef<size_t> others,
                                 const std::vector<int64_t> &places) {
  const PlacedBlock &placed = blocks[block];
  return layout::findFirstFit(
      least, others, placed.fit, [&](size_t other, int64_t place) {
        return getPast(placed, place, blocks[other], places[other]);
      });
}

/// Sets fixed places, and then places each block of `order` at its lowest free
/// place. Returns the blocks that have none below their limit.
static llvm::DenseSet<size_t>
placeInOrder(const std::vector<PlacedBlock> &blocks,
             const std::vector<std::vector<size_t>> &neighbors,
             llvm::ArrayRef<size_t> order, AddressPlacement &placement) {
  llvm::DenseSet<size_t> unplaced;
  placement.places.assign(blocks.size(), 0);
  placement.peak = 0;
  std::vector<bool> isPlaced(blocks.size());
  auto put = [&](size_t i, int64_t place) {
    placement.places[i] = place;
    placement.peak = std::max(placement.peak, place + blocks[i].size);
    isPlaced[i] = true;
  };
  for (size_t i = 0; i < blocks.size(); ++i)
    if (blocks[i].place)
      put(i, *blocks[i].place);
  std::vector<size_t> others;
  for (size_t i : order) {
    others.clear();
    for (size_t other : neighbors[i])
      if (isPlaced[other])
        others.push_back(other);
    // If they are sorted by place, findFreePlace mostly visits each only once.
    llvm::sort(others, [&](size_t a, size_t b) {
      return placement.places[a] < placement.places[b];
    });
    int64_t place = findFreePlace(blocks, i, 0, others, placement.places);
    if (blocks[i].limit && place + blocks[i].size > *blocks[i].limit)
      unplaced.insert(i);
    else
      put(i, place);
  }
  return unplaced;
}

std::optional<AddressPlacement>
mlir::npu::placeBlocks(const std::vector<PlacedBlock> &blocks, bool anyWillDo) {
  AddressPlacement bound = boundBlocks(blocks);
  std::vector<std::vector<size_t>> neighbors = findNeighbors(blocks);
  std::optional<AddressPlacement> best;
  // Fixed blocks may end above the bound.
  int64_t least = bound.lowerBound;
  std::vector<size_t> order;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].place)
      least = std::max(least, *blocks[i].place + blocks[i].size);
    else
      order.push_back(i);
  }
  llvm::DenseSet<size_t> unplaced; // in the last order
  /// Tries to place the blocks in the current order, and keeps the placement if
  /// its peak is the lowest so far. Returns true if no other order can be
  /// better.
  auto attempt = [&] {
    AddressPlacement placement = bound;
    unplaced = placeInOrder(blocks, neighbors, order, placement);
    if (unplaced.empty() && (!best || placement.peak < best->peak))
      best = placement;
    return best && (anyWillDo || best->peak <= least);
  };
  if (attempt()) // in program order
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
  // Finding a place takes longer for blocks that own many byte ranges.
  int64_t pieces = 1;
  for (const PlacedBlock &block : blocks)
    pieces += block.owned ? int64_t(block.owned->size()) : 0;
  int64_t most = kMostPlaces / std::max(int64_t(order.size()), pieces);
  int64_t numOrders = 1;
  for (size_t i = 2; i <= order.size() && numOrders <= most; ++i)
    numOrders *= i;
  if (order.size() <= kEveryOrder && numOrders <= most) {
    llvm::sort(order);
    while (std::next_permutation(order.begin(), order.end()))
      if (attempt())
        break;
    return best;
  }
  int64_t orders = std::min<int64_t>(kMostOrders, most);
  // Blocks without a place go first in the next order.
  for (int64_t i = 0; !best && i < orders; ++i) {
    std::stable_partition(order.begin(), order.end(), [&](size_t block) {
      return unplaced.contains(block);
    });
    if (attempt())
      return best;
  }
  std::mt19937 random(1);
  for (int64_t i = 0; i < orders; ++i) {
    std::shuffle(order.begin(), order.end(), random);
    if (attempt())
      break;
  }
  return best;
}
