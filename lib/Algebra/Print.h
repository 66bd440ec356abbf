//===- Print.h - The canonical text of a map --------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_ALGEBRA_PRINT_H
#define LAYOUT_LIB_ALGEBRA_PRINT_H

#include "layout/Algebra/LayoutMap.h"

namespace mlir {
namespace layout {

/// Makes the text that LayoutMap::print gives; a map remembers it.
std::string makeText(const LayoutMap &map);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_ALGEBRA_PRINT_H
