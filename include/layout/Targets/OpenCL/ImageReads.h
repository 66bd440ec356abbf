//===- ImageReads.h - What the kernels of a device read ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel has one work item for every pixel of an image that it writes, or for
// every element of a buffer. How often an item reads follows from where the
// *lane loop*, the one over the lanes of that pixel, stands in an operand:
//
//   operand                                   reads for four results
//   image, its lanes are the lane loop        one pixel
//   image, its lanes are summed over          one pixel for four summands
//   image or buffer that lacks the lane loop  one pixel or element
//   all others                                one for each result
//
//   1x1 convolution, 64 to 64 channels, all images: per pixel of the result 64
//   pixels of the filter and 16 of the data; from and to buffers 64 of each
//   for every element
//
// Laws: reads outside of summations that an operand does not take part in are
// counted once; a read of an image is all of a pixel.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_IMAGEREADS_H
#define LAYOUT_TARGETS_OPENCL_IMAGEREADS_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Support/Cost.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/AffineMap.h"

namespace mlir {
namespace layout {

/// Bytes that kernels read, each as often as it is read.
struct ImageReads {
  int64_t imageBytes = 0, bufferBytes = 0;

  void add(const ImageReads &other);
  Cost getCost(OpenClTargetAttr target) const;
};

class KernelLoops {
public:
  /// The loops of a kernel that writes `result`, which they index by `map`.
  KernelLoops(ArrayRef<int64_t> trips, ArrayRef<utils::IteratorType> iterators,
              AffineMap map, const LayoutMap &result);

  ImageReads count(AffineMap map, const LayoutMap &operand,
                   int64_t elementBytes) const;

  /// Iterations, whole pixels of lanes.
  Cost getPoints() const;

private:
  SmallVector<int64_t> trips;
  SmallVector<utils::IteratorType> iterators;
  std::optional<unsigned> lane;
};

/// What the kernel of a conversion reads; both maps lay out tensors of `sizes`.
ImageReads countConversionReads(const LayoutMap &from, const LayoutMap &to,
                                ArrayRef<int64_t> sizes, int64_t elementBytes,
                                MLIRContext *context);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_TARGETS_OPENCL_IMAGEREADS_H
