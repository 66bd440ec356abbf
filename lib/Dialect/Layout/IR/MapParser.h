//===- MapParser.h - The text of #layout.map --------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LIB_DIALECT_LAYOUT_IR_MAPPARSER_H
#define LIB_DIALECT_LAYOUT_IR_MAPPARSER_H

#include "layout/Algebra/LayoutMap.h"
#include "mlir/IR/OpImplementation.h"

namespace mlir {
namespace layout {

/// Reads `(dims) -> space(coordinates)` and the dims in `stored(..)` where that
/// follows, reporting faults where they stand.
FailureOr<LayoutMap> parseLayoutMap(AsmParser &parser, StoredDims &stored);

} // namespace layout
} // namespace mlir

#endif // LIB_DIALECT_LAYOUT_IR_MAPPARSER_H
