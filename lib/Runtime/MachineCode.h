//===- MachineCode.h - From the LLVM dialect to an object file --*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Beside upstream's execution engine because that can be given no object that
// was kept, and compiles a wrapper of each function of the module.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_RUNTIME_MACHINECODE_H
#define LAYOUT_LIB_RUNTIME_MACHINECODE_H

#include "layout/Runtime/ObjectCache.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace mlir {
namespace layout {

/// Of the one symbol that an object defines: a function that takes an array of
/// pointers, the arguments of the function that it calls.
inline constexpr llvm::StringLiteral kEntryName = "layout_entry";

struct MachineCode {
  std::unique_ptr<llvm::MemoryBuffer> object;
  bool isFromCache = false;
};

/// Compiles `function` of `module`, all of whose arguments are pointers, with
/// what it calls.
llvm::Expected<MachineCode> compileToObject(ModuleOp module, StringRef function,
                                            llvm::TargetMachine &machine,
                                            unsigned optLevel,
                                            const ObjectCache &cache);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_RUNTIME_MACHINECODE_H
