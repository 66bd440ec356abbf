//===- Constants.h - The block of constants ---------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Lays out the constants of an NPU program in one block of system memory, whose
// address is an argument. The block has the globals of a module in their order:
//
//     memref.global "private" constant @w : memref<3xf32, #npu.memory<system>>
//     memref.global "private" constant @b : memref<2xf32, #npu.memory<system>>
//       @w at byte 0, @b at byte 64, 72 bytes in all
//
// Laws:
//  * code and block use the same offsets, which are multiples of 64 and of the
//    DMA alignment;
//  * the elements of a global are in the order of the layout of its type;
//  * bytes between globals are zero.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_NPU_NPUTOEMITC_CONSTANTS_H
#define LAYOUT_TARGETS_NPU_NPUTOEMITC_CONSTANTS_H

#include "layout/Dialect/NPU/IR/KernelApi.h"
#include "layout/Dialect/NPU/IR/Storage.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::npu {

/// Returns the chip in the layout of the first npu.alloc with a scattered
/// layout, or a null attribute if there is none.
ChipAttr findChip(ModuleOp module);

/// Returns the kernel API of the chip of the module: findChip, or that of the
/// module's layout.target if no tensor is in local memory.
KernelApi getKernelApi(ModuleOp module);

/// The memref.global constants of a module and their byte offsets in the block,
/// the one contiguous buffer of system memory that holds all of them.
struct ConstantBlock {
  struct Entry {
    memref::GlobalOp global;
    int64_t offset = 0, bytes = 0;
    ArrayRef<char> once; // all data, or a splat to repeat up to `bytes`
    Storage storage;
    SmallVector<int64_t> shape;
  };
  std::vector<Entry> entries;
  llvm::StringMap<int64_t> offsets;
  int64_t bytes = 0;

  bool isEmpty() const { return entries.empty(); }
  void write(raw_ostream &os) const;
};

/// Lays out all memref.global ops of the module in one block. Emits an error at
/// a global that has no known constant data of whole bytes, is not in system
/// memory, or is neither in row-major order nor in a `#layout.map`.
FailureOr<ConstantBlock> getConstantBlock(ModuleOp module);

} // namespace mlir::npu

#endif // LAYOUT_TARGETS_NPU_NPUTOEMITC_CONSTANTS_H
