//===- Storage.h - Device memory as memrefs ---------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The memory space of a memref on the device is the name of a storage space:
//
//   memref<1568xf32, "buffer">                       1568 elements
//   memref<10x6xvector<4xf32>, "image2d">            10 rows of 6 pixels
//   memref<3x10x6xvector<4xf16>, "image2d_array">    3 slices of such rows
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
  Type element; // of a buffer or an image channel

  bool isImage() const { return kind != StorageKind::Buffer; }
};

/// Attribute of a gpu.alloc: the constant memref.global with its data, in
/// memory order (four lanes a pixel, row by row). The memory is created by the
/// first run, shared by later runs and never freed.
constexpr llvm::StringLiteral kConstantAttrName = "layout.constant";

/// Return true for the element types of image channels, and of buffers. The
/// constants list these types in diagnostics.
bool isChannelType(Type type);
bool isBufferElementType(Type type);
constexpr llvm::StringLiteral kChannelTypes =
    "f32 (CL_FLOAT), f16 (CL_HALF_FLOAT), i8, i16 or i32 (CL_SIGNED_INT)";
constexpr llvm::StringLiteral kBufferElementTypes =
    "f16, f32, f64, i8, i16, i32 or i64";

/// Returns true if the memref is a buffer or an image of the device: its memory
/// space is a string. Work-group memory is neither.
bool isOnDevice(BaseMemRefType type);

/// Returns true if the memref is work-group memory: of rank 1, static size and
/// elements that are numbers other than f16, or vectors of such numbers, e.g.
/// memref<32xvector<4xf32>, #gpu.address_space<workgroup>>.
bool isGroupMemory(BaseMemRefType type);

/// Returns the kind and element type of a device memref. If its space, rank,
/// layout or element type is not supported, emits an error with the supported
/// alternatives and fails.
FailureOr<DeviceStorage>
getDeviceStorage(BaseMemRefType type,
                 llvm::function_ref<InFlightDiagnostic()> emitError);

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_OPENCL_GPUTOOPENCL_STORAGE_H
