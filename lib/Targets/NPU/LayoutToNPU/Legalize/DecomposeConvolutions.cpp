//===- DecomposeConvolutions.cpp - Decomposition of convolutions ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// OKKernel has full and depthwise convolutions. A grouped convolution becomes a
// full one per group:
//
//   %r = linalg.conv_2d_ngchw_gfchw(%x, %w)         of 4 groups
//     %x0 = tensor.extract_slice %x[0, 0, ..]       [n, c, h, w] of group 0
//     %r0 = linalg.conv_2d_nchw_fchw(%x0, %w0)
//     ..
//     %r = tensor.concat dim(1) %r0, %r1, %r2, %r3  each expanded to a group
//
// A 1-D convolution becomes a 2-D one on images of one row. One without
// channels, and so without a dim to spread over the cores, gets one channel:
//
//   %r = linalg.conv_2d(%x, %w)      becomes a linalg.generic of the same body
//                                    on [1, 1, h, w]
//
//===----------------------------------------------------------------------===//

#include "Legalize/LegalizeLinalg.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::layout;

/// Creates the init of one group of a grouped convolution: a fill if the init
/// `whole` is one, or else the slice of the group.
static Value takeInit(OpBuilder &builder, Location loc, Value whole,
                      int64_t group) {
  auto fill = whole.getDefiningOp<linalg::FillOp>();
  if (!fill)
    return takeIndex(builder, loc, whole, 1, group);
  auto type = cast<RankedTensorType>(whole.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + 1);
  Value empty =
      tensor::EmptyOp::create(builder, loc, shape, type.getElementType());
  return linalg::FillOp::create(builder, loc, fill.getInputs(),
                                ValueRange(empty))
      .getResult(0);
}

/// Returns the strides and dilations, as null attributes if the op has none.
static std::pair<Attribute, Attribute> getStridesAndDilations(Operation *op) {
  if (auto conv = dyn_cast<linalg::Conv2DNgchwGfchwOp>(op))
    return {conv.getStrides(), conv.getDilations()};
  auto conv = cast<linalg::Conv2DNgchwFgchwOp>(op);
  return {conv.getStrides(), conv.getDilations()};
}

static void decomposeConvolutions(linalg::LinalgOp op, unsigned weightDim) {
  // Without iterations, the result is the init.
  if (llvm::is_contained(op.getStaticLoopRanges(), 0)) {
    op->getResult(0).replaceAllUsesWith(op.getDpsInits()[0]);
    op->erase();
    return;
  }
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<Value> parts;
  SmallVector<int64_t> shape(type.getShape());
  shape[1] = 1;
  auto [strides, dilations] = getStridesAndDilations(op);
  SmallVector<ReassociationIndices> dims{{0}, {1, 2}, {3}, {4}};
  for (int64_t group = 0; group < type.getDimSize(1); ++group) {
    Value init = takeInit(builder, loc, op.getDpsInits()[0], group);
    Value part =
        linalg::Conv2DNchwFchwOp::create(
            builder, loc, TypeRange(init.getType()),
            ValueRange{
                takeIndex(builder, loc, op->getOperand(0), 1, group),
                takeIndex(builder, loc, op->getOperand(1), weightDim, group)},
            ValueRange(init), strides, dilations)
            .getResult(0);
    parts.push_back(tensor::ExpandShapeOp::create(
        builder, loc, RankedTensorType::get(shape, type.getElementType()), part,
        dims));
  }
  Value whole = parts.front();
  if (parts.size() > 1)
    whole = tensor::ConcatOp::create(builder, loc, 1, parts);
  op->getResult(0).replaceAllUsesWith(whole);
  op->erase();
}

/// Adds a dim of size 1 before the last dim of a 3-D tensor, e.g. [n, c, w] ->
/// [n, c, 1, w].
static Value addRow(OpBuilder &builder, Location loc, Value line) {
  auto type = cast<RankedTensorType>(line.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + 2, 1);
  SmallVector<ReassociationIndices> dims{{0}, {1}, {2, 3}};
  return tensor::ExpandShapeOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()), line,
      dims);
}

