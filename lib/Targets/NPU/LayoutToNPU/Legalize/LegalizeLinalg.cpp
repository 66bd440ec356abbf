//===- LegalizeLinalg.cpp - Legalization for cores ------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Legalize/LegalizeLinalg.h"
#include "Tiling/TileAndFuse.h"
#include "layout/Dialect/NPU/IR/KernelApi.h"
#include "layout/Targets/NPU/LayoutToNPU/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::layout {
#define GEN_PASS_DEF_LEGALIZELINALGPASS
#include "layout/Targets/NPU/LayoutToNPU/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

/// Replaces inputs of linalg.generic that are integer splat constants by scalar
/// constants in the body, so that products may fold.
static void inlineIntegers(func::FuncOp function) {
  function.walk([](linalg::GenericOp op) {
    for (OpOperand *input : op.getDpsInputOperands()) {
      DenseIntElementsAttr numbers;
      if (!matchPattern(input->get(), m_Constant(&numbers)) ||
          numbers.empty() || !numbers.isSplat())
        continue;
      OpBuilder builder = OpBuilder::atBlockBegin(op.getBody());
      op.getMatchingBlockArgument(input).replaceAllUsesWith(
          arith::ConstantOp::create(
              builder, op.getLoc(),
              builder.getIntegerAttr(numbers.getElementType(),
                                     numbers.getSplatValue<APInt>())));
    }
  });
}

/// Replaces a tensor.extract_slice of a tensor.insert_slice with equal bounds
/// by the inserted tensor, e.g. for a token that is appended and then looked
/// up.
static void foldSlicesOfInserts(func::FuncOp function) {
  function.walk([](tensor::ExtractSliceOp slice) {
    auto insert = slice.getSource().getDefiningOp<tensor::InsertSliceOp>();
    if (!insert ||
        !isEqualConstantIntOrValueArray(slice.getMixedOffsets(),
                                        insert.getMixedOffsets()) ||
        !isEqualConstantIntOrValueArray(slice.getMixedSizes(),
                                        insert.getMixedSizes()) ||
        !isEqualConstantIntOrValueArray(slice.getMixedStrides(),
                                        insert.getMixedStrides()))
      return;
    Value value = insert.getSource();
    auto from = cast<RankedTensorType>(value.getType());
    RankedTensorType to = slice.getType();
    OpBuilder builder(slice);
    if (from != to) {
      std::optional<SmallVector<ReassociationIndices>> groups =
          getReassociationIndicesForReshape(from, to);
      if (!groups || from.getRank() == to.getRank() || !to.hasStaticShape())
        return;
      value = from.getRank() < to.getRank()
                  ? Value(tensor::ExpandShapeOp::create(builder, slice.getLoc(),
                                                        to, value, *groups))
                  : tensor::CollapseShapeOp::create(builder, slice.getLoc(), to,
                                                    value, *groups);
    }
    slice.replaceAllUsesWith(value);
    slice.erase();
  });
}

namespace {
struct LegalizeLinalgPass
    : layout::impl::LegalizeLinalgPassBase<LegalizeLinalgPass> {
  using LegalizeLinalgPassBase::LegalizeLinalgPassBase;

  void runOnOperation() override {
    npu::KernelApi api = npu::KernelApi::OKKernel;
    if (!target.empty() || getOperation()->hasAttr(kTargetAttr)) {
      FailureOr<NpuTargetAttr> npu =
          getNpuTarget(getOperation(), target, getArgument());
      if (failed(npu))
        return signalPassFailure();
      api = npu::getKernelApi(npu->getChip());
    }
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      dropAsserts(function);
      foldSlicesOfInserts(function);
      foldExtracts(function);
      inlineIntegers(function);
    }
    // Views of empty tensors become empty tensors, and tensor.generate becomes
    // a linalg.generic.
    RewritePatternSet patterns(&getContext());
    tensor::populateFoldTensorEmptyPatterns(patterns);
    patterns.add(+[](tensor::GenerateOp op, PatternRewriter &rewriter) {
      return LogicalResult(
          linalg::rewriteInDestinationPassingStyle(rewriter, op));
    });
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      promoteScalarsToTensors(function);
      splitMatmulsBySlices(function);
      narrowToUsedSlices(function);
      generalizeBodies(function);
      if (failed(expandMath(function)))
        return signalPassFailure();
      splitArgReductions(function);
      carryIndices(function);
      convertExtractsToOperands(function);
      convertGathersToMatmuls(function);
      splitVolumes(function);
      splitLongWindows(function);
      decomposeConvolutions(function);
      if (api == npu::KernelApi::TPUKernel)
        splitConvolutionKernels(function);
      if (failed(fuseComparisons(function)))
        return signalPassFailure();
      legalizeElementTypes(function);
      splitI64Arguments(function);
      carryIntegersInFloats(function);
      splitBodies(function);
      rewriteReductions(function);
    }
  }
};
} // namespace
