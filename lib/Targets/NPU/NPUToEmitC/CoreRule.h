//===- CoreRule.h - What execution units see --------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// How cores reach an operand (layout/Dialect/NPU/Utils/Reach.h), where the
// memory that it lies in is known. It is own only where the same loop leads it
// and the result from core to core in step, or none does and both lie in one
// core:
//
//     add on channels from core 2, 2 and 2            own
//     conv: weights by output channels, as the result  own
//
// The broadcast network is for contractions, which have reduction loops:
//
//     conv: its input, by input channels               broadcast
//     depthwise conv from another start core           an error
//     bias from another start core                     an error
//
// Law: results and what they start from are own.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_CORERULE_H
#define LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_CORERULE_H

#include "layout/Dialect/NPU/IR/Storage.h"
#include "layout/Dialect/NPU/Utils/Reach.h"
#include "layout/Dialect/NPU/Utils/Tables.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir {
namespace npu {

/// In which core the elements of a tensor are.
struct CoreTable {
  Tables cores;
  /// The dim that goes from core to core; none where all is in one.
  std::optional<unsigned> dim;
};

/// Nothing where more than one dim goes from core to core.
std::optional<CoreTable> getCoreTable(const Storage &storage,
                                      ArrayRef<int64_t> shape);

/// How the cores reach an operand of an op on memrefs, the results being where
/// `result` says that the first one is.
Reach getReach(linalg::LinalgOp op, OpOperand &operand, const CoreTable &cores,
               const CoreTable &result);

} // namespace npu
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_CORERULE_H
