//===- DecomposeAggregates.cpp - Softmax and the like ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "StatedLayouts.h"
#include "layout/Interfaces/LayoutOpInterface.h"
#include "layout/Linalg/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::layout {
#define GEN_PASS_DEF_DECOMPOSEAGGREGATESPASS
#include "layout/Linalg/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

/// Decomposes a transform of Winograd's convolution, which is not an aggregate,
/// by upstream's pattern to loops over small matrix products. Returns the op
/// that replaces it. Returns failure if the pattern does not apply; `op` may be
/// erased even then.
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

/// Rewrites a tensor.gather as a linalg.generic over its result that reads one
/// element of the source per iteration. In gathered dims, its index is an
/// element of the tensor of indices, and in other dims a loop.
static Value writeGather(RewriterBase &rewriter, tensor::GatherOp op) {
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op.getResult().getType());
  int64_t sourceRank = op.getSourceType().getRank();
  int64_t batch = op.getIndicesType().getRank() - 1;
  ArrayRef<int64_t> gathered = op.getGatherDims();
  bool isReduced = type.getRank() ==
                   batch + sourceRank - static_cast<int64_t>(gathered.size());
  // Per result dim after those of the indices, the dim of the source.
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
  Value init = tensor::EmptyOp::create(
      rewriter, loc, sizes, type.getElementType(), type.getEncoding());
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

/// Allows the division that ends a softmax to be a multiplication by the
/// reciprocal of the row sum: the op specifies no rounding, and a division
/// takes as long as six multiplications.
static void allowReciprocals(Value quotients) {
  quotients.getDefiningOp()->walk([](arith::DivFOp op) {
    op.setFastmath(op.getFastmath() | arith::FastMathFlags::arcp);
  });
}

/// Starts the maxima of the rows of a softmax at -inf instead of NaN. Maxima
/// that start at a number are computed in fewer instructions. The results stay
/// the same: if all elements of a row are NaN, so are their distances from
/// -inf. Does nothing if the type has no infinity.
static void startMaximaAtInfinity(RewriterBase &rewriter, Value quotients) {
  auto getInput = [](linalg::GenericOp op, unsigned number) {
    return op ? op.getInputs()[number].getDefiningOp<linalg::GenericOp>()
              : linalg::GenericOp();
  };
  auto quotient = quotients.getDefiningOp<linalg::GenericOp>();
  linalg::GenericOp maxima = getInput(getInput(quotient, 0), 1);
  auto fill = maxima ? maxima.getOutputs()[0].getDefiningOp<linalg::FillOp>()
                     : linalg::FillOp();
  if (!fill)
    return;
  auto type = cast<FloatType>(fill.value().getType());
  if (!APFloat::semanticsHasInf(type.getFloatSemantics()))
    return;
  rewriter.setInsertionPoint(fill);
  auto least = rewriter.getFloatAttr(
      type, APFloat::getInf(type.getFloatSemantics(), /*Negative=*/true));
  fill.getInputsMutable().assign(
      arith::ConstantOp::create(rewriter, fill.getLoc(), least));
}

/// Replaces `op` by its decomposition. Fails, with an error at `op`, if it
/// works on buffers, cannot be decomposed, or would get results of other types.
static LogicalResult decompose(RewriterBase &rewriter,
                               linalg::AggregatedOpInterface op) {
  auto onTensors = dyn_cast<DestinationStyleOpInterface>(op.getOperation());
  if (onTensors && !onTensors.hasPureTensorSemantics())
    return op->emitOpError(
        "works on buffers, but only ops on tensors can be decomposed to "
        "structured ops; write it on tensors");
  rewriter.setInsertionPoint(op);
  FailureOr<SmallVector<Value>> parts = op.decomposeOperation(rewriter);
  if (failed(parts))
    return op->emitOpError(
        "cannot be decomposed to structured ops; make its shape static, or "
        "convert its tensors to plain ones by layout.convert");
  if (TypeRange(*parts) != op->getResultTypes())
    return op->emitOpError("decomposes into values of other types, but results "
                           "must keep their types and layouts");
  if (isa<linalg::SoftmaxOp>(op.getOperation())) {
    allowReciprocals(parts->front());
    startMaximaAtInfinity(rewriter, parts->front());
  }
  rewriter.replaceOp(op, *parts);
  return success();
}

