//===- KernelLoops.cpp - Loops and addresses of a kernel ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/OpenCL/KernelLoops.h"
#include "layout/Targets/OpenCL/ImageLayouts.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include <numeric>

using namespace mlir;
using namespace mlir::layout;

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

IndexExpr KernelVariables::add(int64_t extent) {
  extents.push_back(extent);
  return IndexExpr::dim(extents.size() - 1);
}

SmallVector<IndexExpr> KernelVariables::addLane(ArrayRef<StoredAxis> axes) {
  lane = extents.size();
  IndexExpr all = add(kLanesOfPixel);
  SmallVector<IndexExpr> result(axes.size());
  int64_t weight = 1;
  for (size_t a = axes.size(); a-- > 0;) {
    int64_t extent = axes[a].extent.getConstant().value_or(1);
    result[a] = takeDigit(all, weight, a == 0 ? 0 : extent, extents);
    weight *= extent;
  }
  return result;
}

bool KernelVariables::dependsOnLane(ArrayRef<IndexExpr> xs) const {
  bool depends = false;
  if (lane)
    for (const IndexExpr &x : xs)
      x.walkDims([&](unsigned variable) { depends |= variable == *lane; });
  return depends;
}

SmallVector<SmallVector<IndexExpr>, 4>
KernelVariables::atLanes(ArrayRef<IndexExpr> xs) const {
  if (!dependsOnLane(xs))
    return {llvm::to_vector(xs)};
  SmallVector<IndexExpr> values;
  for (unsigned v = 0; v < extents.size(); ++v)
    values.push_back(IndexExpr::dim(v));
  SmallVector<SizeExpr> symbols;
  for (unsigned symbol = 0; symbol < numSymbols; ++symbol)
    symbols.push_back(SizeExpr::dim(symbol));
  SmallVector<SmallVector<IndexExpr>, 4> result;
  for (int64_t number = 0; number < kLanesOfPixel; ++number) {
    values[*lane] = IndexExpr(SizeExpr(number));
    result.push_back(llvm::map_to_vector(xs, [&](const IndexExpr &x) {
      return dependsOnLane(x) ? substitute(x, values, symbols, extents) : x;
    }));
  }
  return result;
}

IndexExpr KernelVariables::atPixel(const IndexExpr &x, unsigned variable,
                                   int64_t pixels, int64_t pixel) const {
  SmallVector<IndexExpr> values;
  for (unsigned v = 0; v < extents.size(); ++v)
    values.push_back(IndexExpr::dim(v));
  IndexExpr first;
  if (extents[variable] > 1)
    first = scale(values[variable], SizeExpr(pixels), extents);
  values[variable] = layout::add(first, IndexExpr(SizeExpr(pixel)), extents);
  return substitute(x, values, {}, extents);
}

std::optional<unsigned> layout::findLaneLoop(AffineMap map,
                                             const LayoutMap &layout) {
  std::optional<unsigned> laneDim = findLaneDim(layout);
  if (!laneDim)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(map.getResult(*laneDim));
  return dim ? std::optional<unsigned>(dim.getPosition()) : std::nullopt;
}

