//===- Attributes.td - All attributes of the dialect -------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_IR_ATTRIBUTES_TD
#define LAYOUT_DIALECT_LAYOUT_IR_ATTRIBUTES_TD

include "layout/Dialect/Layout/IR/BundleAttr.td"
include "layout/Dialect/Layout/IR/LayoutAttributes.td"
include "layout/Dialect/Layout/IR/TargetAttrs.td"

#endif // LAYOUT_DIALECT_LAYOUT_IR_ATTRIBUTES_TD
