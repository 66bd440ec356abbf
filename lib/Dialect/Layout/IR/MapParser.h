//===- MapParser.h - The text of #layout.map --------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_DIALECT_LAYOUT_IR_MAPPARSER_H
#define LAYOUT_LIB_DIALECT_LAYOUT_IR_MAPPARSER_H

#include "layout/Algebra/Pieces.h"
#include "mlir/IR/OpImplementation.h"

namespace mlir::layout {

/// Parses `(dims) -> space(coordinates)`, and the dims of an optional
/// `stored(..)` into `stored`. Emits an error at its position in the text and
/// fails if the text is invalid.
FailureOr<LayoutMap> parseLayoutMap(AsmParser &parser, StoredDims &stored);

/// Parses `(name, ..)`, the names of the dims of a tensor.
ParseResult parseDimNames(AsmParser &parser,
                          SmallVectorImpl<std::string> &dims);

/// Parses `[sized, ..]`, values over dims of these names.
ParseResult parseDigits(AsmParser &parser, ArrayRef<std::string> dims,
                        std::vector<BoundedIndex> &digits);

/// Parses a map of which dims may have ranges: `(d0, d1 = 0 to 4) -> ..`.
FailureOr<Piece> parsePiece(AsmParser &parser);

} // namespace mlir::layout

#endif // LAYOUT_LIB_DIALECT_LAYOUT_IR_MAPPARSER_H
