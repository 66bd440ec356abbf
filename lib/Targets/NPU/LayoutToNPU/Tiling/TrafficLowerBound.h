//===- TrafficLowerBound.h - Lower bound of the memory traffic --*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes a lower bound of the bytes that a function moves between system
// memory and its cores. Each element of an argument or a constant that a result
// depends on is loaded once. Each element of a result that is not a splat
// constant is stored once. Elements that are only moved from an argument to a
// result count once. For example, a 1x1 convolution with stride 2 needs a
// quarter of its image:
//
//   1x8x9x9 f32, 4x8x1x1, stride 2 -> 1x4x5x5
//     25 of 81 pixels     800 bytes
//     weights, result     128 + 400 bytes
//
// Constants that are stored as i8 count as i8 (NarrowConstants.h).
//
// Law: no program that executes the ops of the function moves fewer bytes. If
// the set of needed elements is not a product of index sets, a product within
// it counts.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_TILING_TRAFFICLOWERBOUND_H
#define LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_TILING_TRAFFICLOWERBOUND_H

#include "Numbers/NarrowConstants.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::layout {

/// Returns a lower bound of the bytes that the function moves between system
/// memory and the cores, or 0 if it has several blocks. Constants that `narrow`
/// can store as i8 count one byte per element.
int64_t getTrafficLowerBound(func::FuncOp function, NarrowConstants &narrow);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_TILING_TRAFFICLOWERBOUND_H
