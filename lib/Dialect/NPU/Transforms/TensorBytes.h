//===- TensorBytes.h - The bytes of a tensor in local memory ----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes the bytes that a tensor owns from its canonical map. Addresses are
// assigned and verified with the same result.
//
//   2x3x4x5 of f32, aligned to 128 bytes, four cores
//     rows       [0, 256) of every core
//     elements   [0, 80) and [128, 208) of cores 0, 1 and 2
//
// Views of a tensor may have elements in its padding, e.g. four-byte words of
// three batches in 4N mode. The tensor owns the elements of its views, too.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_TENSORBYTES_H
#define LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_TENSORBYTES_H

#include "layout/Dialect/NPU/IR/Storage.h"
#include "layout/Dialect/NPU/Utils/OwnedBytes.h"

namespace mlir::npu {

/// Returns the one range of bytes that the layout reserves in every core, from
/// the start byte of `storage` on: its rows, i.e. elements and the gaps between
/// them.
OwnedBytes getRows(const Storage &storage, ArrayRef<int64_t> shape);

/// Returns the byte ranges of the elements in each core, without gaps. If more
/// than 2^20 elements or ranges (kMaxPoints) would be enumerated, returns all
/// bytes that the layout reserves, like getRows.
OwnedBytes getElements(const Storage &storage, ArrayRef<int64_t> shape);

/// Returns the bytes that a tensor owns if it is allocated at `byte` of every
/// core. These are all bytes that its layout reserves or, with `exactBytes`,
/// those of its elements and of the elements of its npu.views, in whole
/// channels of a matrix. If the elements of one of these memrefs are too many
/// to enumerate, the tensor owns all reserved bytes. Fails, with an error at
/// the op, if the storage of a memref is invalid.
FailureOr<OwnedBytes> getOwnedBytes(AllocOp alloc, int64_t byte,
                                    bool exactBytes);

} // namespace mlir::npu

#endif // LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_TENSORBYTES_H
