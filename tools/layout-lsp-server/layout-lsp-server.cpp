//===- layout-lsp-server.cpp - The language server ------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The MLIR language server with all dialects of layout-opt.
//
//===----------------------------------------------------------------------===//

#include "layout/Registration/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/LogicalResult.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::layout::registerWithUpstream(registry);
  return failed(mlir::MlirLspServerMain(argc, argv, registry));
}
