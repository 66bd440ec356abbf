//===- ConstantBytes.h - The memory of a dense constant ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A constant is an attribute that holds its elements, or that names a resource
// of the context that holds them. The bytes are accessed without a copy.
//
//   dense<[1, 2]> : tensor<2xi32>           8 bytes
//   dense<7> : tensor<100xi32>              4 bytes, of one element
//   dense_resource<w> : tensor<2xi32>       the bytes of w
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_SUPPORT_CONSTANTBYTES_H
#define LAYOUT_SUPPORT_CONSTANTBYTES_H

#include "layout/Support/ConstantMemory.h"
#include "layout/Support/HugePages.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include <optional>

namespace mlir::layout {

/// Returns the bytes of all elements in row-major order, or the bytes of one
/// element if `value` is a splat. Returns std::nullopt for other attributes,
/// and for a resource that was elided in printing. The size of a resource may
/// differ from the size of its type.
inline std::optional<ArrayRef<char>> getConstantBytes(Attribute value) {
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(value))
    return dense.getRawData();
  auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(value);
  AsmResourceBlob *blob =
      resource ? resource.getRawHandle().getBlob() : nullptr;
  return blob ? std::make_optional(blob->getData()) : std::nullopt;
}

/// Allocates a mutable resource blob of `bytes` uninitialized bytes for the
/// elements of a computed constant. The memory is from huge pages that
/// constants share, or from the heap if `alignment` is above the size of a huge
/// page.
inline AsmResourceBlob allocateConstant(size_t bytes, size_t alignment) {
  if (alignment > kHugePageBytes)
    return HeapAsmResourceBlob::allocate(bytes, alignment);
  std::shared_ptr<char> block = allocateConstantBytes(bytes, alignment);
  ArrayRef<char> data(block.get(), bytes);
  auto release = [block = std::move(block)](void *, size_t, size_t) mutable {
    block.reset();
  };
  return AsmResourceBlob(data, alignment, std::move(release),
                         /*dataIsMutable=*/true);
}

} // namespace mlir::layout

#endif // LAYOUT_SUPPORT_CONSTANTBYTES_H
