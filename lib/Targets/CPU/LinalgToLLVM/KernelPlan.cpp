//===- KernelPlan.cpp - The register tile of a kernel ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelPlan.h"
#include "ParallelLoops.h"
#include "TilePrice.h"
#include "layout/Support/LaneAccess.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

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
    // What lanes read by indices must be one element: readsOneElement.
    if (!isa<tensor::ExtractOp>(inner) &&
        (!OpTrait::hasElementwiseMappableTraits(&inner) ||
         inner.getNumRegions() != 0))
      return false;
    for (Type type : inner.getResultTypes())
      if (!type.isIntOrIndexOrFloat())
        return false;
  }
  return true;
}

/// Whether lanes of vectors along `dim` read one element each time that the
/// body of `stage` reads an element by its indices.
static bool readsOneElement(const Stage &stage, unsigned dim) {
  linalg::LinalgOp linalgOp = stage.op;
  SmallVector<Value> worklist;
  for (auto extract : linalgOp.getBlock()->getOps<tensor::ExtractOp>())
    worklist.append(extract->operand_begin(), extract->operand_end());
  DenseSet<Value> seen;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (value.getParentBlock() != linalgOp.getBlock() ||
        !seen.insert(value).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (stage.maps[argument.getArgNumber()].isFunctionOfDim(dim))
        return false;
      continue;
    }
    Operation *op = value.getDefiningOp();
    if (auto index = dyn_cast<linalg::IndexOp>(op))
      if (stage.dims[index.getDim()] == dim)
        return false;
    worklist.append(op->operand_begin(), op->operand_end());
  }
  return true;
}

