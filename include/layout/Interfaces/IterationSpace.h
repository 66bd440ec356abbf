//===- IterationSpace.h - Loops of an op over stored axes -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A structured op reads and writes logical elements. The iteration space splits
// its loops into the mixed-radix digits in which its operands store them, so
// that the op runs on the stored axes:
//
//   x: tensor<1x17xf32, NC16c>, y: tensor<1x17xf32>, loops n (1), c (17)
//     digits   n, c1 = c floordiv 16 (2), c0 = c mod 16 (16)
//     x        axes n | c1 | c0                 as stored
//     y        axes n | 16 * c1 + c0            17 positions, 32 are reached
//     padded   c: 2 * 16 > 17
//
// Laws:
//  * loop = sum of digit * weight. The weights of one loop divide each other,
//    and digits below the outermost one take exactly the values in between, so
//    each loop index below its size is visited exactly once;
//  * digits are ordered: outermost digits in loop order, then inner digits by
//    level, reductions before parallel loops, so that a vectorized one is last;
//  * after applying `AxisAccess`, every digit indexes an axis of some operand,
//    so the shapes determine the loop bounds.
//
// All functions depend on types and maps only, without any IR.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_INTERFACES_ITERATIONSPACE_H
#define LAYOUT_INTERFACES_ITERATIONSPACE_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Support/FailureReason.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::layout {

/// An operand or result of an op with loops: its type, and the map from the
/// loops to its logical index.
struct OperandAccess {
  AffineMap map;         // loops -> logical index
  RankedTensorType type; // logical, with or without a layout; null for a scalar
  bool isResult = false;
  /// The stored axes of `type` as functions of its dims, if the caller has
  /// computed them, or nullptr. If they are set, `map` is the identity.
  const std::vector<StoredAxis> *axes = nullptr;
};

/// Returns the stored axes of a tensor with this layout and shape, as functions
/// of its dims, for the first replica. Static sizes are substituted; dynamic
/// ones stay symbolic.
std::vector<StoredAxis> getAxesOnShape(const LayoutMap &map,
                                       ArrayRef<int64_t> shape);

/// A loop over one mixed-radix digit of a loop of the op. The index of that
/// loop is the sum of its digits times their weights.
struct LoopDigit {
  unsigned loop;
  int64_t weight;
  SizeExpr extent; // over the sizes of the loops
};

/// A stored axis of an operand, as a function of digits.
struct AxisAccess {
  IndexExpr value;
  SizeExpr extent;   // positions in storage
  SizeExpr required; // positions that digits reach
  /// The digits whose row-major fusion is `value`, most significant first, or
  /// an empty list if it is another expression.
  SmallVector<unsigned> digits;
};

struct IterationSpace {
  SmallVector<LoopDigit> digits;
  SmallVector<SmallVector<unsigned>> digitsOf; // per loop
  /// True for loops that also iterate over padding: the product of the extents
  /// of their digits exceeds their size.
  SmallVector<bool> isPadded;
  SmallVector<SmallVector<AxisAccess>> operands;

  bool hasPadding() const { return llvm::is_contained(isPadded, true); }
};

/// Returns the map from the digits of `space` to the stored axes of operand
/// `k`. An axis that fuses digits in row-major order is replaced by these
/// digits, with one result each.
AffineMap getExpandedMap(const IterationSpace &space, unsigned k,
                         MLIRContext *context);

/// Computes the iteration space of loops with the given `sizes`, or fails with
/// a reason that names the loop and the layout in conflict.
FailureOr<IterationSpace>
getIterationSpace(ArrayRef<OperandAccess> operands,
                  ArrayRef<utils::IteratorType> iterators,
                  ArrayRef<int64_t> sizes, FailureReason refuse = {});

} // namespace mlir::layout

#endif // LAYOUT_INTERFACES_ITERATIONSPACE_H
