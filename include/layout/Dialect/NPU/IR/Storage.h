//===- Storage.h - Memrefs in the memories of an NPU ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where the elements of a memref lie, as a canonical map: of the space `npu`
// for local memory, of the space `buffer` for linear ones. Every address that
// an op, a transfer or a check speaks of is computed from it.
//
//   memref<2x3x4x5xf32, #layout.npu_scatter<aligned, start = 2, ..>,
//          #npu.memory<local>>
//     map        (d0, d1, d2, d3) -> npu(npu = (d1 + 2) mod 4, ..)
//     start 2, byte 0, reserved 512
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_NPU_IR_STORAGE_H
#define LAYOUT_DIALECT_NPU_IR_STORAGE_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Dialect/NPU/IR/NPU.h"

namespace mlir {
namespace npu {

using EmitErrorFn = function_ref<InFlightDiagnostic()>;

/// The memory of a memref; null where its memory space is none of the dialect.
MemoryAttr getMemory(MemRefType type);
bool isLocal(MemRefType type);

/// A memref of static shape whose layout is valid (L1).
struct Storage {
  layout::LayoutMap map;
  int64_t elementBytes = 0;
  /// Of local memory only.
  layout::NpuScatterAttr scatter;
  ChipAttr target;

  bool isLocal() const { return static_cast<bool>(target); }
};

/// Reports what is wrong with the type through `emitError`.
FailureOr<Storage> getStorage(MemRefType type, EmitErrorFn emitError);

/// The same with the first element `byte` bytes further in its core, for
/// addresses that are known: the layout must apply there, too.
FailureOr<Storage> getStorageAt(MemRefType type, int64_t byte,
                                EmitErrorFn emitError);

/// Of a tensor in local memory: the core of channel 0, ..
int64_t getStartCore(const Storage &storage);
/// .. and the bytes that every core reserves for it from the byte of its
/// address on, the offset of the layout included.
int64_t getReservedBytes(const Storage &storage, ArrayRef<int64_t> shape);

/// By how many bytes addresses at which the layout applies lie apart.
int64_t getAlignment(const Storage &storage);

/// Whether two maps of one space have every index of the box at the same point;
/// extents are not compared. False where that is not shown.
bool haveSamePoints(const layout::LayoutMap &a, const layout::LayoutMap &b,
                    layout::Sizes sizes);

/// The `npu.alloc`, block argument or op of another dialect that a view of
/// local memory is a view of.
Value getViewedMemory(Value memref);

} // namespace npu
} // namespace mlir

#endif // LAYOUT_DIALECT_NPU_IR_STORAGE_H
