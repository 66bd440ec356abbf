//===- SplitLongWindows.cpp - Windows with long strides -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// OKKernel's windows have strides of at most 15. A sum, maximum or minimum over
// windows with a longer stride is computed in two steps if a factor of the
// stride divides the window:
//
//   y[o] += x[16 o + k], k < 16    becomes    z[i] += x[8 i + k], k < 8
//                                             y[o] += z[2 o + k], k < 2
//
// Other windows become one command per element of the window.
//
//===----------------------------------------------------------------------===//

#include "Legalize/LegalizeLinalg.h"
#include "layout/Dialect/NPU/IR/DmaPlanning.h"
#include "layout/Dialect/NPU/IR/OkkFunctionMatcher.h"
#include "mlir/Analysis/FlatLinearValueConstraints.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::layout;

namespace {
/// A dim of the input with index stride * p + t, where p is the parallel loop
/// `point` and t the reduction loop `tap`. Two reductions will replace the op:
/// the first one with windows of stride `factor`, the second one with stride /
/// factor.
struct LongDim {
  unsigned dim, point, tap;
  int64_t stride, factor;
};
} // namespace

/// Returns the largest common factor of `stride` and `window` that is at most
/// 15, and for which stride / factor is at most 15, too. Returns std::nullopt
/// if no such factor exceeds 1.
static std::optional<int64_t> findFactor(int64_t stride, int64_t window) {
  for (int64_t factor = npu::kMostWindowStride; factor > 1; --factor)
    if (stride % factor == 0 && window % factor == 0 &&
        stride / factor <= npu::kMostWindowStride)
      return factor;
  return std::nullopt;
}

/// Returns the dims of `operand` along which windows have a stride above 15
/// that can be split.
static SmallVector<LongDim> findLongDims(linalg::LinalgOp op,
                                         OpOperand &operand) {
  SmallVector<LongDim> found;
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  auto kinds = op.getIteratorTypesArray();
  for (auto [dim, expr] :
       llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults())) {
    SmallVector<int64_t> terms;
    if (failed(getFlattenedAffineExpr(expr, op.getNumLoops(), 0, &terms)) ||
        terms.size() != op.getNumLoops() + 1 || terms.back() != 0)
      continue;
    std::optional<unsigned> point, tap;
    unsigned loops = 0;
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
      if (terms[loop] == 0)
        continue;
      ++loops;
      bool isTap = kinds[loop] == utils::IteratorType::reduction;
      (isTap ? tap : point) = loop;
    }
    if (loops != 2 || !point || !tap || terms[*tap] != 1 ||
        ranges[*point] < 2 || terms[*point] <= npu::kMostWindowStride)
      continue;
    if (auto factor = findFactor(terms[*point], ranges[*tap]))
      found.push_back({unsigned(dim), *point, *tap, terms[*point], *factor});
  }
  return found;
}

/// Returns the only input whose elements a sum, maximum or minimum of f32
/// reads, or a null pointer for other ops. Further inputs may state the sizes
/// of the window.
static OpOperand *findReduced(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0 ||
      !op.hasPureTensorSemantics() || op.hasDynamicShape() ||
      !getElementTypeOrSelf(op->getResult(0)).isF32())
    return nullptr;
  std::optional<npu::ElementFunction> function = npu::getElementFunction(op);
  if (!function || !llvm::is_contained({"add", "max", "min"}, function->name))
    return nullptr;
  OpOperand *reduced = nullptr;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (!op.payloadUsesValueFromOperand(input))
      continue;
    if (reduced)
      return nullptr;
    reduced = input;
  }
  return op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) ? reduced
                                                                 : nullptr;
}

/// Returns a tensor of `shape` filled with the neutral element of `combiner`:
/// 0, -inf or inf.
static Value makeNeutral(OpBuilder &builder, Location loc, Operation *combiner,
                         ArrayRef<int64_t> shape) {
  auto type = builder.getF32Type();
  bool isSum = isa<arith::AddFOp>(combiner);
  bool isMax = isa<arith::MaximumFOp, arith::MaxNumFOp>(combiner);
  APFloat number =
      isSum ? APFloat(0.0f) : APFloat::getInf(APFloat::IEEEsingle(), isMax);
  Value start = arith::ConstantOp::create(builder, loc,
                                          builder.getFloatAttr(type, number));
  Value empty = tensor::EmptyOp::create(builder, loc, shape, type);
  return linalg::FillOp::create(builder, loc, start, empty).getResult(0);
}

