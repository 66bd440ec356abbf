//===- KernelLoops.h - Loops and addresses of a kernel ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The addresses that a work-item reads, as index expressions without IR.
// LayoutToGPU emits these loops and ImageReads.h counts their reads, so the
// estimated cost is that of the emitted kernel.
//
// Indices are sums of mixed-radix digits (IndexExpr) over the *variables* of a
// kernel: the stored axes of the position that the work-item writes, the
// iterations of its loops, and the *lane*, which stands for 0, 1, 2 and 3
// together if a pixel is written. A loop whose neighbors share a pixel of an
// operand is *stepped*: each iteration covers the four lanes as four steps. A
// short window loop can be *unrolled* to one iteration: neighbors share reads
// of different steps, e.g. output w at step 1 and output w + 1 at step 0.
//
//   1x1 convolution of 64 to 64 channels, data and result images of channels
//     axes c1, w of the pixel, lane l      f = 4 * c1 + l
//     16 iterations r over input channels  c = 4 * r + 0, .. 4 * r + 3
//     data    x = c floordiv 4 = r         one address for all lanes and steps
//     filter  f * 64 + c, linear memory    four for the lanes of each step
//
// Laws:
//  * an operand is read in the innermost loop that its address depends on, once
//    per address;
//  * only the last iteration has steps past the end of its loop.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_OPENCL_KERNELLOOPS_H
#define LAYOUT_TARGETS_OPENCL_KERNELLOOPS_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Interfaces/OpLayoutRule.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/AffineMap.h"

namespace mlir::layout {

class KernelVariables {
public:
  /// Adds a variable with the values 0 .. extent - 1, e.g. the iterations of a
  /// loop, and returns it. For a dynamic number of values, `extent` is
  /// kUnknownSize.
  IndexExpr add(int64_t extent);
  void setExtent(unsigned variable, int64_t extent) {
    extents[variable] = extent;
  }
  /// Adds the lane variable, which stands for 0 to 3, and returns `axes`, the
  /// stored axes of the lane coordinate, as mixed-radix digits of it.
  SmallVector<IndexExpr> addLane(ArrayRef<StoredAxis> axes);
  bool hasLane() const { return lane.has_value(); }
  bool dependsOnLane(ArrayRef<IndexExpr> xs) const;
  /// Returns `xs` with the lane replaced by 0, by 1, by 2 and by 3, or `xs`
  /// once if they do not depend on the lane.
  SmallVector<SmallVector<IndexExpr>, 4> atLanes(ArrayRef<IndexExpr> xs) const;
  /// Returns `x` with `variable * pixels + pixel` for `variable`: the value at
  /// one pixel of a block, if the variable counts blocks of `pixels` pixels.
  IndexExpr atPixel(const IndexExpr &x, unsigned variable, int64_t pixels,
                    int64_t pixel) const;
  /// Returns the extent of each variable, kUnknownSize for a dynamic one.
  ArrayRef<int64_t> getExtents() const { return extents; }

protected:
  unsigned numSymbols = 0; // the number of dynamic sizes in indices

private:
  SmallVector<int64_t> extents;
  std::optional<unsigned> lane;
};

/// Returns the loop of an op that alone indexes the lane dim of an operand.
/// `map` maps the loops to the operand's dims. Returns std::nullopt if there is
/// none, or if `layout` is not an image.
std::optional<unsigned> findLaneLoop(AffineMap map, const LayoutMap &layout);

/// Returns the values of `coordinates` of `map` for the element at `index`. If
/// the element has replicas, these are the values of the first one.
SmallVector<IndexExpr> getCoordinates(const LayoutMap &map,
                                      ArrayRef<Coordinate> coordinates,
                                      ArrayRef<IndexExpr> index,
                                      ArrayRef<SizeExpr> sizes, Sizes extents);

class KernelLoops {
public:
  KernelLoops(SmallVector<SizeExpr> sizes,
              ArrayRef<utils::IteratorType> iterators);

  /// Returns the loops of an op that has the rule `loops`. The size of a
  /// dynamic loop is the symbol of its number.
  static KernelLoops get(ArrayRef<LoopRule> loops);

  /// Adds an operand that is read in `layout` at the indices `map`. If a
  /// reduction loop indexes its lane dim alone, an iteration of this loop
  /// covers the lanes of a pixel as steps. All operands must be added before
  /// any query.
  void addOperand(AffineMap map, const LayoutMap &layout);

  /// Makes `loop`, which has a static size, a single iteration with one step
  /// per index.
  void unroll(unsigned loop);

  /// getNest returns the reduction loops, outermost first. getSteppedLoops
  /// returns, in any order, those of which one iteration executes several
  /// indices as steps: at most four, or all if the loop is unrolled. The steps
  /// of all loops are executed inside of the innermost loop.
  ArrayRef<unsigned> getNest() const { return nest; }
  ArrayRef<unsigned> getSteppedLoops() const { return stepped; }

  const SizeExpr &getSize(unsigned loop) const { return sizes[loop]; }
  SizeExpr getTripCount(unsigned loop) const;
  /// Returns the number of iterations of `loop` if dynamic sizes are
  /// `assumedSize`.
  int64_t getAssumedTripCount(unsigned loop, int64_t assumedSize) const;
  int64_t getSteps(unsigned loop) const;
  /// Returns the loop index at `step` of `iteration`, 4 * iteration + step. The
  /// only iteration of an unrolled loop is 0.
  static IndexExpr getIndex(const IndexExpr &iteration, int64_t step,
                            Sizes extents);
  bool mayBePastEnd(unsigned loop, int64_t step) const;

  /// Returns how many of the reduction loops surround the read of an operand
  /// that is indexed by `map`: those down to the innermost one on which the
  /// index depends. These are all loops if the index depends on one with
  /// several steps per iteration.
  unsigned getDepth(AffineMap map) const;

private:
  SmallVector<SizeExpr> sizes;
  SmallVector<unsigned> nest, stepped;
  std::optional<unsigned> unrolled;
};

/// Returns a reduction loop of `operand` in whose iterations neighbors along
/// the parallel loop `along` read the same elements, e.g. kw of the index
/// w + kw along w. Returns std::nullopt if there is none with a static size of
/// at most 8, so that it can be unrolled.
std::optional<unsigned> findWindow(AffineMap operand, unsigned along,
                                   const KernelLoops &loops);

} // namespace mlir::layout

#endif // LAYOUT_TARGETS_OPENCL_KERNELLOOPS_H