static bool isLane(const Kernel &kernel, unsigned dim) {
  if (!kernel.isParallel(dim))
    return false;
  for (const Stage *stage : kernel.stages()) {
    if (!readsOneElement(*stage, dim))
      return false;
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

std::optional<unsigned> layout::findParallelLane(const Kernel &kernel) {
  for (unsigned dim = kernel.extents.size(); dim-- > 0;)
    if (kernel.extents[dim] != 1 && isLane(kernel, dim))
      return dim;
  return std::nullopt;
}

/// Whether the lanes of vectors along the reduction `dim` can each sum up a
/// part of the result.
static bool isReductionLane(const Kernel &kernel, unsigned dim) {
  return !kernel.isParallel(dim) && findCombiner(kernel) &&
         readsOneElement(kernel.root, dim) &&
         canHoldParts(kernel.root.maps, dim);
}

bool layout::isWholeBytes(Type element) {
  if (!element.isIntOrFloat())
    return true;
  unsigned bits = element.getIntOrFloatBitWidth();
  return bits >= 8 && llvm::isPowerOf2_32(bits);
}

/// Whether elements are read or written one by one, each by ops of its own.
static bool movesSingleElements(const Kernel &kernel) {
  return llvm::any_of(kernel.stages(), [](const Stage *stage) {
    return !llvm::all_of(stage->op->getOperandTypes(), [](Type type) {
      return isWholeBytes(getElementTypeOrSelf(type));
    });
  });
}

/// Bits of the widest element that is accumulated or stored.
static unsigned widestResult(const Kernel &kernel) {
  unsigned bits = 8;
  for (const Stage *stage : kernel.stages()) {
    linalg::LinalgOp op = stage->op;
    for (BlockArgument arg : op.getRegionOutputArgs())
      bits = std::max(bits, bitsOf(arg.getType()));
  }
  return bits;
}

/// The last dim that all stages can hold in vectors, and how many elements.
static void chooseLane(const Kernel &kernel, const CpuFigures &target,
                       KernelPlan &plan) {
  if (target.vectorBits == 0 ||
      !llvm::all_of(kernel.stages(),
                    [](const Stage *stage) { return isVectorizable(*stage); }))
    return;
  // Where a lane takes ops of its own, more lanes are more code and no faster.
  unsigned least = movesSingleElements(kernel) ? 32 : 8;
  unsigned bits = std::max(widestResult(kernel), least);
  int64_t size = std::max<int64_t>(1, target.vectorBits / bits);
  plan.lane = findParallelLane(kernel);
  for (unsigned dim = 0, e = kernel.extents.size();
       dim < e && !plan.lane && !movesSingleElements(kernel); ++dim)
    if (std::min<double>(countOf(kernel.extents[dim]), size) >=
            kLeastLaneParts &&
        isReductionLane(kernel, dim))
      plan.lane = dim;
  if (!plan.lane)
    return;
  int64_t extent = kernel.extents[*plan.lane];
  if (!ShapedType::isDynamic(extent))
    size = std::min(size, std::max<int64_t>(extent, 1));
  if (!kernel.isParallel(*plan.lane))
    size = llvm::bit_floor<uint64_t>(size);
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
        vectorSize(plan.vectorSize), price(kernel, target, lane, vectorSize),
        best(plan.tile) {
    for (auto [dim, extent] : llvm::enumerate(kernel.extents))
      if (kernel.isParallel(dim) && dim != lane &&
          (extent > 1 || ShapedType::isDynamic(extent)))
        others.push_back(dim);
    dropOutermost();
    // Of equal choices the first one is taken: neighbors in memory.
    std::reverse(others.begin(), others.end());
  }

  void run(KernelPlan &plan) {
    searchTiles();
    plan.tile = best;
    plan.pointOrder = price.orderPoints(best);
  }

private:
  /// Of the sizes that are known at run time only one is blocked, in turns. The
  /// outermost one, such as a batch, may well be 1, and then nothing of a block
  /// of it is used: it is the last resort.
  void dropOutermost() {
    for (AffineExpr expr :
         kernel.root.maps[kernel.root.numInputs()].getResults()) {
      unsigned dim = cast<AffineDimExpr>(expr).getPosition();
      if (!llvm::is_contained(others, dim))
        continue;
      if (others.size() > 1 && ShapedType::isDynamic(kernel.extents[dim]))
        llvm::erase(others, dim);
      return;
    }
  }

  void searchTiles() {
    int64_t extent = lane ? kernel.extents[*lane] : 1;
    bool isDynamic = ShapedType::isDynamic(extent);
    int64_t mostVectors =
        !lane || !kernel.isParallel(*lane) || movesSingleElements(kernel) ? 1
        : isDynamic                                                       ? 4
                    : std::min<int64_t>(target.vectorRegisters,
                                        llvm::divideCeil(extent, vectorSize));
    for (int64_t vectors = 1; vectors <= std::max<int64_t>(mostVectors, 1);
         ++vectors) {
      SmallVector<int64_t> tile(kernel.extents.size(), 1);
      if (lane) {
        tile[*lane] = vectors * vectorSize;
        if (!isDynamic && extent > 0)
          tile[*lane] = std::min(tile[*lane], extent);
      }
      if (vectors > 8 && price.pageCycles(tile) == 0)
        break;
      if (consider(tile) && kernel.hasReduction())
        block(tile);
    }
  }

  /// Whether the registers hold the tile.
  bool consider(ArrayRef<int64_t> tile) {
    if (!price.fits(tile))
      return false;
    double cost = price.total(tile);
    if (cost < bestCost * 0.9999) {
      bestCost = cost;
      best.assign(tile.begin(), tile.end());
    }
    return true;
  }

  /// Tries `tile` with blocked dims.
  void block(SmallVector<int64_t> &tile) {
    for (unsigned dim : others) {
      for (int64_t rows = 2; rows <= getMostRows(dim); ++rows) {
        tile[dim] = rows;
        if (!consider(tile))
          break;
        blockEvenly(tile, others);
      }
      tile[dim] = 1;
    }
  }

  /// Further blocked dims must divide evenly, to bound the code.
  void blockEvenly(SmallVector<int64_t> &tile, ArrayRef<unsigned> dims) {
    for (; !dims.empty(); dims = dims.drop_front()) {
      unsigned dim = dims.front();
      if (tile[dim] != 1 || ShapedType::isDynamic(kernel.extents[dim]))
        continue;
      for (int64_t factor = 2; factor <= getMostRows(dim); ++factor) {
        if (kernel.extents[dim] % factor != 0)
          continue;
        tile[dim] = factor;
        if (!consider(tile))
          break;
        blockEvenly(tile, dims.drop_front());
      }
      tile[dim] = 1;
    }
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
  TilePrice price;
  SmallVector<unsigned> others;
  SmallVector<int64_t> best;
  double bestCost = std::numeric_limits<double>::infinity();
};
} // namespace

/// Threads share loops over tiles. Where there are none, because one tile is
/// most of the result, as of a global pooling, makes one along the largest
/// block of the tile.
static void leaveLoop(const Kernel &kernel, KernelPlan &plan) {
  std::optional<unsigned> largest;
  for (auto [dim, extent] : llvm::enumerate(kernel.extents)) {
    if (!kernel.isParallel(dim))
      continue;
    if (ShapedType::isDynamic(extent) || extent >= 2 * plan.tile[dim])
      return;
    if (plan.lane != dim && (!largest || plan.tile[dim] > plan.tile[*largest]))
      largest = dim;
  }
  if (!largest)
    return;
  int64_t extent = kernel.extents[*largest], parts = 2;
  while (parts < extent && extent % parts != 0)
    ++parts;
  plan.tile[*largest] = std::max<int64_t>(extent / parts, 1);
}

KernelPlan layout::planKernel(const Kernel &kernel, const CpuFigures &target,
                              bool parallelLoops) {
  KernelPlan plan;
  plan.tile.assign(kernel.extents.size(), 1);
  chooseLane(kernel, target, plan);
  TileSearch(kernel, target, plan).run(plan);
  // Nothing fitted only if one step alone needs too many registers; the scalar
  // tile is then as good as any, except that lanes must stay whole vectors.
  if (plan.lane && plan.tile[*plan.lane] == 1)
    plan.tile[*plan.lane] = plan.vectorSize;

  if (parallelLoops && isWorthThreads(kernel.root.op, plan.vectorSize))
    leaveLoop(kernel, plan);
  orderLoops(kernel, target, plan);
  return plan;
}
