//===- ImageReads.h - What the kernels of a device read ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel has one work item for every pixel of an image that it writes, for a
// block of neighbors of them where a reduction reads less then, or for every
// element of a buffer. What an item reads is counted by KernelLoops.h, by which
// the kernels are emitted:
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
//   for every element; in items of 8 pixels 64 of the filter and 8 * 16 of the
//   data, which are 24 per pixel
//   depthwise 3x3 convolution: per pixel 9 of the filter and 9 of the data; in
//   items of 8 pixels of a row, for each of three rows of the window 3 of the
//   filter and, as neighbors overlap, 10 of the data, which are 4.9 per pixel
//
//   mean of 768 elements in 128 rows, of four rows in a pixel: 32 items of 768
//   reads are few for a device, so there are 32 groups of 32 items, of 24 reads
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

/// The pixels of a work item: neighbors along the fastest axis of a coordinate.
/// Where that leaves too few items for all their reads, those of a group
/// compute the same pixels, each one a part of every sum.
struct PixelBlock {
  unsigned coordinate = 0;
  int64_t pixels = 1;
  /// The loop over a window that is unrolled, for neighbors share its reads.
  std::optional<unsigned> window;
  /// The items of a group, each of which takes some turns of a loop.
  int64_t parts = 1;
  unsigned splitLoop = 0;
};

/// How many pixels an item may have; without a target, as by default.
struct BlockLimits {
  explicit BlockLimits(OpenClTargetAttr target);

  /// `shape` with the assumed size for dynamic ones.
  SmallVector<int64_t> assumeSizes(ArrayRef<int64_t> shape) const;

  int64_t itemPixels, fewestItems, groupItems, splitReads, assumedSize;
};

/// The op by which the sums of parts are combined: of a reduction by one op
/// that has a neutral element, in elements that items of a group can share.
/// Null where there is none.
Operation *findGroupCombiner(Operation *op);

/// The index of what a work item writes, over the variables of its kernel.
struct KernelItem {
  static KernelItem get(const LayoutMap &result, ArrayRef<int64_t> sizes);

  /// The fastest axis of a coordinate of an image, of several positions.
  struct Row {
    unsigned coordinate, variable;
    int64_t extent;
  };

  KernelVariables variables;
  SmallVector<IndexExpr> index;
  SmallVector<Row> rows;
  Cost count = 1;     // of the items, of one pixel each
  bool isFlat = true; // a dimension is left for the items of a group
};

/// Whether the kernel of an op may compute several pixels in an item: it has
/// one result.
bool mayComputeBlocks(Operation *op);

/// What the kernel that computes one result of an op does.
class KernelCount {
public:
  /// The loops index the result, of which there is an `item`, by `map`.
  /// Loops of a size that is not known are taken to have the assumed one.
  KernelCount(const KernelLoops &loops, AffineMap map, const KernelItem &item,
              int64_t assumedSize = 1);

  /// Adds an operand of `sizes` that is read; the layout is kept by reference.
  void addOperand(AffineMap map, const LayoutMap &operand,
                  ArrayRef<int64_t> sizes, int64_t elementBytes);

  /// The pixels of one item at which a reduction reads least, within the
  /// limits: if what varies among them is read for each, but for what
  /// the steps of a window share.
  PixelBlock chooseBlock(BlockLimits limits, bool maySplit) const;

  /// The reads of all operands.
  ImageReads getReads(PixelBlock block = {}) const;

  /// Iterations, those of padding included.
  Cost getPoints(PixelBlock block = {}) const;

  /// The items of the kernel.
  Cost countItems(PixelBlock block) const;

private:
  const KernelItem::Row *findRow(PixelBlock block) const;

  struct Operand {
    AffineMap map;
    const LayoutMap *layout;
    SmallVector<int64_t> sizes;
    int64_t bytes;
    int64_t addresses = 1;              // at a turn, of an item of one pixel
    SmallVector<unsigned, 4> variables; // of its index
  };
  KernelLoops getLoops(PixelBlock block) const;
  Cost countTurns(const Operand &operand, const KernelLoops &loops,
                  PixelBlock block) const;
  PixelBlock split(PixelBlock block, Cost reads, BlockLimits limits) const;
  SmallVector<int64_t> countAddresses(const Operand &operand,
                                      PixelBlock block) const;
  bool varies(const Operand &operand, PixelBlock block) const;
  std::optional<unsigned> findWindow(const KernelItem::Row &row) const;
  SmallVector<Cost> countReads(PixelBlock largest) const;

  const KernelLoops &loops;
  int64_t assumedSize;
  KernelVariables variables;
  SmallVector<KernelItem::Row> rows;
  Cost items;
  bool isFlat;
  SmallVector<IndexExpr> indices; // of all loops; the turns of those by pixels
  SmallVector<Operand> operands;
};

/// What the kernel of a conversion reads; both maps lay out tensors of `sizes`.
ImageReads countConversionReads(const LayoutMap &from, const LayoutMap &to,
                                ArrayRef<int64_t> sizes, int64_t elementBytes,
                                MLIRContext *context);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_TARGETS_OPENCL_IMAGEREADS_H
