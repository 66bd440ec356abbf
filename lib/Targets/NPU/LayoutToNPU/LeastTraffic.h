//===- LeastTraffic.h - What has to cross between the memories --*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A bound from below on the bytes that a function moves between system memory
// and its cores: each element of an argument or a constant that a result
// depends on is loaded once, and each element of a result that is no number of
// the program is stored once. What is only moved from an argument to a result
// counts once. A convolution of stride 2 and one pixel needs a quarter of its
// image:
//
//   1x8x9x9 f32, 4x8x1x1, stride 2 -> 1x4x5x5
//     25 of 81 pixels     800 bytes
//     weights, result     128 + 400 bytes
//
// Constants that are bytes outside of cores count as those.
//
// Law: it never exceeds what a program moves that does the ops of the function.
// Where the needed elements are no product of sets of indices, a product within
// them counts.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_LEASTTRAFFIC_H
#define LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_LEASTTRAFFIC_H

#include "NarrowConstants.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir {
namespace layout {

int64_t getLeastTraffic(func::FuncOp function, NarrowConstants &narrow);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_LEASTTRAFFIC_H
