//===- LayoutOpInterface.h - Interface of op rules --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `LayoutOpInterface`, which gives ops of any dialect a layout rule, and its
// external models for upstream dialects.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_INTERFACES_LAYOUTOPINTERFACE_H
#define LAYOUT_INTERFACES_LAYOUTOPINTERFACE_H

#include "layout/Interfaces/OpLayoutRule.h"
#include "mlir/IR/OpDefinition.h"

#include "layout/Interfaces/LayoutOpInterface.h.inc"

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::layout {

/// Registers the layout rules of upstream ops, one function per dialect.
void registerLinalgLayoutRules(DialectRegistry &registry);
void registerTensorLayoutRules(DialectRegistry &registry);
void registerArithLayoutRules(DialectRegistry &registry);

/// Registers the layout rules of the ops of all upstream dialects.
inline void registerLayoutRules(DialectRegistry &registry) {
  registerLinalgLayoutRules(registry);
  registerTensorLayoutRules(registry);
  registerArithLayoutRules(registry);
}

} // namespace mlir::layout

#endif // LAYOUT_INTERFACES_LAYOUTOPINTERFACE_H
