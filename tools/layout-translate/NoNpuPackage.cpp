//===- NoNpuPackage.cpp - Builds without NPUs -----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NpuPackage.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/WithColor.h"

using namespace mlir;

LogicalResult layout::writeNpuPackage(std::unique_ptr<llvm::MemoryBuffer>,
                                      StringRef, StringRef, bool, bool) {
  llvm::WithColor::error(llvm::errs(), "layout-translate")
      << "this build has no NPUs: add npu to LAYOUT_TARGETS\n";
  return failure();
}
