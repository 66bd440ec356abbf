//===- LayoutOpInterface.h - The interface of op rules ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// `LayoutOpInterface`, through which ops of any dialect take part in the
// assignment of layouts, and the models of the upstream dialects.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_INTERFACES_LAYOUTOPINTERFACE_H
#define LAYOUT_INTERFACES_LAYOUTOPINTERFACE_H

#include "layout/Interfaces/OpLayoutRule.h"
#include "mlir/IR/OpDefinition.h"

#include "layout/Interfaces/LayoutOpInterface.h.inc"

namespace mlir {
class DialectRegistry;
namespace layout {

/// Rules of upstream ops, one function per dialect.
void registerLinalgLayoutRules(DialectRegistry &registry);
void registerTensorLayoutRules(DialectRegistry &registry);
void registerArithLayoutRules(DialectRegistry &registry);

/// All of them.
inline void registerLayoutRules(DialectRegistry &registry) {
  registerLinalgLayoutRules(registry);
  registerTensorLayoutRules(registry);
  registerArithLayoutRules(registry);
}

} // namespace layout
} // namespace mlir

#endif // LAYOUT_INTERFACES_LAYOUTOPINTERFACE_H
