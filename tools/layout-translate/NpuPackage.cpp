//===- NpuPackage.cpp - Packages of NPU programs --------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NpuPackage.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/NewerBytecode.h"
#include "layout/Dialect/NPU/IR/NPU.h"
#include "layout/Targets/NPU/NPUToEmitC/Package.h"
#include "layout/Targets/NPU/NPUToEmitC/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

LogicalResult
layout::writeNpuPackage(std::unique_ptr<llvm::MemoryBuffer> source,
                        StringRef function, StringRef directory, bool checks,
                        bool isStrict) {
  MLIRContext context;
  context.loadDialect<LayoutDialect, npu::NPUDialect, arith::ArithDialect,
                      func::FuncDialect, linalg::LinalgDialect,
                      math::MathDialect, memref::MemRefDialect>();
  // The op may be a module with the weights of a network.
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(source), SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(sources, layout::getParserConfig(&context));
  return failure(!module ||
                 failed(npu::writeNpuPackage(*module, function, directory,
                                             checks, isStrict)));
}
