//===- Notation.h - Notations of other projects -----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Types that the importers and exporters of this directory share: the
// notations, and the callback for errors in texts.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_INTEROP_NOTATION_H
#define LAYOUT_INTEROP_NOTATION_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include <optional>

namespace mlir::layout {

enum class Notation { Xla, OneDnn, CuTe, Triton };

/// Returns the name of a notation: `xla`, `onednn`, `cute` or `triton`.
llvm::StringRef getName(Notation notation);
std::optional<Notation> getNotation(llvm::StringRef name);

/// A callback to which a function reports an error at a 0-based column of a
/// text, before it fails.
using TextError =
    llvm::function_ref<void(size_t column, const llvm::Twine &message)>;

} // namespace mlir::layout

#endif // LAYOUT_INTEROP_NOTATION_H
