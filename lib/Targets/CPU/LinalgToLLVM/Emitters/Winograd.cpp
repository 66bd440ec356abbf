//===- Winograd.cpp - Convolutions with fewer multiplications -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emitters/Winograd.h"
#include "Kernels/TileCostModel.h"
#include "layout/Support/ConstantBytes.h"
#include "layout/Support/LaneAccess.h"
#include "layout/Support/MappedFiles.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mlir::layout;

/// Returns true if the root only sums products of two f32 inputs.
static bool addsProducts(const Kernel &kernel) {
  linalg::LinalgOp op = kernel.root.op;
  return kernel.root.numInputs() == 2 && kernel.starts.size() == 1 &&
         // Excludes other ops, such as a negation.
         op.getBlock()->getOperations().size() == 3 &&
         llvm::all_of(op.getBlock()->getArgumentTypes(),
                      [](Type type) { return type.isF32(); }) &&
         linalg::detail::isContractionBody(
             *op.getBlock(), [](Operation *multiply, Operation *add) {
               return isa<arith::MulFOp>(multiply) && isa<arith::AddFOp>(add);
             });
}

/// Returns the bytes of `input`, or std::nullopt if it is not a constant with
/// the bytes of each element.
static std::optional<ArrayRef<char>> findBytes(Value input) {
  ElementsAttr value;
  auto type = cast<RankedTensorType>(input.getType());
  if (!matchPattern(input, m_Constant(&value)))
    return std::nullopt;
  std::optional<ArrayRef<char>> bytes = getConstantBytes(value);
  if (!bytes || bytes->size() != type.getNumElements() * sizeof(float))
    return std::nullopt;
  return bytes;
}

/// Classifies the dims of the kernel in `found`, with input `image` as the
/// image. Returns false if the kernel is not a 3x3 convolution with stride 1
/// and at least 2x2 results, or if its contiguous input channels or its lanes
/// are not whole vectors.
static bool findDims(const Kernel &kernel, const KernelPlan &plan,
                     unsigned image, WinogradPlan &found) {
  found.image = image;
  found.filter = 1 - image;
  AffineMap from = kernel.root.maps[found.image];
  AffineMap by = kernel.root.maps[found.filter];
  if (!by.isProjectedPermutation() || !kernel.root.groups[found.filter].empty())
    return false;
  SmallVector<bool> isOfAxis(kernel.extents.size()), isInImage(isOfAxis);
  for (AffineExpr expr : from.getResults()) {
    SmallVector<unsigned, 2> dims;
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      dims = {dim.getPosition()};
    } else if (auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
               sum && sum.getKind() == AffineExprKind::Add) {
      auto left = dyn_cast<AffineDimExpr>(sum.getLHS());
      auto right = dyn_cast<AffineDimExpr>(sum.getRHS());
      if (!left || !right)
        return false;
      dims = {left.getPosition(), right.getPosition()};
      if (!kernel.isParallel(dims[0]))
        std::swap(dims[0], dims[1]);
      auto [place, window] = std::pair(dims[0], dims[1]);
      if (!kernel.isParallel(place) || by.isFunctionOfDim(place) ||
          countOf(kernel.extents[place]) < 2 || kernel.isParallel(window) ||
          !by.isFunctionOfDim(window) || kernel.extents[window] != 3)
        return false;
      found.axes.push_back({place, window});
      isOfAxis[place] = isOfAxis[window] = true;
    } else if (!isa<AffineConstantExpr>(expr)) {
      return false;
    }
    for (unsigned dim : dims)
      if (std::exchange(isInImage[dim], true))
        return false;
  }
  if (found.axes.size() != 2)
    return false;
  for (auto [dim, extent] : llvm::enumerate(kernel.extents)) {
    if (extent == 1 || isOfAxis[dim] || plan.lane == dim)
      continue;
    bool isInFilter = by.isFunctionOfDim(dim);
    if (isInFilter && ShapedType::isDynamic(extent))
      return false;
    if (!kernel.isParallel(dim)) {
      if (!isInImage[dim] || !isInFilter)
        return false;
      found.channels.push_back(dim);
    } else if (isInImage[dim] == isInFilter) {
      return false;
    } else {
      (isInFilter ? found.filters : found.batches).push_back(dim);
    }
  }
  auto last = dyn_cast<AffineDimExpr>(from.getResults().back());
  if (found.channels.empty() || !last ||
      !llvm::is_contained(found.channels, last.getPosition()))
    return false;
  llvm::erase(found.channels, last.getPosition());
  found.channels.push_back(last.getPosition());
  unsigned lane = *plan.lane;
  return by.isFunctionOfDim(lane) && !isInImage[lane] &&
         !ShapedType::isDynamic(kernel.extents[lane]) &&
         kernel.extents[last.getPosition()] % plan.vectorSize == 0 &&
         kernel.extents[lane] % plan.vectorSize == 0;
}

