//===- ImageReads.cpp - What the kernels of a device read -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/OpenCL/ImageReads.h"
#include "layout/Targets/OpenCL/ImageLayouts.h"
#include "llvm/Support/MathExtras.h"

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

/// The loop that indexes the lane dim of an image, where one does so alone.
static std::optional<unsigned> findLaneLoop(AffineMap map,
                                            const LayoutMap &layout) {
  std::optional<unsigned> laneDim = findLaneDim(layout);
  if (!laneDim)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(map.getResult(*laneDim));
  return dim ? std::optional<unsigned>(dim.getPosition()) : std::nullopt;
}

KernelLoops::KernelLoops(ArrayRef<int64_t> trips,
                         ArrayRef<utils::IteratorType> iterators, AffineMap map,
                         const LayoutMap &result)
    : trips(trips), iterators(iterators), lane(findLaneLoop(map, result)) {}

Cost KernelLoops::getPoints() const {
  Cost points = 1;
  for (auto [loop, trip] : llvm::enumerate(trips))
    points = scaleCost(points, lane == loop ? llvm::alignTo(trip, kLanesOfPixel)
                                            : trip);
  return points;
}

ImageReads KernelLoops::count(AffineMap map, const LayoutMap &operand,
                              int64_t elementBytes) const {
  bool fromImage = isImage(operand);
  std::optional<unsigned> laneDim = findLaneLoop(map, operand);
  // Whether one read serves all lanes of a result.
  bool servesLanes = false;
  if (lane) {
    int64_t places = llvm::count_if(map.getResults(), [&](AffineExpr expr) {
      return expr.isFunctionOfDim(*lane);
    });
    servesLanes = places == 0 || (places == 1 && laneDim == lane);
  }
  // Whether the lanes of an operand are one summand each.
  bool servesSummands = laneDim &&
                        iterators[*laneDim] == utils::IteratorType::reduction &&
                        (!lane || servesLanes);

  int64_t reads = 1;
  for (auto [loop, trip] : llvm::enumerate(trips)) {
    bool isSummed = iterators[loop] == utils::IteratorType::reduction;
    if (isSummed && !map.isFunctionOfDim(loop))
      continue;
    if (lane == loop)
      reads = scaleCost(
          reads, servesLanes ? llvm::divideCeil(trip, kLanesOfPixel) : trip);
    else if (servesSummands && laneDim == loop)
      reads = scaleCost(reads, llvm::divideCeil(trip, kLanesOfPixel));
    else
      reads = scaleCost(reads, trip);
  }
  ImageReads result;
  if (fromImage)
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
  return KernelLoops(sizes, iterators, same, to)
      .count(same, from, elementBytes);
}
