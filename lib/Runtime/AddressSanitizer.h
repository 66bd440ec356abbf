//===- AddressSanitizer.h - Check accesses of compiled code -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_RUNTIME_ADDRESSSANITIZER_H
#define LAYOUT_LIB_RUNTIME_ADDRESSSANITIZER_H

#include "llvm/IR/PassManager.h"

namespace mlir::layout {

/// Returns true if this process has the runtime library of AddressSanitizer:
/// the program was built with it, or the library is preloaded. The accesses of
/// compiled programs are then checked too, and no freed memory is cached.
bool hasAddressSanitizer();

/// Adds passes that check every access of a module. Calls the runtime library
/// of AddressSanitizer, which ends the process at an invalid access.
void addAddressSanitizer(llvm::ModulePassManager &passes);

} // namespace mlir::layout

#endif // LAYOUT_LIB_RUNTIME_ADDRESSSANITIZER_H
