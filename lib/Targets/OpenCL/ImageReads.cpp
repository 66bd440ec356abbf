//===- ImageReads.cpp - Count the reads of OpenCL kernels -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/OpenCL/ImageReads.h"
#include "layout/Algebra/AffineMaps.h"
#include "layout/Targets/OpenCL/ImageLayouts.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

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

/// Adds a variable with values below `extent` and returns it, or returns zero
/// if the extent is one.
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
  item.isFlat = address.size() < 3;
  for (const Coordinate &coordinate : address)
    item.count = scaleCost(
        item.count, coordinate.extent.substitute(sizeOf).getConstant().value_or(
                        kInfiniteCost - 1));
  // A buffer has no lanes, so its variables can be the dims, not the axes.
  if (!isImage(result)) {
    for (const SizeExpr &size : sizeOf)
      item.index.push_back(addVariable(item.variables, size));
    return item;
  }
  SmallVector<IndexExpr> axes;
  for (unsigned c = 0; c < address.size(); ++c)
    for (const StoredAxis &axis : result.getStoredAxes(c)) {
      std::optional<int64_t> extent =
          axis.extent.substitute(sizeOf).getConstant();
      axes.push_back(
          addVariable(item.variables, axis.extent.substitute(sizeOf)));
      bool isFastest = &axis == &result.getStoredAxes(c).back();
      if (isFastest && extent && *extent > 1)
        item.rows.push_back(
            {c, static_cast<unsigned>(item.variables.getExtents().size()) - 1,
             *extent});
    }
  llvm::append_range(
      axes, item.variables.addLane(result.getStoredAxes(address.size())));
  item.index.resize(sizes.size());
  // Results of kernels have invertible layouts.
  if (std::optional<std::vector<IndexExpr>> inverse =
          getBackwardValues(result, sizes))
    for (auto [index, value] : llvm::zip(item.index, *inverse))
      index = substitute(value, axes, sizeOf, item.variables.getExtents());
  return item;
}

KernelCount::KernelCount(const KernelLoops &loops, AffineMap map,
                         const KernelItem &item, int64_t assumedSize)
    : loops(loops), assumedSize(assumedSize), variables(item.variables),
      rows(item.rows), items(item.count), isFlat(item.isFlat),
      indices(map.getNumDims()) {
  for (auto [expr, index] : llvm::zip_equal(map.getResults(), item.index))
    if (auto loop = dyn_cast<AffineDimExpr>(expr))
      indices[loop.getPosition()] = index;
  for (unsigned loop : loops.getNest())
    indices[loop] = addVariable(
        variables, SizeExpr(loops.getAssumedTripCount(loop, assumedSize)));
}

Operation *layout::findGroupCombiner(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp || op->getNumResults() != 1)
    return nullptr;
  Type type = getElementTypeOrSelf(op->getResult(0).getType());
  SmallVector<Operation *> combiners;
  if ((!type.isF16() && !type.isF32() && !type.isSignlessInteger(32)) ||
      !matchReduction(linalgOp.getRegionOutputArgs(), 0, combiners) ||
      combiners.size() != 1 || combiners.front()->getNumOperands() != 2 ||
      !arith::getNeutralElement(combiners.front()))
    return nullptr;
  return combiners.front();
}

bool layout::mayComputeBlocks(Operation *op) {
  return op->getNumResults() == 1 &&
         isa<RankedTensorType>(op->getResult(0).getType());
}

const KernelItem::Row *KernelCount::findRow(PixelBlock block) const {
  return llvm::find_if(rows, [&](const KernelItem::Row &row) {
    return row.coordinate == block.coordinate;
  });
}

Cost KernelCount::countItems(PixelBlock block) const {
  if (block.pixels == 1)
    return items;
  int64_t extent = findRow(block)->extent;
  return scaleCost(items / extent, llvm::divideCeil(extent, block.pixels));
}

Cost KernelCount::getPoints(PixelBlock block) const {
  Cost points = scaleCost(countItems(block), block.pixels);
  points = scaleCost(points, variables.hasLane() ? kLanesOfPixel : 1);
  for (unsigned loop : loops.getNest())
    points = scaleCost(points, loops.getAssumedTripCount(loop, assumedSize) *
                                   loops.getSteps(loop));
  return points;
}

KernelLoops KernelCount::getLoops(PixelBlock block) const {
  KernelLoops own = loops;
  if (block.window)
    own.unroll(*block.window);
  return own;
}

