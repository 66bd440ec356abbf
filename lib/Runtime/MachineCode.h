//===- MachineCode.h - From the LLVM dialect to object files ----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Replaces upstream's execution engine, which cannot load cached objects and
// compiles a wrapper of every function of the module.
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

namespace mlir::layout {

/// The name of the entry function, which takes an array of pointers to the
/// arguments of the compiled function. All other symbols are internal, except
/// the array of measured kernel times.
inline constexpr llvm::StringLiteral kEntryName = "layout_entry";

struct MachineCode {
  std::unique_ptr<llvm::MemoryBuffer> archive; // of object files
  bool isFromCache = false;
};

/// Compiles `function` of `module`, whose arguments must all be pointers, and
/// its callees, or gets their machine code from `cache`, which `isFromCache` of
/// the result says. Long modules are split into parts, which are compiled in
/// parallel; functions are inlined only within a part.
llvm::Expected<MachineCode>
compileToArchive(ModuleOp module, StringRef function,
                 const llvm::orc::JITTargetMachineBuilder &machine,
                 unsigned optLevel, const ObjectCache &cache);

/// Returns copies of the object files in an archive, or an error if it is not a
/// valid archive.
llvm::Expected<SmallVector<std::unique_ptr<llvm::MemoryBuffer>>>
readArchive(StringRef archive);

} // namespace mlir::layout

#endif // LAYOUT_LIB_RUNTIME_MACHINECODE_H
