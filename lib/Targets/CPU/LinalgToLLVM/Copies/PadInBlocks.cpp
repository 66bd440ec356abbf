//===- PadInBlocks.cpp - Pad the images of windows channel by channel -----===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuParams.h"
#include "Kernels/Kernel.h"
#include "Loops/ParallelLoops.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/Transforms/TileUsingInterface.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/IR/TensorTilingInterfaceImpl.h"

namespace mlir::layout {
#define GEN_PASS_DEF_PADINBLOCKSPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using layout::CpuModelParams;

namespace {
/// An op under whose window a padding is, and the loop whose blocks are padded
/// one by one.
struct PaddedWindow {
  tensor::PadOp pad;
  linalg::LinalgOp op;
  unsigned loop;
  /// The op that is computed in blocks, and its loop over them: `op`, or the
  /// elementwise op that alone uses its result.
  linalg::LinalgOp last;
  unsigned lastLoop;
};
} // namespace

static int64_t getBytes(RankedTensorType type) {
  return type.getNumElements() *
         llvm::divideCeil(layout::bitsOf(type.getElementType()), 8);
}

/// Returns the loop of `map` that alone is subscript `dim`, or std::nullopt if
/// that is another expression, or another subscript depends on the loop.
static std::optional<unsigned> findLoop(AffineMap map, unsigned dim) {
  auto loop = dyn_cast<AffineDimExpr>(map.getResult(dim));
  if (!loop || llvm::count_if(map.getResults(), [&](AffineExpr each) {
                 return each.isFunctionOfDim(loop.getPosition());
               }) != 1)
    return std::nullopt;
  return loop.getPosition();
}

/// Returns true if `op` can be computed in blocks along its parallel loop
/// `loop`, of static size: all results depend on it, and all inputs do that are
/// larger than half of L1.
static bool isBlockable(linalg::LinalgOp op, unsigned loop,
                        const CpuModelParams &target) {
  if (!op.hasPureTensorSemantics() || op->getNumResults() != 1 ||
      layout::hasEffects(op) ||
      ShapedType::isDynamicShape(op.getStaticLoopRanges()) ||
      op.getIteratorTypesArray()[loop] != utils::IteratorType::parallel ||
      !op.getBlock()->getOps<tensor::ExtractOp>().empty())
    return false;
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    if (!type)
      return true;
    if (!type.getElementType().isIntOrIndexOrFloat() || type.getEncoding())
      return false;
    return op.getMatchingIndexingMap(&operand).isFunctionOfDim(loop) ||
           (!op.isDpsInit(&operand) && getBytes(type) <= target.l1Bytes / 2);
  });
}

/// Returns the window that reads the result of `pad`, if blocks of it are worth
/// a loop: the padded image is a copy that does not fit into L2 beside its
/// source, its outermost dim of several positions is not padded, and one
/// position takes at most a quarter of L2. Returns std::nullopt for other
/// paddings.
static std::optional<PaddedWindow> findWindow(tensor::PadOp pad,
                                              const CpuModelParams &target) {
  RankedTensorType type = pad.getResultType();
  // A linalg op without other users computes its result in the padded image.
  bool isCopied = !pad.getSource().getDefiningOp<linalg::LinalgOp>() ||
                  !pad.getSource().hasOneUse();
  if (!isCopied || !pad.getConstantPaddingValue() || !pad->hasOneUse() ||
      !type.getElementType().isIntOrIndexOrFloat() || !type.hasStaticShape() ||
      !pad.getSourceType().hasStaticShape() ||
      getBytes(pad.getSourceType()) + getBytes(type) <= target.l2Bytes)
    return std::nullopt;
  const auto *outermost =
      llvm::find_if(type.getShape(), [](int64_t size) { return size != 1; });
  unsigned dim = outermost - type.getShape().begin();
  if (outermost == type.getShape().end() || pad.getPaddedDims().test(dim) ||
      getBytes(type) / *outermost > target.l2Bytes / 4)
    return std::nullopt;
  OpOperand &use = *pad->use_begin();
  auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
  if (!op || op.isDpsInit(&use) || op.getNumReductionLoops() == 0 ||
      op->getBlock() != pad->getBlock())
    return std::nullopt;
  std::optional<unsigned> loop = findLoop(op.getMatchingIndexingMap(&use), dim);
  if (!loop || !isBlockable(op, *loop, target))
    return std::nullopt;
  PaddedWindow window{pad, op, *loop, op, *loop};
  if (!op->hasOneUse())
    return window;
  // Kernels apply an elementwise op to results in registers.
  OpOperand &next = *op->use_begin();
  auto last = dyn_cast<linalg::LinalgOp>(next.getOwner());
  if (!last || last.isDpsInit(&next) || last.getNumReductionLoops() != 0 ||
      last->getBlock() != op->getBlock())
    return window;
  AffineMap results = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (unsigned i = 0, e = results.getNumResults(); i < e; ++i)
    if (findLoop(results, i) == loop)
      if (auto outer = findLoop(last.getMatchingIndexingMap(&next), i);
          outer && isBlockable(last, *outer, target)) {
        window.last = last;
        window.lastLoop = *outer;
      }
  return window;
}