/// Returns how often a work-item reads `operand`: the product of the trip
/// counts of the loops around the read. If `block` divides a reduction among
/// work-items of a group, returns the sum over these work-items.
Cost KernelCount::countIterations(const Operand &operand,
                                  const KernelLoops &own,
                                  PixelBlock block) const {
  Cost iterations = block.parts;
  for (unsigned loop : own.getNest().take_front(own.getDepth(operand.map))) {
    if (block.parts > 1 && loop == block.splitLoop)
      iterations /= block.parts;
    iterations =
        scaleCost(iterations, own.getAssumedTripCount(loop, assumedSize));
  }
  return iterations;
}

/// Counts the distinct addresses of `operand` that a work-item reads in one
/// iteration of the loops around the read, over all lanes and steps. Entry i
/// counts those of the first i + 1 pixels of the block.
SmallVector<int64_t> KernelCount::countAddresses(const Operand &operand,
                                                 PixelBlock block) const {
  KernelLoops own = getLoops(block);
  KernelVariables ofBlock = variables;
  const KernelItem::Row *row = block.pixels > 1 ? findRow(block) : nullptr;
  if (row)
    ofBlock.setExtent(row->variable,
                      llvm::divideCeil(row->extent, block.pixels));
  ArrayRef<int64_t> extents = ofBlock.getExtents();
  SmallVector<SizeExpr> sizeOf = toSizeExprs(operand.sizes);
  SmallVector<SmallVector<IndexExpr>> addresses;
  SmallVector<IndexExpr> at;
  auto addAddresses = [&] {
    SmallVector<IndexExpr> index;
    for (AffineExpr expr : operand.map.getResults())
      index.push_back(fromAffineExpr(expr, at, extents).value_or(IndexExpr()));
    SmallVector<IndexExpr> address = getCoordinates(
        *operand.layout, getAddress(*operand.layout), index, sizeOf, extents);
    for (SmallVector<IndexExpr> &one : ofBlock.atLanes(address))
      if (!llvm::is_contained(addresses, one))
        addresses.push_back(std::move(one));
  };
  auto takeSteps = [&](auto &&self, ArrayRef<unsigned> stepped) -> void {
    if (stepped.empty())
      return addAddresses();
    unsigned loop = stepped.front();
    if (!operand.map.isFunctionOfDim(loop))
      return self(self, stepped.drop_front());
    IndexExpr iteration = loop == block.window ? IndexExpr() : at[loop];
    for (int64_t step = 0; step < own.getSteps(loop); ++step) {
      at[loop] = KernelLoops::getIndex(iteration, step, extents);
      self(self, stepped.drop_front());
    }
    at[loop] = iteration;
  };
  SmallVector<int64_t> counts;
  for (int64_t pixel = 0; pixel < block.pixels; ++pixel) {
    at = indices;
    if (row)
      for (IndexExpr &index : at)
        index = ofBlock.atPixel(index, row->variable, block.pixels, pixel);
    takeSteps(takeSteps, own.getSteppedLoops());
    counts.push_back(addresses.size());
  }
  return counts;
}

void KernelCount::addOperand(AffineMap map, const LayoutMap &layout,
                             ArrayRef<int64_t> sizes, int64_t elementBytes) {
  Operand operand{map, &layout, llvm::to_vector(sizes),
                  elementBytes * (isImage(layout) ? kLanesOfPixel : 1)};
  auto isAtSeveral = [&](unsigned loop) {
    return map.isFunctionOfDim(loop) &&
           (llvm::is_contained(loops.getSteppedLoops(), loop) ||
            variables.dependsOnLane(indices[loop]));
  };
  if (llvm::any_of(llvm::seq<unsigned>(0, indices.size()), isAtSeveral))
    operand.addresses = countAddresses(operand, {}).back();
  for (auto [loop, index] : llvm::enumerate(indices))
    if (map.isFunctionOfDim(loop))
      index.walkDims([&](unsigned variable) {
        if (!llvm::is_contained(operand.variables, variable))
          operand.variables.push_back(variable);
      });
  operands.push_back(std::move(operand));
}

bool KernelCount::varies(const Operand &operand, PixelBlock block) const {
  return block.pixels > 1 &&
         llvm::is_contained(operand.variables, findRow(block)->variable);
}

/// Returns the reduction loop in whose iterations neighboring pixels of `row`
/// read the same elements of an operand, or std::nullopt if there is none.
std::optional<unsigned>
KernelCount::findWindow(const KernelItem::Row &row) const {
  for (auto [loop, index] : llvm::enumerate(indices)) {
    bool isAlong = false;
    index.walkDims(
        [&](unsigned variable) { isAlong |= variable == row.variable; });
    if (!isAlong || llvm::is_contained(loops.getNest(), loop))
      continue;
    for (const Operand &operand : operands)
      if (std::optional<unsigned> window =
              layout::findWindow(operand.map, loop, loops))
        return window;
  }
  return std::nullopt;
}

