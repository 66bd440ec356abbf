//===- Commands.cpp - Commands of the execution units ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/NPU/Utils/Commands.h"
#include "DimLoops.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::npu;
using namespace mlir::layout;
using llvm::Twine;

std::optional<unsigned> npu::findIndexedDim(AffineMap map, unsigned loop) {
  std::optional<unsigned> found;
  for (auto [d, expr] : llvm::enumerate(map.getResults())) {
    if (!expr.isFunctionOfDim(loop))
      continue;
    if (found)
      return std::nullopt;
    found = d;
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Tables of loops
//===----------------------------------------------------------------------===//

/// Evaluates `expr` with `loop` at `value` and all other loops at 0. If `loop`
/// is `numLoops`, all are at 0.
static int64_t evaluate(AffineExpr expr, unsigned numLoops, unsigned loop,
                        int64_t value) {
  llvm::SmallVector<int64_t> at(numLoops, 0);
  if (loop < numLoops)
    at[loop] = value;
  AffineMap map = AffineMap::get(numLoops, 0, expr, expr.getContext());
  return map.compose(at)[0];
}

/// Returns true if the entries that nested loops reach are sums of one
/// contribution per loop: table[first + a + b] - table[first] is that of a plus
/// that of b. `places` has the index of each iteration of each loop, relative
/// to `first`.
static bool isSumOfLoops(llvm::ArrayRef<int64_t> table, int64_t first,
                         llvm::ArrayRef<std::vector<int64_t>> places) {
  std::vector<std::pair<int64_t, int64_t>> reached{{first, table[first]}};
  for (llvm::ArrayRef<int64_t> loop : places) {
    std::vector<std::pair<int64_t, int64_t>> next;
    for (auto [at, value] : reached)
      for (int64_t step : loop) {
        int64_t there = at + step;
        if (there < 0 || there >= int64_t(table.size()) ||
            table[there] != value + table[first + step] - table[first])
          return false;
        next.push_back({there, table[there]});
      }
    reached = std::move(next);
  }
  return true;
}

/// Converts tables over the dims of a tensor to tables over the loops that
/// index them by `index`, with trip counts `ranges`. Returns std::nullopt if an
/// index is out of bounds, or if the value is not a sum of one contribution per
/// loop.
static std::optional<Tables> getOnLoops(const Tables &dims, AffineMap index,
                                        llvm::ArrayRef<int64_t> ranges) {
  Tables loops;
  loops.start = dims.start;
  loops.dims.resize(ranges.size());
  for (auto [d, table] : llvm::enumerate(dims.dims)) {
    if (table.empty())
      continue;
    AffineExpr expr = index.getResult(d);
    llvm::SmallVector<unsigned> of;
    for (unsigned l = 0; l < ranges.size(); ++l)
      if (expr.isFunctionOfDim(l))
        of.push_back(l);
    int64_t first = evaluate(expr, ranges.size(), ranges.size(), 0);
    if (first < 0 || first >= int64_t(table.size()))
      return std::nullopt;
    loops.start += table[first];
    llvm::SmallVector<std::vector<int64_t>> places; // index - first, per loop
    for (unsigned l : of) {
      std::vector<int64_t> &own = loops.dims[l], &place = places.emplace_back();
      own.resize(ranges[l]);
      for (int64_t i = 0; i < ranges[l]; ++i) {
        int64_t at = evaluate(expr, ranges.size(), l, i);
        if (at < 0 || at >= int64_t(table.size()))
          return std::nullopt;
        own[i] += table[at] - table[first];
        place.push_back(at - first);
      }
    }
    if (of.size() > 1 && !isSumOfLoops(table, first, places))
      return std::nullopt;
  }
  for (std::vector<int64_t> &table : loops.dims)
    if (llvm::all_of(table, [](int64_t value) { return value == 0; }))
      table.clear();
  return loops;
}

static bool computeOnLoops(DimTables &tables, const CommandOperand &operand,
                           llvm::ArrayRef<int64_t> ranges, int64_t npus,
                           FailureReason error) {
  if (!tables.compute(operand.map, operand.shape, npus, error))
    return false;
  if (!tables.isLocal) {
    error("an operand is not in local memory");
    return false;
  }
  std::optional<Tables> cores = getOnLoops(tables.cores, operand.index, ranges);
  std::optional<Tables> offsets =
      getOnLoops(tables.offsets, operand.index, ranges);
  if (!cores || !offsets) {
    error("an operand is read at positions that are not linear in the loops");
    return false;
  }
  tables.cores = std::move(*cores);
  tables.offsets = std::move(*offsets);
  return true;
}

//===----------------------------------------------------------------------===//
// Boxes
//===----------------------------------------------------------------------===//

namespace {
/// Plans the commands for a part of a loop nest: the product of one set of
/// iterations per loop (DimPiece). Each set consists of nested loops in which
/// the core and the offset of all operands advance by constant steps.
class CommandPlanner {
public:
  CommandPlanner(llvm::ArrayRef<DimTables> tables,
                 llvm::ArrayRef<CommandOperand> operands,
                 const TransferLimits &limits, std::vector<Command> &commands,
                 FailureReason error)
      : tables(tables), operands(operands), limits(limits), commands(commands),
        error(error) {}

  bool plan(llvm::ArrayRef<const DimPiece *> pieces);

private:
  using Positions = llvm::SmallVector<Position, 3>;
  bool place(std::vector<Loop> loops);
  bool emit(size_t depth, const Positions &at);
  bool emitPlaced(const Positions &at);
  bool emitOne(const Positions &at, const LoopSizes &shape);
  Positions move(const Positions &from, const Loop &loop, int64_t k) const;

  llvm::ArrayRef<DimTables> tables;
  llvm::ArrayRef<CommandOperand> operands;
  const TransferLimits &limits;
  std::vector<Command> &commands;
  FailureReason error;
  std::vector<Loop> unrolled; // one command per iteration
  std::optional<Loop> placed[4];
};
} // namespace

/// Assigns the longest loops to the loops N, C, H and W of a command; C gets
/// one that goes from core to core on all operands. Unrolls the other loops to
/// one command per iteration, also those in which the destination stays at one
/// element or a stride is negative or too large. Returns false, and passes a
/// reason to `error`, if a loop goes from core to core on some operands only.
bool CommandPlanner::place(std::vector<Loop> loops) {
  for (std::optional<Loop> &loop : placed)
    loop.reset();
  auto isInReach = [&](const Loop &loop) {
    return !limits.maxStride || llvm::all_of(loop.side, [&](LoopStep step) {
      return step.stride <= limits.maxStride;
    });
  };
  auto goesAlong = [](const LoopStep &step) { return step.scattered; };
  placed[1] = takeLongest(loops, [&](const Loop &loop) {
    return llvm::all_of(loop.side, goesAlong) && isInReach(loop);
  });
  for (const Loop &loop : loops)
    if (loop.isScattered() && !llvm::all_of(loop.side, goesAlong)) {
      error(
          "a loop goes from core to core on some operands and stays in one on "
          "others");
      return false;
    }
  std::vector<Loop> inside;
  while (inside.size() < 3) {
    std::optional<Loop> loop = takeLongest(loops, [&](const Loop &loop) {
      return !loop.isScattered() && loop.side[0].stride != 0 &&
             llvm::all_of(loop.side,
                          [](LoopStep step) { return step.stride >= 0; }) &&
             isInReach(loop);
    });
    if (!loop)
      break;
    inside.push_back(*loop);
  }
  llvm::stable_sort(inside, [](const Loop &a, const Loop &b) {
    return a.side[0].stride < b.side[0].stride;
  });
  static constexpr int kPlaces[] = {3, 2, 0};
  for (auto [i, loop] : llvm::enumerate(inside))
    placed[i == 1 && inside.size() == 2 ? 0 : kPlaces[i]] = loop;
  unrolled = std::move(loops);
  return true;
}

bool CommandPlanner::plan(llvm::ArrayRef<const DimPiece *> pieces) {
  Positions at;
  for (const DimTables &side : tables)
    at.push_back({side.cores.start, side.offsets.start});
  std::vector<Loop> loops;
  for (auto [d, piece] : llvm::enumerate(pieces)) {
    for (auto [position, side] : llvm::zip_equal(at, tables)) {
      position.core += side.cores.get(d, piece->first);
      position.offset += side.offsets.get(d, piece->first);
    }
    llvm::append_range(loops, piece->loops);
  }
  mergeLoops(loops);
  return place(std::move(loops)) && emit(0, at);
}

CommandPlanner::Positions
CommandPlanner::move(const Positions &from, const Loop &loop, int64_t k) const {
  Positions to;
  for (auto [position, step, side] : llvm::zip_equal(from, loop.side, tables))
    to.push_back(advance(position, step, side.npus, k));
  return to;
}

bool CommandPlanner::emit(size_t depth, const Positions &at) {
  if (depth == unrolled.size())
    return emitPlaced(at);
  for (int64_t k = 0; k < unrolled[depth].extent; ++k)
    if (!emit(depth + 1, move(at, unrolled[depth], k)))
      return false;
  return true;
}

bool CommandPlanner::emitPlaced(const Positions &at) {
  LoopSizes whole;
  for (int d = 0; d < 4; ++d)
    whole[d] = placed[d] ? placed[d]->extent : 1;
  return cutBox(whole, limits.maxShape,
                [&](const LoopSizes &first, const LoopSizes &shape) {
                  Positions there = at;
                  for (int d = 0; d < 4; ++d)
                    if (placed[d])
                      there = move(there, *placed[d], first[d]);
                  return emitOne(there, shape);
                });
}

bool CommandPlanner::emitOne(const Positions &at, const LoopSizes &shape) {
  if (llvm::any_of(at, [&](const Position &position) {
        return position.core != at[0].core;
      })) {
    error("operands start at different cores: move one of them");
    return false;
  }
  Command command;
  command.shape = shape;
  for (auto [k, position] : llvm::enumerate(at)) {
    TransferSide side;
    side.core = position.core;
    side.byte = position.offset * operands[k].elementBytes;
    command.elementBytes.push_back(operands[k].elementBytes);
    int64_t packed = 1; // the value of a stride that has no effect
    for (int d : {3, 2, 1, 0}) {
      bool isFree =
          shape[d] == 1 || (d == 1 && position.core + shape[d] <= limits.npus);
      int64_t stride = isFree ? packed : placed[d]->side[k].stride;
      side.strides[d] =
          limits.maxStride ? std::min(stride, limits.maxStride) : stride;
      packed = std::max(packed, side.strides[d] * shape[d]);
    }
    command.sides.push_back(side);
  }
  commands.push_back(std::move(command));
  if (int64_t(commands.size()) <= kMaxCommands)
    return true;
  error("needs more than " + Twine(kMaxCommands) +
        " commands: choose layouts that step more evenly, or split the op");
  return false;
}

std::optional<std::vector<Command>>
mlir::npu::planCommands(llvm::ArrayRef<CommandOperand> operands,
                        llvm::ArrayRef<int64_t> ranges,
                        const TransferLimits &limits, FailureReason error) {
  std::vector<Command> commands;
  if (llvm::is_contained(ranges, 0))
    return commands;
  std::vector<DimTables> tables(operands.size());
  for (auto [table, operand] : llvm::zip_equal(tables, operands))
    if (!computeOnLoops(table, operand, ranges, limits.npus, error))
      return std::nullopt;
  std::vector<std::vector<DimPiece>> loops;
  for (size_t l = 0; l < ranges.size(); ++l)
    loops.push_back(splitDim(tables, l, ranges[l]));
  CommandPlanner planner(tables, operands, limits, commands, error);
  if (!forEachBox(loops, [&](auto pieces) { return planner.plan(pieces); }))
    return std::nullopt;
  return commands;
}

//===----------------------------------------------------------------------===//
// Boxes and strides that functions require
//===----------------------------------------------------------------------===//

std::optional<TransferSide> mlir::npu::getBox(const CommandOperand &operand,
                                              const LoopSizes &ranges,
                                              const TransferLimits &limits) {
  DimTables tables;
  if (llvm::is_contained(ranges, 0) ||
      !computeOnLoops(tables, operand, ranges, limits.npus, nullptr))
    return std::nullopt;
  TransferSide box;
  box.core = tables.cores.start;
  box.byte = tables.offsets.start * operand.elementBytes;
  int64_t packed = 1;
  for (int d : {3, 2, 1, 0}) {
    std::vector<DimPiece> pieces = splitDim(tables, d, ranges[d]);
    bool isLoop = ranges[d] > 1;
    if (pieces.size() != 1 || pieces[0].loops.size() != size_t(isLoop) ||
        (limits.maxShape[d] && ranges[d] > limits.maxShape[d]))
      return std::nullopt;
    LoopStep step = isLoop ? pieces[0].loops[0].side[0] : LoopStep();
    if (isLoop && limits.npus > 1 && step.scattered != (d == 1))
      return std::nullopt;
    bool isFree =
        !isLoop || (step.scattered && box.core + ranges[d] <= limits.npus);
    if (!isFree && limits.maxStride && step.stride > limits.maxStride)
      return std::nullopt;
    box.strides[d] = isFree ? packed : step.stride;
    if (limits.maxStride)
      box.strides[d] = std::min(box.strides[d], limits.maxStride);
    packed = std::max(packed, box.strides[d] * ranges[d]);
  }
  return box;
}

LoopSizes mlir::npu::getAlignedStrides(int64_t core, const LoopSizes &shape,
                                       int64_t elementBytes, int64_t euBytes,
                                       int64_t npus) {
  int64_t step = std::max<int64_t>(euBytes / elementBytes, 1);
  int64_t channel = llvm::alignTo(shape[2] * shape[3], step);
  int64_t rows = llvm::divideCeil(core + shape[1], npus);
  return {channel * rows, channel, shape[3], 1};
}

std::optional<int> mlir::npu::findUnaligned(const TransferSide &box,
                                            const LoopSizes &shape,
                                            const LoopSizes &aligned,
                                            int64_t npus) {
  for (int d = 0; d < 4; ++d) {
    bool isFree = shape[d] == 1 || (d == 1 && box.core + shape[1] <= npus);
    if (!isFree && box.strides[d] != aligned[d])
      return d;
  }
  return std::nullopt;
}

/// The alignment in bytes of every channel of a compact tensor.
static constexpr int64_t kWordBytes = 4;

/// Returns the strides, in elements, of a tensor of `shape` in the compact
/// layout, whose channels begin at multiples of kWordBytes. Channel 0 is in
/// core number `core`.
static LoopSizes getCompactStrides(int64_t core, const LoopSizes &shape,
                                   int64_t elementBytes, int64_t npus) {
  return getAlignedStrides(core, shape, elementBytes, kWordBytes, npus);
}

static bool isWithin(const LoopSizes &strides, int64_t most) {
  return !most || llvm::all_of(strides, [&](int64_t s) { return s <= most; });
}

bool mlir::npu::isAligned(const TransferSide &box, const LoopSizes &shape,
                          int64_t elementBytes, int64_t euBytes,
                          const TransferLimits &limits) {
  LoopSizes aligned =
      getAlignedStrides(box.core, shape, elementBytes, euBytes, limits.npus);
  return box.byte % euBytes == 0 && isWithin(aligned, limits.maxStride) &&
         !findUnaligned(box, shape, aligned, limits.npus);
}

std::optional<std::vector<Command>>
mlir::npu::alignCommand(const Command &command, int64_t euBytes,
                        const TransferLimits &limits) {
  std::optional<int> wrong;
  for (auto [side, elementBytes] :
       llvm::zip_equal(command.sides, command.elementBytes)) {
    LoopSizes aligned = getAlignedStrides(side.core, command.shape,
                                          elementBytes, euBytes, limits.npus);
    if (side.byte % euBytes != 0 || !isWithin(aligned, limits.maxStride))
      return std::nullopt;
    if (std::optional<int> d =
            findUnaligned(side, command.shape, aligned, limits.npus))
      wrong = std::min(wrong.value_or(*d), *d);
  }
  if (!wrong)
    return std::vector<Command>{command};
  // A single loop along W with a stride other than 1, e.g. the rows of a matrix
  // with one column per channel, can be a loop along N.
  const LoopSizes &whole = command.shape;
  if (*wrong == 3 && whole[0] == 1 && whole[2] == 1 &&
      (!limits.maxShape[0] || whole[3] <= limits.maxShape[0])) {
    Command along = command;
    std::swap(along.shape[0], along.shape[3]);
    for (TransferSide &side : along.sides)
      std::swap(side.strides[0], side.strides[3]);
    return alignCommand(along, euBytes, limits);
  }
  // Split into one command per iteration of loop `wrong`.
  std::vector<Command> parts;
  LoopSizes most = command.shape;
  most[*wrong] = 1;
  auto take = [&](const LoopSizes &first, const LoopSizes &size) {
    Command part = command;
    part.shape = size;
    for (auto [side, elementBytes] :
         llvm::zip_equal(part.sides, part.elementBytes))
      side = getPartSide(side, first, elementBytes, limits.npus);
    std::optional<std::vector<Command>> whole =
        alignCommand(part, euBytes, limits);
    if (whole)
      llvm::append_range(parts, *whole);
    return whole && int64_t(parts.size()) <= kMaxCommands;
  };
  if (*wrong == 3 || !cutBox(command.shape, most, take))
    return std::nullopt;
  return parts;
}

static bool isCompact(const Command &command, const TransferLimits &limits) {
  return llvm::all_of(
      llvm::zip_equal(command.sides, command.elementBytes), [&](auto each) {
        auto [side, elementBytes] = each;
        LoopSizes compact = getCompactStrides(side.core, command.shape,
                                              elementBytes, limits.npus);
        return side.byte % kWordBytes == 0 &&
               isWithin(compact, limits.maxStride) &&
               !findUnaligned(side, command.shape, compact, limits.npus);
      });
}

std::optional<UnstridedCommands>
mlir::npu::dropStrides(llvm::ArrayRef<Command> commands, int64_t euBytes,
                       const TransferLimits &limits, bool mayBeCompact) {
  UnstridedCommands unstrided;
  for (const Command &command : commands) {
    std::optional<std::vector<Command>> parts =
        alignCommand(command, euBytes, limits);
    if (!parts) {
      unstrided.isCompact = true;
      break;
    }
    llvm::append_range(unstrided.commands, *parts);
  }
  if (!unstrided.isCompact)
    return unstrided;
  unstrided.commands = commands.vec();
  if (!mayBeCompact || !llvm::all_of(commands, [&](const Command &command) {
        return isCompact(command, limits);
      }))
    return std::nullopt;
  return unstrided;
}