static void makeImages(linalg::Conv1DNcwFcwOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto withRow = [&](DenseIntElementsAttr values) {
    return builder.getI64VectorAttr({1, *values.getValues<int64_t>().begin()});
  };
  Value init = addRow(builder, loc, op.getOutputs()[0]);
  Value image = linalg::Conv2DNchwFchwOp::create(
                    builder, loc, TypeRange(init.getType()),
                    ValueRange{addRow(builder, loc, op.getInputs()[0]),
                               addRow(builder, loc, op.getInputs()[1])},
                    ValueRange(init), withRow(op.getStrides()),
                    withRow(op.getDilations()))
                    .getResult(0);
  SmallVector<ReassociationIndices> dims{{0}, {1}, {2, 3}};
  op->getResult(0).replaceAllUsesWith(
      tensor::CollapseShapeOp::create(builder, loc, image, dims));
  op.erase();
}

Value layout::transpose(OpBuilder &builder, Location loc, Value tensor,
                        ArrayRef<int64_t> order) {
  auto type = cast<RankedTensorType>(tensor.getType());
  Value empty = tensor::EmptyOp::create(
      builder, loc, applyPermutation(type.getShape(), order),
      type.getElementType());
  return linalg::TransposeOp::create(builder, loc, tensor, empty, order)
      ->getResult(0);
}

/// Swaps the inputs of each convolution whose second input is the image, i.e.
/// is indexed by sums of loops, because upstream expects it first.
static void readImagesFirst(func::FuncOp function) {
  SmallVector<linalg::GenericOp> ops;
  function.walk([&](linalg::GenericOp op) {
    if (op.getNumDpsInputs() == 2 &&
        op.getIndexingMapsArray()[0].isProjectedPermutation() &&
        !op.getIndexingMapsArray()[1].isProjectedPermutation())
      ops.push_back(op);
  });
  for (linalg::GenericOp op : ops) {
    OpBuilder builder(op);
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    std::swap(maps[0], maps[1]);
    auto swapped = cast<linalg::GenericOp>(builder.clone(*op));
    swapped.getInputsMutable().assign({op.getInputs()[1], op.getInputs()[0]});
    swapped.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
    Block *body = swapped.getBody();
    BlockArgument image =
        body->insertArgument(0u, body->getArgument(1).getType(), op.getLoc());
    body->getArgument(2).replaceAllUsesWith(image);
    body->eraseArgument(2);
    if (succeeded(linalg::inferConvolutionDims(swapped))) {
      op.replaceAllUsesWith(swapped);
      op.erase();
    } else {
      swapped.erase();
    }
  }
}

namespace {
/// A convolution without batch and channels: the loops of its result (`points`)
/// and of its window (`taps`), in the order of the dims of the image.
struct Window {
  OpOperand *image = nullptr, *weights = nullptr;
  SmallVector<unsigned, 2> points, taps;
};
} // namespace

static std::optional<Window> findWindow(linalg::LinalgOp op) {
  FailureOr<linalg::ConvolutionDimensions> dims =
      linalg::inferConvolutionDims(op);
  if (failed(dims) || op.hasIndexSemantics() || !op.hasPureTensorSemantics() ||
      op.hasDynamicShape() || llvm::is_contained(op.getStaticLoopRanges(), 0) ||
      // A layout is for the dims of the tensor, so no dims can be added.
      llvm::any_of(op->getOperandTypes(), hasLayout))
    return std::nullopt;
  Window window{op.getDpsInputOperand(0), op.getDpsInputOperand(1)};
  AffineMap image = op.getMatchingIndexingMap(window.image);
  unsigned rank = image.getNumResults();
  if (rank > 2 || 2 * rank != op.getNumLoops() ||
      dims->outputImage.size() != rank)
    return std::nullopt;
  for (AffineExpr sum : image.getResults())
    for (auto [point, tap] :
         llvm::zip_equal(dims->outputImage, dims->filterLoop))
      if (sum.isFunctionOfDim(point)) {
        window.points.push_back(point);
        window.taps.push_back(tap);
      }
  return window;
}

/// Returns `tensor`, whose dims `map` indexes by single loops, transposed to
/// the order of `loops`.
static Value inOrder(OpBuilder &builder, Location loc, Value tensor,
                     AffineMap map, ArrayRef<unsigned> loops) {
  SmallVector<int64_t> order;
  for (unsigned loop : loops)
    order.push_back(
        *map.getResultPosition(getAffineDimExpr(loop, builder.getContext())));
  return isIdentityPermutation(order) ? tensor
                                      : transpose(builder, loc, tensor, order);
}

