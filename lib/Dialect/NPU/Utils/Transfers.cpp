//===- Transfers.cpp - Copies as DMA transfers ----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/NPU/Utils/Transfers.h"
#include "DimLoops.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::npu;
using namespace mlir::layout;
using llvm::Twine;

namespace {

/// Plans the DMA transfers of a part of a tensor: the product of one set of
/// indices per dim (DimPiece). Each set consists of nested loops in which the
/// core and the offset of the source and of the destination advance by constant
/// steps.
class BoxPlanner {
public:
  BoxPlanner(const DimTables (&tables)[2], const TransferLimits &limits,
             int64_t elementBytes, std::vector<Transfer> &transfers,
             FailureReason error)
      : tables(tables), limits(limits), transfers(transfers), error(error) {
    // An element of other than 1, 2 or 4 bytes is moved as a row of smaller
    // words.
    word = elementBytes % 4 == 0 ? 4 : elementBytes % 2 == 0 ? 2 : 1;
    words = elementBytes / word;
  }

  bool plan(llvm::ArrayRef<const DimPiece *> pieces);

private:
  bool isInReach(const Loop &loop) const;
  void foldLong(bool hasLocal);
  bool canBeC(const Loop &loop) const;
  std::optional<Loop> take(llvm::function_ref<bool(const Loop &)> may) {
    return takeLongest(loops, may);
  }
  bool emit(size_t depth, Position (&at)[2]);
  int64_t getStep(const Loop &loop, int64_t most) const;
  bool emitPlaced(const Position (&at)[2]);
  bool emitOne(const Position (&at)[2], const LoopSizes &shape);
  Position advance(const Position &from, const LoopStep &step, int side,
                   int64_t k) const {
    return mlir::npu::advance(from, step, tables[side].npus, k);
  }

  const DimTables (&tables)[2];
  const TransferLimits &limits;
  int64_t word, words;
  std::vector<Transfer> &transfers;
  FailureReason error;

  std::vector<Loop> loops;    // not yet assigned
  std::vector<Loop> unrolled; // one transfer per iteration
  std::optional<Loop> placed[4];
};

} // namespace

/// Returns true if `loop` can be the C loop of a transfer: it goes from core to
/// core on each side that is in local memory.
bool BoxPlanner::canBeC(const Loop &loop) const {
  for (int side : {0, 1})
    if (tables[side].isLocal && !loop.side[side].scattered)
      return false;
  return true;
}

bool BoxPlanner::isInReach(const Loop &loop) const {
  return !limits.maxStride || (loop.side[0].stride <= limits.maxStride &&
                               loop.side[1].stride <= limits.maxStride);
}

/// Splits a loop of the transfer that stays in a core and exceeds the maximum
/// number of iterations into two. One of the loops H, N and C that is unused
/// becomes the outer loop; without one, does not split. The inner loop is as
/// long as possible. If `hasLocal`, i.e. a side is in local memory, C is not
/// used for this.
void BoxPlanner::foldLong(bool hasLocal) {
  for (int d : {3, 2, 0, 1})
    for (int free : {2, 0, 1}) {
      int64_t most = limits.maxShape[d];
      if (!placed[d] || !most || placed[d]->extent <= most ||
          placed[d]->isScattered() || placed[free] || (hasLocal && free == 1))
        continue;
      most = getStep(*placed[d], most);
      while (placed[d]->extent % most != 0)
        --most;
      Loop outer = *placed[d];
      outer.extent /= most;
      for (LoopStep &step : outer.side)
        step.stride *= most;
      if (most == 1 || !isInReach(outer))
        continue;
      placed[d]->extent = most;
      placed[free] = outer;
    }
}

