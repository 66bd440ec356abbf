//===- NewerBytecode.h - Bytecode of newer versions of MLIR -----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Versions of MLIR after 22 write version 6 of the bytecode format, too, but
// some builtin attributes and types as numbers that MLIR 22 writes as text:
//
//   affine_map<(d0, d1) -> (d1, d0)>     23, 2 << 2 | 1, 1, 0
//   strided<[4, 1], offset: 3>           25, 3, 2, 4, 1
//   f8E4M3FN                             24
//
// With `getParserConfig` the modules of such versions are read if they have
// nothing else that MLIR 22 does not have.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_IR_NEWERBYTECODE_H
#define LAYOUT_DIALECT_LAYOUT_IR_NEWERBYTECODE_H

#include "mlir/IR/AsmState.h"

namespace llvm {
class MemoryBuffer;
} // namespace llvm

namespace mlir::layout {

/// Returns a configuration to parse a module in `context`, as text or as
/// bytecode of this or a newer version of MLIR.
ParserConfig getParserConfig(MLIRContext *context);

/// Returns true if `buffer` is bytecode that another version of MLIR wrote.
bool isForeignBytecode(const llvm::MemoryBuffer &buffer);

} // namespace mlir::layout

#endif // LAYOUT_DIALECT_LAYOUT_IR_NEWERBYTECODE_H