int64_t layout::countPositions(const Kernel &kernel, ArrayRef<unsigned> dims) {
  int64_t count = 1;
  for (unsigned dim : dims)
    count *= kernel.extents[dim];
  return count;
}

/// Returns the cycles to multiply and add, as TileCostModel does, for one input
/// channel, one of the 16 elements of a transformed tile, and a register tile
/// of `tiles` tiles by `vectors` vectors of filters.
static double stepCycles(int64_t tiles, int64_t vectors) {
  double operations = tiles * vectors / 2.0, loads = (tiles + vectors) / 2.0;
  return std::max({operations, loads, 4.0}) + 0.5;
}

/// Returns the sum of stepCycles for the `tiles` tiles that are transformed
/// together, of which `step` at a time are in registers. The remainder is
/// computed by the smallest loop of `rests` with enough tiles, or by one of its
/// exact size if `rests` is empty.
static double multiplyCycles(int64_t tiles, int64_t step, int64_t vectors,
                             ArrayRef<int64_t> rests) {
  int64_t rest = tiles % step;
  double cycles = tiles / step * stepCycles(step, vectors);
  if (rest == 0)
    return cycles;
  return cycles +
         stepCycles(rests.empty() ? rest : *llvm::lower_bound(rests, rest),
                    vectors);
}

/// Returns the numbers of tiles, ascending up to `step`, of the loops that
/// compute a remainder of less than `step` tiles. A loop for fewer tiles is
/// added if it takes at most 85% of the cycles of the next larger one.
static SmallVector<int64_t> chooseRests(int64_t step, int64_t vectors) {
  constexpr double kPays = 0.85;
  SmallVector<int64_t> rests = {step};
  for (int64_t tiles = step - 1; tiles > 0; --tiles)
    if (stepCycles(tiles, vectors) <= kPays * stepCycles(rests.back(), vectors))
      rests.push_back(tiles);
  return {rests.rbegin(), rests.rend()};
}

/// Sets in `found` the sizes: `lanes`, `tiles`, `strip`, `step` and `rests`.
/// Returns the estimated cycles of the whole kernel.
static double chooseSizes(const Kernel &kernel, const KernelPlan &plan,
                          const CpuModelParams &target, WinogradPlan &found) {
  int64_t vectors = kernel.extents[*plan.lane] / plan.vectorSize;
  int64_t width = vectors % 2 == 0 ? 2 : 1;
  found.lanes = width * plan.vectorSize;
  int64_t channels = countPositions(kernel, found.channels);
  int64_t filters = countPositions(kernel, found.filters) *
                    kernel.extents[*plan.lane] / found.lanes;
  double images = 1, tiles = 1;
  for (unsigned dim : found.batches)
    images *= countOf(kernel.extents[dim]);
  bool isDynamic = false;
  for (WinogradPlan::Axis axis : found.axes) {
    isDynamic |= ShapedType::isDynamic(kernel.extents[axis.place]);
    tiles *= std::ceil(countOf(kernel.extents[axis.place]) / kWinogradResults);
  }
  found.tiles = isDynamic ? ShapedType::kDynamic : static_cast<int64_t>(tiles);

  // V and M of a strip fit in L2. With fewer tiles, the filters, which each
  // strip reads again, take longer to read than to multiply.
  int64_t tileBytes =
      kWinogradElements * (channels + found.lanes) * sizeof(float);
  int64_t most = std::max<int64_t>(target.l2Bytes / tileBytes, 24);
  found.strip = most;
  if (!isDynamic) {
    found.strip =
        llvm::divideCeil(found.tiles, llvm::divideCeil(found.tiles, most));
    // Strips of equal size need only one copy of the code.
    for (int64_t size = found.strip; size > found.strip / 2; --size)
      if (found.tiles % size == 0) {
        found.strip = size;
        break;
      }
  }

  int64_t registers = target.vectorRegisters - width - 1;
  // Dynamic strips have any length from half of the maximum on; shorter ones
  // are whole small images.
  auto cyclesOf = [&](int64_t step) {
    if (!isDynamic)
      return multiplyCycles(found.strip, step, width, {});
    double cycles = 0;
    SmallVector<int64_t> rests = chooseRests(step, width);
    for (int64_t length = found.strip / 2; length < found.strip; ++length)
      cycles += multiplyCycles(length + 1, step, width, rests);
    return cycles / llvm::divideCeil(found.strip, 2);
  };
  found.step = 1;
  for (int64_t step = 2; step <= std::min(found.strip, registers / width);
       ++step)
    if (cyclesOf(step) <= cyclesOf(found.step))
      found.step = step;
  if (isDynamic) {
    found.strip = llvm::alignTo(found.strip, found.step);
    found.rests = chooseRests(found.step, width);
  }

  double strips = images * tiles / found.strip;
  double products = double(kWinogradElements) * channels * filters;
  double lines = products * found.lanes * sizeof(float) / target.lineBytes;
  // A transform takes one cycle per store, and as many for its additions.
  double read = double(kWinogradSteps) * channels / plan.vectorSize;
  double write = double(kWinogradSteps) * filters * width;
  return strips * (found.strip * (read + write) +
                   products * cyclesOf(found.step) + lines * 2.5);
}

