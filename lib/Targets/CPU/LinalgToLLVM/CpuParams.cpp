//===- CpuParams.cpp - The CPU that a program is lowered to ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CpuParams.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace mlir::layout;

CpuModelParams layout::getCpuParams(Operation *op) {
  CpuModelParams params;
  for (; op; op = op->getParentOp())
    if (Attribute target = op->getDiscardableAttr(kTargetAttr)) {
      if (auto cpu = dyn_cast<CpuTargetAttr>(target))
        params = cpu.getParams();
      break;
    }
  params.lineBytes = std::max<int64_t>(
      16, llvm::bit_floor(static_cast<uint64_t>(params.lineBytes)));
  return params;
}
