//===- Table.h - A layout on a shape as numbers -----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// JSON with all properties of a layout map on one shape:
//
//   {"layout": "..", "map": "..", "space": "buffer", "shape": [1, 17, 2, 3],
//    "element": "f32", "storage_extent": {"offset": 192},
//    "stored_shape": [1, 2, 2, 3, 16], "elements": 102, "replicas": [],
//    "padding": 90, "points": [[[0, 0, 0, 0], [0]], ..]}
//
// A point is an index and its storage point, one for each replica.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TOOLS_LAYOUT_TRANSLATE_TABLE_H
#define LAYOUT_TOOLS_LAYOUT_TRANSLATE_TABLE_H

#include "layout/Dialect/Layout/IR/Layout.h"

namespace mlir::layout {

/// Writes the properties of a layout on a static shape as JSON, with the
/// storage points of each index. The layout was resolved to `map` and verified.
/// If there are more than `maxPoints` points, the field "points" is null.
void writeTable(LayoutAttrInterface layout, const LayoutMap &map,
                ArrayRef<int64_t> shape, Type elementType, int64_t maxPoints,
                raw_ostream &os);

} // namespace mlir::layout

#endif // LAYOUT_TOOLS_LAYOUT_TRANSLATE_TABLE_H
