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

#include "layout/Conversion/LinalgToLLVM/Passes.h"
#include "layout/Support/AdviceOnErrors.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

namespace mlir::layout {
#define GEN_PASS_DEF_BUFFERIZEPASS
#define GEN_PASS_DEF_FREEBUFFERSPASS
#include "layout/Conversion/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

namespace {

struct Bufferize : layout::impl::BufferizePassBase<Bufferize> {
  void runOnOperation() override {
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
