//===- DecomposeAggregates.cpp - Softmax and the like ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Conversion/LinalgToLLVM/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::layout {
#define GEN_PASS_DEF_DECOMPOSEAGGREGATESPASS
#include "layout/Conversion/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

/// The transforms of Winograd's convolution are no aggregates, but upstream
/// writes them as loops over small products of matrices.
static FailureOr<Operation *> decomposeTransform(RewriterBase &rewriter,
                                                 Operation *op) {
  if (auto filter = dyn_cast<linalg::WinogradFilterTransformOp>(op))
    return linalg::decomposeWinogradFilterTransformOp(rewriter, filter);
  if (auto input = dyn_cast<linalg::WinogradInputTransformOp>(op))
    return linalg::decomposeWinogradInputTransformOp(rewriter, input);
  return linalg::decomposeWinogradOutputTransformOp(
      rewriter, cast<linalg::WinogradOutputTransformOp>(op));
}

/// Gives a softmax whose tensors know different sizes of their one shape all of
/// them: upstream's decomposition takes sizes from either.
static void unifyShapes(RewriterBase &rewriter, linalg::SoftmaxOp op) {
  ShapedType from = op.getInputOperandType(), to = op.getOutputOperandType();
  if (from.getShape() == to.getShape())
    return;
  SmallVector<int64_t> shape;
  for (auto [a, b] : llvm::zip_equal(from.getShape(), to.getShape()))
    shape.push_back(ShapedType::isDynamic(a) ? b : a);
  rewriter.setInsertionPoint(op);
  auto refine = [&](Value value) {
    return tensor::CastOp::create(
        rewriter, op.getLoc(),
        cast<RankedTensorType>(value.getType()).clone(shape), value);
  };
  Value init = refine(op.getOutput());
  auto softmax = linalg::SoftmaxOp::create(
      rewriter, op.getLoc(), TypeRange(init.getType()), refine(op.getInput()),
      init, op.getDimension());
  rewriter.replaceOpWithNewOp<tensor::CastOp>(op, op->getResult(0).getType(),
                                              softmax->getResult(0));
}

/// The same for a transposition, with what a cast behind it tells: upstream's
/// canonicalizer draws the cast in, and then takes a transposition that keeps
/// the order for its input, which has another type.
static void unifyShapes(RewriterBase &rewriter, linalg::TransposeOp op) {
  if (!op.hasPureTensorSemantics())
    return;
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  auto input = cast<RankedTensorType>(op.getInput().getType());
  SmallVector<int64_t> known(result.getShape()), source(input.getShape());
  auto learn = [](int64_t &size, int64_t other) {
    if (ShapedType::isDynamic(size))
      size = other;
  };
  for (Operation *user : op->getUsers())
    if (auto behind = dyn_cast<tensor::CastOp>(user);
        behind && behind->getBlock() == op->getBlock())
      if (auto type = dyn_cast<RankedTensorType>(behind.getType()))
        for (auto [size, other] : llvm::zip_equal(known, type.getShape()))
          learn(size, other);
  for (auto [k, dim] : llvm::enumerate(op.getPermutation())) {
    learn(known[k], source[dim]);
    learn(source[dim], known[k]);
  }
  if (llvm::equal(known, result.getShape()) &&
      llvm::equal(source, input.getShape()))
    return;
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value from = rewriter.createOrFold<tensor::CastOp>(loc, input.clone(source),
                                                     op.getInput());
  Value init = rewriter.createOrFold<tensor::CastOp>(loc, result.clone(known),
                                                     op.getInit());
  auto refined = linalg::TransposeOp::create(rewriter, loc, from, init,
                                             op.getPermutation());
  rewriter.replaceOpWithNewOp<tensor::CastOp>(op, result,
                                              refined->getResult(0));
}

