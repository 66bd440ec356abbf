//===- MapParser.h - The text of #layout.map --------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_DIALECT_LAYOUT_IR_MAPPARSER_H
#define LAYOUT_LIB_DIALECT_LAYOUT_IR_MAPPARSER_H

#include "layout/Algebra/LayoutMap.h"
#include "mlir/IR/OpImplementation.h"

namespace mlir::layout {

/// Parses `(dims) -> space(coordinates)`, and the dims of an optional
/// `stored(..)` into `stored`. Emits an error at its position in the text and
/// fails if the text is invalid.
FailureOr<LayoutMap> parseLayoutMap(AsmParser &parser, StoredDims &stored);

} // namespace mlir::layout

#endif // LAYOUT_LIB_DIALECT_LAYOUT_IR_MAPPARSER_H
