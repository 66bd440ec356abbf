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
  /// The stride of each dim, in bytes.
  SmallVector<int64_t> strides;
  /// The sizes and strides of the dims that index the bytes within one element,
  /// e.g. {4, 1} for f32; several dims if an element of a view combines
  /// elements that are apart.
  SmallVector<std::pair<int64_t, int64_t>> inside;
};

/// Returns the numbers of the bytes of a memref, or std::nullopt if they are
/// not linear in its indices.
std::optional<Numbering> getNumbering(Value memref);

/// Makes the dims in `inside` of all numberings equal: a numbering with
/// contiguous bytes, e.g. {4, 1}, is split into the sizes of the others, e.g.
/// {2, 2}, {2, 1}. Returns false if the sizes differ otherwise.
bool splitAlike(MutableArrayRef<Numbering> numberings);

} // namespace mlir::npu

#endif // LAYOUT_LIB_TARGETS_NPU_NPUTOEMITC_NUMBERING_H
