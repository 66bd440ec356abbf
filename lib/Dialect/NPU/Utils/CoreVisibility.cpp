//===- CoreVisibility.cpp - Access of cores to operands -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/NPU/Utils/CoreVisibility.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::npu;

CoreVisibility npu::getCoreVisibility(AffineMap map,
                                      const llvm::SmallBitVector &channels) {
  unsigned indexed = llvm::count_if(channels.set_bits(), [&](unsigned loop) {
    return map.isFunctionOfDim(loop);
  });
  if (indexed == channels.count())
    return CoreVisibility::Own;
  return indexed == 0 ? CoreVisibility::Broadcast : CoreVisibility::Neither;
}
