//===- Pack.h - Elements between logical and stored order -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packing of constants at compile time, and the numbers behind tests. Logical
// data is row-major; storage is row-major over the coordinates of the map,
// `storageExtent` positions each. Time: one table per dim and one addition per
// element, where every digit speaks of one dim.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_PACK_H
#define LAYOUT_ALGEBRA_PACK_H

#include "layout/Algebra/LayoutMap.h"

namespace mlir {
namespace layout {

/// The number of elements that storage holds, padding included; nothing if a
/// size is dynamic or the product leaves int64.
std::optional<int64_t> getStorageSize(const LayoutMap &map, Sizes sizes);

/// Copies each element to its places in `storage`, which holds the padding
/// already. Sizes are static; `elementBytes` is any positive number. False if
/// the buffers do not have the sizes that the map asks for.
[[nodiscard]] bool pack(const LayoutMap &map, Sizes sizes,
                        unsigned elementBytes, llvm::ArrayRef<char> logical,
                        llvm::MutableArrayRef<char> storage);

/// The inverse: the first replica is read, padding is not.
[[nodiscard]] bool unpack(const LayoutMap &map, Sizes sizes,
                          unsigned elementBytes, llvm::ArrayRef<char> storage,
                          llvm::MutableArrayRef<char> logical);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ALGEBRA_PACK_H
