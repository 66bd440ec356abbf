//===- Common.h - What the layout attributes share --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_DIALECT_LAYOUT_IR_ATTRIBUTES_COMMON_H
#define LAYOUT_LIB_DIALECT_LAYOUT_IR_ATTRIBUTES_COMMON_H

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"

namespace mlir {
namespace layout {

using EmitErrorFn = function_ref<InFlightDiagnostic()>;

/// Tensors of more dims have no layout: their maps could not be written.
LogicalResult checkMostDims(Attribute layout, ArrayRef<int64_t> shape,
                            EmitErrorFn emitError);

/// The same, and that the tensor has the rank of the notation.
LogicalResult checkRank(Attribute layout, unsigned rank,
                        ArrayRef<int64_t> shape, EmitErrorFn emitError);

/// `aligned`, `compact`, .. and `none`, `n4`, ..
StringRef stringify(NpuMode mode);
StringRef stringify(NpuPack pack);

/// Where a character of a string literal stands in the source, in which escapes
/// take more than one. `literal` is at the opening quote.
SMLoc getLocInString(SMLoc literal, size_t column);

/// Reads an integer that is at least `least`; `what` names it in the message.
ParseResult parseAtLeast(AsmParser &parser, int64_t &value, int64_t least,
                         StringRef what);

/// `[x = 2, y = 4]`: a mesh that splits nothing.
FailureOr<Mesh> parseMeshAxes(AsmParser &parser);
void printMeshAxes(AsmPrinter &printer, const Mesh &mesh);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_DIALECT_LAYOUT_IR_ATTRIBUTES_COMMON_H
