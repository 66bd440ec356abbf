//===- Storage.h - Memory of an OpenCL device as memrefs --------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The memory space of a memref on the device is the name of a storage space:
//
//   memref<1568xf32, "buffer">                       so many elements
//   memref<10x6xvector<4xf32>, "image2d">            10 rows of 6 pixels
//   memref<3x10x6xvector<4xf16>, "image2d_array">    3 slices of these
//   memref<3x10x6xvector<4xi8>, "image3d">
//
// A pixel of an image is CL_RGBA: four channels of CL_FLOAT (f32),
// CL_HALF_FLOAT (f16) or CL_SIGNED_INT8, 16, 32 (i8, i16, i32). A memref
// without memory space is host memory. Sizes may be dynamic.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_STORAGE_H
#define LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_STORAGE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::layout {

enum class StorageKind { Buffer, Image2D, Image2DArray, Image3D };

struct DeviceStorage {
  StorageKind kind;
  Type element; // of a buffer, or of one channel of a pixel

  bool isImage() const { return kind != StorageKind::Buffer; }
};

/// On a gpu.alloc: the constant memref.global whose data the memory holds, in
/// the order of memory (four lanes a pixel, row after row). It is made at the
/// first run, shared by all later ones and never freed.
constexpr llvm::StringLiteral kConstantAttrName = "layout.constant";

/// The elements of pixels and of buffers, and their list in diagnostics.
bool isChannelType(Type type);
bool isBufferElementType(Type type);
constexpr llvm::StringLiteral kChannelTypes =
    "f32 (CL_FLOAT), f16 (CL_HALF_FLOAT), i8, i16 or i32 (CL_SIGNED_INT)";
constexpr llvm::StringLiteral kBufferElementTypes =
    "f16, f32, f64, i8, i16, i32 or i64";

/// Whether the memref is memory of the device, of whatever kind.
bool isOnDevice(BaseMemRefType type);

/// Whether the items of a group share this memory: a line of numbers or short
/// vectors of them, of a known length, such as
/// memref<32xvector<4xf32>, #gpu.address_space<workgroup>>.
bool isGroupMemory(BaseMemRefType type);

/// What memory of the device it is; a type of an unknown space, rank, layout or
/// element is an error that names what would be right.
FailureOr<DeviceStorage>
getDeviceStorage(BaseMemRefType type,
                 llvm::function_ref<InFlightDiagnostic()> emitError);

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_STORAGE_H
