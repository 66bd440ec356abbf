//===- KernelPlan.cpp - The register tile of a kernel ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelPlan.h"
#include "Guard.h"
#include "layout/Support/LaneAccess.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::layout;

/// Whether every op of the body has a form on vectors.
static bool isVectorizable(const Stage &stage) {
  linalg::LinalgOp op = stage.op;
  Block *body = op.getBlock();
  for (Type type : body->getArgumentTypes())
    if (!type.isIntOrIndexOrFloat())
      return false;
  for (Operation &inner : body->without_terminator()) {
    if (isa<linalg::IndexOp, arith::ConstantOp>(inner))
      continue;
    if (!OpTrait::hasElementwiseMappableTraits(&inner) ||
        inner.getNumRegions() != 0)
      return false;
    for (Type type : inner.getResultTypes())
      if (!type.isIntOrIndexOrFloat())
        return false;
  }
  return true;
}

/// Every stage of the kernel.
static SmallVector<const Stage *> stagesOf(const Kernel &kernel) {
  SmallVector<const Stage *> stages{&kernel.root};
  if (kernel.finish)
    stages.push_back(&*kernel.finish);
  for (const SmallVector<Start> *starts :
       {&kernel.starts, &kernel.finishStarts})
    for (const Start &start : *starts)
      if (auto *stage = std::get_if<Stage>(&start))
        stages.push_back(stage);
  return stages;
}

static bool isLane(const Kernel &kernel, unsigned dim) {
  if (!kernel.isParallel(dim))
    return false;
  for (const Stage *stage : stagesOf(kernel)) {
    unsigned inputs = stage->numInputs();
    for (auto [i, map] : llvm::enumerate(stage->maps)) {
      LaneAccess access = classifyLane(map, dim);
      if (access == LaneAccess::Other ||
          (i >= inputs && access != LaneAccess::Contiguous))
        return false;
    }
  }
  return true;
}

static unsigned bitsOf(Type type) {
  return type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
}

bool layout::isWholeBytes(Type element) {
  if (!element.isIntOrFloat())
    return true;
  unsigned bits = element.getIntOrFloatBitWidth();
  return bits >= 8 && llvm::isPowerOf2_32(bits);
}

/// Whether elements are read or written one by one, each by ops of its own.
static bool movesSingleElements(const Kernel &kernel) {
  return llvm::any_of(stagesOf(kernel), [](const Stage *stage) {
    return !llvm::all_of(stage->op->getOperandTypes(), [](Type type) {
      return isWholeBytes(getElementTypeOrSelf(type));
    });
  });
}

/// Bits of the widest element that is accumulated or stored.
static unsigned widestResult(const Kernel &kernel) {
  unsigned bits = 8;
  for (const Stage *stage : stagesOf(kernel)) {
    linalg::LinalgOp op = stage->op;
    for (BlockArgument arg : op.getRegionOutputArgs())
      bits = std::max(bits, bitsOf(arg.getType()));
  }
  return bits;
}

/// The number of vector operations of one step on one vector. A multiplication
/// that feeds an addition counts as one with it.
static double stepOps(const Kernel &kernel) {
  double ops = 0;
  linalg::LinalgOp root = kernel.root.op;
  Block *body = root.getBlock();
  SmallVector<Value> wanted(body->getTerminator()->getOperands());
  // A mask that the loops take over costs nothing here.
  if (std::optional<Guards> guards = findGuards(kernel, {}))
    wanted = {guards->next};
  for (Operation *op : neededOps(body, wanted)) {
    if (isa<linalg::IndexOp, arith::ConstantOp>(op))
      continue;
    bool fused = isa<arith::MulFOp>(op) && op->hasOneUse() &&
                 isa<arith::AddFOp>(*op->user_begin());
    ops += fused ? 0 : 1;
  }
  return std::max(ops, 1.0);
}

/// Extent of a dim for counting; a size that is known at run time only is taken
/// to be large.
static double countOf(int64_t extent) {
  return ShapedType::isDynamic(extent) ? 64.0 : static_cast<double>(extent);
}

