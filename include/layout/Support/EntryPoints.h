//===- EntryPoints.h - Attributes of functions that hosts call --*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Attributes that lowerings set on a function, and that tools read to call the
// function.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_ENTRYPOINTS_H
#define LAYOUT_SUPPORT_ENTRYPOINTS_H

#include "llvm/ADT/StringRef.h"

namespace mlir::layout {

/// The attribute of a function with the types of the arrays that it takes and
/// returns, a function type over ranked tensors; see Runtime/Signature.h.
inline constexpr llvm::StringLiteral kSignatureAttrName = "layout.signature";

/// The unit attribute of a function that never writes to the memory of its
/// inputs, so that a caller needs no copies of them.
inline constexpr llvm::StringLiteral kReadOnlyInputsAttrName =
    "layout.read_only_inputs";

/// The attribute that makes upstream's func-to-LLVM lowering emit the wrapper
/// `_mlir_ciface_<name>`.
inline constexpr llvm::StringLiteral kCInterfaceAttrName =
    "llvm.emit_c_interface";

} // namespace mlir::layout

#endif // LAYOUT_SUPPORT_ENTRYPOINTS_H
