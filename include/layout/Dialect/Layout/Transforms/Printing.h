//===- Printing.h - Shared helpers of the printing passes -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Shared helpers of the printing passes: the target, the output file, and the
// text of tensors and conversions.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_TRANSFORMS_PRINTING_H
#define LAYOUT_DIALECT_LAYOUT_TRANSFORMS_PRINTING_H

#include "layout/Dialect/Layout/Transforms/CostTable.h"

namespace llvm::json {
class OStream;
} // namespace llvm::json

namespace mlir::layout {

/// Returns true if `value` is a ranked tensor.
bool isTensor(Value value);

/// Returns true if an operand or a result of `op` is a ranked tensor.
bool hasTensors(Operation *op);

/// Returns the shape and the element type without the layout: "1x64x?x7xf32".
std::string printShape(RankedTensorType type);

/// Returns the ops that need and make the layouts of a conversion, such as
/// "linalg.matmul needs 'to', linalg.generic makes 'from'".
std::string explainConversion(ConvertOp convert);

/// Prints the location, the layouts, the bytes, the cost and the reason of a
/// conversion as attributes of the current JSON object.
void printRow(llvm::json::OStream &json, const CostTable::Row &row);

/// Runs `print` with the file that the option 'output' of a pass on `root`
/// names; "-" is standard output. Emits an error and fails if the file cannot
/// be written.
LogicalResult printToFile(Operation *root, StringRef output,
                          function_ref<void(raw_ostream &)> print);

/// Runs `print` with the file `output`, as above, and with the target that
/// `getTarget` returns for `root` and the option `target`. Emits an error and
/// fails if there is no target or the file cannot be written.
LogicalResult
printToFile(Operation *root, StringRef target, StringRef output,
            function_ref<void(TargetInterface, raw_ostream &)> print);

} // namespace mlir::layout

#endif // LAYOUT_DIALECT_LAYOUT_TRANSFORMS_PRINTING_H