/// Creates the first step: reduces windows of `factor` elements with stride
/// `factor` along each of `dims` of the input.
static Value reduceFirst(linalg::GenericOp op, OpOperand &input,
                         ArrayRef<LongDim> dims) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  Value image = input.get();
  auto type = cast<RankedTensorType>(image.getType());
  unsigned rank = type.getRank(), numLoops = rank + dims.size();
  SmallVector<int64_t> shape(type.getShape()), window;
  SmallVector<AffineExpr> read, taps;
  for (unsigned d = 0; d < rank; ++d)
    read.push_back(builder.getAffineDimExpr(d));
  for (auto [i, dim] : llvm::enumerate(dims)) {
    taps.push_back(builder.getAffineDimExpr(rank + i));
    read[dim.dim] = read[dim.dim] * dim.factor + taps.back();
    window.push_back(dim.factor);
    shape[dim.dim] =
        ((ranges[dim.point] - 1) * dim.stride + ranges[dim.tap]) / dim.factor;
    // The input must not have rows that no window reads.
    int64_t reach = shape[dim.dim] * dim.factor;
    if (reach < type.getDimSize(dim.dim))
      image = takeRange(builder, loc, image, dim.dim, 0, reach);
  }
  SmallVector<utils::IteratorType> kinds(numLoops,
                                         utils::IteratorType::parallel);
  std::fill(kinds.begin() + rank, kinds.end(), utils::IteratorType::reduction);
  Operation *combiner =
      op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  Value init = makeNeutral(builder, loc, combiner, shape);
  Value sizes =
      tensor::EmptyOp::create(builder, loc, window, type.getElementType());
  MLIRContext *context = op.getContext();
  AffineMap maps[] = {AffineMap::get(numLoops, 0, read, context),
                      AffineMap::get(numLoops, 0, taps, context),
                      AffineMap::getMultiDimIdentityMap(numLoops, context)
                          .getMajorSubMap(rank)};
  Value element = op.getMatchingBlockArgument(&input),
        partial = op.getMatchingBlockArgument(op.getDpsInitOperand(0));
  return linalg::GenericOp::create(
             builder, loc, TypeRange(init.getType()), ValueRange{image, sizes},
             ValueRange(init), maps, kinds,
             [&](OpBuilder &inner, Location at, ValueRange values) {
               IRMapping mapping;
               mapping.map(element, values[0]);
               mapping.map(partial, values[2]);
               linalg::YieldOp::create(
                   inner, at, inner.clone(*combiner, mapping)->getResult(0));
             })
      .getResult(0);
}

/// Changes `op` to the second step, which reads `first`, the result of the
/// first one, with the rest of the strides and windows.
static void reduceRest(linalg::GenericOp op, OpOperand &input, Value first,
                       ArrayRef<LongDim> dims) {
  OpBuilder builder(op);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<AffineExpr> index(maps[input.getOperandNumber()].getResults());
  for (const LongDim &dim : dims) {
    index[dim.dim] =
        builder.getAffineDimExpr(dim.point) * (dim.stride / dim.factor) +
        builder.getAffineDimExpr(dim.tap);
    ranges[dim.tap] /= dim.factor;
  }
  for (OpOperand *other : op.getDpsInputOperands()) {
    AffineMap map = maps[other->getOperandNumber()];
    if (other == &input || !llvm::any_of(dims, [&](const LongDim &dim) {
          return map.isFunctionOfDim(dim.tap);
        }))
      continue;
    auto type = cast<RankedTensorType>(other->get().getType());
    SmallVector<int64_t> sizes =
        llvm::map_to_vector(map.getResults(), [&](AffineExpr expr) {
          return ranges[cast<AffineDimExpr>(expr).getPosition()];
        });
    other->set(tensor::EmptyOp::create(builder, op.getLoc(), sizes,
                                       type.getElementType()));
  }
  input.set(first);
  maps[input.getOperandNumber()] =
      AffineMap::get(op.getNumLoops(), 0, index, op.getContext());
  op.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
}

/// Returns true if the dims of all inputs but `reduced` are indexed by single
/// loops.
static bool statesSizesByLoops(linalg::LinalgOp op, OpOperand &reduced) {
  return llvm::all_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    return input == &reduced ||
           op.getMatchingIndexingMap(input).isProjectedPermutation();
  });
}

void layout::splitLongWindows(func::FuncOp function) {
  SmallVector<linalg::LinalgOp> ops;
  function.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  for (linalg::LinalgOp op : ops) {
    OpOperand *reduced = findReduced(op);
    if (!reduced || !statesSizesByLoops(op, *reduced))
      continue;
    SmallVector<LongDim> dims = findLongDims(op, *reduced);
    if (dims.empty())
      continue;
    unsigned number = reduced->getOperandNumber();
    auto generic = dyn_cast<linalg::GenericOp>(*op);
    if (!generic) {
      IRRewriter rewriter(op);
      generic = *linalg::generalizeNamedOp(rewriter, op);
    }
    OpOperand &input = generic->getOpOperand(number);
    Value first = reduceFirst(generic, input, dims);
    reduceRest(generic, input, first, dims);
  }
}
