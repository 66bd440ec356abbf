//===- Cpp.cpp - Modules as C++ -------------------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Cpp.h"
#include "layout/Dialect/Layout/IR/NewerBytecode.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/EmitC/IR/EmitC.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/Cpp/CppEmitter.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

FailureOr<std::string>
layout::writeCpp(std::unique_ptr<llvm::MemoryBuffer> source) {
  MLIRContext context;
  context.loadDialect<cf::ControlFlowDialect, emitc::EmitCDialect,
                      func::FuncDialect>();
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(source), SMLoc());
  SourceMgrDiagnosticHandler handler(sources, &context);
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(sources, layout::getParserConfig(&context));
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!module || failed(emitc::translateToCpp(*module, os)))
    return failure();
  return text;
}