namespace {

/// How one input is walked through.
struct Input {
  AffineMap map;
  double elementBytes;
  double tensorBytes;
  /// Bytes between the elements of neighboring iterations, per kernel dim.
  SmallVector<double> stride;
};

/// Prices one candidate tile.
class Pricer {
public:
  Pricer(const Kernel &kernel, const CpuFigures &target,
         std::optional<unsigned> lane, int64_t vectorSize)
      : kernel(kernel), target(target), lane(lane), vectorSize(vectorSize),
        lineBytes(target.lineBytes), ops(stepOps(kernel)),
        results(kernel.starts.size()) {
    for (auto [dim, extent] : llvm::enumerate(kernel.extents))
      if (!kernel.isParallel(dim))
        steps *= countOf(extent);
    const Stage &root = kernel.root;
    linalg::LinalgOp op = root.op;
    for (unsigned i = 0, e = root.numInputs(); i < e; ++i)
      if (op.payloadUsesValueFromOperand(op.getDpsInputOperand(i)))
        addInput(op->getOperand(i).getType(), root.maps[i]);
  }

  bool fits(ArrayRef<int64_t> tile) const {
    int64_t sum = 0, largest = 0;
    for (const Input &input : inputs) {
      int64_t values = distinct(input.map, tile);
      sum += values;
      largest = std::max(largest, values);
    }
    // One operand is loaded where it is used, the others stay.
    int64_t held = inputs.empty() ? 1 : sum - largest + 1;
    if (ops > 1)
      held += 1;
    int64_t points = results * pointsOf(tile);
    if (!kernel.hasReduction())
      return points <= 4;
    return points + held <= target.vectorRegisters;
  }

  /// Cycles of all tiles, the cut ones included.
  double total(ArrayRef<int64_t> tile) const {
    SmallVector<int64_t> current(tile);
    return totalFrom(tile, current, 0);
  }

private:
  void addInput(Type type, AffineMap map) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || map.getNumResults() == 0)
      return;
    Input input;
    input.map = map;
    input.elementBytes = bitsOf(tensor.getElementType()) / 8.0;
    SmallVector<double> weight(tensor.getRank(), input.elementBytes);
    for (int64_t i = tensor.getRank() - 2; i >= 0; --i)
      weight[i] = weight[i + 1] * countOf(tensor.getDimSize(i + 1));
    input.tensorBytes = weight[0] * countOf(tensor.getDimSize(0));
    SmallVector<int64_t> at(map.getNumDims(), 0);
    SmallVector<int64_t> origin = map.compose(at);
    for (unsigned dim = 0; dim < at.size(); ++dim) {
      at[dim] = 1;
      double bytes = 0;
      for (auto [i, value] : llvm::enumerate(map.compose(at)))
        bytes += weight[i] * (value - origin[i]);
      input.stride.push_back(std::abs(bytes));
      at[dim] = 0;
    }
    inputs.push_back(std::move(input));
  }

  int64_t vectorsAlong(unsigned dim, int64_t extent) const {
    return lane == dim ? llvm::divideCeil(extent, vectorSize) : extent;
  }
  int64_t pointsOf(ArrayRef<int64_t> tile) const {
    int64_t points = 1;
    for (auto [dim, extent] : llvm::enumerate(tile))
      points *= vectorsAlong(dim, extent);
    return points;
  }
  int64_t distinct(AffineMap map, ArrayRef<int64_t> tile) const {
    int64_t values = 1;
    for (auto [dim, extent] : llvm::enumerate(tile))
      if (extent != 1 && map.isFunctionOfDim(dim))
        values *= vectorsAlong(dim, extent);
    return values;
  }

  /// Cache lines of `input` that one reduction step touches for the first time.
  double newLines(const Input &input, ArrayRef<int64_t> tile) const {
    double run = input.elementBytes, rows = 1;
    for (auto [dim, extent] : llvm::enumerate(tile)) {
      if (extent == 1 || !input.map.isFunctionOfDim(dim))
        continue;
      if (lane == dim)
        run *= extent;
      else
        rows *= extent;
    }
    double lines = std::ceil(run / lineBytes), repeats = 1;
    for (unsigned dim = tile.size(); dim-- > 0;) {
      if (kernel.isParallel(dim) || kernel.extents[dim] == 1)
        continue;
      if (input.stride[dim] == 0) {
        repeats *= countOf(kernel.extents[dim]);
        continue;
      }
      lines = std::min(lines, input.stride[dim] / lineBytes);
      return rows * lines / std::max(repeats, 1.0);
    }
    return rows * lines / std::max(repeats, 1.0);
  }
  double footprint(const Input &input, ArrayRef<int64_t> tile) const {
    return std::min(input.tensorBytes,
                    newLines(input, tile) * steps * lineBytes);
  }

  double cyclesOf(ArrayRef<int64_t> tile) const {
    double work = ops * results * pointsOf(tile) / 2.0, loads = 0, memory = 0;
    for (const Input &input : inputs) {
      loads += distinct(input.map, tile);
      double bytes = footprint(input, tile);
      // What a tile reads is read again by the next one, from the first, the
      // second or the last cache.
      double cyclesPerLine = bytes <= target.firstCacheBytes / 2    ? 0.5
                             : bytes <= target.secondCacheBytes / 2 ? 2
                                                                    : 4;
      memory += cyclesPerLine * newLines(input, tile);
    }
    double cycles = std::max(work, loads / 2.0);
    if (kernel.hasReduction())
      cycles = std::max(cycles, 4.0);
    cycles += 0.5;
    return std::max(cycles, memory) + 0.3 * std::min(cycles, memory);
  }

  double totalFrom(ArrayRef<int64_t> tile, SmallVectorImpl<int64_t> &current,
                   unsigned dim) const {
    while (dim < tile.size() && tile[dim] == 1)
      ++dim;
    if (dim == tile.size())
      return cyclesOf(current);
    int64_t extent = kernel.extents[dim];
    if (ShapedType::isDynamic(extent))
      extent = 64 * tile[dim];
    double cycles = 0;
    current[dim] = tile[dim];
    if (int64_t whole = extent / tile[dim])
      cycles += whole * totalFrom(tile, current, dim + 1);
    if (int64_t rest = extent % tile[dim]) {
      current[dim] = rest;
      // More code is worth a little, so that equal choices take the even one.
      cycles += 1.001 * totalFrom(tile, current, dim + 1);
      current[dim] = tile[dim];
    }
    if (ShapedType::isDynamic(kernel.extents[dim]))
      cycles /= tile[dim];
    return cycles;
  }

  const Kernel &kernel;
  const CpuFigures &target;
  std::optional<unsigned> lane;
  int64_t vectorSize;
  double lineBytes;
  double ops;
  int64_t results;
  double steps = 1;
  SmallVector<Input> inputs;
};
} // namespace

