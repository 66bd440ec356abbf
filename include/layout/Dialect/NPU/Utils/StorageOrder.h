//===- StorageOrder.h - Linear memory in the order of local memory -*- C++ -*-//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Orders a tensor in linear memory as a layout of local memory has it, so that
// a DMA transfer between both moves long rows. The channel, which goes from
// core to core, is slowest; the other digits follow by falling local stride:
//
//     weights 64x32x3x3 (O, I, H, W) in 2IC-mode, compact:
//       buffer(O, I floordiv 2, H, W, I mod 2), one row of 288 elements per
//       core instead of 288 rows of one element
//
// Law: the map is injective, whatever the layout.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_UTILS_STORAGEORDER_H
#define LAYOUT_DIALECT_NPU_UTILS_STORAGEORDER_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Support/FailureReason.h"

namespace mlir::npu {

/// Returns a map to linear memory that orders the elements of a tensor of
/// `sizes` as the map `local` to local memory does. Returns std::nullopt with a
/// reason if a coordinate of `local` is not a sum of functions of single dims,
/// several dims go from core to core, or a size is 0 or exceeds kMaxTableSize.
/// Dims whose size is not a multiple of a digit have padding.
std::optional<layout::LayoutMap> getStorageOrder(const layout::LayoutMap &local,
                                                 layout::Sizes sizes,
                                                 int64_t npus,
                                                 layout::FailureReason error);

} // namespace mlir::npu

#endif // LAYOUT_DIALECT_NPU_UTILS_STORAGEORDER_H
