//===- Pack.h - Copy elements to and from storage order ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packs constants at compile time, and computes expected values of tests.
// Logical data is row-major. Storage is row-major over the coordinates of the
// map, with `storageExtent` positions each. If every digit depends on one dim
// only, the time is one table per dim and one addition per element.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_PACK_H
#define LAYOUT_ALGEBRA_PACK_H

#include "layout/Algebra/LayoutMap.h"

namespace mlir::layout {

/// Returns the number of elements that storage holds, padding included, or
/// std::nullopt if a size is dynamic or the product overflows int64.
std::optional<int64_t> getStorageSize(const LayoutMap &map, Sizes sizes);

/// Copies each element of `logical` to its positions in `storage`, one per
/// replica. `storage` must already contain the padding. Sizes are static;
/// `elementBytes` is any positive number. Returns false if the buffers do not
/// have the sizes of the map, or if positions overflow int64.
[[nodiscard]] bool pack(const LayoutMap &map, Sizes sizes,
                        unsigned elementBytes, llvm::ArrayRef<char> logical,
                        llvm::MutableArrayRef<char> storage);

/// Copies each element of `storage` to its row-major position in `logical`,
/// from the first replica. Padding is not read. Returns false if the buffers do
/// not have the sizes of the map, or if positions overflow int64.
[[nodiscard]] bool unpack(const LayoutMap &map, Sizes sizes,
                          unsigned elementBytes, llvm::ArrayRef<char> storage,
                          llvm::MutableArrayRef<char> logical);

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_PACK_H
