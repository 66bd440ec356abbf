//===- ImageReads.cpp - What the kernels of a device read -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/OpenCL/ImageReads.h"
#include "layout/Algebra/AffineMaps.h"
#include "layout/Targets/OpenCL/ImageLayouts.h"

using namespace mlir;
using namespace mlir::layout;

void ImageReads::add(const ImageReads &other) {
  imageBytes = addCosts(imageBytes, other.imageBytes);
  bufferBytes = addCosts(bufferBytes, other.bufferBytes);
}

static Cost takePercent(int64_t bytes, int64_t percent) {
  return bytes > (int64_t(1) << 40) ? scaleCost(bytes / 100, percent)
                                    : bytes * percent / 100;
}

Cost ImageReads::getCost(OpenClTargetAttr target) const {
  return addCosts(takePercent(imageBytes, target.getImageReadPercent()),
                  takePercent(bufferBytes, target.getBufferReadPercent()));
}

static SmallVector<SizeExpr> toSizeExprs(ArrayRef<int64_t> sizes) {
  return llvm::to_vector_of<SizeExpr>(sizes);
}

/// What counts to one is no variable.
static IndexExpr addVariable(KernelVariables &variables,
                             const SizeExpr &extent) {
  return extent.isConstantEqual(1)
             ? IndexExpr(SizeExpr(0))
             : variables.add(extent.getConstant().value_or(kUnknownSize));
}

KernelItem KernelItem::get(const LayoutMap &result, ArrayRef<int64_t> sizes) {
  KernelItem item;
  SmallVector<SizeExpr> sizeOf = toSizeExprs(sizes);
  ArrayRef<Coordinate> address = getAddress(result);
  for (const Coordinate &coordinate : address)
    item.count = scaleCost(
        item.count, coordinate.extent.substitute(sizeOf).getConstant().value_or(
                        kInfiniteCost - 1));
  // Without lanes it does not matter what an index is made of.
  if (!isImage(result)) {
    for (const SizeExpr &size : sizeOf)
      item.index.push_back(addVariable(item.variables, size));
    return item;
  }
  SmallVector<IndexExpr> axes;
  for (unsigned c = 0; c < address.size(); ++c)
    for (const StoredAxis &axis : result.getStoredAxes(c))
      axes.push_back(
          addVariable(item.variables, axis.extent.substitute(sizeOf)));
  llvm::append_range(
      axes, item.variables.addLane(result.getStoredAxes(address.size())));
  item.index.resize(sizes.size());
  // A layout without an inverse is that of no kernel's result.
  if (std::optional<std::vector<IndexExpr>> inverse =
          getBackwardValues(result, sizes))
    for (auto [index, value] : llvm::zip(item.index, *inverse))
      index = substitute(value, axes, sizeOf, item.variables.getExtents());
  return item;
}

KernelCount::KernelCount(const KernelLoops &loops, AffineMap map,
                         const KernelItem &item)
    : loops(loops), variables(item.variables), indices(map.getNumDims()),
      items(item.count) {
  for (auto [expr, index] : llvm::zip_equal(map.getResults(), item.index))
    if (auto loop = dyn_cast<AffineDimExpr>(expr))
      indices[loop.getPosition()] = index;
  for (unsigned loop : loops.getNest())
    indices[loop] = addVariable(variables, loops.getTurns(loop));
}

Cost KernelCount::getPoints() const {
  Cost points = scaleCost(items, variables.hasLane() ? kLanesOfPixel : 1);
  for (unsigned loop : loops.getNest())
    points = scaleCost(points, *loops.getTurns(loop).getConstant() *
                                   loops.getSteps(loop));
  return points;
}

int64_t KernelCount::countAddresses(AffineMap map, const LayoutMap &operand,
                                    ArrayRef<int64_t> sizes) const {
  ArrayRef<int64_t> extents = variables.getExtents();
  SmallVector<SizeExpr> sizeOf = toSizeExprs(sizes);
  SmallVector<SmallVector<IndexExpr>> addresses;
  SmallVector<IndexExpr> at(indices);
  auto addAddresses = [&] {
    SmallVector<IndexExpr> index;
    for (AffineExpr expr : map.getResults())
      index.push_back(fromAffineExpr(expr, at, extents).value_or(IndexExpr()));
    SmallVector<IndexExpr> address =
        getCoordinates(operand, getAddress(operand), index, sizeOf, extents);
    for (SmallVector<IndexExpr> &one : variables.atLanes(address))
      if (!llvm::is_contained(addresses, one))
        addresses.push_back(std::move(one));
  };
  auto takeSteps = [&](auto &&self, ArrayRef<unsigned> byPixels) -> void {
    if (byPixels.empty())
      return addAddresses();
    unsigned loop = byPixels.front();
    if (!map.isFunctionOfDim(loop))
      return self(self, byPixels.drop_front());
    for (int64_t step = 0; step < loops.getSteps(loop); ++step) {
      at[loop] = KernelLoops::getIndex(indices[loop], step, extents);
      self(self, byPixels.drop_front());
    }
  };
  takeSteps(takeSteps, loops.getLoopsByPixels());
  return addresses.size();
}

ImageReads KernelCount::count(AffineMap map, const LayoutMap &operand,
                              ArrayRef<int64_t> sizes,
                              int64_t elementBytes) const {
  auto varies = [&](unsigned loop) {
    return map.isFunctionOfDim(loop) &&
           (llvm::is_contained(loops.getLoopsByPixels(), loop) ||
            variables.dependsOnLane(indices[loop]));
  };
  Cost reads = items;
  if (llvm::any_of(llvm::seq<unsigned>(0, indices.size()), varies))
    reads = scaleCost(reads, countAddresses(map, operand, sizes));
  for (unsigned loop : loops.getNest().take_front(loops.getDepth(map)))
    reads = scaleCost(reads, *loops.getTurns(loop).getConstant());
  ImageReads result;
  if (isImage(operand))
    result.imageBytes = scaleCost(reads, elementBytes * kLanesOfPixel);
  else
    result.bufferBytes = scaleCost(reads, elementBytes);
  return result;
}

ImageReads layout::countConversionReads(const LayoutMap &from,
                                        const LayoutMap &to,
                                        ArrayRef<int64_t> sizes,
                                        int64_t elementBytes,
                                        MLIRContext *context) {
  AffineMap same = AffineMap::getMultiDimIdentityMap(sizes.size(), context);
  SmallVector<utils::IteratorType> iterators(sizes.size(),
                                             utils::IteratorType::parallel);
  KernelLoops loops(toSizeExprs(sizes), iterators);
  return KernelCount(loops, same, KernelItem::get(to, sizes))
      .count(same, from, sizes, elementBytes);
}
