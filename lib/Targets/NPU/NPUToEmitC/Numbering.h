//===- Numbering.h - Which byte of a tensor an element is -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The bytes of what an npu.alloc made are numbered in the row-major order of
// its elements, wherever they lie; those of system memory by their addresses.
// Views are read off their ops, so that numbers do not come from the maps that
// transfers are made of:
//
//     %t : memref<6x5xi8>                 (n, c) -> 5 * n + c
//     %part = npu.subview %t [2, 1] ..    (n, c) -> 11 + 5 * n + c
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_NUMBERING_H
#define LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_NUMBERING_H

#include "layout/Dialect/NPU/IR/NPU.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir {
namespace npu {

struct Numbering {
  int64_t first = 0;
  /// One stride for each dim, in bytes.
  SmallVector<int64_t> strides;
  /// The bytes of one element as dims of their own: sizes and strides.
  SmallVector<std::pair<int64_t, int64_t>> inside;
};

/// The numbers of a memref; nothing where they are no sum of functions of
/// single dims that step evenly.
std::optional<Numbering> getNumbering(Value memref);

/// Splits the bytes of elements so that all have the same dims inside. False
/// where they do not divide each other.
bool splitAlike(MutableArrayRef<Numbering> numberings);

} // namespace npu
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_NUMBERING_H
