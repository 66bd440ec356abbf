//===- Decision.h - Attributes that hold a decision -------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_DIALECT_LAYOUT_TRANSFORMS_DECISION_H
#define LAYOUT_LIB_DIALECT_LAYOUT_TRANSFORMS_DECISION_H

#include "llvm/ADT/StringRef.h"

namespace mlir {
namespace layout {

constexpr llvm::StringLiteral kAssignment = "layout.assignment";

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_DIALECT_LAYOUT_TRANSFORMS_DECISION_H
