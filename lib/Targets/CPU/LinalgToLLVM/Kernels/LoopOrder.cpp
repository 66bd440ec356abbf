//===- LoopOrder.cpp - The order of a kernel's parallel loops -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Chooses the order of loops by the cache lines that each order moves. If the
// data of one iteration of a loop fits a cache, the loop reads all its data
// once, and operands that it does not move stay cached. Outer loops repeat
// this. The data of an operand in a part of the nest is the box of its
// subscripts, without elements that their strides skip.
//
// A reduction that is too long for a cache is split into parts, with all tiles
// of the inner loops before the next part:
//
//   1x1 convolution, 1024 to 256 channels, 14x14, blocks of 16, 32 KiB
//     for each block of outputs      64 KiB of weights
//       for each 16 of 64 blocks of inputs      16 KiB of weights, which stay
//         for each 6 pixels
//
// Parts do not change the order of sums, which the result stores in between.
//
//===----------------------------------------------------------------------===//

#include "Kernels/KernelPlan.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::layout;

namespace {

/// A tensor that the kernel reads or writes: the bytes of an element, the sizes
/// of the tensor, and how its subscripts depend on kernel dims.
struct Operand {
  double elementBytes;
  SmallVector<int64_t> shape;
  /// `moves[i][d]` is the distance by which subscript i moves when kernel dim d
  /// advances by one.
  SmallVector<SmallVector<int64_t>> moves;
};

class Traffic {
public:
  Traffic(const Kernel &kernel, const CpuModelParams &target) : target(target) {
    for (auto [i, map] : llvm::enumerate(kernel.root.maps)) {
      auto type = dyn_cast<RankedTensorType>(kernel.root.getType(i));
      if (!type || type.getRank() == 0)
        continue;
      Operand entry;
      entry.elementBytes = bitsOf(type.getElementType()) / 8.0;
      entry.shape.assign(type.getShape().begin(), type.getShape().end());
      SmallVector<int64_t> at(map.getNumDims(), 0);
      SmallVector<int64_t> origin = map.compose(at);
      entry.moves.resize(type.getRank());
      for (unsigned dim = 0; dim < at.size(); ++dim) {
        at[dim] = 1;
        for (auto [d, value] : llvm::enumerate(map.compose(at)))
          entry.moves[d].push_back(std::abs(value - origin[d]));
        at[dim] = 0;
      }
      operands.push_back(std::move(entry));
    }
  }

  /// Returns the cycles to move the data of the kernel from L2 to L1 and from
  /// beyond L2, if its loops over tiles have `order`, outermost first. For each
  /// kernel dim, `tile` is the extent of a tile, and `trips` the trip count of
  /// the loop over tiles.
  double cycles(ArrayRef<unsigned> order, ArrayRef<double> tile,
                ArrayRef<double> trips) const {
    // The factors are cycles per line from L2, and from beyond L2.
    return 1.0 * lines(order, tile, trips, roomIn(target.l1Bytes)) +
           3.0 * lines(order, tile, trips, roomIn(target.l2Bytes));
  }

  /// Returns true if L1 holds the data of one tile.
  bool fitsL1(ArrayRef<double> tile) const {
    return linesOf(tile) * target.lineBytes <= roomIn(target.l1Bytes);
  }

private:
  /// Returns how many of the `bytes` of a cache are available for operands:
  /// three quarters.
  static double roomIn(int64_t bytes) { return 0.75 * bytes; }

  double linesOf(ArrayRef<double> span) const {
    double sum = 0;
    for (const Operand &operand : operands)
      sum += linesOf(operand, span);
    return sum;
  }

  double linesOf(const Operand &operand, ArrayRef<double> span) const {
    double lines = 1;
    for (auto [i, moves] : llvm::enumerate(operand.moves)) {
      double extent = 1, met = 1;
      for (auto [dim, move] : llvm::enumerate(moves)) {
        extent += (span[dim] - 1) * move;
        met *= move == 0 ? 1 : span[dim];
      }
      if (!ShapedType::isDynamic(operand.shape[i]))
        extent = std::min<double>(extent, operand.shape[i]);
      if (i + 1 == operand.moves.size())
        extent = std::ceil(extent * operand.elementBytes / target.lineBytes);
      // Elements that a stride skips are not moved.
      lines *= std::min(extent, met);
    }
    return lines;
  }

  double lines(ArrayRef<unsigned> order, ArrayRef<double> tile,
               ArrayRef<double> trips, double capacity) const {
    SmallVector<double> span(tile);
    double inner = linesOf(span), repeats = 1;
    for (unsigned dim : order)
      repeats *= trips[dim];
    for (unsigned dim : llvm::reverse(order)) {
      if (inner * target.lineBytes > capacity)
        break;
      span[dim] *= trips[dim];
      inner = linesOf(span);
      repeats /= trips[dim];
    }
    return inner * repeats;
  }

  const CpuModelParams &target;
  SmallVector<Operand> operands;
};

} // namespace

/// Calls `use` with every order of `dims`, in lexicographic order.
static void forEachOrder(ArrayRef<unsigned> dims,
                         function_ref<void(ArrayRef<unsigned>)> use) {
  SmallVector<unsigned> positions =
      llvm::to_vector(llvm::seq<unsigned>(0, dims.size()));
  do {
    SmallVector<unsigned> order;
    for (unsigned position : positions)
      order.push_back(dims[position]);
    use(order);
  } while (std::next_permutation(positions.begin(), positions.end()));
}

