//===- KernelPlan.cpp - The register tile of a kernel ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/KernelPlan.h"
#include "Kernels/TileCostModel.h"
#include "Loops/ParallelLoops.h"
#include "layout/Support/LaneAccess.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "LLVM/ExpandedMath.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

/// Returns true if every op of the body has a vector form.
static bool isVectorizable(const Stage &stage) {
  linalg::LinalgOp op = stage.op;
  Block *body = op.getBlock();
  for (Type type : body->getArgumentTypes())
    if (!type.isIntOrIndexOrFloat())
      return false;
  for (Operation &inner : body->without_terminator()) {
    if (isa<linalg::IndexOp, arith::ConstantOp>(inner))
      continue;
    // classifyStage decides whether the lanes of a vector can read the elements
    // of tensor.extract.
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

/// Returns true if all lanes along `dim` read the same element by each
/// tensor.extract in the body of `stage`.
static bool readsSameElements(const Stage &stage, unsigned dim) {
  linalg::LinalgOp op = stage.op;
  return llvm::all_of(op.getBlock()->getOps<tensor::ExtractOp>(),
                      [&](tensor::ExtractOp extract) {
                        return classifyExtract(stage, extract, dim) ==
                               LaneAccess::Invariant;
                      });
}

/// Returns true if the indices of `extract` can be computed for each lane by
/// itself: from loop indices and elements in memory, not from an accumulator or
/// from the value that the root passes to the finish.
static bool hasIndicesOfLanes(const Kernel &kernel, const Stage &stage,
                              tensor::ExtractOp extract) {
  linalg::LinalgOp op = stage.op;
  Block *body = op.getBlock();
  for (Operation *needed : neededOps(body, extract.getResult()))
    for (Value operand : needed->getOperands()) {
      auto argument = dyn_cast<BlockArgument>(operand);
      if (!argument || argument.getOwner() != body)
        continue;
      if (argument.getArgNumber() >= stage.numInputs() ||
          (kernel.finish && &stage == &*kernel.finish &&
           argument.getArgNumber() == kernel.finishOperand))
        return false;
    }
  return true;
}

std::optional<LanePattern> layout::findLanePattern(AffineMap map,
                                                   unsigned dim) {
  if (!map.isFunctionOfDim(dim) || findLaneStride(map, dim) ||
      llvm::any_of(map.getResults().drop_back(), [&](AffineExpr result) {
        return result.isFunctionOfDim(dim);
      }))
    return std::nullopt;
  MLIRContext *context = map.getContext();
  AffineExpr lane = getAffineDimExpr(dim, context),
             last = map.getResults().back();
  auto getDistance = [&](AffineExpr to, AffineExpr from) {
    AffineExpr distance = last.replace(lane, to) - last.replace(lane, from);
    return dyn_cast<AffineConstantExpr>(
        simplifyAffineExpr(distance, map.getNumDims(), map.getNumSymbols()));
  };
  AffineExpr zero = getAffineConstantExpr(0, context);
  for (int64_t period : {2, 4, 8, 16, 32}) {
    auto step = getDistance(lane + period, lane);
    if (!step)
      continue;
    LanePattern pattern{{}, step.getValue()};
    for (int64_t i = 0; i < period; ++i) {
      auto offset = getDistance(getAffineConstantExpr(i, context), zero);
      if (!offset || std::abs(offset.getValue()) >= period * kMostLaneStride)
        return std::nullopt;
      pattern.offsets.push_back(offset.getValue());
    }
    return std::abs(pattern.step) <= period * kMostLaneStride
               ? std::optional(pattern)
               : std::nullopt;
  }
  return std::nullopt;
}

/// Returns the worst kind of access of `stage` if vector lanes are along `dim`
/// (Contiguous is the best), or std::nullopt if `dim` cannot be on lanes.
static std::optional<LaneAccess>
classifyStage(const Kernel &kernel, const Stage &stage, unsigned dim) {
  auto worst = LaneAccess::Contiguous;
  linalg::LinalgOp op = stage.op;
  for (auto extract : op.getBlock()->getOps<tensor::ExtractOp>()) {
    LaneAccess access = classifyExtract(stage, extract, dim);
    if (access != LaneAccess::Invariant &&
        !hasIndicesOfLanes(kernel, stage, extract))
      return std::nullopt;
    worst = std::max(worst, access);
  }
  unsigned inputs = stage.numInputs();
  for (auto [i, map] : llvm::enumerate(stage.maps)) {
    LaneAccess access = classifyLane(map, dim);
    // Shuffles read other patterns, too. Tiles of a dynamic extent may begin at any
    // lane.
    if (access == LaneAccess::Other && findLanePattern(map, dim) &&
        !ShapedType::isDynamic(kernel.extents[dim]))
      access = LaneAccess::Strided;
    if (access == LaneAccess::Other ||
        (i >= inputs && access != LaneAccess::Contiguous))
      return std::nullopt;
    worst = std::max(worst, access);
  }
  return worst;
}

/// Returns the worst kind of access of all stages if vector lanes are along
/// `dim`, or std::nullopt if `dim` is not parallel or cannot be on lanes.
static std::optional<LaneAccess> classifyKernel(const Kernel &kernel,
                                                unsigned dim) {
  if (!kernel.isParallel(dim))
    return std::nullopt;
  auto worst = LaneAccess::Contiguous;
  for (const Stage *stage : kernel.stages()) {
    std::optional<LaneAccess> access = classifyStage(kernel, *stage, dim);
    if (!access)
      return std::nullopt;
    worst = std::max(worst, *access);
  }
  return worst;
}

std::optional<unsigned> layout::findParallelLane(const Kernel &kernel,
                                                 LaneAccess worst) {
  for (unsigned dim = kernel.extents.size(); dim-- > 0;)
    if (kernel.extents[dim] != 1)
      if (std::optional<LaneAccess> access = classifyKernel(kernel, dim);
          access && *access <= worst)
        return dim;
  return std::nullopt;
}

/// Returns true if `dim` is a reduction along which lanes can hold partial
/// results.
static bool isReductionLane(const Kernel &kernel, unsigned dim) {
  return !kernel.isParallel(dim) && findCombiner(kernel) &&
         readsSameElements(kernel.root, dim) &&
         canVectorizeReduction(kernel.root.maps, dim);
}

bool layout::isWholeBytes(Type element) {
  if (!element.isIntOrFloat())
    return true;
  unsigned bits = element.getIntOrFloatBitWidth();
  return bits >= 8 && llvm::isPowerOf2_32(bits);
}

/// Returns true if a tensor has elements that are not whole bytes
/// (isWholeBytes), such as i1, which are read and written one by one by scalar
/// ops.
static bool movesSingleElements(const Kernel &kernel) {
  return llvm::any_of(kernel.stages(), [](const Stage *stage) {
    return !llvm::all_of(stage->op->getOperandTypes(), [](Type type) {
      return isWholeBytes(getElementTypeOrSelf(type));
    });
  });
}

/// Returns the bits of the widest element that is accumulated or stored.
static unsigned widestResult(const Kernel &kernel) {
  unsigned bits = 8;
  for (const Stage *stage : kernel.stages()) {
    linalg::LinalgOp op = stage->op;
    for (BlockArgument arg : op.getRegionOutputArgs())
      bits = std::max(bits, bitsOf(arg.getType()));
  }
  return bits;
}

/// Returns the first reduction dim of at least `least` iterations whose lanes
/// can hold partial results, or std::nullopt if there is none.
static std::optional<unsigned> findReductionLane(const Kernel &kernel,
                                                 double least) {
  for (unsigned dim = 0, e = kernel.extents.size(); dim < e; ++dim)
    if (countOf(kernel.extents[dim]) >= least && isReductionLane(kernel, dim))
      return dim;
  return std::nullopt;
}

/// Returns the first dim of this list that can be on lanes:
///
///   parallel, contiguous in memory        each vector is one load or store
///   reduction of at least two vectors     two loads for each operation
///   parallel, with a small stride         loads and shuffles
///   shorter reduction                     its end takes longer than its steps
///   parallel, read by computed indices    a load for each lane
///
/// Kernels with elements that are not whole bytes (isWholeBytes), which are
/// collected one by one, use only the first kind. Returns std::nullopt if no
/// dim can be on lanes.
static std::optional<unsigned> findLane(const Kernel &kernel, int64_t size) {
  if (auto lane = findParallelLane(kernel, LaneAccess::Contiguous))
    return lane;
  if (movesSingleElements(kernel))
    return std::nullopt;
  if (auto lane = findReductionLane(kernel, kLeastLaneVectors * size))
    return lane;
  if (auto lane = findParallelLane(kernel, LaneAccess::Strided))
    return lane;
  if (size >= kLeastLaneParts)
    if (auto lane = findReductionLane(kernel, kLeastLaneParts))
      return lane;
  return findParallelLane(kernel, LaneAccess::Other);
}

/// Returns the lanes of four registers of f32 if `kernel` has no reduction and
/// has functions that layout-cpu-expand-math expands to long chains of
/// dependent ops. As one vector, the chains of four registers are interleaved,
/// and share their constants. Returns 0 for other kernels, and if elements are
/// not whole bytes (isWholeBytes).
static int64_t lanesOfChains(const Kernel &kernel,
                             const CpuModelParams &target) {
  linalg::LinalgOp op = kernel.root.op;
  bool hasChain = llvm::any_of(*op.getBlock(), [](Operation &inner) {
    return ExpandedMath::contains(inner) &&
           bitsOf(inner.getResult(0).getType()) <= 32;
  });
  return hasChain && !kernel.hasReduction() && !movesSingleElements(kernel)
             ? 4 * target.vectorBits / 32
             : 0;
}

/// Returns the number of lanes of a vector along a dim of `extent`: `size`, or
/// more for long chains of ops. A larger number is used if the extent is
/// dynamic, a multiple of the number, or at least eight times as long, so that
/// the rest does not matter.
static int64_t widen(const Kernel &kernel, const CpuModelParams &target,
                     int64_t size, int64_t extent) {
  constexpr int64_t longExtent = 8;
  for (int64_t wide = lanesOfChains(kernel, target); wide > size; wide /= 2)
    if (ShapedType::isDynamic(extent) || extent % wide == 0 ||
        extent >= longExtent * wide)
      return wide;
  return size;
}

/// Sets `plan.lane` and the sizes of vectors. Leaves them std::nullopt and 1 if
/// the target has no vectors, an op has no vector form, no dim can be on lanes,
/// or a vector would have one element.
static void chooseLane(const Kernel &kernel, const CpuModelParams &target,
                       KernelPlan &plan) {
  if (target.vectorBits == 0 ||
      !llvm::all_of(kernel.stages(),
                    [](const Stage *stage) { return isVectorizable(*stage); }))
    return;
  // If every element needs its own scalar op, vectors of more than vectorBits /
  // 32 lanes are more code and not faster.
  unsigned least = movesSingleElements(kernel) ? 32 : 8;
  unsigned bits = std::max(widestResult(kernel), least);
  int64_t size = std::max<int64_t>(1, target.vectorBits / bits);
  plan.lane = findLane(kernel, size);
  if (!plan.lane)
    return;
  int64_t extent = kernel.extents[*plan.lane];
  if (!ShapedType::isDynamic(extent))
    size = std::min(size, std::max<int64_t>(extent, 1));
  if (!kernel.isParallel(*plan.lane))
    size = llvm::bit_floor<uint64_t>(size);
  plan.registerSize = size;
  plan.vectorSize = widen(kernel, target, size, extent);
  if (size == 1)
    plan.lane.reset();
}

namespace {
/// Searches the cheapest tile that fits the registers.
class TileSearch {
public:
  TileSearch(const Kernel &kernel, const CpuModelParams &target,
             const KernelPlan &plan)
      : kernel(kernel), target(target), lane(plan.lane),
        vectorSize(plan.vectorSize), price(kernel, target, lane, vectorSize),
        best(plan.tile) {
    for (auto [dim, extent] : llvm::enumerate(kernel.extents))
      if (kernel.isParallel(dim) && dim != lane &&
          (extent > 1 || ShapedType::isDynamic(extent)))
        others.push_back(dim);
    dropOutermost();
    // Ties go to the first candidate: the innermost dims.
    std::reverse(others.begin(), others.end());
  }

  void run(KernelPlan &plan) {
    searchTiles();
    plan.tile = best;
    plan.pointOrder = price.orderPoints(best);
  }

private:
  /// Removes the outermost result dim from `others`, the dims along which a
  /// tile may have several points, if it is dynamic and not the only one. It
  /// may be a batch of 1, for which all but one of these points would be
  /// unused.
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
    bool isCollected =
        movesSingleElements(kernel) ||
        (lane && classifyKernel(kernel, *lane) == LaneAccess::Other);
    int64_t mostVectors =
        !lane || !kernel.isParallel(*lane) || isCollected ? 1
        : isDynamic                                       ? 4
                    : std::min<int64_t>(target.vectorRegisters,
                                        llvm::divideCeil(extent, vectorSize));
    if (int64_t lanes = lanesOfChains(kernel, target))
      mostVectors =
          std::min(mostVectors, std::max<int64_t>(lanes / vectorSize, 1));
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

  /// Makes `tile` the best one if it costs less than the best so far. Returns
  /// true if it fits the registers, even if it is not the best one.
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

  /// Considers variants of `tile` with 2 or more points along each parallel dim
  /// without lanes, alone and with several points along further dims, as many
  /// as divide their extents. The cheapest tile is kept in `best`; `tile` is
  /// restored.
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

  /// Considers `tile` with several points along some of `dims`, as many as
  /// divide their extents, so that no code for partial tiles is added. Skips
  /// dynamic dims. The cheapest tile is kept in `best`; `tile` is restored.
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
  const CpuModelParams &target;
  std::optional<unsigned> lane;
  int64_t vectorSize;
  TileCostModel price;
  SmallVector<unsigned> others;
  SmallVector<int64_t> best;
  double bestCost = std::numeric_limits<double>::infinity();
};
} // namespace

/// Ensures, if possible, that at least two tiles exist, so that threads can
/// share a loop over them. If no parallel dim has two whole tiles, as in a
/// global pooling, changes the largest size of the tile along a parallel dim
/// without lanes. This size becomes the extent divided by its smallest divisor
/// above 1.
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

KernelPlan layout::planKernel(const Kernel &kernel,
                              const CpuModelParams &target,
                              bool parallelLoops) {
  KernelPlan plan;
  plan.tile.assign(kernel.extents.size(), 1);
  chooseLane(kernel, target, plan);
  TileSearch(kernel, target, plan).run(plan);
  // No tile fits only if a single step needs too many registers. The scalar
  // tile is then as good as any, except that lanes must stay whole vectors.
  if (plan.lane && plan.tile[*plan.lane] == 1)
    plan.tile[*plan.lane] = plan.vectorSize;

  if (parallelLoops && isWorthThreads(kernel.root.op, plan.registerSize))
    leaveLoop(kernel, plan);
  orderLoops(kernel, target, plan);
  return plan;
}
