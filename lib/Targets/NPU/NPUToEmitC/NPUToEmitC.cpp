//===- NPUToEmitC.cpp - NPU memory ops to C++ -----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FunctionEmitter.h"
#include "layout/Dialect/NPU/Transforms/Passes.h"
#include "layout/Targets/NPU/NPUToEmitC/Passes.h"

namespace mlir::npu {
#define GEN_PASS_DEF_CONVERTNPUTOEMITCPASS
#include "layout/Targets/NPU/NPUToEmitC/Passes.h.inc"
} // namespace mlir::npu

using namespace mlir;
using namespace mlir::npu;

/// Emits an error at an emitc op or an op with an emitc type, because these
/// contain C++ text, and fails if there is one.
static LogicalResult refuseText(ModuleOp module) {
  auto isText = [](Dialect &dialect) {
    return isa<emitc::EmitCDialect>(dialect);
  };
  WalkResult walked = module.walk([&](Operation *op) {
    Dialect *dialect = op->getDialect();
    auto types =
        llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes());
    if ((!dialect || !isText(*dialect)) && llvm::none_of(types, [&](Type type) {
          return isText(type.getDialect());
        }))
      return WalkResult::advance();
    op->emitError() << "'" << op->getName()
                    << "' is C++ as text, which is not supported: write its "
                       "computation with linalg on memrefs";
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

namespace {
struct ConvertNPUToEmitCPass
    : public npu::impl::ConvertNPUToEmitCPassBase<ConvertNPUToEmitCPass> {
  using ConvertNPUToEmitCPassBase::ConvertNPUToEmitCPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(refuseText(module)))
      return signalPassFailure();
    SmallVector<func::FuncOp> functions(module.getOps<func::FuncOp>());
    FailureOr<ConstantBlock> constants = getConstantBlock(module);
    if (failed(constants))
      return signalPassFailure();
    for (func::FuncOp function : functions)
      if (failed(verifyMemory(function,
                              exactBytes || function->hasAttr(kReusesHoles))))
        return signalPassFailure();
    OpBuilder builder(module.getBody(), module.getBody()->begin());
    DenseKernels kernels(module);
    KernelApi api = getKernelApi(module);
    auto include = emitc::IncludeOp::create(
        builder, module.getLoc(),
        api == KernelApi::TPUKernel ? "tpu_kernel.h" : "okk.h");
    ModuleEmission shared{builder, *constants, kernels,       api,
                          checks,  exactBytes, strictOKKernel};
    for (func::FuncOp function : functions) {
      builder.setInsertionPoint(function);
      if (failed(FunctionEmitter(function, shared).emit()))
        return signalPassFailure();
      function.erase();
    }
    for (const ConstantBlock::Entry &constant : constants->entries)
      constant.global->erase();
    builder.setInsertionPointAfter(include);
    if (checks)
      emitc::IncludeOp::create(builder, module.getLoc(), "sim_checks.h");
    if (!kernels.isEmpty())
      emitc::IncludeOp::create(builder, module.getLoc(), "sim_compute.h");
    auto emitted = module.getOps<emitc::FuncOp>();
    if (!emitted.empty() && failed(kernels.emit(*emitted.begin())))
      return signalPassFailure();
  }
};
} // namespace
