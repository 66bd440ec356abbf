//===- embed.cpp - A program that uses the installed package --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Registers the project's dialects with one of upstream's and parses a module.
//
//===----------------------------------------------------------------------===//

#include "layout/Registration/Registration.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/raw_ostream.h"

int main() {
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect>();
  mlir::layout::registerAllDialects(registry);
  mlir::layout::registerAllPasses();

  mlir::MLIRContext context(registry);
  // Loading attaches the external models, which requires that all of them link.
  context.loadAllAvailableDialects();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "!t = tensor<4x6xf32, #layout.blocked<\"AB\" to \"BA4a\">>\n"
      "func.func @f(%x: tensor<4x6xf32>) -> !t {\n"
      "  %0 = layout.convert %x : tensor<4x6xf32> to !t\n"
      "  return %0 : !t\n"
      "}\n",
      &context);
  if (!module)
    return 1;
  module->print(llvm::outs());
  llvm::outs() << "\ndialects of the embedded library were registered\n";
  return 0;
}
