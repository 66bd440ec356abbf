//===- LiveMemory.cpp - Placed blocks by time -----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LiveMemory.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::npu;

LiveMemory::LiveMemory(std::vector<PlacedBlock> blocks,
                       std::vector<int64_t> places)
    : blocks(std::move(blocks)), places(std::move(places)) {
  for (auto [i, block] : llvm::enumerate(this->blocks)) {
    if (int64_t(live.size()) < block.end)
      live.resize(block.end);
    for (int64_t t = block.begin; t < block.end; ++t)
      live[t].push_back(i);
  }
}

/// Returns the blocks other than `block` that are live at some time in [begin,
/// end), each once.
SmallVector<size_t> LiveMemory::getOthers(unsigned block, int64_t begin,
                                          int64_t end) const {
  SmallVector<size_t> others;
  for (int64_t t = begin; t < end; ++t)
    for (unsigned other : live[t])
      // Add a block at the first time at which it is live.
      if (other != block && blocks[other].begin <= t &&
          (t == begin || blocks[other].begin == t))
        others.push_back(other);
  return others;
}

bool LiveMemory::grow(unsigned block, int64_t begin, int64_t end) {
  PlacedBlock &grown = blocks[block];
  begin = std::min(begin, grown.begin);
  end = std::max(end, grown.end);
  if (int64_t(live.size()) < end)
    live.resize(end);
  SmallVector<size_t> met = getOthers(block, begin, grown.begin);
  llvm::append_range(met, getOthers(block, grown.end, end));
  if (findFreePlace(blocks, block, places[block], met, places) !=
      places[block]) {
    if (grown.place)
      return false;
    int64_t place =
        findFreePlace(blocks, block, 0, getOthers(block, begin, end), places);
    if (grown.limit && place + grown.size > *grown.limit)
      return false;
    places[block] = place;
  }
  for (int64_t t = begin; t < end; ++t)
    if (t < grown.begin || t >= grown.end)
      live[t].push_back(block);
  grown.begin = begin;
  grown.end = end;
  return true;
}
