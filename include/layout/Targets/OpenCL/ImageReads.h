//===- ImageReads.h - What the kernels of a device read ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel has one work item for every pixel of an image that it writes, or for
// every element of a buffer. What an item reads is counted by KernelLoops.h, by
// which the kernels are emitted:
//
//   operand                                   reads for four results
//   image, its lanes are those of the result  one pixel
//   image or buffer that lacks their loop     one pixel or element
//   all others                                one for each address
//
// and where the lanes of an operand are summed over, one pixel serves four
// summands.
//
//   1x1 convolution, 64 to 64 channels, all images: per pixel of the result 64
//   pixels of the filter and 16 of the data; from and to buffers 64 of each
//   for every element
//
// Laws: what is counted is what convert-layout-to-gpu emits, padding of the
// result included; a read of an image is all of a pixel.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_IMAGEREADS_H
#define LAYOUT_TARGETS_OPENCL_IMAGEREADS_H

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Support/Cost.h"
#include "layout/Targets/OpenCL/KernelLoops.h"

namespace mlir {
namespace layout {

/// Bytes that kernels read, each as often as it is read.
struct ImageReads {
  int64_t imageBytes = 0, bufferBytes = 0;

  void add(const ImageReads &other);
  Cost getCost(OpenClTargetAttr target) const;
};

/// The index of what a work item writes, over the variables of its kernel.
struct KernelItem {
  static KernelItem get(const LayoutMap &result, ArrayRef<int64_t> sizes);

  KernelVariables variables;
  SmallVector<IndexExpr> index;
  Cost count = 1; // of the items
};

/// What the kernel that computes one result of an op does.
class KernelCount {
public:
  /// The loops index the result, of which there is an `item`, by `map`.
  KernelCount(const KernelLoops &loops, AffineMap map, const KernelItem &item);

  /// The reads of an operand of `sizes`.
  ImageReads count(AffineMap map, const LayoutMap &operand,
                   ArrayRef<int64_t> sizes, int64_t elementBytes) const;

  /// Iterations, those of padding included.
  Cost getPoints() const;

private:
  int64_t countAddresses(AffineMap map, const LayoutMap &operand,
                         ArrayRef<int64_t> sizes) const;

  const KernelLoops &loops;
  KernelVariables variables;
  SmallVector<IndexExpr> indices; // of all loops; the turns of those by pixels
  Cost items;
};

/// What the kernel of a conversion reads; both maps lay out tensors of `sizes`.
ImageReads countConversionReads(const LayoutMap &from, const LayoutMap &to,
                                ArrayRef<int64_t> sizes, int64_t elementBytes,
                                MLIRContext *context);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_TARGETS_OPENCL_IMAGEREADS_H
