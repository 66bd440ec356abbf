//===- FlattenReductions.cpp - Reductions as contiguous segments ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/KernelPlan.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::layout {
#define GEN_PASS_DEF_FLATTENREDUCTIONSPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

/// Returns true if each subscript that is not a single loop, such as h + kh,
/// reaches the last index of its dim. If one does not, dropping a loop of one
/// iteration would leave a single loop that does not cover the dim. Returns
/// false for such subscripts if the op is dynamic.
static bool windowsReachAll(linalg::LinalgOp op) {
  SmallVector<int64_t> last = op.getStaticLoopRanges();
  for (int64_t &extent : last)
    --extent;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    ArrayRef<int64_t> shape = op.getShape(&operand);
    for (auto [i, expr] : llvm::enumerate(map.getResults()))
      if (!isa<AffineDimExpr, AffineConstantExpr>(expr) &&
          (ShapedType::isDynamicShape(op.getStaticLoopRanges()) ||
           map.getSubMap({static_cast<unsigned>(i)}).compose(last)[0] + 1 !=
               shape[i]))
        return false;
  }
  return true;
}

/// Returns true if `op` is a reduction that can be flattened and of which no
/// parallel loop can be on vector lanes with contiguous accesses, so that a
/// reduction loop should be. Ops that are no kernels (matchKernel) count as
/// such.
static bool needsReductionLanes(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0 || !op.hasPureTensorSemantics() ||
      op.hasIndexSemantics() || hasEffects(op) || !windowsReachAll(op))
    return false;
  FailureOr<Kernel> kernel = matchKernel(op);
  return failed(kernel) || !findParallelLane(*kernel);
}

/// Returns the loops of `op` in groups. Adjacent reductions that are contiguous
/// in memory are one group, and any other loop is its own. If a subscript is
/// not a single loop, all loops are their own groups, because
/// collapseOpIterationDims requires single loops.
static SmallVector<ReassociationIndices> findRuns(linalg::GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  bool areLoops = llvm::all_of(maps, [](AffineMap map) {
    return llvm::all_of(map.getResults(), llvm::IsaPred<AffineDimExpr>);
  });
  auto canMerge = [&](int64_t dim) {
    return areLoops && iterators[dim] == utils::IteratorType::reduction;
  };
  SmallVector<ReassociationIndices> runs;
  for (int64_t dim = 0, e = op.getNumLoops(); dim < e; ++dim) {
    if (dim != 0 && canMerge(dim - 1) && canMerge(dim)) {
      ReassociationIndices longer = runs.back();
      longer.push_back(dim);
      if (linalg::areDimSequencesPreserved(maps, {longer})) {
        runs.back() = longer;
        continue;
      }
    }
    runs.push_back({dim});
  }
  return runs;
}

static void flatten(RewriterBase &rewriter, linalg::LinalgOp op) {
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::GenericOp> generic =
      linalg::generalizeNamedOp(rewriter, op);
  auto flat = succeeded(generic) ? *generic
                                 : cast<linalg::GenericOp>(op.getOperation());
  rewriter.setInsertionPoint(flat);
  FailureOr<linalg::DropUnitDimsResult> dropped =
      linalg::dropUnitDims(rewriter, flat, linalg::ControlDropUnitDims());
  if (succeeded(dropped)) {
    rewriter.replaceOp(flat, dropped->replacements);
    flat = cast<linalg::GenericOp>(dropped->resultOp.getOperation());
  }
  SmallVector<ReassociationIndices> runs = findRuns(flat);
  if (runs.size() == flat.getNumLoops())
    return;
  rewriter.setInsertionPoint(flat);
  FailureOr<linalg::CollapseResult> collapsed =
      linalg::collapseOpIterationDims(flat, runs, rewriter);
  if (succeeded(collapsed))
    rewriter.replaceOp(flat, collapsed->results);
}

namespace {
struct FlattenReductions
    : layout::impl::FlattenReductionsPassBase<FlattenReductions> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (needsReductionLanes(op))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::LinalgOp op : ops)
      flatten(rewriter, op);
  }
};
} // namespace
