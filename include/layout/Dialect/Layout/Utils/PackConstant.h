//===- PackConstant.h - Constants packed at compile time --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Packs the elements of a constant with a layout, which are logical and
// row-major, into a constant of the physical type. Padding gets the value that
// the type states, or zero, so that equal inputs give equal bytes.
//
//   dense<[1, 2, 3]> : tensor<3xf32, blocked<"A" to "A2a">>
//   dense<[[1, 2], [3, 0]]> : tensor<2x2xf32>
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_UTILS_PACKCONSTANT_H
#define LAYOUT_DIALECT_LAYOUT_UTILS_PACKCONSTANT_H

#include "layout/Support/FailureReason.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::layout {

/// Returns the constant of the physical type of `type` that holds the logical
/// elements of `value`, or failure with a reason if it cannot be packed.
FailureOr<ElementsAttr> packConstant(ElementsAttr value, RankedTensorType type,
                                     FailureReason refuse = {});

} // namespace mlir::layout

#endif // LAYOUT_DIALECT_LAYOUT_UTILS_PACKCONSTANT_H
