//===- KernelPlan.cpp - The register tile of a kernel ---------------------===//

#include "KernelPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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
      if (start.stage)
        stages.push_back(&*start.stage);
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
  for (Operation &op : root.getBlock()->without_terminator()) {
    if (isa<linalg::IndexOp, arith::ConstantOp>(op))
      continue;
    bool fused = isa<arith::MulFOp>(op) && op.hasOneUse() &&
                 isa<arith::AddFOp>(*op.user_begin());
    ops += fused ? 0 : 1;
  }
  return std::max(ops, 1.0);
}

namespace {
/// Prices one candidate tile.
class Pricer {
public:
  Pricer(const Kernel &kernel, const KernelTarget &target,
         std::optional<unsigned> lane, int64_t vectorSize)
      : kernel(kernel), target(target), lane(lane), vectorSize(vectorSize),
        ops(stepOps(kernel)) {
    const Stage &root = kernel.root;
    for (unsigned i = 0, e = root.numInputs(); i < e; ++i)
      if (root.maps[i].getNumResults() != 0)
        inputs.push_back(root.maps[i]);
    results = kernel.starts.size();
  }

  bool fits(ArrayRef<int64_t> tile) const {
    int64_t sum = 0, largest = 0;
    for (AffineMap map : inputs) {
      int64_t values = distinct(map, tile);
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
  double cyclesOf(ArrayRef<int64_t> tile) const {
    double work = ops * results * pointsOf(tile) / 2.0, loads = 0;
    for (AffineMap map : inputs)
      loads += distinct(map, tile);
    double cycles = std::max(work, loads / 2.0);
    if (kernel.hasReduction())
      cycles = std::max(cycles, 4.0);
    return cycles + 0.5;
  }
  double totalFrom(ArrayRef<int64_t> tile, SmallVectorImpl<int64_t> &current,
                   unsigned dim) const {
    while (dim < tile.size() && tile[dim] == 1)
      ++dim;
    if (dim == tile.size())
      return cyclesOf(current);
    int64_t extent = kernel.extents[dim];
    // A size that is known at run time only is taken to be large.
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
    // Dims that are not tiled count the same for every candidate, except that
    // a tile of two dims has to be compared with a tile of one.
    return cycles;
  }

  const Kernel &kernel;
  const KernelTarget &target;
  std::optional<unsigned> lane;
  int64_t vectorSize;
  double ops;
  SmallVector<AffineMap> inputs;
  int64_t results;
};
} // namespace

/// Extent of a dim for counting untiled iterations.
static double countOf(int64_t extent) {
  return ShapedType::isDynamic(extent) ? 64.0 : static_cast<double>(extent);
}

KernelPlan layout::planKernel(const Kernel &kernel,
                              const KernelTarget &target) {
  KernelPlan plan;
  unsigned rank = kernel.extents.size();
  plan.tile.assign(rank, 1);

  bool vectors = target.vectorBits != 0 &&
                 llvm::all_of(stagesOf(kernel), [](const Stage *stage) {
                   return isVectorizable(*stage);
                 });
  if (vectors) {
    for (unsigned dim = 0; dim < rank; ++dim)
      if (kernel.extents[dim] != 1 && isLane(kernel, dim))
        plan.lane = dim;
  }
  if (plan.lane) {
    int64_t size = std::max<int64_t>(
        1, target.vectorBits / widestResult(kernel));
    int64_t extent = kernel.extents[*plan.lane];
    if (!ShapedType::isDynamic(extent))
      size = std::min(size, std::max<int64_t>(extent, 1));
    plan.vectorSize = size;
    if (size == 1)
      plan.lane.reset();
  }

  Pricer pricer(kernel, target, plan.lane, plan.vectorSize);
  SmallVector<unsigned> others;
  for (unsigned dim = 0; dim < rank; ++dim)
    if (kernel.isParallel(dim) && dim != plan.lane && kernel.extents[dim] > 1)
      others.push_back(dim);
    else if (kernel.isParallel(dim) && dim != plan.lane &&
             ShapedType::isDynamic(kernel.extents[dim]))
      others.push_back(dim);

  SmallVector<int64_t> best = plan.tile;
  double bestCost = std::numeric_limits<double>::infinity();
  auto consider = [&](ArrayRef<int64_t> tile) {
    if (!pricer.fits(tile))
      return false;
    double cost = pricer.total(tile);
    for (unsigned dim : others)
      if (tile[dim] == 1)
        cost *= countOf(kernel.extents[dim]);
    if (plan.lane && tile[*plan.lane] == 1)
      cost *= countOf(kernel.extents[*plan.lane]);
    if (cost < bestCost) {
      bestCost = cost;
      best.assign(tile.begin(), tile.end());
    }
    return true;
  };
  auto limitOf = [&](unsigned dim) {
    int64_t extent = kernel.extents[dim];
    int64_t registers = target.vectorRegisters;
    return ShapedType::isDynamic(extent) ? registers
                                         : std::min(extent, registers);
  };

  std::optional<unsigned> inner;
  int64_t laneExtent = plan.lane ? kernel.extents[*plan.lane] : 1;
  int64_t maxVectors =
      !plan.lane ? 1
      : ShapedType::isDynamic(laneExtent)
          ? 4
          : std::min<int64_t>(8, llvm::divideCeil(laneExtent, plan.vectorSize));
  for (int64_t vectors = 1; vectors <= std::max<int64_t>(maxVectors, 1);
       ++vectors) {
    SmallVector<int64_t> tile(rank, 1);
    if (plan.lane) {
      tile[*plan.lane] = vectors * plan.vectorSize;
      if (!ShapedType::isDynamic(laneExtent) && laneExtent > 0)
        tile[*plan.lane] = std::min(tile[*plan.lane], laneExtent);
    }
    if (!consider(tile))
      continue;
    if (!kernel.hasReduction())
      continue;
    for (unsigned dim : others) {
      for (int64_t rows = 2; rows <= limitOf(dim); ++rows) {
        tile[dim] = rows;
        if (!consider(tile))
          break;
        // A second blocked dim must divide evenly, to bound the code.
        for (unsigned second : others) {
          if (second == dim || ShapedType::isDynamic(kernel.extents[second]))
            continue;
          for (int64_t factor = 2; factor <= limitOf(second); ++factor) {
            if (kernel.extents[second] % factor != 0)
              continue;
            tile[second] = factor;
            if (!consider(tile))
              break;
          }
          tile[second] = 1;
        }
      }
      tile[dim] = 1;
    }
  }
  plan.tile = best;
  // Nothing fitted only if one step alone needs too many registers; the scalar
  // tile is then as good as any, except that lanes must stay whole vectors.
  if (plan.lane && plan.tile[*plan.lane] == 1)
    plan.tile[*plan.lane] = plan.vectorSize;

  // Loops: the order of the result, but the blocked dims run inside of the
  // lanes when there is a reduction, because the operand that only the lanes
  // index then stays in the nearest cache.
  AffineMap resultMap = kernel.root.maps[kernel.root.numInputs()];
  SmallVector<unsigned> tail;
  for (AffineExpr expr : resultMap.getResults()) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    bool blocked = kernel.hasReduction() && dim != plan.lane &&
                   plan.tile[dim] != 1;
    (blocked ? tail : plan.order).push_back(dim);
  }
  llvm::append_range(plan.order, tail);
  return plan;
}
