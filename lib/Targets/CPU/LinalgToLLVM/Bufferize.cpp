//===- Bufferize.cpp - Tensors to buffers, and who frees them -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Upstream's passes, whose errors say what is not taken: here they get a note
// that says what to write instead.
//
//===----------------------------------------------------------------------===//

#include "layout/Support/AdviceOnErrors.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Conversion/BufferizationToMemRef/BufferizationToMemRef.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::layout {
#define GEN_PASS_DEF_BUFFERIZEPASS
#define GEN_PASS_DEF_FREEBUFFERSPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

/// Where a branch gives another size than a cast behind the branches states,
/// the program does not take it. What it gives is copied, so that nobody looks
/// for a destination in what the cast gives, which has no room for it.
static void separateOtherSizes(tensor::CastOp cast) {
  auto branches = cast.getSource().getDefiningOp<scf::IfOp>();
  if (!branches)
    return;
  unsigned number = llvm::cast<OpResult>(cast.getSource()).getResultNumber();
  for (Region &region : branches->getRegions()) {
    Operation *yield = region.front().getTerminator();
    OpOperand &given = yield->getOpOperand(number);
    auto inner = given.get().getDefiningOp<tensor::CastOp>();
    if (!inner || succeeded(verifyCompatibleShape(inner.getSource().getType(),
                                                  cast.getType())))
      continue;
    OpBuilder b(yield);
    given.set(bufferization::AllocTensorOp::create(
        b, cast.getLoc(), llvm::cast<RankedTensorType>(given.get().getType()),
        ValueRange(), /*copy=*/given.get()));
  }
}

namespace {

struct Bufferize : layout::impl::BufferizePassBase<Bufferize> {
  void runOnOperation() override {
    getOperation()->walk([](tensor::CastOp op) { separateOtherSizes(op); });
    OpPassManager pipeline(ModuleOp::getOperationName());
    pipeline.addPass(bufferization::createEmptyTensorEliminationPass());
    bufferization::OneShotBufferizePassOptions options;
    options.bufferizeFunctionBoundaries = true;
    options.allowReturnAllocsFromLoops = true;
    options.functionBoundaryTypeConversion =
        bufferization::LayoutMapOption::IdentityLayoutMap;
    pipeline.addPass(bufferization::createOneShotBufferizePass(options));
    layout::AdviceOnErrors advice(
        &getContext(),
        "upstream's bufferization, which puts tensors into memory, does not "
        "take this op here; write it with tensor, linalg and scf ops, or on "
        "memrefs from the start");
    if (failed(runPipeline(pipeline, getOperation())))
      signalPassFailure();
  }
};

struct FreeBuffers : layout::impl::FreeBuffersPassBase<FreeBuffers> {
  void runOnOperation() override {
    OpPassManager pipeline(ModuleOp::getOperationName());
    bufferization::buildBufferDeallocationPipeline(pipeline);
    // The deallocation clones what is not owned where branches meet.
    pipeline.addPass(createConvertBufferizationToMemRefPass());
    layout::AdviceOnErrors advice(
        &getContext(),
        "upstream's deallocation, which finds who frees which buffer, does not "
        "take this op here; write the function on tensors, and leave out what "
        "frees memory or does something unknown with it");
    if (failed(runPipeline(pipeline, getOperation())))
      signalPassFailure();
  }
};

} // namespace
