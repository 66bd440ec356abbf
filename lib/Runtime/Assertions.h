//===- Assertions.h - Assertions of compiled code ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A failed cf.assert prints its message with `puts` and calls `abort`. Compiled
// modules call the functions below instead, so that only the run fails and the
// process continues.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_RUNTIME_ASSERTIONS_H
#define LAYOUT_LIB_RUNTIME_ASSERTIONS_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::layout {

int putsOfModule(const char *text);
[[noreturn]] void abortOfModule();

/// Calls `call`, compiled code without C++ objects to destroy. Returns true if
/// it returned, and false if it called `abort`, which is linked to
/// abortOfModule, on this thread.
bool callGuarded(llvm::function_ref<void()> call);

/// Returns the last text that compiled code printed on this thread by `puts`,
/// which is linked to putsOfModule. It is valid until the next text.
llvm::StringRef getLastMessage();

} // namespace mlir::layout

#endif // LAYOUT_LIB_RUNTIME_ASSERTIONS_H
