//===- Storage.cpp - Device memory as memrefs -----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/OpenCL/GPUToOpenCL/Storage.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace mlir::layout;

bool layout::isOnDevice(BaseMemRefType type) {
  return isa_and_nonnull<StringAttr>(type.getMemorySpace());
}

bool layout::isGroupMemory(BaseMemRefType base) {
  auto type = dyn_cast<MemRefType>(base);
  auto space = dyn_cast_or_null<gpu::AddressSpaceAttr>(base.getMemorySpace());
  if (!type || !space || space.getValue() != gpu::AddressSpace::Workgroup ||
      type.getRank() != 1 || !type.hasStaticShape() ||
      !type.getLayout().isIdentity())
    return false;
  Type element = getElementTypeOrSelf(type.getElementType());
  return isBufferElementType(element) && !element.isF16();
}

bool layout::isChannelType(Type type) {
  return type.isF32() || type.isF16() || type.isSignlessInteger(8) ||
         type.isSignlessInteger(16) || type.isSignlessInteger(32);
}

bool layout::isBufferElementType(Type type) {
  return isChannelType(type) || type.isF64() || type.isSignlessInteger(64);
}

FailureOr<DeviceStorage>
layout::getDeviceStorage(BaseMemRefType base,
                         llvm::function_ref<InFlightDiagnostic()> emitError) {
  auto space = dyn_cast_or_null<StringAttr>(base.getMemorySpace());
  std::optional<StorageKind> kind;
  if (space)
    kind = llvm::StringSwitch<std::optional<StorageKind>>(space)
               .Case("buffer", StorageKind::Buffer)
               .Case("image2d", StorageKind::Image2D)
               .Case("image2d_array", StorageKind::Image2DArray)
               .Case("image3d", StorageKind::Image3D)
               .Default(std::nullopt);
  if (!kind)
    return emitError()
           << base
           << " is not memory of an OpenCL device: its memory space must be "
              "\"buffer\", \"image2d\", \"image2d_array\" or \"image3d\"";
  int64_t rank = *kind == StorageKind::Buffer    ? 1
                 : *kind == StorageKind::Image2D ? 2
                                                 : 3;
  auto type = dyn_cast<MemRefType>(base);
  if (!type || type.getRank() != rank || !type.getLayout().isIdentity())
    return emitError() << base << " must have rank " << rank
                       << " and no layout in memory space " << space;
  if (*kind == StorageKind::Buffer) {
    if (!isBufferElementType(type.getElementType()))
      return emitError()
             << base
             << " has an element type that OpenCL buffers do not support here: "
             << kBufferElementTypes;
    return DeviceStorage{*kind, type.getElementType()};
  }
  auto pixel = dyn_cast<VectorType>(type.getElementType());
  if (!pixel || pixel.getShape() != ArrayRef<int64_t>{4} || pixel.isScalable())
    return emitError() << base << " must have pixels of four channels, such as "
                       << "vector<4xf32>, in memory space " << space;
  if (!isChannelType(pixel.getElementType()))
    return emitError() << base << " has no channel type for "
                       << pixel.getElementType() << ": a CL_RGBA image holds "
                       << kChannelTypes << "; use a buffer for other types";
  return DeviceStorage{*kind, pixel.getElementType()};
}
