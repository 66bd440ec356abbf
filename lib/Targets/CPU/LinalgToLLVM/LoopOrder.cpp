//===- LoopOrder.cpp - The order of a kernel's parallel loops -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tries every order and counts the cache lines that each one moves. Where the
// data of one turn of a loop fits a cache, the loop reads all its data once:
// what it does not move stays. Everything outside of such loops repeats that.
// The data of an operand in a part of the nest is the box of its subscripts,
// without what their strides leave out.
//
//===----------------------------------------------------------------------===//

#include "KernelPlan.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::layout;

namespace {

/// One tensor that the kernel reads or writes.
struct Operand {
  double elementBytes;
  SmallVector<int64_t> shape;
  /// Per subscript, how far each kernel dim moves it.
  SmallVector<SmallVector<int64_t>> moves;
};

class Traffic {
public:
  Traffic(const Kernel &kernel, const CpuFigures &target)
      : kernel(kernel), target(target) {
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

  /// Cycles to move the data of the whole kernel through the caches.
  double cycles(ArrayRef<unsigned> order, ArrayRef<int64_t> tile,
                ArrayRef<double> trips) const {
    // The caches have room for what else is in them; the factors are the cycles
    // of a line that comes from beyond.
    return 1.0 * lines(order, tile, trips, 0.75 * target.firstCacheBytes) +
           3.0 * lines(order, tile, trips, 0.75 * target.secondCacheBytes);
  }

private:
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
      // What a stride leaves out is not moved.
      lines *= std::min(extent, met);
    }
    return lines;
  }

  double lines(ArrayRef<unsigned> order, ArrayRef<int64_t> tile,
               ArrayRef<double> trips, double capacity) const {
    SmallVector<double> span;
    for (auto [dim, extent] : llvm::enumerate(tile))
      span.push_back(kernel.isParallel(dim) ? extent
                                            : countOf(kernel.extents[dim]));
    auto total = [&]() {
      double sum = 0;
      for (const Operand &operand : operands)
        sum += linesOf(operand, span);
      return sum;
    };
    double inner = total(), repeats = 1;
    for (unsigned dim : order)
      repeats *= trips[dim];
    for (unsigned dim : llvm::reverse(order)) {
      if (inner * target.lineBytes > capacity)
        break;
      span[dim] *= trips[dim];
      inner = total();
      repeats /= trips[dim];
    }
    return inner * repeats;
  }

  const Kernel &kernel;
  const CpuFigures &target;
  SmallVector<Operand> operands;
};

} // namespace

SmallVector<unsigned> layout::orderLoops(const Kernel &kernel,
                                         const CpuFigures &target,
                                         ArrayRef<int64_t> tile) {
  SmallVector<unsigned> single, looped;
  SmallVector<double> trips(tile.size(), 1);
  AffineMap resultMap = kernel.root.maps[kernel.root.numInputs()];
  for (AffineExpr expr : resultMap.getResults()) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    int64_t extent = kernel.extents[dim];
    trips[dim] =
        ShapedType::isDynamic(extent)
            ? 64
            : llvm::divideCeil(std::max<int64_t>(extent, 1), tile[dim]);
    (trips[dim] > 1 ? looped : single).push_back(dim);
  }
  // Without a reduction nothing is read twice for long: the order of the
  // result writes memory in sequence. Beyond six loops there are too many
  // orders to try.
  SmallVector<unsigned> best = looped;
  if (kernel.hasReduction() && looped.size() <= 6) {
    Traffic traffic(kernel, target);
    SmallVector<unsigned> positions =
        llvm::to_vector(llvm::seq<unsigned>(0, looped.size()));
    double least = std::numeric_limits<double>::infinity();
    do {
      SmallVector<unsigned> order;
      for (unsigned position : positions)
        order.push_back(looped[position]);
      double cycles = traffic.cycles(order, tile, trips);
      // Orders come in lexicographic order, so equal ones keep the result's.
      if (cycles < least * 0.999) {
        least = cycles;
        best = order;
      }
    } while (std::next_permutation(positions.begin(), positions.end()));
  }
  single.append(best.begin(), best.end());
  return single;
}