SmallVector<IndexExpr> layout::getCoordinates(const LayoutMap &map,
                                              ArrayRef<Coordinate> coordinates,
                                              ArrayRef<IndexExpr> index,
                                              ArrayRef<SizeExpr> sizes,
                                              Sizes extents) {
  SmallVector<IndexExpr> dims(index);
  dims.resize(map.getNumDims());
  return llvm::map_to_vector(coordinates, [&](const Coordinate &coordinate) {
    return substitute(coordinate.value, dims, sizes, extents);
  });
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

KernelLoops::KernelLoops(SmallVector<SizeExpr> loopSizes,
                         ArrayRef<utils::IteratorType> iterators)
    : sizes(std::move(loopSizes)) {
  assert(sizes.size() == iterators.size() && "a size for each loop");
  for (auto [loop, iterator] : llvm::enumerate(iterators))
    if (iterator == utils::IteratorType::reduction)
      nest.push_back(loop);
}

KernelLoops KernelLoops::get(ArrayRef<LoopRule> loops) {
  SmallVector<SizeExpr> sizes;
  SmallVector<utils::IteratorType> iterators;
  for (auto [number, loop] : llvm::enumerate(loops)) {
    sizes.push_back(ShapedType::isDynamic(loop.size) ? SizeExpr::dim(number)
                                                     : SizeExpr(loop.size));
    iterators.push_back(loop.iterator);
  }
  return KernelLoops(std::move(sizes), iterators);
}

void KernelLoops::addOperand(AffineMap map, const LayoutMap &layout) {
  std::optional<unsigned> loop = findLaneLoop(map, layout);
  if (loop && llvm::is_contained(nest, *loop) &&
      !llvm::is_contained(stepped, *loop))
    stepped.push_back(*loop);
}

void KernelLoops::unroll(unsigned loop) {
  assert(!unrolled && sizes[loop].getConstant() && "one window of known size");
  unrolled = loop;
  llvm::erase(stepped, loop);
  stepped.insert(stepped.begin(), loop);
}

SizeExpr KernelLoops::getTripCount(unsigned loop) const {
  if (loop == unrolled)
    return SizeExpr(1);
  return llvm::is_contained(stepped, loop) ? sizes[loop].ceilDiv(kLanesOfPixel)
                                           : sizes[loop];
}

int64_t KernelLoops::getAssumedTripCount(unsigned loop,
                                         int64_t assumedSize) const {
  SmallVector<SizeExpr> assumed(sizes.size(), SizeExpr(assumedSize));
  return *getTripCount(loop).substitute(assumed).getConstant();
}

int64_t KernelLoops::getSteps(unsigned loop) const {
  if (loop == unrolled)
    return *sizes[loop].getConstant();
  if (!llvm::is_contained(stepped, loop))
    return 1;
  return std::min(sizes[loop].getConstant().value_or(kLanesOfPixel),
                  kLanesOfPixel);
}

IndexExpr KernelLoops::getIndex(const IndexExpr &iteration, int64_t step,
                                Sizes extents) {
  return add(scale(iteration, SizeExpr(kLanesOfPixel), extents),
             IndexExpr(SizeExpr(step)), extents);
}

bool KernelLoops::mayBePastEnd(unsigned loop, int64_t step) const {
  if (loop == unrolled)
    return false;
  std::optional<int64_t> size = sizes[loop].getConstant();
  return !size || step >= (*size - 1) % kLanesOfPixel + 1;
}

unsigned KernelLoops::getDepth(AffineMap map) const {
  auto isIndexed = [&](unsigned loop) { return map.isFunctionOfDim(loop); };
  if (llvm::any_of(stepped, isIndexed))
    return nest.size();
  return std::find_if(nest.rbegin(), nest.rend(), isIndexed).base() -
         nest.begin();
}

/// The most iterations of a loop that is unrolled because neighbors share its
/// reads; this bounds the code size.
constexpr int64_t kLongestWindow = 8;

std::optional<unsigned> layout::findWindow(AffineMap operand, unsigned along,
                                           const KernelLoops &loops) {
  for (AffineExpr expr : operand.getResults()) {
    SmallVector<int64_t> weights;
    if (!expr.isFunctionOfDim(along) ||
        failed(getFlattenedAffineExpr(expr, operand.getNumDims(),
                                      operand.getNumSymbols(), &weights)))
      continue;
    for (unsigned loop : loops.getNest()) {
      std::optional<int64_t> size = loops.getSize(loop).getConstant();
      int64_t step = weights[loop], stride = weights[along];
      if (size && *size <= kLongestWindow && step > 0 && stride > 0 &&
          stride / std::gcd(step, stride) < *size)
        return loop;
    }
  }
  return std::nullopt;
}
