//===- MachineCode.h - From the LLVM dialect to object files ----*- C++ -*-===//
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

namespace llvm::orc {
class JITTargetMachineBuilder;
} // namespace llvm::orc

namespace mlir {
namespace layout {

/// Of the function that takes an array of pointers, the arguments of the
/// function that it calls; no other symbol is of use outside.
inline constexpr llvm::StringLiteral kEntryName = "layout_entry";

struct MachineCode {
  std::unique_ptr<llvm::MemoryBuffer> archive; // of objects
  bool isFromCache = false;
};

/// Compiles `function` of `module`, all of whose arguments are pointers, with
/// what it calls: long modules in several parts, each on a thread of its own.
/// They are the same ones however many processors there are.
llvm::Expected<MachineCode>
compileToArchive(ModuleOp module, StringRef function,
                 const llvm::orc::JITTargetMachineBuilder &machine,
                 unsigned optLevel, const ObjectCache &cache);

/// The objects of an archive.
llvm::Expected<SmallVector<std::unique_ptr<llvm::MemoryBuffer>>>
readArchive(StringRef archive);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_RUNTIME_MACHINECODE_H
