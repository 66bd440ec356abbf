//===- DimLoops.cpp - Dims as loops with even steps -----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DimLoops.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::npu;
using namespace mlir::layout;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

bool DimTables::compute(const LayoutMap &map, Sizes sizes, int64_t npus,
                        FailureReason error) {
  if (llvm::none_of(map.getCoordinates(), [](const Coordinate &coordinate) {
        return coordinate.name == "offset";
      })) {
    error("a map into the space '" + map.getSpace() +
          "' has no offset, which transfers need: store the tensor in linear "
          "or in local memory");
    return false;
  }
  for (int64_t size : sizes)
    if (size > kMaxTableSize) {
      error("a dim has " + Twine(size) +
            " elements, but transfers support at most " + Twine(kMaxTableSize) +
            ": split it");
      return false;
    }
  isLocal = map.getSpace() == "npu";
  this->npus = npus;
  cores.dims.resize(sizes.size());
  LayoutMap special = map.specialize(sizes);
  for (const Coordinate &coordinate : special.getCoordinates()) {
    std::optional<Tables> tables = tabulate(coordinate.value, sizes);
    if (!tables) {
      error("'" + coordinate.name +
            "' of the map is not a sum of functions of single dims, as the "
            "loops of a transfer need");
      return false;
    }
    (coordinate.name == "offset" ? offsets : cores) = std::move(*tables);
  }
  auto moves = [](const std::vector<int64_t> &table) { return !table.empty(); };
  if (llvm::count_if(cores.dims, moves) <= 1)
    return true;
  error("more than one dim goes from core to core");
  return false;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {
/// Splits the indices of dim `d` into loops in which the core and the offset of
/// several maps (`tables`) advance by constant steps.
class DimSplitter {
public:
  DimSplitter(llvm::ArrayRef<DimTables> tables, size_t d)
      : tables(tables), d(d) {}

  /// Splits the `count` indices first, first + step, .. into sets of indices,
  /// each of which nested loops with constant steps visit.
  std::vector<DimPiece> split(int64_t first, int64_t count, int64_t step) const;

private:
  int64_t core(size_t side, int64_t i) const {
    return tables[side].cores.start + tables[side].cores.get(d, i);
  }
  int64_t offset(size_t side, int64_t i) const {
    return tables[side].offsets.get(d, i);
  }
  bool isEven(size_t side, int64_t first, int64_t k, int64_t step,
              LoopStep &loop) const;
  Loop getLongest(int64_t first, int64_t count, int64_t step) const;
  bool repeats(const Loop &inner, int64_t first, int64_t times,
               int64_t step) const;

  llvm::ArrayRef<DimTables> tables;
  size_t d;
};
} // namespace

/// Returns true if index first + k * step continues the constant step of the
/// `k` indices before it in map number `side`. `loop` is this step, and is
/// completed here: at k = 1, whether it stays in a core or goes from core to
/// core. If it does, its stride per pass over the cores is set at the first
/// index that is back in core 0.
bool DimSplitter::isEven(size_t side, int64_t first, int64_t k, int64_t step,
                         LoopStep &loop) const {
  int64_t npus = tables[side].npus;
  int64_t start = core(side, first), there = core(side, first + k * step);
  int64_t moved = offset(side, first + k * step) - offset(side, first);
  if (k == 1) {
    loop.scattered = there != start;
    loop.stride = loop.scattered ? 0 : moved;
  }
  if (!loop.scattered)
    return there == start && moved == k * loop.stride;
  int64_t row = (start + k) / npus;
  if (row == 1 && (start + k - 1) / npus == 0)
    loop.stride = moved;
  return there == (start + k) % npus && moved == row * loop.stride;
}

Loop DimSplitter::getLongest(int64_t first, int64_t count, int64_t step) const {
  Loop loop;
  loop.side.resize(tables.size());
  for (; loop.extent < count; ++loop.extent) {
    llvm::SmallVector<LoopStep, 3> next(loop.side);
    for (size_t side = 0; side < tables.size(); ++side)
      if (!isEven(side, first, loop.extent, step, next[side]))
        return loop;
    loop.side = next;
  }
  return loop;
}

/// Returns true if each of `times` consecutive groups of `inner.extent` of the
/// indices first, first + step, .. has the constant steps of `inner`, a loop
/// that stays in a core. The first group is known to have them.
bool DimSplitter::repeats(const Loop &inner, int64_t first, int64_t times,
                          int64_t step) const {
  for (int64_t t = 1; t < times; ++t) {
    int64_t base = first + t * inner.extent * step;
    for (int64_t k = 1; k < inner.extent; ++k)
      for (size_t side = 0; side < tables.size(); ++side) {
        int64_t i = base + k * step;
        if (core(side, i) != core(side, base) ||
            offset(side, i) - offset(side, base) != k * inner.side[side].stride)
          return false;
      }
  }
  return true;
}

std::vector<DimPiece> DimSplitter::split(int64_t first, int64_t count,
                                         int64_t step) const {
  std::vector<DimPiece> pieces;
  while (count > 0) {
    Loop loop = getLongest(first, count, step);
    int64_t taken = loop.extent;
    int64_t times = count / loop.extent;
    if (loop.extent > 1 && !loop.isScattered() && times > 1 &&
        repeats(loop, first, times, step)) {
      for (DimPiece &piece : split(first, times, step * loop.extent)) {
        piece.loops.push_back(loop);
        pieces.push_back(std::move(piece));
      }
      taken = times * loop.extent;
    } else {
      pieces.push_back({first, {}});
      if (loop.extent > 1)
        pieces.back().loops.push_back(loop);
    }
    first += taken * step;
    count -= taken;
  }
  return pieces;
}

std::vector<DimPiece> mlir::npu::splitDim(llvm::ArrayRef<DimTables> sides,
                                          size_t d, int64_t size) {
  return DimSplitter(sides, d).split(0, size, 1);
}

bool mlir::npu::forEachBox(
    llvm::ArrayRef<std::vector<DimPiece>> dims,
    llvm::function_ref<bool(llvm::ArrayRef<const DimPiece *>)> take) {
  std::vector<size_t> choice(dims.size(), 0);
  llvm::SmallVector<const DimPiece *> pieces(dims.size());
  while (true) {
    for (size_t d = 0; d < dims.size(); ++d)
      pieces[d] = &dims[d][choice[d]];
    if (!take(pieces))
      return false;
    int d = int(dims.size()) - 1;
    while (d >= 0 && ++choice[d] == dims[d].size())
      choice[d--] = 0;
    if (d < 0)
      return true;
  }
}

Position mlir::npu::advance(const Position &from, const LoopStep &step,
                            int64_t npus, int64_t k) {
  if (!step.scattered)
    return {from.core, from.offset + k * step.stride};
  int64_t core = from.core + k;
  return {core % npus, from.offset + core / npus * step.stride};
}

std::optional<Loop>
mlir::npu::takeLongest(std::vector<Loop> &loops,
                       llvm::function_ref<bool(const Loop &)> may) {
  auto best = loops.end();
  for (auto loop = loops.begin(); loop != loops.end(); ++loop)
    if (may(*loop) && (best == loops.end() || loop->extent > best->extent))
      best = loop;
  if (best == loops.end())
    return std::nullopt;
  Loop taken = *best;
  loops.erase(best);
  return taken;
}

void mlir::npu::mergeLoops(std::vector<Loop> &loops) {
  auto isOne = [](const Loop &outer, const Loop &inner) {
    return !outer.isScattered() && !inner.isScattered() &&
           llvm::all_of(llvm::zip_equal(outer.side, inner.side),
                        [&](auto both) {
                          auto [out, in] = both;
                          return out.stride == in.stride * inner.extent;
                        });
  };
  for (size_t o = 0; o < loops.size(); ++o)
    for (size_t i = 0; i < loops.size(); ++i) {
      if (o == i || !isOne(loops[o], loops[i]))
        continue;
      loops[i].extent *= loops[o].extent;
      loops.erase(loops.begin() + o);
      return mergeLoops(loops);
    }
}
