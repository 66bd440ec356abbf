//===- FoldBroadcasts.cpp - layout-prepare-fold-broadcasts ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An imported MatMul of [1, M, K] and [K, N] is a copy of the weights to [1, K,
// N] and a linalg.batch_matmul. The copy hides that the weights are constant,
// and costs more than the product if M is small.
//
//   copy                                    replacement
//   adds only dims of extent 1              tensor.expand_shape; if the source
//                                           is a constant, a constant
//   any other that a contraction reads      the contraction reads the source
//
// Copies that only elementwise ops read stay for the fusion of elementwise ops.
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Linalg/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::layout {
#define GEN_PASS_DEF_FOLDBROADCASTSPASS
#include "layout/Linalg/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

static bool isPlain(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && !type.getEncoding();
}

/// Returns the map by which `op` reads its input, if `op` is a copy that
/// repeats its input along some dims and keeps the order of the others, or else
/// std::nullopt.
static std::optional<AffineMap> findBroadcast(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 1 ||
      op.getNumDpsInits() != 1 || !llvm::all_of(op->getOperands(), isPlain) ||
      op.getNumLoops() != op.getNumParallelLoops())
    return std::nullopt;
  Block *body = op.getBlock();
  if (body->getTerminator()->getOperands() != body->getArguments().take_front())
    return std::nullopt;
  AffineMap in = op.getIndexingMapsArray()[0];
  if (!op.getIndexingMapsArray()[1].isIdentity() ||
      !in.isProjectedPermutation() || in.getNumResults() == in.getNumDims())
    return std::nullopt;
  auto before = [](AffineExpr a, AffineExpr b) {
    return cast<AffineDimExpr>(a).getPosition() <
           cast<AffineDimExpr>(b).getPosition();
  };
  if (!llvm::is_sorted(in.getResults(), before))
    return std::nullopt;
  return in;
}

/// Returns the source of `op` expanded by dims of extent 1, or a null value if
/// `op` repeats it along a dim of another extent.
static Value getView(RewriterBase &rewriter, linalg::LinalgOp op,
                     AffineMap in) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Value source = op->getOperand(0);
  // A new dim joins the group of the source dim before it, or the first group.
  SmallVector<ReassociationIndices> groups(in.getNumResults());
  int64_t group = -1;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (in.isFunctionOfDim(dim))
      ++group;
    else if (type.getDimSize(dim) != 1)
      return {};
    if (!groups.empty())
      groups[std::max<int64_t>(group, 0)].push_back(dim);
  }
  ElementsAttr elements;
  if (matchPattern(source, m_Constant(&elements)))
    if (ElementsAttr viewed = retypeElements(elements, type))
      return arith::ConstantOp::create(rewriter, op.getLoc(), type,
                                       cast<TypedAttr>(viewed));
  return tensor::ExpandShapeOp::create(rewriter, op.getLoc(), type, source,
                                       groups);
}

/// Makes the contraction that owns `use` read `source` instead of its
/// broadcast. `in` is the map by which the broadcast reads `source`.
static void readSource(RewriterBase &rewriter, OpOperand &use, Value source,
                       AffineMap in) {
  auto op = cast<linalg::LinalgOp>(use.getOwner());
  unsigned number = use.getOperandNumber();
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::GenericOp> generic =
      linalg::generalizeNamedOp(rewriter, op);
  if (succeeded(generic))
    op = *generic;
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps[number] = in.compose(maps[number]);
  rewriter.modifyOpInPlace(op, [&] {
    op->setOperand(number, source);
    cast<linalg::GenericOp>(op.getOperation())
        .setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  });
}

static bool isElementwise(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && linalgOp.getNumLoops() == linalgOp.getNumParallelLoops();
}

/// Returns true if `use` is an input of a contraction of tensors without
/// encodings, which can be read through any map.
static bool canReadSource(OpOperand &use) {
  auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
  return op && op.hasPureTensorSemantics() && op.isDpsInput(&use) &&
         linalg::isaContractionOpInterface(op) &&
         llvm::all_of(op->getOperands(), isPlain);
}

static void fold(RewriterBase &rewriter, linalg::LinalgOp op) {
  std::optional<AffineMap> in = findBroadcast(op);
  if (!in || llvm::all_of(op->getUsers(), isElementwise))
    return;
  rewriter.setInsertionPoint(op);
  if (Value view = getView(rewriter, op, *in))
    return rewriter.replaceOp(op, view);
  for (OpOperand &use : llvm::make_early_inc_range(op->getResult(0).getUses()))
    if (canReadSource(use))
      readSource(rewriter, use, op->getOperand(0), *in);
  if (op->use_empty())
    rewriter.eraseOp(op);
}

namespace {
struct FoldBroadcasts : layout::impl::FoldBroadcastsPassBase<FoldBroadcasts> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> broadcasts;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (findBroadcast(op))
        broadcasts.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : broadcasts)
      fold(rewriter, op);
  }
};
} // namespace
