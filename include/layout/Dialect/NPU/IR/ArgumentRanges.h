//===- ArgumentRanges.h - Index ranges of arguments -------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the attribute for arguments whose elements are indices and must be
// in a range:
//
//     %ids: tensor<8xi32> {npu.ranges = [{least = 0, most = 9, ..}]}
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_IR_ARGUMENTRANGES_H
#define LAYOUT_DIALECT_NPU_IR_ARGUMENTRANGES_H

#include "llvm/ADT/StringRef.h"

namespace mlir::npu {

/// An array of dictionaries with the inclusive bounds `least` and `most`, the
/// box that they apply to as its first indices `first` and extents `count`
/// (both empty for the whole argument), and the `text` of the error.
constexpr llvm::StringLiteral kRangesArgument = "npu.ranges";

} // namespace mlir::npu

#endif // LAYOUT_DIALECT_NPU_IR_ARGUMENTRANGES_H
