//===- NarrowConstants.h - f32 constants stored as i8 -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An f32 constant whose elements all are int8 values, such as the weights of a
// quantized network, is stored as i8 and converted to f32 by the cores:
//
//   conv %x, dense<..> : tensor<32x64x1x1xf32>       8192 bytes to load
//     %w = sitofp dense<..> : tensor<32x64x1x1xi8>   2048
//     conv %x, %w
//
// Earlier passes that count bytes use this class to predict it.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_NUMBERS_NARROWCONSTANTS_H
#define LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_NUMBERS_NARROWCONSTANTS_H

#include "layout/Targets/NPU/NpuTimes.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::layout {

class NarrowConstants {
public:
  explicit NarrowConstants(const NpuTimes &times) : times(times) {}

  /// Returns true if the constant that `tensor` is, or is a slice or reshape
  /// of, is f32 with int8 values only, and no splat. Loading all of it as i8
  /// must save more than the conversion costs.
  bool canBeNarrow(Value tensor);
  /// Returns the bytes of `elements` elements of `tensor` in system memory: one
  /// byte each if the tensor can be stored as i8.
  int64_t getBytes(Value tensor, int64_t elements);
  /// Returns the bytes of `elements` elements of `type`, as i8 if `isNarrow`.
  static int64_t getBytes(Type type, int64_t elements, bool isNarrow);

private:
  bool savesTime(int64_t elements) const;

  NpuTimes times;
  DenseMap<Attribute, bool> narrow;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_NUMBERS_NARROWCONSTANTS_H