/// The last dim that all stages can hold in vectors, and how many elements.
static void chooseLane(const Kernel &kernel, const CpuFigures &target,
                       KernelPlan &plan) {
  if (target.vectorBits == 0 ||
      !llvm::all_of(stagesOf(kernel),
                    [](const Stage *stage) { return isVectorizable(*stage); }))
    return;
  for (unsigned dim = 0, e = kernel.extents.size(); dim < e; ++dim)
    if (kernel.extents[dim] != 1 && isLane(kernel, dim))
      plan.lane = dim;
  if (!plan.lane)
    return;
  // Where a lane takes ops of its own, more lanes are more code and no faster.
  unsigned least = movesSingleElements(kernel) ? 32 : 8;
  unsigned bits = std::max(widestResult(kernel), least);
  int64_t size = std::max<int64_t>(1, target.vectorBits / bits);
  int64_t extent = kernel.extents[*plan.lane];
  if (!ShapedType::isDynamic(extent))
    size = std::min(size, std::max<int64_t>(extent, 1));
  plan.vectorSize = size;
  if (size == 1)
    plan.lane.reset();
}

namespace {
/// Looks for the cheapest tile that the registers hold.
class TileSearch {
public:
  TileSearch(const Kernel &kernel, const CpuFigures &target,
             const KernelPlan &plan)
      : kernel(kernel), target(target), lane(plan.lane),
        vectorSize(plan.vectorSize), pricer(kernel, target, lane, vectorSize),
        best(plan.tile) {
    for (auto [dim, extent] : llvm::enumerate(kernel.extents))
      if (kernel.isParallel(dim) && dim != lane &&
          (extent > 1 || ShapedType::isDynamic(extent)))
        others.push_back(dim);
    // A size that is known at run time only, such as a batch, may well be 1,
    // and then nothing of a block of it is used: it is the last resort.
    auto isDynamic = [&](unsigned dim) {
      return ShapedType::isDynamic(kernel.extents[dim]);
    };
    if (!llvm::all_of(others, isDynamic))
      llvm::erase_if(others, isDynamic);
    // Of equal choices the first one is taken: neighbors in memory.
    std::reverse(others.begin(), others.end());
  }

