//===- SplitVolumes.cpp - Decomposition of 3-D windows --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// OKKernel's windows have rows and columns. An op on a window of more dims
// becomes one op per index of the first window dim, on strided slices:
//
//   y[d, h, w] += x[2 d + k, h + i, w + j] * f[k, i, j]       k < 2
//     y0 = y  + x[0, 2, ..][d, h + i, w + j] * f[0][i, j]
//     y1 = y0 + x[1, 3, ..][d, h + i, w + j] * f[1][i, j]
//
// Dim d becomes the batch, so a given batch is split, too. If the weights have
// no channels, d becomes the channel of a depthwise convolution.
//
//===----------------------------------------------------------------------===//

#include "Legalize/LegalizeLinalg.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::layout;

// The maximum number of ops that replace one op.
static constexpr int64_t kMostWindows = 64;

namespace {
/// An image dim with index step * i + dilation * k, where i is the parallel
/// loop `point` (an output position) and k the reduction loop `tap` (an element
/// of the window).
struct WindowDim {
  unsigned dim = 0, point = 0, tap = 0;
  int64_t step = 0, dilation = 0;
};

/// An op on an image and weights, e.g. a 3-D convolution, as operands, indexing
/// maps and loops. The pass removes loop after loop until the windows have two
/// dims.
struct Volume {
  Value image, weights, init;
  AffineMap imageMap, weightsMap, initMap;
  SmallVector<utils::IteratorType> kinds;
  SmallVector<int64_t> ranges;

  void dropLoop(unsigned loop);
};
} // namespace

/// Returns the dims of the image whose index is that of a window: a sum of
/// positive multiples of a parallel and a reduction loop.
static SmallVector<WindowDim> findWindowDims(const Volume &op) {
  SmallVector<WindowDim> found;
  for (auto [dim, expr] : llvm::enumerate(op.imageMap.getResults())) {
    SmallVector<int64_t> terms;
    if (failed(getFlattenedAffineExpr(expr, op.kinds.size(), 0, &terms)) ||
        terms.size() != op.kinds.size() + 1 || terms.back() != 0)
      continue;
    WindowDim window;
    window.dim = dim;
    unsigned loops = 0;
    for (auto [loop, kind] : llvm::enumerate(op.kinds)) {
      if (terms[loop] == 0)
        continue;
      ++loops;
      bool isPoint = kind == utils::IteratorType::parallel;
      (isPoint ? window.point : window.tap) = loop;
      (isPoint ? window.step : window.dilation) = terms[loop];
    }
    if (loops == 2 && window.step > 0 && window.dilation > 0)
      found.push_back(window);
  }
  return found;
}

/// Returns the dim that `map` indexes by `loop` alone, or std::nullopt.
static std::optional<unsigned> findDim(AffineMap map, unsigned loop) {
  return map.getResultPosition(getAffineDimExpr(loop, map.getContext()));
}

void Volume::dropLoop(unsigned loop) {
  kinds.erase(kinds.begin() + loop);
  ranges.erase(ranges.begin() + loop);
  llvm::SmallBitVector dropped(imageMap.getNumDims());
  dropped.set(loop);
  for (AffineMap *map : {&imageMap, &weightsMap, &initMap})
    *map = projectDims(*map, dropped, /*compressDimsFlag=*/true);
}

/// Returns the dims of a tensor, stably sorted by the number that `getClass`
/// returns for the index of each dim. Callers number batch and channels (for
/// weights, of results and then of images) before windows, as OKKernel's
/// tensors have them.
static SmallVector<int64_t>
getOrder(AffineMap map, llvm::function_ref<int(AffineExpr)> getClass) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(map.getNumResults()));
  llvm::stable_sort(order, [&](int64_t a, int64_t b) {
    return getClass(map.getResult(a)) < getClass(map.getResult(b));
  });
  return order;
}

