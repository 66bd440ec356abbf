//===- TensorStorage.h - Where tensors live on a device ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor becomes a memref whose memory space is the name of its storage
// space, followed by its dynamic sizes:
//
//   tensor<1x5x3x6xf32, in_out_channel>   memref<5x6xvector<4xf32>, "image2d">
//   tensor<2x7xi8>                        memref<14xi8, "buffer">
//   tensor<?x7xi8>                        memref<?xi8, "buffer">, index
//   tensor<?x5x3x6xf32, in_out_channel>   memref<?x6xvector<4xf32>, "image2d">,
//                                         index
//
// A pixel is a vector of four lanes; images are indexed slowest coordinate
// first, [y, x] or [slice, y, x]. All linear memory is one line of elements,
// addressed by the coordinate of the map. Elements of one bit take a byte,
// an index eight. Whether an image is within the limits of the device, the
// runtime checks when it is made.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_TENSORSTORAGE_H
#define LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_TENSORSTORAGE_H

#include "layout/Support/Refusal.h"
#include "layout/Targets/OpenCL/ImageLayouts.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir {
namespace layout {

struct TensorStorage {
  LayoutMap map;
  MemRefType type;

  bool isImage() const { return isa<VectorType>(type.getElementType()); }
  /// What is loaded and stored for one element.
  Type getStoredElement() const {
    return getElementTypeOrSelf(type.getElementType());
  }
};

/// The storage of a tensor, where a device has one.
FailureOr<TensorStorage> getTensorStorage(RankedTensorType type,
                                          Refusal refuse = {});

/// Memory for a tensor; `sizes` are its logical ones. Storage without elements
/// gets room for one: devices have no empty objects.
Value allocateOnDevice(OpBuilder &b, Location loc, const TensorStorage &storage,
                       ArrayRef<OpFoldResult> sizes);

/// Tensors to device memory and dynamic sizes.
void populateDeviceConversion(TypeConverter &converter);

/// The value of a converted tensor on the host side, and back; undone when
/// structural types are converted.
SmallVector<Value> castToDevice(OpBuilder &b, Location loc, Value tensor);
Value castFromDevice(OpBuilder &b, Location loc, RankedTensorType type,
                     Value memory, ArrayRef<OpFoldResult> sizes);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_OPENCL_LAYOUTTOGPU_TENSORSTORAGE_H
