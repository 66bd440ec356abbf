//===- KernelLoops.h - How a kernel walks through an op ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Which addresses a work item reads, as index expressions without any IR.
// LayoutToGPU emits what is planned here and ImageReads.h counts it, so a price
// and the kernel that it is the price of cannot differ.
//
// Indices are sums of digits (IndexExpr) over the *variables* of a kernel: the
// stored axes of the position that the item writes, the turns of its loops, and
// the *lane*, which stands for 0, 1, 2 and 3 together where it writes a pixel.
// A loop whose neighbors share a pixel of an operand *goes by pixels*: each of
// its turns takes the four lanes, one step after the other. A short loop over a
// window can be *unrolled*, all of it one turn: neighbors share what they read
// at different steps, as output w at step 1 and output w + 1 at step 0 do.
//
//   1x1 convolution of 64 to 64 channels, data and result images of channels
//     axes c1, w of the pixel, lane l      f = 4 * c1 + l
//     16 turns r over the summed channels  c = 4 * r + 0, .. 4 * r + 3
//     data    x = c floordiv 4 = r         one address for all lanes and steps
//     filter  f * 64 + c, linear memory    four for the lanes of each step
//
// Laws:
//  * an operand is read in the innermost loop that it depends on, at each
//    address once;
//  * a step past the size of its loop exists only in the last turn.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_KERNELLOOPS_H
#define LAYOUT_TARGETS_OPENCL_KERNELLOOPS_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Interfaces/OpLayoutRule.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/AffineMap.h"

namespace mlir {
namespace layout {

class KernelVariables {
public:
  /// A new variable with values below `extent` (kUnknownSize if not known).
  IndexExpr add(int64_t extent);
  void setExtent(unsigned variable, int64_t extent) {
    extents[variable] = extent;
  }
  /// The axes of the lane, as digits of the variable that stands for all lanes.
  SmallVector<IndexExpr> addLane(ArrayRef<StoredAxis> axes);
  bool hasLane() const { return lane.has_value(); }
  bool dependsOnLane(ArrayRef<IndexExpr> xs) const;
  /// `xs` at each lane, or as they are where all lanes agree.
  SmallVector<SmallVector<IndexExpr>, 4> atLanes(ArrayRef<IndexExpr> xs) const;
  /// `x` where a variable counts blocks of so many pixels, at one of them.
  IndexExpr atPixel(const IndexExpr &x, unsigned variable, int64_t pixels,
                    int64_t pixel) const;
  /// What is known of the variables.
  ArrayRef<int64_t> getExtents() const { return extents; }

protected:
  unsigned numSymbols = 0; // sizes that indices depend on

private:
  SmallVector<int64_t> extents;
  std::optional<unsigned> lane;
};

/// The loop that indexes the lane dim of an image, where one does so alone.
std::optional<unsigned> findLaneLoop(AffineMap map, const LayoutMap &layout);

/// Where the element at `index` is, in some coordinates of `map`; any replica
/// will do.
SmallVector<IndexExpr> getCoordinates(const LayoutMap &map,
                                      ArrayRef<Coordinate> coordinates,
                                      ArrayRef<IndexExpr> index,
                                      ArrayRef<SizeExpr> sizes, Sizes extents);

class KernelLoops {
public:
  KernelLoops(SmallVector<SizeExpr> sizes,
              ArrayRef<utils::IteratorType> iterators);

  /// The loops of an op as a plan sees them, before there is any IR.
  static KernelLoops get(ArrayRef<LoopRule> loops);

  /// Every operand that is read is added before anything is asked.
  void addOperand(AffineMap map, const LayoutMap &layout);

  /// From here on the loop, which has a known size, is one turn.
  void unroll(unsigned loop);

  /// The reductions, outermost first, and those of them whose turns have steps,
  /// which are taken within all loops.
  ArrayRef<unsigned> getNest() const { return nest; }
  ArrayRef<unsigned> getSteppedLoops() const { return stepped; }

  const SizeExpr &getSize(unsigned loop) const { return sizes[loop]; }
  SizeExpr getTurns(unsigned loop) const;
  /// The turns where each size that is not known is the assumed one.
  int64_t countTurns(unsigned loop, int64_t assumedSize) const;
  int64_t getSteps(unsigned loop) const;
  /// The index at a step of a turn, and whether that may be past the end of the
  /// loop.
  static IndexExpr getIndex(const IndexExpr &turn, int64_t step, Sizes extents);
  bool mayBePastEnd(unsigned loop, int64_t step) const;

  /// How many loops of the nest are around the read of an operand.
  unsigned getDepth(AffineMap map) const;

private:
  SmallVector<SizeExpr> sizes;
  SmallVector<unsigned> nest, stepped;
  std::optional<unsigned> unrolled;
};

/// The loop over a window of `operand` in which neighbors along the parallel
/// loop `along` read the same elements, where it is short enough to be
/// unrolled.
std::optional<unsigned> findWindow(AffineMap operand, unsigned along,
                                   const KernelLoops &loops);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_TARGETS_OPENCL_KERNELLOOPS_H
