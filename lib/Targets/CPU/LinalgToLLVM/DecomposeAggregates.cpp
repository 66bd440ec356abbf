//===- DecomposeAggregates.cpp - Softmax and the like ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WriteGather.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::layout {
#define GEN_PASS_DEF_DECOMPOSEAGGREGATESPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

/// Decomposes the transforms of Winograd's convolution, which are not
/// aggregates, by upstream's patterns to loops over small matrix products.
static FailureOr<Operation *> decomposeTransform(RewriterBase &rewriter,
                                                 Operation *op) {
  if (auto filter = dyn_cast<linalg::WinogradFilterTransformOp>(op))
    return linalg::decomposeWinogradFilterTransformOp(rewriter, filter);
  if (auto input = dyn_cast<linalg::WinogradInputTransformOp>(op))
    return linalg::decomposeWinogradInputTransformOp(rewriter, input);
  return linalg::decomposeWinogradOutputTransformOp(
      rewriter, cast<linalg::WinogradOutputTransformOp>(op));
}

/// Casts both tensors of a softmax to the union of their static sizes, because
/// upstream's decomposition reads sizes from either.
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

/// Rewrites a gather to one of single elements: gathered coordinates are
/// elements of the indices, the others are those of the result.
static Value writeGather(RewriterBase &rewriter, tensor::GatherOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getResult().getType());
  int64_t sourceRank = op.getSourceType().getRank();
  int64_t batch = op.getIndicesType().getRank() - 1;
  ArrayRef<int64_t> gathered = op.getGatherDims();
  bool isReduced = type.getRank() ==
                   batch + sourceRank - static_cast<int64_t>(gathered.size());
  // The source dim of each result dim after those of the indices.
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

void layout::writeGathers(RewriterBase &rewriter, Operation *root) {
  SmallVector<tensor::GatherOp> gathers;
  root->walk([&](tensor::GatherOp op) { gathers.push_back(op); });
  for (tensor::GatherOp op : gathers) {
    rewriter.setInsertionPoint(op);
    rewriter.replaceOp(op, writeGather(rewriter, op));
  }
}

/// Allows the division that ends a softmax to be a multiplication by the
/// reciprocal of the row sum: the op specifies no rounding, and a division
/// takes as long as six multiplications.
static void allowReciprocals(Value quotients) {
  quotients.getDefiningOp()->walk([](arith::DivFOp op) {
    op.setFastmath(op.getFastmath() | arith::FastMathFlags::arcp);
  });
}

/// Replaces each op by its decomposition.
static LogicalResult decompose(RewriterBase &rewriter,
                               ArrayRef<linalg::AggregatedOpInterface> ops) {
  for (linalg::AggregatedOpInterface op : ops) {
    auto onTensors = dyn_cast<DestinationStyleOpInterface>(op.getOperation());
    if (onTensors && !onTensors.hasPureTensorSemantics())
      return op->emitError(
          "layout-cpu-decompose-aggregates: this op works on buffers, but only "
          "ops "
          "on tensors can be written as structured ops; write it on tensors");
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> parts = op.decomposeOperation(rewriter);
    if (failed(parts))
      return op->emitError("layout-cpu-decompose-aggregates: this op cannot be "
                           "written as structured ops; make its shape static");
    if (isa<linalg::SoftmaxOp>(op.getOperation()))
      allowReciprocals(parts->front());
    rewriter.replaceOp(op, *parts);
  }
  return success();
}

namespace {
struct DecomposeAggregates
    : layout::impl::DecomposeAggregatesPassBase<DecomposeAggregates> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::SoftmaxOp> softmaxes;
    getOperation()->walk([&](linalg::SoftmaxOp op) {
      if (op.hasPureTensorSemantics())
        softmaxes.push_back(op);
    });
    for (linalg::SoftmaxOp op : softmaxes)
      unifyShapes(rewriter, op);
    SmallVector<Operation *> transforms;
    getOperation()->walk([&](Operation *op) {
      if (isa<linalg::WinogradFilterTransformOp,
              linalg::WinogradInputTransformOp,
              linalg::WinogradOutputTransformOp>(op))
        transforms.push_back(op);
    });
    layout::writeGathers(rewriter, getOperation());
    for (Operation *op : transforms) {
      rewriter.setInsertionPoint(op);
      Location loc = op->getLoc();
      std::string name = op->getName().getStringRef().str();
      if (failed(decomposeTransform(rewriter, op))) {
        emitError(loc, "layout-cpu-decompose-aggregates: '")
            << name
            << "' cannot be written as loops over products; make its shape "
               "static";
        return signalPassFailure();
      }
    }
    // Decompositions may contain aggregates. A recursive decomposition that
    // halves its op ends before the limit.
    constexpr unsigned kMaxRounds = 64;
    for (unsigned round = 0;; ++round) {
      SmallVector<linalg::AggregatedOpInterface> ops;
      getOperation()->walk([&](linalg::AggregatedOpInterface op) {
        // Relayouts are lowered by layout-cpu-lower-pack-pad-concat.
        if (!isa<linalg::PackOp, linalg::UnPackOp>(op.getOperation()))
          ops.push_back(op);
      });
      if (ops.empty())
        return;
      if (round == kMaxRounds) {
        ops.front()->emitError(
            "layout-cpu-decompose-aggregates: the decomposition "
            "of this op does not terminate");
        return signalPassFailure();
      }
      if (failed(decompose(rewriter, ops)))
        return signalPassFailure();
    }
  }
};
} // namespace
