//===- Numbering.h - Numbers of the bytes of a tensor -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Numbers the bytes of an npu.alloc in the row-major order of its elements,
// whatever its layout; bytes of system memory are numbered by address. Numbers
// of views come from their ops, so they are independent of the maps from which
// transfers are planned:
//
//     %t : memref<6x5xi8>                 (n, c) -> 5 * n + c
//     %part = npu.subview %t [2, 1] ..    (n, c) -> 11 + 5 * n + c
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_NUMBERING_H
#define LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_NUMBERING_H

#include "layout/Dialect/NPU/IR/NPU.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::npu {

struct Numbering {
  int64_t first = 0;
  /// Per dim of the memref, the difference of the numbers of a byte at adjacent
  /// indices.
  SmallVector<int64_t> strides;
  /// The dims that index the bytes within one element, each with its size and
  /// the difference of numbers: {4, 1} for f32. There are several dims if an
  /// element of a view combines elements that are apart.
  SmallVector<std::pair<int64_t, int64_t>> inside;
};

/// Returns the numbers that identify the bytes of a memref in the simulator's
/// checks: positions in its row-major npu.alloc, or offsets in system memory.
/// Returns std::nullopt if they are not linear in the indices of the memref.
std::optional<Numbering> getNumbering(Value memref);

/// Splits the bytes within an element into dims of the same sizes for all
/// memrefs. Contiguous bytes, e.g. {4, 1}, are split into the sizes that
/// another memref has, e.g. {2, 2}, {2, 1}. Returns false if the sizes differ
/// otherwise; some of `numberings` may then be split.
bool splitAlike(MutableArrayRef<Numbering> numberings);

} // namespace mlir::npu

#endif // LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_NUMBERING_H