/// Emits the loop over blocks, which take at most a quarter of L2, and replaces
/// the result of the last op.
static void emitBlocks(RewriterBase &rewriter, PaddedWindow &window,
                       const CpuModelParams &target, bool parallelLoops) {
  linalg::LinalgOp last = window.last;
  auto padded = cast<RankedTensorType>(window.pad->getResult(0).getType());
  int64_t extent = last.getStaticLoopRanges()[window.lastLoop];
  int64_t bytes = getBytes(padded) / extent;
  int64_t block = std::clamp<int64_t>(
      target.l2Bytes / 4 / std::max<int64_t>(bytes, 1), 1, extent);
  while (extent % block != 0)
    --block;
  SmallVector<OpFoldResult> sizes(last.getNumLoops(), rewriter.getIndexAttr(0));
  sizes[window.lastLoop] = rewriter.getIndexAttr(block);
  scf::SCFTileAndFuseOptions options;
  options.tilingOptions.setTileSizes(sizes);
  options.setFusionControlFn(
      [&](tensor::ExtractSliceOp, OpResult producer,
          bool) -> std::optional<scf::SCFTileAndFuseOptions::ControlFnResult> {
        if (producer.getOwner() == window.op ||
            isa<linalg::FillOp>(producer.getOwner()))
          return scf::SCFTileAndFuseOptions::ControlFnResult{};
        return std::nullopt;
      });
  rewriter.setInsertionPoint(last);
  FailureOr<scf::SCFTileAndFuseResult> blocks =
      scf::tileConsumerAndFuseProducersUsingSCF(
          rewriter, cast<TilingInterface>(last.getOperation()), options);
  if (failed(blocks))
    return;
  for (Operation *user : llvm::make_early_inc_range(window.pad->getUsers())) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice)
      continue;
    rewriter.setInsertionPoint(slice);
    FailureOr<TilingResult> part = tensor::bubbleUpPadSlice(
        rewriter, window.pad, slice.getMixedOffsets(), slice.getMixedSizes(),
        /*generateZeroSliceGuard=*/false);
    if (succeeded(part))
      rewriter.replaceOp(slice, part->tiledValues);
  }
  // Threads write different parts of the result.
  int64_t vectorSize = std::max<int64_t>(1, target.vectorBits / 32);
  if (parallelLoops && layout::isWorthThreads(window.op, vectorSize))
    for (LoopLikeOpInterface loop : blocks->loops)
      layout::markParallel(cast<scf::ForOp>(loop.getOperation()));
  rewriter.replaceOp(last, blocks->replacements.lookup(last->getResult(0)));
}

namespace {
struct PadInBlocks : layout::impl::PadInBlocksPassBase<PadInBlocks> {
  using PadInBlocksPassBase::PadInBlocksPassBase;

  void runOnOperation() override {
    CpuModelParams target = layout::getCpuParams(getOperation());
    IRRewriter rewriter(&getContext());
    SmallVector<tensor::PadOp> pads;
    getOperation()->walk([&](tensor::PadOp pad) { pads.push_back(pad); });
    for (tensor::PadOp pad : pads)
      if (std::optional<PaddedWindow> window = findWindow(pad, target))
        emitBlocks(rewriter, *window, target, parallelLoops);
  }
};
} // namespace
