//===- Constants.h - The block of coefficients ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// NPU programs find all their constants in one block of system memory, whose
// address they are given. The globals of a module lie in it in their order:
//
//     memref.global "private" constant @w : memref<3xf32, #npu.memory<system>>
//     memref.global "private" constant @b : memref<2xf32, #npu.memory<system>>
//       @w at byte 0, @b at byte 64, 72 bytes in all
//
// Law: code and block are made from one computation of the offsets, which are
// multiples of 64 and of what the DMA engine asks for; between them are zeros.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_NPU_NPUTOEMITC_CONSTANTS_H
#define LAYOUT_TARGETS_NPU_NPUTOEMITC_CONSTANTS_H

#include "layout/Dialect/NPU/IR/NPU.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir {
namespace npu {

/// The chip that the module's local memory is of; null where it has none.
ChipAttr findChip(ModuleOp module);

/// The constants of a module.
struct ConstantBlock {
  struct Entry {
    memref::GlobalOp global;
    int64_t offset = 0, bytes = 0;
    ArrayRef<char> once; // repeated up to `bytes`
  };
  std::vector<Entry> entries;
  llvm::StringMap<int64_t> offsets;
  int64_t bytes = 0;

  bool isEmpty() const { return entries.empty(); }
  void write(raw_ostream &os) const;
};

/// Reports globals that are no constants with data.
FailureOr<ConstantBlock> getConstantBlock(ModuleOp module);

} // namespace npu
} // namespace mlir

#endif // LAYOUT_TARGETS_NPU_NPUTOEMITC_CONSTANTS_H
