//===- TensorBytes.h - The bytes of a tensor in local memory ----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a tensor owns, asked of its canonical map: the one answer that addresses
// are assigned by and that they are verified with.
//
//   2x3x4x5 of f32, aligned to 128 bytes, four cores
//     rows       [0, 256) of every core
//     elements   [0, 80) and [128, 208) of cores 0, 1 and 2
//
// Views of a tensor may have elements where it has padding, as words of four
// bytes have where there are three batches in 4N: what one of them is written
// through is the tensor's, too.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_TENSORBYTES_H
#define LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_TENSORBYTES_H

#include "layout/Dialect/NPU/IR/Storage.h"
#include "layout/Dialect/NPU/Utils/OwnedBytes.h"

namespace mlir {
namespace npu {

/// All that the layout reserves; the byte of `storage` is where it starts.
OwnedBytes getRows(const Storage &storage, ArrayRef<int64_t> shape);

/// The bytes of every element; all rows where there are too many to look at.
OwnedBytes getElements(const Storage &storage, ArrayRef<int64_t> shape);

/// Of a tensor that was allocated, at `byte` of every core: all rows, or with
/// `exactBytes` the elements of it and of its views.
FailureOr<OwnedBytes> getOwnedBytes(AllocOp alloc, int64_t byte,
                                    bool exactBytes);

} // namespace npu
} // namespace mlir

#endif // LAYOUT_LIB_DIALECT_NPU_TRANSFORMS_TENSORBYTES_H