/// A gather of single elements: each coordinate of a slice is one element of
/// the indices, the other coordinates are those of the result.
static Value writeGather(RewriterBase &rewriter, tensor::GatherOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getResult().getType());
  int64_t sourceRank = op.getSourceType().getRank();
  int64_t batch = op.getIndicesType().getRank() - 1;
  ArrayRef<int64_t> gathered = op.getGatherDims();
  bool isReduced = type.getRank() ==
                   batch + sourceRank - static_cast<int64_t>(gathered.size());
  // Of each dim of the result, after those of the indices, its source's dim.
  SmallVector<int64_t> sourceDims;
  for (int64_t d = 0; d < sourceRank; ++d)
    if (!isReduced || !llvm::is_contained(gathered, d))
      sourceDims.push_back(d);

  SmallVector<OpFoldResult> sizes;
  for (int64_t d = 0; d < batch; ++d)
    sizes.push_back(tensor::getMixedSize(rewriter, loc, op.getIndices(), d));
  for (int64_t d : sourceDims)
    sizes.push_back(
        llvm::is_contained(gathered, d)
            ? rewriter.getIndexAttr(1)
            : tensor::getMixedSize(rewriter, loc, op.getSource(), d));
  Value init =
      tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
  auto body = [&](OpBuilder &b, Location loc, ValueRange) {
    SmallVector<Value> place, source(sourceRank);
    for (int64_t d = 0; d < batch; ++d)
      place.push_back(linalg::IndexOp::create(b, loc, d));
    for (auto [k, d] : llvm::enumerate(sourceDims))
      source[d] = linalg::IndexOp::create(b, loc, batch + k);
    place.push_back(Value());
    for (auto [k, d] : llvm::enumerate(gathered)) {
      place.back() = arith::ConstantIndexOp::create(b, loc, k);
      Value at = tensor::ExtractOp::create(b, loc, op.getIndices(), place);
      if (!at.getType().isIndex())
        at = arith::IndexCastOp::create(b, loc, b.getIndexType(), at);
      source[d] = at;
    }
    Value element = tensor::ExtractOp::create(b, loc, op.getSource(), source);
    linalg::YieldOp::create(b, loc, element);
  };
  AffineMap map = rewriter.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> loops(type.getRank(),
                                         utils::IteratorType::parallel);
  Value made = linalg::GenericOp::create(rewriter, loc, init.getType(),
                                         ValueRange(), init, map, loops, body)
                   .getResult(0);
  return rewriter.createOrFold<tensor::CastOp>(loc, type, made);
}

/// Takes the part of dims without tiles from the source of an unpack instead of
/// its result. Upstream's canonicalizer folds such a slice into the unpack, and
/// leaves a source that is too large for the result.
static void cutBeforeUnpack(RewriterBase &rewriter,
                            tensor::ExtractSliceOp slice) {
  auto unpack = slice.getSource().getDefiningOp<linalg::UnPackOp>();
  if (!unpack || slice.getType().getRank() != int64_t(unpack.getDestRank()) ||
      !unpack.hasPureTensorSemantics())
    return;
  Location loc = slice.getLoc();
  rewriter.setInsertionPoint(slice);
  // What the slice of each tensor takes, and what of the result is left to do.
  struct Part {
    Part(OpBuilder &b, Location loc, Value tensor)
        : sizes(tensor::getMixedSizes(b, loc, tensor)),
          offsets(sizes.size(), b.getIndexAttr(0)),
          strides(sizes.size(), b.getIndexAttr(1)) {}
    SmallVector<OpFoldResult> sizes, offsets, strides;
  } source(rewriter, loc, unpack.getSource()),
      dest(rewriter, loc, unpack.getDest()), rest(dest);
  rest.sizes = slice.getMixedSizes();
  rest.offsets = slice.getMixedOffsets();
  rest.strides = slice.getMixedStrides();
  ArrayRef<int64_t> order = unpack.getOuterDimsPerm();
  bool cuts = false;
  for (unsigned k = 0, e = unpack.getDestRank(); k < e; ++k) {
    int64_t dim = order.empty() ? k : order[k];
    if (llvm::is_contained(unpack.getInnerDimsPos(), dim) ||
        dest.sizes[dim] == rest.sizes[dim])
      continue;
    cuts = true;
    source.sizes[k] = dest.sizes[dim] = rest.sizes[dim];
    source.offsets[k] = dest.offsets[dim] = rest.offsets[dim];
    source.strides[k] = dest.strides[dim] = rest.strides[dim];
    rest.offsets[dim] = rewriter.getIndexAttr(0);
    rest.strides[dim] = rewriter.getIndexAttr(1);
  }
  if (!cuts)
    return;
  auto take = [&](Value tensor, const Part &part) -> Value {
    return tensor::ExtractSliceOp::create(rewriter, loc, tensor, part.offsets,
                                          part.sizes, part.strides);
  };
  Value part = linalg::UnPackOp::create(
                   rewriter, loc, take(unpack.getSource(), source),
                   take(unpack.getDest(), dest), unpack.getInnerDimsPos(),
                   unpack.getMixedTiles(), unpack.getOuterDimsPerm())
                   .getResult();
  rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(
      slice, slice.getType(), part, rest.offsets, rest.sizes, rest.strides);
}

/// The sizes of a view, from those of what is viewed.
static SmallVector<OpFoldResult> getSizes(OpBuilder &b,
                                          tensor::ExpandShapeOp view) {
  return view.getMixedOutputShape();
}

static SmallVector<OpFoldResult> getSizes(OpBuilder &b,
                                          tensor::CollapseShapeOp view) {
  SmallVector<OpFoldResult> sizes;
  Location loc = view.getLoc();
  for (ReassociationIndices group : view.getReassociationIndices()) {
    OpFoldResult product = b.getIndexAttr(1);
    for (int64_t d : group) {
      OpFoldResult size = tensor::getMixedSize(b, loc, view.getSrc(), d);
      AffineExpr x = b.getAffineSymbolExpr(0), y = b.getAffineSymbolExpr(1);
      product =
          affine::makeComposedFoldedAffineApply(b, loc, x * y, {product, size});
    }
    sizes.push_back(product);
  }
  return sizes;
}

