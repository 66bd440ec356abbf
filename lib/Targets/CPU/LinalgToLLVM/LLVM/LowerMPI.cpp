//===- LowerMPI.cpp - Messages of MPI to the LLVM dialect -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MPIToLLVM/MPIToLLVM.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MPI/IR/MPI.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::layout {
#define GEN_PASS_DEF_LOWERMPIPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

namespace {
struct LowerMPI : layout::impl::LowerMPIPassBase<LowerMPI> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    // Without the dialect there are no MPI ops.
    if (!context->getLoadedDialect<mpi::MPIDialect>())
      return;
    LLVMTypeConverter converter(context);
    RewritePatternSet patterns(context);
    mpi::populateMPIToLLVMConversionPatterns(converter, patterns);
    ConversionTarget target(*context);
    target.addLegalDialect<LLVM::LLVMDialect>();
    target.addIllegalDialect<mpi::MPIDialect>();
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