/// Collects the ops of type `OpTy` below `root` that `selects` accepts.
template <typename OpTy>
static SmallVector<OpTy> collect(Operation *root,
                                 function_ref<bool(Operation *)> selects) {
  SmallVector<OpTy> ops;
  root->walk([&](OpTy op) {
    if (selects(op))
      ops.push_back(op);
  });
  return ops;
}

/// Decomposes each tensor.gather and Winograd transform below `root` that
/// `selects` accepts. These do not implement AggregatedOpInterface. Emits an
/// error and fails at the first transform that cannot be decomposed, e.g. one
/// of dynamic shape; a gather always can.
static LogicalResult decomposeOthers(RewriterBase &rewriter, Operation *root,
                                     function_ref<bool(Operation *)> selects) {
  for (auto op : collect<tensor::GatherOp>(root, selects)) {
    rewriter.setInsertionPoint(op);
    rewriter.replaceOp(op, writeGather(rewriter, op));
  }
  for (Operation *op : collect<Operation *>(root, [&](Operation *op) {
         return isa<linalg::WinogradFilterTransformOp,
                    linalg::WinogradInputTransformOp,
                    linalg::WinogradOutputTransformOp>(op) &&
                selects(op);
       })) {
    rewriter.setInsertionPoint(op);
    // A failed decomposition may have erased the op.
    Location loc = op->getLoc();
    StringRef name = op->getName().getStringRef();
    if (failed(decomposeTransform(rewriter, op)))
      return emitError(loc, "'")
             << name
             << "' op cannot be decomposed to loops over products; make its "
                "shape static";
  }
  return success();
}

LogicalResult
layout::decomposeAggregates(Operation *root,
                            function_ref<bool(Operation *)> selects) {
  IRRewriter rewriter(root->getContext());
  if (failed(decomposeOthers(rewriter, root, selects)))
    return failure();
  for (auto op : collect<linalg::SoftmaxOp>(root, selects))
    if (op.hasPureTensorSemantics())
      unifyShapes(rewriter, op);
  // Decompositions may contain aggregates. A recursive decomposition that
  // halves its op ends before the limit.
  constexpr unsigned kMaxRounds = 64;
  for (unsigned round = 0;; ++round) {
    auto ops = collect<linalg::AggregatedOpInterface>(root, [&](Operation *op) {
      // Later passes lower packs and unpacks.
      return !isa<linalg::PackOp, linalg::UnPackOp>(op) && selects(op);
    });
    if (ops.empty())
      return success();
    if (round == kMaxRounds)
      return ops.front()->emitOpError("has a decomposition that does not "
                                      "terminate");
    for (linalg::AggregatedOpInterface op : ops)
      if (failed(decompose(rewriter, op)))
        return failure();
  }
}

/// Returns true if the decision needs `op` as one op: its layouts are stated,
/// or it has a layout rule of its own. A gather, which has no rule, reads and
/// writes single elements of tensors with any layouts.
static bool isDecidedWhole(Operation *op) {
  if (isa<tensor::GatherOp>(op))
    return hasLayoutConstraints(op);
  return statesLayouts(op) || (isa<LayoutOpInterface>(op) &&
                               !isa<linalg::LinalgDialect>(op->getDialect()));
}

namespace {
struct DecomposeAggregates
    : layout::impl::DecomposeAggregatesPassBase<DecomposeAggregates> {
  using DecomposeAggregatesPassBase::DecomposeAggregatesPassBase;

  void runOnOperation() override {
    if (failed(decomposeAggregates(getOperation(), [&](Operation *op) {
          return all || !isDecidedWhole(op);
        })))
      signalPassFailure();
  }
};
} // namespace
