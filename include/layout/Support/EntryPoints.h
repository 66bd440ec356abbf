//===- EntryPoints.h - Attributes of functions that hosts call --*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What lowerings put on a function, and what reads it from there to call the
// function.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_ENTRYPOINTS_H
#define LAYOUT_SUPPORT_ENTRYPOINTS_H

#include "llvm/ADT/StringRef.h"

namespace mlir {
namespace layout {

/// The types of the arrays that the function takes and returns; see
/// Runtime/Signature.h.
inline constexpr llvm::StringLiteral kSignatureAttrName = "layout.signature";

/// The attribute of upstream's func-to-LLVM lowering that asks for the wrapper
/// `_mlir_ciface_<name>`.
inline constexpr llvm::StringLiteral kCInterfaceAttrName =
    "llvm.emit_c_interface";

} // namespace layout
} // namespace mlir

#endif // LAYOUT_SUPPORT_ENTRYPOINTS_H