/// Makes a view of no elements a tensor of its own. Upstream folds views of
/// views whose ends have one type, and among tensors without elements those
/// may have other sizes.
template <typename View>
static void separateViewOfNothing(RewriterBase &rewriter, View view) {
  auto holdsNothing = [](RankedTensorType type) {
    return llvm::is_contained(type.getShape(), 0);
  };
  RankedTensorType type = view.getResultType();
  if (!holdsNothing(type) && !holdsNothing(view.getSrcType()))
    return;
  rewriter.setInsertionPoint(view);
  SmallVector<Value> dynamic;
  for (auto [size, stated] :
       llvm::zip_equal(getSizes(rewriter, view), type.getShape()))
    if (ShapedType::isDynamic(stated))
      dynamic.push_back(
          getValueOrCreateConstantIndexOp(rewriter, view.getLoc(), size));
  rewriter.replaceOpWithNewOp<tensor::EmptyOp>(view, type, dynamic);
}

template <typename View>
static void separateViewsOfNothing(RewriterBase &rewriter, Operation *root) {
  SmallVector<View> views;
  root->walk([&](View view) { views.push_back(view); });
  for (View view : views)
    separateViewOfNothing(rewriter, view);
}

/// Replaces each op by its parts.
static LogicalResult decompose(RewriterBase &rewriter,
                               ArrayRef<linalg::AggregatedOpInterface> ops) {
  for (linalg::AggregatedOpInterface op : ops) {
    auto onTensors = dyn_cast<DestinationStyleOpInterface>(op.getOperation());
    if (onTensors && !onTensors.hasPureTensorSemantics())
      return op->emitError("layout-decompose-aggregates: this op works on "
                           "buffers, but is written as structured ops on "
                           "tensors only; write it on tensors");
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> parts = op.decomposeOperation(rewriter);
    if (failed(parts))
      return op->emitError("layout-decompose-aggregates: this op cannot be "
                           "written as structured ops; make its shape static");
    rewriter.replaceOp(op, *parts);
  }
  return success();
}

namespace {
struct DecomposeAggregates
    : layout::impl::DecomposeAggregatesPassBase<DecomposeAggregates> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    separateViewsOfNothing<tensor::ExpandShapeOp>(rewriter, getOperation());
    separateViewsOfNothing<tensor::CollapseShapeOp>(rewriter, getOperation());
    SmallVector<linalg::SoftmaxOp> softmaxes;
    getOperation()->walk([&](linalg::SoftmaxOp op) {
      if (op.hasPureTensorSemantics())
        softmaxes.push_back(op);
    });
    for (linalg::SoftmaxOp op : softmaxes)
      unifyShapes(rewriter, op);
    SmallVector<linalg::TransposeOp> transposes;
    getOperation()->walk(
        [&](linalg::TransposeOp op) { transposes.push_back(op); });
    for (linalg::TransposeOp op : transposes)
      unifyShapes(rewriter, op);
    SmallVector<tensor::ExtractSliceOp> slices;
    getOperation()->walk(
        [&](tensor::ExtractSliceOp op) { slices.push_back(op); });
    for (tensor::ExtractSliceOp op : slices)
      cutBeforeUnpack(rewriter, op);
    SmallVector<Operation *> transforms;
    getOperation()->walk([&](Operation *op) {
      if (isa<linalg::WinogradFilterTransformOp,
              linalg::WinogradInputTransformOp,
              linalg::WinogradOutputTransformOp>(op))
        transforms.push_back(op);
    });
    SmallVector<tensor::GatherOp> gathers;
    getOperation()->walk([&](tensor::GatherOp op) { gathers.push_back(op); });
    for (tensor::GatherOp op : gathers) {
      rewriter.setInsertionPoint(op);
      rewriter.replaceOp(op, writeGather(rewriter, op));
    }
    for (Operation *op : transforms) {
      rewriter.setInsertionPoint(op);
      Location loc = op->getLoc();
      std::string name = op->getName().getStringRef().str();
      if (failed(decomposeTransform(rewriter, op))) {
        emitError(loc, "layout-decompose-aggregates: '")
            << name
            << "' cannot be written as loops over products; make its shape "
               "static";
        return signalPassFailure();
      }
    }
    // Parts of aggregates may be aggregates.
    SmallVector<linalg::AggregatedOpInterface> ops;
    auto findOps = [&] {
      ops.clear();
      getOperation()->walk([&](linalg::AggregatedOpInterface op) {
        // Relayouts have a lowering of their own.
        if (!isa<linalg::PackOp, linalg::UnPackOp>(op.getOperation()))
          ops.push_back(op);
      });
      return !ops.empty();
    };
    while (findOps())
      if (failed(decompose(rewriter, ops)))
        return signalPassFailure();
  }
};
} // namespace
