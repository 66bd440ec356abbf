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

/// Argument attribute with the values that elements of an argument may have: an
/// array of dictionaries. Each has the inclusive bounds `least` and `most`, and
/// the `text` of the error for other values. It applies to the slice whose
/// first indices are `first` and whose sizes are `count`, or to the whole
/// argument if both are empty.
constexpr llvm::StringLiteral kRangesArgument = "npu.ranges";

} // namespace mlir::npu

#endif // LAYOUT_DIALECT_NPU_IR_ARGUMENTRANGES_H
