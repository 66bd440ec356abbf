//===- LowerMath.cpp - Functions of numbers to LLVM and libm --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs upstream's passes and layout-cpu-expand-math on the functions that have
// ops for them. Each of these passes visits all ops of a module, and few
// functions of a network compute more than sums, products and maxima.
//
//===----------------------------------------------------------------------===//

#include "Functions/SetAside.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Conversion/ComplexToStandard/ComplexToStandard.h"
#include "mlir/Conversion/MathToFuncs/MathToFuncs.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "LLVM/ExpandedMath.h"

namespace mlir::layout {
#define GEN_PASS_DEF_LOWERMATHPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

/// Returns true if `function` has an op that a pass of this pipeline rewrites,
/// apart from maxima and minima.
static bool needsPasses(func::FuncOp function) {
  auto isBF16 = [](Type type) { return getElementTypeOrSelf(type).isBF16(); };
  WalkResult walk = function.walk([&](Operation *op) {
    return isa_and_nonnull<math::MathDialect, complex::ComplexDialect>(
               op->getDialect()) ||
                   llvm::any_of(op->getResultTypes(), isBF16) ||
                   llvm::any_of(op->getOperandTypes(), isBF16)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return walk.wasInterrupted();
}

namespace {
struct LowerMath : layout::impl::LowerMathPassBase<LowerMath> {
  using LowerMathPassBase::LowerMathPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    buildPipeline().getDependentDialects(registry);
  }

  void runOnOperation() override {
    layout::SetAside others;
    bool isNeeded = false;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      if (needsPasses(function)) {
        isNeeded = true;
        continue;
      }
      if (expands)
        layout::expandMaxima(function);
      others.add(function);
    }
    OpPassManager pipeline = buildPipeline();
    if (isNeeded && failed(runPipeline(pipeline, getOperation())))
      signalPassFailure();
  }

private:
  OpPassManager buildPipeline() const {
    OpPassManager pipeline(ModuleOp::getOperationName());
    OpPassManager &functions = pipeline.nest<func::FuncOp>();
    functions.addPass(createConvertComplexToStandardPass());
    // Compute bf16 arithmetic in f32. layout-cpu-bf16-as-bits replaces the
    // other bf16 values by i16.
    arith::ArithEmulateUnsupportedFloatsOptions emulate;
    emulate.sourceTypeStrs = {"bf16"};
    emulate.targetTypeStr = "f32";
    functions.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
    math::MathExtendToSupportedTypesOptions extend;
    extend.extraTypeStrs = {"f16"};
    functions.addPass(math::createMathExtendToSupportedTypes(extend));
    if (expands)
      functions.addPass(layout::createExpandMathPass());
    // Powers of vectors, or with 64-bit integer exponents, have no LLVM
    // intrinsic.
    pipeline.addPass(createConvertMathToFuncs());
    pipeline.addNestedPass<func::FuncOp>(createConvertMathToLLVMPass());
    pipeline.addPass(createConvertMathToLibmPass());
    return pipeline;
  }
};
} // namespace