/// Returns the number of reads of a work-item from all operands in all
/// iterations. Entry i is for the first i + 1 pixels of the block `largest`.
SmallVector<Cost> KernelCount::countReads(PixelBlock largest) const {
  KernelLoops own = getLoops(largest);
  SmallVector<Cost> reads(largest.pixels);
  for (const Operand &operand : operands) {
    bool isOfWindow =
        largest.window && operand.map.isFunctionOfDim(*largest.window);
    bool isVarying = varies(operand, largest);
    SmallVector<int64_t> addresses;
    if (isOfWindow)
      addresses = countAddresses(operand, largest);
    Cost iterations = countIterations(operand, own, largest);
    for (auto [number, sum] : llvm::enumerate(reads)) {
      int64_t count = isOfWindow ? addresses[number]
                                 : operand.addresses *
                                       (isVarying ? int64_t(number) + 1 : 1);
      sum = addCosts(sum, scaleCost(iterations, count));
    }
  }
  return reads;
}

BlockLimits::BlockLimits(OpenClTargetAttr target)
    : itemPixels(target ? target.getItemPixels()
                        : OpenClTargetAttr::kItemPixels),
      fewestItems(target ? target.getFewestItems()
                         : OpenClTargetAttr::kFewestItems),
      groupItems(target ? target.getGroupItems()
                        : OpenClTargetAttr::kGroupItems),
      splitReads(target ? target.getSplitReads()
                        : OpenClTargetAttr::kSplitReads),
      assumedSize(target ? target.getAssumedSize() : 1) {}

SmallVector<int64_t> BlockLimits::assumeSizes(ArrayRef<int64_t> shape) const {
  SmallVector<int64_t> sizes(shape);
  llvm::replace(sizes, ShapedType::kDynamic, assumedSize);
  return sizes;
}

/// Divides the longest reduction loop of static size into parts, one per
/// work-item of a group, so that the kernel has enough work-items for the
/// device. Returns `block` unchanged if the kernel has enough, if a work-item
/// executes few reads, or if the result has three coordinates.
PixelBlock KernelCount::split(PixelBlock block, Cost reads,
                              BlockLimits limits) const {
  Cost count = countItems(block);
  if (!isFlat || count >= limits.fewestItems || reads <= limits.splitReads)
    return block;
  KernelLoops own = getLoops(block);
  int64_t most = 1;
  for (unsigned loop : own.getNest())
    if (int64_t trips = own.getTripCount(loop).getConstant().value_or(0);
        trips > most) {
      most = trips;
      block.splitLoop = loop;
    }
  int64_t wanted =
      llvm::divideCeil(limits.fewestItems, std::max<Cost>(count, 1));
  block.parts = std::min({limits.groupItems, most, wanted});
  return block;
}

PixelBlock KernelCount::chooseBlock(BlockLimits limits, bool maySplit) const {
  PixelBlock best;
  if (loops.getNest().empty())
    return best;
  auto splitOf = [&](PixelBlock block, Cost reads) {
    return maySplit ? split(block, reads, limits) : block;
  };
  Cost ofOne = countReads(best).front();
  Cost least = scaleCost(items, ofOne);
  best = splitOf(best, ofOne);
  for (const KernelItem::Row &row : rows) {
    PixelBlock block{row.coordinate, std::min(limits.itemPixels, row.extent),
                     findWindow(row)};
    for (auto [number, reads] : llvm::enumerate(countReads(block))) {
      block.pixels = number + 1;
      if (block.pixels == 1)
        continue;
      PixelBlock parts = splitOf(block, reads);
      Cost count = countItems(block);
      if (scaleCost(count, parts.parts) < limits.fewestItems)
        continue;
      if (Cost all = scaleCost(count, reads); all < least) {
        least = all;
        best = parts;
      }
    }
  }
  return best;
}

ImageReads KernelCount::getReads(PixelBlock block) const {
  KernelLoops own = getLoops(block);
  ImageReads result;
  for (const Operand &operand : operands) {
    bool differs = varies(operand, block) ||
                   (block.window && operand.map.isFunctionOfDim(*block.window));
    int64_t addresses =
        differs ? countAddresses(operand, block).back() : operand.addresses;
    Cost iterations = countIterations(operand, own, block);
    int64_t bytes = scaleCost(scaleCost(countItems(block), iterations),
                              addresses * operand.bytes);
    result.add(isImage(*operand.layout) ? ImageReads{bytes, 0}
                                        : ImageReads{0, bytes});
  }
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
  KernelItem item = KernelItem::get(to, sizes);
  KernelCount kernel(loops, same, item);
  kernel.addOperand(same, from, sizes, elementBytes);
  return kernel.getReads();
}
