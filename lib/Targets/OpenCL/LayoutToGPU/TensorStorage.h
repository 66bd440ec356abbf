//===- TensorStorage.h - Device storage of tensors --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor is converted to a memref, whose memory space is the name of its
// storage space, followed by its dynamic sizes:
//
//   tensor<1x5x3x6xf32, in_out_channel>   memref<5x6xvector<4xf32>, "image2d">
//   tensor<2x7xi8>                        memref<14xi8, "buffer">
//   tensor<?x7xi8>                        memref<?xi8, "buffer">, index
//   tensor<?x5x3x6xf32, in_out_channel>   memref<?x6xvector<4xf32>, "image2d">,
//                                         index
//
// A pixel is a vector of four lanes. Images are indexed slowest coordinate
// first, [y, x] or [slice, y, x]. A buffer is one-dimensional and indexed by
// the coordinate of the map. An i1 has one byte, an index eight. The runtime
// checks the limits of the device when it creates an image.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_TENSORSTORAGE_H
#define LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_TENSORSTORAGE_H

#include "layout/Support/FailureReason.h"
#include "layout/Targets/OpenCL/ImageLayouts.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::layout {

struct TensorStorage {
  LayoutMap map;
  MemRefType type;

  bool isImage() const { return isa<VectorType>(type.getElementType()); }
  /// Returns the scalar type of an element in device memory, e.g. i8 for i1.
  Type getStoredElement() const {
    return getElementTypeOrSelf(type.getElementType());
  }
};

/// Returns the map of a tensor and the memref type of its device memory. Calls
/// `refuse` and fails if the device cannot store the tensor.
FailureOr<TensorStorage> getTensorStorage(RankedTensorType type,
                                          FailureReason refuse = {});

/// Emits a gpu.alloc for a tensor of logical `sizes`. A coordinate of extent 0
/// gets extent 1, because devices have no empty objects.
Value allocateOnDevice(OpBuilder &b, Location loc, const TensorStorage &storage,
                       ArrayRef<OpFoldResult> sizes);

/// Adds the type conversion of a tensor to the memref of its device memory,
/// followed by an index per dynamic size.
void populateDeviceConversion(TypeConverter &converter);

/// Cast between a tensor and its device memory, which is followed by its
/// dynamic sizes. `sizes` has an entry for each dim; those of static dims are
/// ignored. The unrealized casts cancel when the types of functions and control
/// flow are converted.
SmallVector<Value> castToDevice(OpBuilder &b, Location loc, Value tensor);
Value castFromDevice(OpBuilder &b, Location loc, RankedTensorType type,
                     Value memory, ArrayRef<OpFoldResult> sizes);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_TENSORSTORAGE_H