bool BoxPlanner::plan(llvm::ArrayRef<const DimPiece *> pieces) {
  Position at[2];
  loops.clear();
  unrolled.clear();
  for (int side : {0, 1})
    at[side] = {tables[side].cores.start, tables[side].offsets.start * words};
  for (auto [d, piece] : llvm::enumerate(pieces)) {
    for (int side : {0, 1}) {
      at[side].core += tables[side].cores.get(d, piece->first);
      at[side].offset += tables[side].offsets.get(d, piece->first) * words;
    }
    for (Loop loop : piece->loops) {
      for (LoopStep &step : loop.side)
        step.stride *= words;
      loops.push_back(loop);
    }
  }
  if (words > 1)
    loops.push_back({words, {{1, false}, {1, false}}});
  mergeLoops(loops);

  bool hasLocal = tables[0].isLocal || tables[1].isLocal;
  placed[3] = take([&](const Loop &loop) {
    return !loop.isScattered() && loop.side[0].stride == 1 &&
           loop.side[1].stride == 1;
  });
  placed[1] = take([&](const Loop &loop) {
    return loop.isScattered() && canBeC(loop) && isInReach(loop);
  });
  auto isPlain = [&](const Loop &loop) {
    return !loop.isScattered() && isInReach(loop);
  };
  placed[2] = take(isPlain);
  placed[0] = take(isPlain);
  if (!hasLocal)
    placed[1] = take(isPlain);
  foldLong(hasLocal);
  // The loop with the larger stride in the destination becomes N.
  if (placed[2] &&
      (!placed[0] || placed[2]->side[1].stride > placed[0]->side[1].stride))
    std::swap(placed[0], placed[2]);
  unrolled = loops;
  return emit(0, at);
}

/// Emits the transfers of each iteration of the unrolled loops from number
/// `depth` on. `at` has the positions in source and destination at the current
/// iteration of the loops before. Returns false, and passes a reason to
/// `error`, if a transfer starts at an unaligned address or there are too many.
bool BoxPlanner::emit(size_t depth, Position (&at)[2]) {
  if (depth < unrolled.size()) {
    const Loop &loop = unrolled[depth];
    for (int64_t k = 0; k < loop.extent; ++k) {
      Position next[2] = {advance(at[0], loop.side[0], 0, k),
                          advance(at[1], loop.side[1], 1, k)};
      if (!emit(depth + 1, next))
        return false;
    }
    return true;
  }
  return emitPlaced(at);
}

/// Returns the number of iterations per transfer of a loop that exceeds `most`:
/// the largest number up to `most` after which the next transfer starts at an
/// aligned address, or `most` if there is none.
int64_t BoxPlanner::getStep(const Loop &loop, int64_t most) const {
  auto isAligned = [&](int64_t step) {
    for (int side : {0, 1}) {
      // In a loop from core to core, the byte changes only by one stride per
      // pass over the cores.
      int64_t rows = loop.side[side].scattered ? 1 : step;
      if (rows * loop.side[side].stride * word % limits.alignment != 0)
        return false;
    }
    return true;
  };
  for (int64_t step = most; step > 0; --step)
    if (isAligned(step))
      return step;
  return most;
}

/// Emits the transfers of a box that starts at the positions `at` in source and
/// destination, split at the maximum number of iterations of each loop. Returns
/// false, and passes a reason to `error`, if a transfer starts at an unaligned
/// address or there are too many.
bool BoxPlanner::emitPlaced(const Position (&at)[2]) {
  LoopSizes whole, most = limits.maxShape;
  for (int d = 0; d < 4; ++d) {
    whole[d] = placed[d] ? placed[d]->extent : 1;
    if (most[d] && whole[d] > most[d])
      most[d] = getStep(*placed[d], most[d]);
  }
  return cutBox(
      whole, most, [&](const LoopSizes &first, const LoopSizes &shape) {
        Position there[2] = {at[0], at[1]};
        for (int side : {0, 1})
          for (int d = 0; d < 4; ++d)
            if (placed[d])
              there[side] =
                  advance(there[side], placed[d]->side[side], side, first[d]);
        return emitOne(there, shape);
      });
}

