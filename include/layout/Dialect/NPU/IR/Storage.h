//===- Storage.h - Memrefs in the memories of an NPU ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Represents the positions of the elements of a memref as a canonical map: in
// the space `npu` for local memory, in the space `buffer` for linear memory.
// All addresses of ops, transfers and checks are computed from it.
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

namespace mlir::npu {

using EmitErrorFn = function_ref<InFlightDiagnostic()>;

/// Returns the memory of a memref, or a null attribute if its memory space is
/// not of the dialect.
MemoryAttr getMemory(MemRefType type);
bool isLocal(MemRefType type);

/// The storage of a memref with a static shape and a valid layout (rule L1 of
/// docs/spec.md): its map, the bytes of an element and, in local memory, the
/// layout and the chip.
struct Storage {
  layout::LayoutMap map;
  int64_t elementBytes = 0;
  /// The layout and the chip of a tensor in local memory. Both are null
  /// attributes if it is in another memory.
  layout::NpuScatterAttr scatter;
  ChipAttr target;

  bool isLocal() const { return static_cast<bool>(target); }
};

/// Returns the storage of `type`. If it has none, emits the reason by
/// `emitError` and fails.
FailureOr<Storage> getStorage(MemRefType type, EmitErrorFn emitError);

/// Returns the storage of a tensor of `type` that is allocated at `byte` of
/// every core: the offsets of the map include `byte`. Emits an error and fails
/// if `type` has no storage, or if the layout does not allow this byte, e.g.
/// because of its alignment. `byte` has no effect on linear memory.
FailureOr<Storage> getStorageAt(MemRefType type, int64_t byte,
                                EmitErrorFn emitError);

/// Returns the core of channel 0 of a tensor in local memory.
int64_t getStartCore(const Storage &storage);
/// Returns the byte after the last one that a tensor in local memory reserves
/// in every core. It counts from the byte of its address on, or from byte 0 if
/// `storage` is from getStorageAt.
int64_t getReservedBytes(const Storage &storage, ArrayRef<int64_t> shape);

/// Returns the shape of a matrix N x M in channels of w columns, in local
/// memory, with M rounded up to a multiple of w if M exceeds w. A matmul writes
/// whole channels. Returns the shape unchanged for other layouts of local
/// memory.
SmallVector<int64_t> getWholeChannels(const Storage &storage,
                                      ArrayRef<int64_t> shape);

/// Returns the alignment in bytes that the layout of a tensor in local memory
/// requires of addresses.
int64_t getAlignment(const Storage &storage);

/// Returns true if two maps into the same space provably place every index
/// below `sizes` at the same point. Does not compare extents.
bool haveSamePoints(const layout::LayoutMap &a, const layout::LayoutMap &b,
                    layout::Sizes sizes);

/// Returns the memory that `memref` is a view of by `npu.subview` and
/// `npu.view`: an `npu.alloc`, a block argument or a result of another dialect.
Value getViewedMemory(Value memref);

} // namespace mlir::npu

#endif // LAYOUT_DIALECT_NPU_IR_STORAGE_H