/// Returns true if the memory of the only result can store partial sums between
/// parts. It must have the type of the sums, and nothing else may read it. The
/// extents must be static, and vector lanes not along a reduction.
static bool canKeepParts(const Kernel &kernel, const KernelPlan &plan) {
  linalg::LinalgOp root = kernel.root.op, last = kernel.last().op;
  Value result = last.getDpsInitOperand(0)->get();
  Type type = getElementTypeOrSelf(result);
  if (kernel.starts.size() != 1 || !isWholeBytes(type) ||
      type != getElementTypeOrSelf(root.getDpsInitOperand(0)->get()) ||
      llvm::any_of(kernel.extents, ShapedType::isDynamic) ||
      (plan.lane && !kernel.isParallel(*plan.lane)))
    return false;
  if (std::holds_alternative<TensorStart>(kernel.lastStarts()[0]))
    return !kernel.finish;
  // Bufferization would copy a tensor whose older elements seem to be read.
  while (Value older = overwrittenBy(result))
    result = older;
  return result.getDefiningOp<tensor::EmptyOp>() != nullptr;
}

/// Splits the outermost reduction into parts if the loops over tiles along the
/// dims `looped` then take less than `least` cycles. Sets `plan.parts`, and
/// `best` to the order of these loops, outermost first. Otherwise, changes
/// neither.
static void chooseParts(const Kernel &kernel, const Traffic &traffic,
                        ArrayRef<unsigned> looped, SmallVector<double> tile,
                        SmallVector<double> trips, double least,
                        KernelPlan &plan, SmallVector<unsigned> &best) {
  unsigned dim = 0;
  while (dim < tile.size() && (kernel.isParallel(dim) || tile[dim] <= 1))
    ++dim;
  if (dim == tile.size())
    return;
  int64_t extent = kernel.extents[dim];
  double points = 1, tiles = 1;
  for (auto [each, size] : llvm::enumerate(plan.tile))
    points *=
        plan.lane == each ? llvm::divideCeil(size, plan.vectorSize) : size;
  for (double count : trips)
    tiles *= count;
  // With fewer steps in a part, a tile would mostly load and store its
  // accumulators.
  constexpr double leastSteps = 64, cyclesToBegin = 20;
  double inner = 1;
  for (unsigned each = dim + 1; each < tile.size(); ++each)
    inner *= kernel.isParallel(each) ? 1 : tile[each];
  // A single reduction loop reads packed weights contiguously, which hardware
  // prefetches; the line count does not include that.
  if (inner == 1)
    return;
  for (int64_t steps = 1; steps < extent; ++steps) {
    if (extent % steps != 0 || steps * inner < leastSteps)
      continue;
    tile[dim] = steps;
    trips[dim] = double(extent) / steps;
    // Each part reads and writes the tiles of the result.
    double kept = (trips[dim] - 1) * tiles * (points + cyclesToBegin);
    forEachOrder(looped, [&](ArrayRef<unsigned> order) {
      // Threads share the outermost loop, so it is not the loop over parts.
      for (unsigned level = 1; level < order.size(); ++level) {
        SmallVector<unsigned> loops(order);
        loops.insert(loops.begin() + level, dim);
        double cycles = kept + traffic.cycles(loops, tile, trips);
        if (cycles >= least * 0.999)
          continue;
        least = cycles;
        best.assign(order.begin(), order.end());
        plan.parts = KernelPlan::Parts{dim, steps, level};
      }
    });
  }
}

void layout::orderLoops(const Kernel &kernel, const CpuModelParams &target,
                        KernelPlan &plan) {
  SmallVector<unsigned> single, looped;
  SmallVector<double> trips(plan.tile.size(), 1), tile;
  for (auto [dim, extent] : llvm::enumerate(plan.tile))
    tile.push_back(kernel.isParallel(dim) ? extent
                                          : countOf(kernel.extents[dim]));
  AffineMap resultMap = kernel.root.maps[kernel.root.numInputs()];
  for (AffineExpr expr : resultMap.getResults()) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    int64_t extent = kernel.extents[dim];
    trips[dim] =
        ShapedType::isDynamic(extent)
            ? 64
            : llvm::divideCeil(std::max<int64_t>(extent, 1), plan.tile[dim]);
    (trips[dim] > 1 ? looped : single).push_back(dim);
  }
  // Without a reduction, no data is reused over long distances, and the order
  // of the result writes memory sequentially. Seven loops have too many orders.
  SmallVector<unsigned> best = looped;
  if (kernel.hasReduction() && looped.size() <= 6) {
    Traffic traffic(kernel, target);
    double least = std::numeric_limits<double>::infinity();
    forEachOrder(looped, [&](ArrayRef<unsigned> order) {
      double cycles = traffic.cycles(order, tile, trips);
      // Ties go to the first order, that of the result.
      if (cycles >= least * 0.999)
        return;
      least = cycles;
      best.assign(order.begin(), order.end());
    });
    if (looped.size() <= 4 && !traffic.fitsL1(tile) &&
        canKeepParts(kernel, plan))
      chooseParts(kernel, traffic, looped, tile, trips, least, plan, best);
  }
  if (plan.parts)
    plan.parts->level += single.size();
  plan.order = std::move(single);
  plan.order.append(best.begin(), best.end());
}
