//===- Reach.cpp - Access of cores to operands ----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/NPU/Utils/Reach.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::npu;

Reach npu::getReach(AffineMap map, const llvm::SmallBitVector &channels) {
  unsigned indexed = llvm::count_if(channels.set_bits(), [&](unsigned loop) {
    return map.isFunctionOfDim(loop);
  });
  if (indexed == channels.count())
    return Reach::Own;
  return indexed == 0 ? Reach::Broadcast : Reach::Neither;
}