std::optional<WinogradPlan> layout::planWinograd(const Kernel &kernel,
                                                 const KernelPlan &plan,
                                                 const CpuModelParams &target) {
  if (!plan.lane || !kernel.isParallel(*plan.lane) || plan.vectorSize == 1 ||
      !addsProducts(kernel) || llvm::is_contained(kernel.extents, 0))
    return std::nullopt;
  double direct = TileCostModel(kernel, target, plan.lane, plan.vectorSize)
                      .total(plan.tile);
  for (unsigned image : {0, 1}) {
    WinogradPlan found;
    if (!findDims(kernel, plan, image, found) ||
        !findBytes(kernel.root.operands[found.filter]))
      continue;
    if (chooseSizes(kernel, plan, target, found) < direct)
      return found;
  }
  return std::nullopt;
}

/// Computes G g: four elements from three along one dim of a filter.
static void transform(double a, double b, double c, double (&sums)[4]) {
  sums[0] = a;
  sums[1] = a / 2 + b / 2 + c / 2;
  sums[2] = a / 2 - b / 2 + c / 2;
  sums[3] = c;
}

ElementsAttr layout::transformFilters(const Kernel &kernel,
                                      const KernelPlan &plan,
                                      const WinogradPlan &winograd) {
  Value filter = kernel.root.operands[winograd.filter];
  auto type = cast<RankedTensorType>(filter.getType());
  ArrayRef<char> bytes = *findBytes(filter);
  auto *elements = reinterpret_cast<const float *>(bytes.data());
  SmallVector<int64_t> stride(kernel.extents.size(), 0);
  int64_t weight = 1;
  AffineMap map = kernel.root.maps[winograd.filter];
  for (unsigned i = type.getRank(); i-- > 0; weight *= type.getDimSize(i))
    if (auto dim = dyn_cast<AffineDimExpr>(map.getResult(i)))
      stride[dim.getPosition()] = weight;
  // Returns the offset of position `number` of `dims`, the last dim fastest.
  auto offsetOf = [&](ArrayRef<unsigned> dims, int64_t number) {
    int64_t offset = 0;
    for (unsigned dim : llvm::reverse(dims)) {
      offset += number % kernel.extents[dim] * stride[dim];
      number /= kernel.extents[dim];
    }
    return offset;
  };

  SmallVector<unsigned> filters(winograd.filters);
  filters.push_back(*plan.lane);
  int64_t channels = countPositions(kernel, winograd.channels);
  int64_t blocks = countPositions(kernel, filters) / winograd.lanes;
  auto result = RankedTensorType::get({blocks, 16, channels, winograd.lanes},
                                      type.getElementType());
  AsmResourceBlob blob = allocateConstant(
      result.getNumElements() * sizeof(float), /*alignment=*/64);
  auto *to = reinterpret_cast<float *>(blob.getMutableData().data());
  int64_t place = channels * winograd.lanes;
  auto [rows, columns] = std::pair(stride[winograd.axes[0].window],
                                   stride[winograd.axes[1].window]);
  SmallVector<int64_t> channelOffsets, laneOffsets(winograd.lanes);
  for (int64_t channel = 0; channel < channels; ++channel)
    channelOffsets.push_back(offsetOf(winograd.channels, channel));
  for (int64_t block = 0; block < blocks; ++block) {
    for (int64_t lane = 0; lane < winograd.lanes; ++lane)
      laneOffsets[lane] = offsetOf(filters, block * winograd.lanes + lane);
    for (int64_t channel = 0; channel < channels; ++channel) {
      float *begin = to + block * 16 * place + channel * winograd.lanes;
      for (int64_t lane = 0; lane < winograd.lanes; ++lane) {
        const float *from =
            elements + channelOffsets[channel] + laneOffsets[lane];
        double half[3][4];
        for (int column = 0; column < 3; ++column, from += columns)
          transform(from[0], from[rows], from[2 * rows], half[column]);
        for (int i = 0; i < 4; ++i) {
          double sums[4];
          transform(half[0][i], half[1][i], half[2][i], sums);
          for (int j = 0; j < 4; ++j)
            begin[(i * 4 + j) * place + lane] = static_cast<float>(sums[j]);
        }
      }
    }
  }
  forgetMappedPages(bytes);
  return DenseResourceElementsAttr::get(result, "winograd_filters",
                                        std::move(blob));
}
