//===- SpreadImage.h - Images with zeros between pixels ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Matches an image with pixels at regular strides and zeros elsewhere.
// Importers emit such images as the input of transposed convolutions:
//
//   tensor.insert_slice with strides into zeros
//   tensor.expand_shape, tensor.pad of the new dims, tensor.collapse_shape
//
// Pads and slices of the borders, and splits of other dims, may follow.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_LINALG_SPREADIMAGE_H
#define LAYOUT_LIB_LINALG_SPREADIMAGE_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include <optional>

namespace mlir::layout {

/// One dim of an image with zeros between its pixels, the elements of the
/// original tensor: position `stride` * i + `offset` holds pixel i of `size`,
/// all others hold zero.
struct SpreadDim {
  int64_t stride = 1, offset = 0, size = 1;
};

/// An image that holds the elements of the tensor `pixels` at regular strides,
/// and zero elsewhere.
struct SpreadImage {
  Value pixels;
  /// The tensor.expand_shape ops that split dims of the image, in program
  /// order. The dims that they split have no zeros.
  SmallVector<tensor::ExpandShapeOp> splits;
  SmallVector<SpreadDim> dims;

  /// Returns true if dim `d` of the image, of extent `size`, has no zeros
  /// between or around the elements of `pixels`.
  bool isDense(unsigned d, int64_t size) const {
    return dims[d].stride == 1 && dims[d].offset == 0 && dims[d].size == size;
  }

  /// Emits the tensor `pixels` with its dims split like those of the image.
  Value makePixels(OpBuilder &b) const;
};

/// Returns the pixels of `image` and their positions, or std::nullopt if it is
/// not made by insertions, collapses, splits, pads and slices of the forms that
/// are matched.
std::optional<SpreadImage> findSpreadImage(Value image);

} // namespace mlir::layout

#endif // LAYOUT_LIB_LINALG_SPREADIMAGE_H
