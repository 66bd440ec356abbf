//===- NarrowConstants.h - Constants that cross as bytes --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A constant of f32 of which every element is a signed byte, as the weights of
// a network in integers are, is stored as bytes, and cores make f32 of it:
//
//   conv %x, dense<..> : tensor<32x64x1x1xf32>       8192 bytes to load
//     %w = sitofp dense<..> : tensor<32x64x1x1xi8>   2048
//     conv %x, %w
//
// Who counts bytes before that asks here what they will be.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_NARROWCONSTANTS_H
#define LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_NARROWCONSTANTS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir {
namespace layout {

class NarrowConstants {
public:
  /// What a command costs more than a byte is moved for.
  explicit NarrowConstants(int64_t launchCost) : launchCost(launchCost) {}

  /// Whether the tensor is a constant, or a part of one, that is worth it.
  bool canBeNarrow(Value tensor);
  /// The bytes that so many elements of a tensor are outside of cores.
  int64_t getBytes(Value tensor, int64_t elements);
  /// The same of a tensor of which the caller knows whether it is narrow.
  static int64_t getBytes(Type type, int64_t elements, bool isNarrow);

private:
  int64_t launchCost;
  DenseMap<Attribute, bool> narrow;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_NARROWCONSTANTS_H
