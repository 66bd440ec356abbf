//===- PrepareEntryPoints.cpp - Tensor signatures of public functions -----===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Support/EntryPoints.h"
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::layout {
#define GEN_PASS_DEF_PREPAREENTRYPOINTSPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using bufferization::BufferizationDialect;

static bool isPlainTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && !tensor.getEncoding();
}

namespace {
struct PrepareEntryPoints
    : layout::impl::PrepareEntryPointsPassBase<PrepareEntryPoints> {
  void runOnOperation() override {
    Builder builder(&getContext());
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal() || !function.isPublic())
        continue;
      function->setAttr(layout::kCInterfaceAttrName, builder.getUnitAttr());
      FunctionType type = function.getFunctionType();
      // A launcher passes only arrays. Functions with other arguments can be
      // called by code written for them.
      if (llvm::all_of(type.getInputs(), isPlainTensor) &&
          llvm::all_of(type.getResults(), isPlainTensor) &&
          !function->hasAttr(layout::kSignatureAttrName))
        function->setAttr(layout::kSignatureAttrName, TypeAttr::get(type));
      StringRef writable = BufferizationDialect::kWritableAttrName;
      bool isReadOnly = true;
      for (unsigned i = 0, e = function.getNumArguments(); i < e; ++i) {
        if (isa<TensorType>(type.getInput(i)) &&
            !function.getArgAttr(i, writable))
          function.setArgAttr(i, writable, builder.getBoolAttr(false));
        auto isWritable = function.getArgAttrOfType<BoolAttr>(i, writable);
        isReadOnly &= isWritable && !isWritable.getValue();
      }
      if (isReadOnly)
        function->setAttr(layout::kReadOnlyInputsAttrName,
                          builder.getUnitAttr());
    }
  }
};
} // namespace