bool BoxPlanner::emitOne(const Position (&at)[2], const LoopSizes &shape) {
  Transfer transfer;
  transfer.elementBytes = word;
  TransferSide *sides[2] = {&transfer.source, &transfer.dest};
  for (int side : {0, 1}) {
    sides[side]->core = tables[side].isLocal ? at[side].core : -1;
    sides[side]->byte = at[side].offset * word;
    int64_t packed = 1; // the value of a stride that has no effect
    for (int d : {3, 2, 1, 0}) {
      int64_t extent = shape[d];
      int64_t stride = placed[d] ? placed[d]->side[side].stride : 0;
      bool isFree = extent == 1 || (placed[d]->side[side].scattered &&
                                    at[side].core + extent <= limits.npus);
      sides[side]->strides[d] = isFree ? packed : stride;
      if (d == 3)
        sides[side]->strides[d] = 1;
      if (limits.maxStride)
        sides[side]->strides[d] =
            std::min(sides[side]->strides[d], limits.maxStride);
      packed = std::max(packed, sides[side]->strides[d] * extent);
      transfer.shape[d] = extent;
    }
    int64_t alignment = std::max(limits.alignment, word);
    if (sides[side]->byte % alignment != 0) {
      error("a transfer would start at byte " + Twine(sides[side]->byte) +
            (side ? " of the destination" : " of the source") +
            ", which is not a multiple of the " + Twine(alignment) +
            " bytes that the DMA engine requires: begin parts, batches and "
            "rows at such bytes, or use wider elements");
      return false;
    }
  }
  transfers.push_back(transfer);
  if (int64_t(transfers.size()) <= kMaxTransfers)
    return true;
  error(
      "needs more than " + Twine(kMaxTransfers) +
      " transfers: choose layouts that step more evenly, or split the tensor");
  return false;
}

std::optional<std::vector<Transfer>>
mlir::npu::planTransfers(const LayoutMap &source, const LayoutMap &dest,
                         Sizes sizes, int64_t elementBytes,
                         const TransferLimits &limits, FailureReason error) {
  assert(source.getRank() == sizes.size() && dest.getRank() == sizes.size() &&
         "both lay out the same tensor");
  std::vector<Transfer> transfers;
  if (llvm::is_contained(sizes, 0))
    return transfers;
  DimTables tables[2];
  if (!tables[0].compute(source, sizes, limits.npus, error) ||
      !tables[1].compute(dest, sizes, limits.npus, error))
    return std::nullopt;
  std::vector<std::vector<DimPiece>> dims;
  for (size_t d = 0; d < sizes.size(); ++d)
    dims.push_back(splitDim(tables, d, sizes[d]));

  BoxPlanner planner(tables, limits, elementBytes, transfers, error);
  if (!forEachBox(dims, [&](auto pieces) { return planner.plan(pieces); }))
    return std::nullopt;
  return transfers;
}

bool mlir::npu::cutBox(
    const LoopSizes &shape, const LoopSizes &most,
    llvm::function_ref<bool(const LoopSizes &, const LoopSizes &)> take) {
  LoopSizes step, first{0, 0, 0, 0}, part;
  for (int d = 0; d < 4; ++d)
    step[d] = most[d] ? std::min(most[d], shape[d]) : shape[d];
  while (true) {
    for (int d = 0; d < 4; ++d)
      part[d] = std::min(step[d], shape[d] - first[d]);
    if (!take(first, part))
      return false;
    int d = 3;
    while (d >= 0 && (first[d] += step[d]) >= shape[d])
      first[d--] = 0;
    if (d < 0)
      return true;
  }
}

TransferSide mlir::npu::getPartSide(const TransferSide &side,
                                    const LoopSizes &first,
                                    int64_t elementBytes, int64_t npus) {
  TransferSide part = side;
  int64_t core = side.core + first[1];
  part.core = core % npus;
  int64_t rows = core / npus;
  part.byte += (first[0] * side.strides[0] + rows * side.strides[1] +
                first[2] * side.strides[2] + first[3] * side.strides[3]) *
               elementBytes;
  return part;
}
