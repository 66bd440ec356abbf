//===- ImageReads.h - Count the reads of OpenCL kernels ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A kernel has one work-item per pixel of the image that it writes, per block
// of neighboring pixels if a reduction then reads less, or per element of a
// buffer. The reads of a work-item are counted with KernelLoops.h, which also
// determines the emitted kernels:
//
//   operand                                     reads for four results
//   image with the lane loop of the result      one pixel
//   image or buffer not indexed by that loop    one pixel or element
//   any other                                   one per address
//
// If the lanes of an operand are reduced, one pixel serves four summands.
//
//   1x1 convolution, 64 to 64 channels, all images: 64 pixels of the filter and
//   16 of the data per pixel of the result; from and to buffers 64 of each per
//   element; in work-items of 8 pixels 64 of the filter and 8 * 16 of the data,
//   24 per pixel
//   depthwise 3x3 convolution: 9 of the filter and 9 of the data per pixel; in
//   work-items of 8 pixels of a row, for each of three window rows 3 of the
//   filter and, because neighbors overlap, 10 of the data, 4.9 per pixel
//
//   mean of 768 elements in 128 rows, four rows per pixel: 32 work-items of 768
//   reads do not fill a device; 32 groups of 32 work-items of 24 reads do
//
// Laws: the counted reads are those that convert-layout-to-gpu emits, including
// reads for padding of the result; a read of an image is a whole pixel.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_IMAGEREADS_H
#define LAYOUT_TARGETS_OPENCL_IMAGEREADS_H

#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Support/Cost.h"
#include "layout/Targets/OpenCL/KernelLoops.h"

namespace mlir::layout {

/// The bytes that kernels read from images and from buffers. Bytes that are
/// read twice count twice.
struct ImageReads {
  int64_t imageBytes = 0, bufferBytes = 0;

  void add(const ImageReads &other);
  Cost getCost(OpenClTargetAttr target) const;
};

/// The pixels that a work-item computes: `pixels` neighbors along the fastest
/// axis of coordinate number `coordinate`, e.g. along w of
/// x = [c floordiv 4, w]. If too few work-items remain for the number of reads,
/// `parts` work-items of a work-group compute the same pixels: each of them
/// runs a part of the iterations of `splitLoop`.
struct PixelBlock {
  unsigned coordinate = 0;
  int64_t pixels = 1;
  /// The reduction loop that is unrolled because neighboring pixels read the
  /// same elements in different iterations, e.g. kw of a 3x3 convolution;
  /// std::nullopt if there is none.
  std::optional<unsigned> window;
  /// The number of work-items of a work-group that divide the iterations of the
  /// reduction loop `splitLoop`; 1 if the loop is not divided.
  int64_t parts = 1;
  unsigned splitLoop = 0;
};

/// The parameters of a target that bound a PixelBlock: the maximum pixels of a
/// work-item (`itemPixels`) and work-items of a group (`groupItems`). A
/// reduction is divided if its kernel has less than `fewestItems` work-items
/// and each executes more than `splitReads` reads. They have their default
/// values if the target is null.
struct BlockLimits {
  explicit BlockLimits(OpenClTargetAttr target);

  /// Returns `shape` with dynamic sizes replaced by the assumed size of the
  /// target.
  SmallVector<int64_t> assumeSizes(ArrayRef<int64_t> shape) const;

  int64_t itemPixels, fewestItems, groupItems, splitReads, assumedSize;
};

/// Returns the op that combines partial sums of the reduction `op`, e.g.
/// arith.addf. It must be the only combiner and have a neutral element, and the
/// element type must be f16, f32 or i32. Otherwise returns null.
Operation *findGroupCombiner(Operation *op);

/// The position that a work-item writes. `variables` are the stored axes of an
/// image and the lane, or the dims of a tensor in a buffer. `index` has one
/// expression of them per dim: the logical index of the element.
struct KernelItem {
  static KernelItem get(const LayoutMap &result, ArrayRef<int64_t> sizes);

  /// The fastest axis of a coordinate of an image, e.g. w of
  /// x = [c floordiv 4, w], along which a work-item may compute several pixels.
  /// Its extent is static and more than 1.
  struct Row {
    unsigned coordinate, variable;
    int64_t extent;
  };

  KernelVariables variables;
  SmallVector<IndexExpr> index;
  SmallVector<Row> rows;
  Cost count = 1;     // the work-items if each computes one pixel
  bool isFlat = true; // two coordinates at most: z can number parts of sums
};

/// Returns true if the kernel of `op` may compute several pixels in a
/// work-item: `op` has exactly one result, a ranked tensor.
bool mayComputeBlocks(Operation *op);

/// Counts the reads, iterations and work-items of the kernel that computes one
/// result of an op.
class KernelCount {
public:
  /// `map` maps loops to indices of the result, which `item` describes. Loops
  /// of dynamic size are assumed to have `assumedSize` iterations.
  KernelCount(const KernelLoops &loops, AffineMap map, const KernelItem &item,
              int64_t assumedSize = 1);

  /// Adds an operand of shape `sizes` that the kernel reads at the indices
  /// `map`. `operand` is its layout, which is kept by reference.
  void addOperand(AffineMap map, const LayoutMap &operand,
                  ArrayRef<int64_t> sizes, int64_t elementBytes);

  /// Returns the block with which all work-items of a reduction together read
  /// least, within `limits`, or a single pixel without reduction loops. A block
  /// of several pixels must leave at least `fewestItems` work-items. If
  /// `maySplit`, work-items of a group may divide the reduction. Addresses that
  /// neighboring pixels share in the unrolled loop of a window, e.g. kw of a
  /// 3x3 convolution, count once.
  PixelBlock chooseBlock(BlockLimits limits, bool maySplit) const;

  /// Returns the bytes that all work-items read from the operands.
  ImageReads getReads(PixelBlock block = {}) const;

  /// Returns how often all work-items execute the body of the op, including
  /// executions for padding.
  Cost getPoints(PixelBlock block = {}) const;

  /// Returns the number of work-items of the kernel if a work-item computes
  /// `block`. The work-items of a group that divide a reduction count as one.
  Cost countItems(PixelBlock block) const;

private:
  const KernelItem::Row *findRow(PixelBlock block) const;

  struct Operand {
    AffineMap map;
    const LayoutMap *layout;
    SmallVector<int64_t> sizes;
    int64_t bytes;
    int64_t addresses = 1;              // read per iteration for one pixel
    SmallVector<unsigned, 4> variables; // on which its index depends
  };
  KernelLoops getLoops(PixelBlock block) const;
  Cost countIterations(const Operand &operand, const KernelLoops &loops,
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
  SmallVector<IndexExpr> indices; // by loop; the iteration if stepped
  SmallVector<Operand> operands;
};

/// Counts the bytes that the kernel of a layout.convert reads. Both maps lay
/// out a tensor of shape `sizes`.
ImageReads countConversionReads(const LayoutMap &from, const LayoutMap &to,
                                ArrayRef<int64_t> sizes, int64_t elementBytes,
                                MLIRContext *context);

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_OPENCL_IMAGEREADS_H
