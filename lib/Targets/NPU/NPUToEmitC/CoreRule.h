//===- CoreRule.h - Access of cores to operands -----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Determines how cores access an operand
// (layout/Dialect/NPU/Utils/CoreVisibility.h) whose memory is known. It is own
// only if the same loop leads the operand and the result from core to core in
// step, or if both are in one core:
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
// Law: results and their inits are own.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_CORERULE_H
#define LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_CORERULE_H

#include "layout/Dialect/NPU/IR/Storage.h"
#include "layout/Dialect/NPU/Utils/CoreVisibility.h"
#include "layout/Dialect/NPU/Utils/Tables.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::npu {

/// The core that holds each element of a tensor in local memory.
struct CoreTable {
  Tables cores;
  /// The dim that is spread over the cores, if any.
  std::optional<unsigned> dim;
};

/// Returns the core of each element of a tensor with the given storage, or
/// std::nullopt if several dims are spread over the cores or the cores are not
/// known. Without a dim that is spread, all elements are in one core.
std::optional<CoreTable> getCoreTable(const Storage &storage,
                                      ArrayRef<int64_t> shape);

/// Returns whether the cores that hold result 0 of an op find an operand in
/// their own memory, receive it by the broadcast network, or cannot access it.
/// `cores` and `result` are the cores of the operand and of result 0.
CoreVisibility getCoreVisibility(linalg::LinalgOp op, OpOperand &operand,
                                 const CoreTable &cores,
                                 const CoreTable &result);

} // namespace mlir::npu

#endif // LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_CORERULE_H
