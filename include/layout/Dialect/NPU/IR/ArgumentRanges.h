//===- ArgumentRanges.h - What the host checks ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Ranges that elements of an argument have to be in, because they are indices:
//
//     %ids: tensor<8xi32> {npu.ranges = [{least = 0, most = 9, ..}]}
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_IR_ARGUMENTRANGES_H
#define LAYOUT_DIALECT_NPU_IR_ARGUMENTRANGES_H

#include "llvm/ADT/StringRef.h"

namespace mlir {
namespace npu {

/// An array of dictionaries: `least` and `most`, both inclusive, the indices
/// `first` of the part that it is about with the extents `count`, or two empty
/// arrays for the whole, and the `text` of the error.
constexpr llvm::StringLiteral kRangesArgument = "npu.ranges";

} // namespace npu
} // namespace mlir

#endif // LAYOUT_DIALECT_NPU_IR_ARGUMENTRANGES_H
