//===- SpreadImage.h - Pixels with zeros between them -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An image that has pixels at every so many positions and zeros elsewhere, as
// importers write what a transposed convolution reads:
//
//   tensor.insert_slice with strides into zeros
//   tensor.expand_shape, tensor.pad of the new dims, tensor.collapse_shape
//
// with borders that are added or cut off, and other dims split, behind it.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_DIALECT_LAYOUT_TRANSFORMS_SPREADIMAGE_H
#define LAYOUT_LIB_DIALECT_LAYOUT_TRANSFORMS_SPREADIMAGE_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <optional>

namespace mlir {
namespace layout {

/// Position `stride` * i + `offset` has pixel i of `size`, the others zero.
struct SpreadDim {
  int64_t stride = 1, offset = 0, size = 1;
};

struct SpreadImage {
  Value pixels;
  /// Of dims in which the pixels are the image, innermost op first.
  SmallVector<tensor::ExpandShapeOp> splits;
  SmallVector<SpreadDim> dims;

  /// Whether dim `d` of the image, of extent `size`, is that of the pixels.
  bool isDense(unsigned d, int64_t size) const {
    return dims[d].stride == 1 && dims[d].offset == 0 && dims[d].size == size;
  }

  /// The pixels, split as the image is.
  Value makePixels(OpBuilder &b) const;
};

/// What `image` shows of which pixels; none where it is not of this form.
std::optional<SpreadImage> findSpreadImage(Value image);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_DIALECT_LAYOUT_TRANSFORMS_SPREADIMAGE_H