static void reorder(OpBuilder &builder, Value &tensor, AffineMap &map,
                    ArrayRef<int64_t> order) {
  if (llvm::is_sorted(order))
    return;
  tensor = transpose(builder, tensor.getLoc(), tensor, order);
  map = AffineMap::get(map.getNumDims(), 0,
                       applyPermutation(map.getResults(), order),
                       map.getContext());
}

/// Returns the op narrowed to one index of loop `loop`, the batch.
static Volume takeBatch(OpBuilder &builder, Volume op, unsigned loop,
                        int64_t index) {
  for (auto [tensor, map] :
       {std::pair(&op.image, &op.imageMap), std::pair(&op.init, &op.initMap)}) {
    unsigned dim = *findDim(*map, loop);
    *tensor = takeIndex(builder, tensor->getLoc(), *tensor, dim, index);
    *map = map->dropResult(dim);
  }
  op.dropLoop(loop);
  return op;
}

/// Returns the op narrowed to element `tap` of the window along one image dim.
/// That dim becomes the batch: its loop remains, and the tap's loop is dropped.
static Volume takeTap(OpBuilder &builder, Volume op, const WindowDim &window,
                      int64_t tap) {
  op.image =
      takeRange(builder, op.image.getLoc(), op.image, window.dim,
                tap * window.dilation, op.ranges[window.point], window.step);
  AffineExpr point = builder.getAffineDimExpr(window.point);
  SmallVector<AffineExpr> exprs(op.imageMap.getResults());
  exprs[window.dim] = point;
  op.imageMap = AffineMap::get(op.kinds.size(), 0, exprs, builder.getContext());
  unsigned dim = *findDim(op.weightsMap, window.tap);
  op.weights = takeIndex(builder, op.weights.getLoc(), op.weights, dim, tap);
  op.weightsMap = op.weightsMap.dropResult(dim);
  reorder(builder, op.image, op.imageMap,
          getOrder(op.imageMap, [&](AffineExpr expr) {
            return expr == point ? 0 : isa<AffineDimExpr>(expr) ? 1 : 2;
          }));
  auto isParallel = [&](AffineExpr expr) {
    return op.kinds[cast<AffineDimExpr>(expr).getPosition()] ==
           utils::IteratorType::parallel;
  };
  reorder(builder, op.weights, op.weightsMap,
          getOrder(op.weightsMap, [&](AffineExpr expr) {
            return isParallel(expr)                                     ? 0
                   : llvm::is_contained(op.imageMap.getResults(), expr) ? 1
                                                                        : 2;
          }));
  // Depthwise weights without channels are repeated per channel.
  if (llvm::none_of(op.weightsMap.getResults(), isParallel)) {
    auto type = cast<RankedTensorType>(op.weights.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape.insert(shape.begin(), op.ranges[window.point]);
    Value empty = tensor::EmptyOp::create(builder, op.weights.getLoc(), shape,
                                          type.getElementType());
    op.weights =
        linalg::BroadcastOp::create(builder, op.weights.getLoc(), op.weights,
                                    empty, ArrayRef<int64_t>(0))
            ->getResult(0);
    op.weightsMap = op.weightsMap.insertResult(point, 0);
  }
  op.dropLoop(window.tap);
  return op;
}

static Value create(OpBuilder &builder, linalg::LinalgOp whole,
                    const Volume &op) {
  auto generic = linalg::GenericOp::create(
      builder, whole.getLoc(), TypeRange(op.init.getType()),
      ValueRange{op.image, op.weights}, ValueRange(op.init),
      ArrayRef{op.imageMap, op.weightsMap, op.initMap}, op.kinds);
  IRMapping mapping;
  whole->getRegion(0).cloneInto(&generic.getRegion(), mapping);
  return generic.getResult(0);
}

/// Returns the loops that are, by themselves, the index of a dim of the image
/// and of a dim of the result, and do not index the weights.
static SmallVector<unsigned> findBatches(const Volume &op) {
  SmallVector<unsigned> found;
  for (unsigned loop = 0; loop < op.kinds.size(); ++loop)
    if (findDim(op.imageMap, loop) && findDim(op.initMap, loop) &&
        !op.weightsMap.isFunctionOfDim(loop))
      found.push_back(loop);
  return found;
}

static void splitVolume(linalg::LinalgOp op) {
  auto getMap = [&](OpOperand *operand) {
    return op.getMatchingIndexingMap(operand);
  };
  OpOperand *image = op.getDpsInputOperand(0),
            *weights = op.getDpsInputOperand(1),
            *init = op.getDpsInitOperand(0);
  Volume whole{image->get(),
               weights->get(),
               init->get(),
               getMap(image),
               getMap(weights),
               getMap(init),
               op.getIteratorTypesArray(),
               op.getStaticLoopRanges()};
  SmallVector<WindowDim> windows = findWindowDims(whole);
  if (windows.size() < 3 || !whole.weightsMap.isProjectedPermutation() ||
      !whole.initMap.isProjectedPermutation() ||
      llvm::is_contained(whole.ranges, 0))
    return;
  auto isTapOfWeights = [&](const WindowDim &window) {
    return findDim(whole.weightsMap, window.tap).has_value();
  };
  SmallVector<unsigned> batches = findBatches(whole);
  int64_t count = whole.ranges[windows.front().tap];
  for (unsigned loop : batches)
    count = count > kMostWindows ? count : count * whole.ranges[loop];
  if (!llvm::all_of(windows, isTapOfWeights) || batches.size() > 1 ||
      count > kMostWindows)
    return;
  OpBuilder builder(op);
  auto split = [&](Volume part) {
    // The removal of the batch has renumbered the loops.
    WindowDim window = findWindowDims(part).front();
    AffineExpr point = builder.getAffineDimExpr(window.point);
    SmallVector<int64_t> order = getOrder(part.initMap, [&](AffineExpr expr) {
      return expr == point                                            ? 0
             : llvm::is_contained(part.weightsMap.getResults(), expr) ? 1
                                                                      : 2;
    });
    reorder(builder, part.init, part.initMap, order);
    for (int64_t tap = 0, taps = part.ranges[window.tap]; tap < taps; ++tap)
      part.init = create(builder, op, takeTap(builder, part, window, tap));
    return llvm::is_sorted(order) ? part.init
                                  : transpose(builder, op.getLoc(), part.init,
                                              invertPermutationVector(order));
  };
  Value result = batches.empty() ? split(whole) : whole.init;
  for (unsigned loop : batches) {
    unsigned dim = *findDim(whole.initMap, loop);
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
        ones(type.getRank(), builder.getIndexAttr(1)),
        sizes = getAsIndexOpFoldResult(op.getContext(), type.getShape());
    sizes[dim] = builder.getIndexAttr(1);
    for (int64_t i = 0; i < whole.ranges[loop]; ++i) {
      offsets[dim] = builder.getIndexAttr(i);
      result = tensor::InsertSliceOp::create(
          builder, op.getLoc(), split(takeBatch(builder, whole, loop, i)),
          result, offsets, sizes, ones);
    }
  }
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

void layout::splitVolumes(func::FuncOp function) {
  SmallVector<linalg::LinalgOp> ops;
  function.walk([&](linalg::LinalgOp op) {
    if (op.getNumDpsInputs() == 2 && op.getNumDpsInits() == 1 &&
        op.hasPureTensorSemantics() && !op.hasIndexSemantics() &&
        !op.hasDynamicShape() &&
        llvm::all_of(op->getOperandTypes(), [](Type type) {
          auto tensor = dyn_cast<RankedTensorType>(type);
          return tensor && !tensor.getEncoding();
        }))
      ops.push_back(op);
  });
  llvm::for_each(ops, splitVolume);
}
