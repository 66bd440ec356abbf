//===- Print.h - The canonical text of a map --------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   makeText(NCHW16c)                      (d0, d1, d2, d3) ->
//                                          buffer(d0, d1 floordiv 16, d2, d3,
//                                                 d1 mod 16)
//   makeText(NCHW16c, d1 floordiv 16)      d1 floordiv 16
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_PRINT_H
#define LAYOUT_ALGEBRA_PRINT_H

#include "layout/Algebra/LayoutMap.h"

namespace mlir::layout {

/// Returns the canonical text of a map, e.g. `(d0, d1) -> buffer(d1, d0)`.
/// LayoutMap::str returns the same text, but caches it.
std::string makeText(const LayoutMap &map);

/// Returns the text of a value over the dims of `map`, e.g. `d1 floordiv 16`.
/// The extent is printed if parsing the text would give another one.
std::string makeText(const LayoutMap &map, const BoundedIndex &value);

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_PRINT_H