  SmallVector<int64_t> run() {
    int64_t extent = lane ? kernel.extents[*lane] : 1;
    bool isDynamic = ShapedType::isDynamic(extent);
    int64_t mostVectors =
        !lane || movesSingleElements(kernel) ? 1
        : isDynamic
            ? 4
            : std::min<int64_t>(8, llvm::divideCeil(extent, vectorSize));
    for (int64_t vectors = 1; vectors <= std::max<int64_t>(mostVectors, 1);
         ++vectors) {
      SmallVector<int64_t> tile(kernel.extents.size(), 1);
      if (lane) {
        tile[*lane] = vectors * vectorSize;
        if (!isDynamic && extent > 0)
          tile[*lane] = std::min(tile[*lane], extent);
      }
      if (consider(tile) && kernel.hasReduction())
        block(tile);
    }
    return best;
  }

private:
  /// Whether the registers hold the tile.
  bool consider(ArrayRef<int64_t> tile) {
    if (!pricer.fits(tile))
      return false;
    double cost = pricer.total(tile);
    unsigned blocked = 0;
    for (unsigned dim : others) {
      if (tile[dim] == 1)
        cost *= countOf(kernel.extents[dim]);
      else
        ++blocked;
    }
    // Every further blocked dim means more places in memory at a time.
    if (blocked > 1)
      cost *= 1.03;
    if (lane && tile[*lane] == 1)
      cost *= countOf(kernel.extents[*lane]);
    if (cost < bestCost) {
      bestCost = cost;
      best.assign(tile.begin(), tile.end());
    }
    return true;
  }

  /// Tries `tile` with one or two blocked dims.
  void block(SmallVector<int64_t> &tile) {
    for (unsigned dim : others) {
      for (int64_t rows = 2; rows <= getMostRows(dim); ++rows) {
        tile[dim] = rows;
        if (!consider(tile))
          break;
        for (unsigned second : others)
          if (second != dim)
            blockEvenly(tile, second);
      }
      tile[dim] = 1;
    }
  }

  /// A second blocked dim must divide evenly, to bound the code.
  void blockEvenly(SmallVector<int64_t> &tile, unsigned dim) {
    if (ShapedType::isDynamic(kernel.extents[dim]))
      return;
    for (int64_t factor = 2; factor <= getMostRows(dim); ++factor) {
      if (kernel.extents[dim] % factor != 0)
        continue;
      tile[dim] = factor;
      if (!consider(tile))
        break;
    }
    tile[dim] = 1;
  }

  int64_t getMostRows(unsigned dim) const {
    int64_t extent = kernel.extents[dim], registers = target.vectorRegisters;
    return ShapedType::isDynamic(extent) ? registers
                                         : std::min(extent, registers);
  }

  const Kernel &kernel;
  const CpuFigures &target;
  std::optional<unsigned> lane;
  int64_t vectorSize;
  Pricer pricer;
  SmallVector<unsigned> others;
  SmallVector<int64_t> best;
  double bestCost = std::numeric_limits<double>::infinity();
};
} // namespace

KernelPlan layout::planKernel(const Kernel &kernel, const CpuFigures &target) {
  KernelPlan plan;
  plan.tile.assign(kernel.extents.size(), 1);
  chooseLane(kernel, target, plan);
  plan.tile = TileSearch(kernel, target, plan).run();
  // Nothing fitted only if one step alone needs too many registers; the scalar
  // tile is then as good as any, except that lanes must stay whole vectors.
  if (plan.lane && plan.tile[*plan.lane] == 1)
    plan.tile[*plan.lane] = plan.vectorSize;

  plan.order = orderLoops(kernel, target, plan.tile);
  return plan;
}
