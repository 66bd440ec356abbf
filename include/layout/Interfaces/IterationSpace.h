//===- IterationSpace.h - Loops of an op on stored axes ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A structured op reads and writes logical elements. Here its loops are cut
// into the digits in which its operands store them, so that the same op runs on
// the stored axes:
//
//   x: tensor<1x17xf32, NC16c>, y: tensor<1x17xf32>, loops n (1), c (17)
//     digits   n, c1 = c floordiv 16 (2), c0 = c mod 16 (16)
//     x        axes n | c1 | c0                 as stored
//     y        axes n | 16 * c1 + c0            needs 32 of its 17 positions
//     padded   c: 2 * 16 > 17
//
// Laws:
//  * loop = sum of digit * weight; weights of one loop divide each other and
//    digits below the outermost one take exactly the values in between, so each
//    loop index below its size is visited exactly once;
//  * the order is: outermost digits as the loops were, then inner digits by
//    level, reductions before parallel loops, so that a lane comes last;
//  * every digit is the index of some operand's axis after `AxisAccess` is
//    carried out, so the shapes determine the loops.
//
// The whole file is a pure function of types and maps: no IR is read or made.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_INTERFACES_ITERATIONSPACE_H
#define LAYOUT_INTERFACES_ITERATIONSPACE_H

#include "layout/Algebra/LayoutMap.h"
#include "layout/Support/Refusal.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir {
namespace layout {

/// How one operand is seen from the loops.
struct OperandAccess {
  AffineMap map;         // loops -> logical index
  RankedTensorType type; // logical, maybe with a layout; null for a scalar
  bool isResult = false;
  /// Where `map` is the identity, the axes that getAxesOnShape gives, for those
  /// who ask about one type many times.
  const std::vector<StoredAxis> *axes = nullptr;
};

/// The stored axes of a tensor in linear memory with the sizes of its shape for
/// those of its dims.
std::vector<StoredAxis> getAxesOnShape(const LayoutMap &map,
                                       ArrayRef<int64_t> shape);

/// One loop of the op on physical tensors.
struct LoopDigit {
  unsigned loop;
  int64_t weight;
  SizeExpr extent; // over the sizes of the loops
};

/// One stored axis of an operand, in terms of digits.
struct AxisAccess {
  IndexExpr value;
  SizeExpr extent;   // positions that storage has
  SizeExpr required; // positions that the digits reach
  /// Where `value` is the row-major fusion of these digits (most significant
  /// first); empty where it stays an expression.
  SmallVector<unsigned> digits;
};

struct IterationSpace {
  SmallVector<LoopDigit> digits;
  SmallVector<SmallVector<unsigned>> digitsOf; // per loop
  /// Per loop: whether the digits also reach indices past its size.
  SmallVector<bool> isPadded;
  SmallVector<SmallVector<AxisAccess>> operands;

  bool hasPadding() const { return llvm::is_contained(isPadded, true); }
};

/// The digits -> the index of operand `k` after its axes are expanded to the
/// digits that they fuse.
AffineMap getExpandedMap(const IterationSpace &space, unsigned k,
                         MLIRContext *context);

/// The loops for these operands; `sizes` are those of the loops. A refusal says
/// which loop and which layout stand against it.
FailureOr<IterationSpace>
getIterationSpace(ArrayRef<OperandAccess> operands,
                  ArrayRef<utils::IteratorType> iterators,
                  ArrayRef<int64_t> sizes, Refusal refuse = {});

} // namespace layout
} // namespace mlir

#endif // LAYOUT_INTERFACES_ITERATIONSPACE_H