static void addChannel(linalg::LinalgOp op, const Window &window) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  unsigned rank = window.points.size();
  // Prepends dims of size 1 up to rank 4, also a row for 1-D tensors.
  SmallVector<ReassociationIndices> dims(rank);
  for (unsigned dim = 0; dim < 4; ++dim)
    dims[dim < 4 - rank ? 0 : dim - (4 - rank)].push_back(dim);
  auto asImage = [&](Value tensor) -> Value {
    auto type = cast<RankedTensorType>(tensor.getType());
    SmallVector<int64_t> shape(4 - rank, 1);
    llvm::append_range(shape, type.getShape());
    return tensor::ExpandShapeOp::create(
        builder, loc, RankedTensorType::get(shape, type.getElementType()),
        tensor, dims);
  };
  AffineMap taps = op.getMatchingIndexingMap(window.weights);
  OpOperand *start = op.getDpsInitOperand(0);
  AffineMap points = op.getMatchingIndexingMap(start);
  Value image = asImage(window.image->get());
  Value weights =
      asImage(inOrder(builder, loc, window.weights->get(), taps, window.taps));
  Value init =
      asImage(inOrder(builder, loc, start->get(), points, window.points));

  // Loops n, f, h, w are parallel, and c, y, x are summed.
  auto dim = [&](unsigned loop) {
    return getAffineDimExpr(loop, op.getContext());
  };
  SmallVector<AffineExpr> loops(op.getNumLoops());
  for (unsigned each = 0; each < rank; ++each) {
    loops[window.points[each]] = dim(4 - rank + each);
    loops[window.taps[each]] = dim(7 - rank + each);
  }
  SmallVector<AffineExpr> read{dim(0), dim(4)};
  if (rank == 1)
    read.push_back(dim(2) + dim(5));
  for (AffineExpr sum : op.getMatchingIndexingMap(window.image).getResults())
    read.push_back(sum.replaceDims(loops));
  auto map = [&](ArrayRef<AffineExpr> results) {
    return AffineMap::get(7, 0, results, op.getContext());
  };
  SmallVector<AffineMap> maps{map(read), map({dim(1), dim(4), dim(5), dim(6)}),
                              map({dim(0), dim(1), dim(2), dim(3)})};
  SmallVector<utils::IteratorType> kinds(4, utils::IteratorType::parallel);
  kinds.append(3, utils::IteratorType::reduction);
  auto made = linalg::GenericOp::create(builder, loc, TypeRange(init.getType()),
                                        ValueRange{image, weights},
                                        ValueRange(init), maps, kinds);
  IRMapping mapping;
  op->getRegion(0).cloneInto(&made.getRegion(), mapping);
  Value result =
      tensor::CollapseShapeOp::create(builder, loc, made.getResult(0), dims);
  // Restore the dim order of the result.
  SmallVector<unsigned> back;
  for (AffineExpr expr : points.getResults())
    back.push_back(cast<AffineDimExpr>(expr).getPosition());
  SmallVector<AffineExpr> order(rank);
  for (unsigned each = 0; each < rank; ++each)
    order[each] = dim(window.points[each]);
  result = inOrder(builder, loc, result,
                   AffineMap::get(op.getNumLoops(), 0, order, op.getContext()),
                   back);
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

void layout::decomposeConvolutions(func::FuncOp function) {
  readImagesFirst(function);
  SmallVector<std::pair<linalg::LinalgOp, Window>> windows;
  function.walk([&](linalg::LinalgOp op) {
    if (std::optional<Window> window = findWindow(op))
      windows.push_back({op, *window});
  });
  for (auto &[op, window] : windows)
    addChannel(op, window);
  SmallVector<std::pair<linalg::LinalgOp, unsigned>> ops;
  function.walk([&](linalg::LinalgOp op) {
    bool isGroupFirst = isa<linalg::Conv2DNgchwGfchwOp>(*op);
    if ((!isGroupFirst && !isa<linalg::Conv2DNgchwFgchwOp>(*op)) ||
        op.hasDynamicShape() || !op.hasPureTensorSemantics())
      return;
    // With one channel per group, input and result have the same channels in
    // each core.
    auto input = cast<RankedTensorType>(op->getOperand(0).getType());
    if (input.getElementType().isF32() && input.getDimSize(2) > 1)
      ops.push_back({op, isGroupFirst ? 0 : 1});
  });
  for (auto [op, weightDim] : ops)
    ::decomposeConvolutions(op, weightDim);
  SmallVector<linalg::Conv1DNcwFcwOp> lines;
  function.walk([&](linalg::Conv1DNcwFcwOp op) {
    if (op.hasPureTensorSemantics() && !op.hasDynamicShape() &&
        getElementTypeOrSelf(op->getResult(0)).isF32())
      lines.push_back(op);
  });
  llvm::for_each(lines, makeImages);
}
