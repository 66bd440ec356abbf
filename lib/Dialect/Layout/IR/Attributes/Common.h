//===- Common.h - Shared helpers of layout attributes -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_DIALECT_LAYOUT_IR_ATTRIBUTES_COMMON_H
#define LAYOUT_LIB_DIALECT_LAYOUT_IR_ATTRIBUTES_COMMON_H

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"

namespace mlir::layout {

using EmitErrorFn = function_ref<InFlightDiagnostic()>;

/// Checks that the tensor has at most 64 dims, the most that the parser of
/// `#layout.map` reads. Otherwise fails and, if `emitError` is given, reports
/// an error.
LogicalResult checkMostDims(Attribute layout, ArrayRef<int64_t> shape,
                            EmitErrorFn emitError);

/// Checks that the tensor has `rank` dims, as many as the layout, and at most
/// 64. Otherwise fails and, if `emitError` is given, reports an error.
LogicalResult checkRank(Attribute layout, unsigned rank,
                        ArrayRef<int64_t> shape, EmitErrorFn emitError);

/// Returns the keyword of an enumerator: `aligned`, `compact`, .. for modes and
/// `none`, `n4`, .. for packings.
StringRef stringify(NpuMode mode);
StringRef stringify(NpuPack pack);

/// Returns the source location of the character at `column` of a string
/// literal. Columns count from 0 in the string, not in the text, in which an
/// escape has several characters. `literal` is at the opening quote.
SMLoc getLocInString(SMLoc literal, size_t column);

/// Parses an integer that is at least `least`. Otherwise emits an error, which
/// names the integer as `what`, and fails.
ParseResult parseAtLeast(AsmParser &parser, int64_t &value, int64_t least,
                         StringRef what);

/// Parses mesh axes such as `[x = 2, y = 4]` into a mesh that splits no dim.
FailureOr<Mesh> parseMeshAxes(AsmParser &parser);
void printMeshAxes(AsmPrinter &printer, const Mesh &mesh);

} // namespace mlir::layout

#endif // LAYOUT_LIB_DIALECT_LAYOUT_IR_ATTRIBUTES_COMMON_H
