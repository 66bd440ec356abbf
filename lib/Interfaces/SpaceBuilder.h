//===- SpaceBuilder.h - Common digits of stored axes ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Splits the loops of an op into the mixed-radix digits in which its operands
// store them (IterationSpace.h). Sizes may be dynamic.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_INTERFACES_SPACEBUILDER_H
#define LAYOUT_LIB_INTERFACES_SPACEBUILDER_H

#include "layout/Interfaces/IterationSpace.h"

namespace mlir::layout {

class SpaceBuilder {
public:
  SpaceBuilder(ArrayRef<OperandAccess> operands,
               ArrayRef<utils::IteratorType> iterators, ArrayRef<int64_t> sizes,
               FailureReason refuse)
      : operands(operands), iterators(iterators), sizes(sizes), refuse(refuse),
        dropped(sizes.size(), false), breaks(sizes.size(), {1}) {}

  /// Computes the space. Fails, with a reason, if the loops cannot run on the
  /// stored axes of all operands.
  LogicalResult run();
  IterationSpace takeSpace() { return std::move(space); }

private:
  LogicalResult readOperands();
  LogicalResult cutLoops();
  void orderDigits();
  bool placeDigits(const IndexExpr &axis, IndexExpr &result) const;
  void substituteAxes();
  void placeAxes();
  void raiseExtents();
  void findPadding();
  bool isRowMajorOf(const AxisAccess &axis,
                    SmallVectorImpl<unsigned> &digits) const;
  LogicalResult setReach(unsigned operand, AxisAccess &axis);
  LogicalResult planAxis(unsigned operand, AxisAccess &axis);
  LogicalResult planAxes();
  SmallVector<bool, 12> findUsed() const;
  bool dropUnitDigits();
  LogicalResult checkStated(unsigned operand);
  LogicalResult checkDigits();

  SizeExpr getSize(unsigned loop) const {
    return ShapedType::isDynamic(sizes[loop]) ? SizeExpr::dim(loop)
                                              : SizeExpr(sizes[loop]);
  }
  bool isReduction(unsigned loop) const {
    return iterators[loop] == utils::IteratorType::reduction;
  }
  bool isResult(unsigned operand) const { return operands[operand].isResult; }
  bool dependsOn(unsigned operand, unsigned loop) const {
    return operands[operand].type &&
           operands[operand].map.isFunctionOfDim(loop);
  }
  bool isOutermost(unsigned digit) const {
    return space.digitsOf[space.digits[digit].loop].front() == digit;
  }
  std::optional<SizeExpr> largestIndex(AffineExpr expr) const;
  /// Returns failure, and emits the reason if requested.
  LogicalResult fail(function_ref<std::string()> describeWhy) {
    return refuse([&](raw_ostream &os) { os << describeWhy(); });
  }
  /// Returns the name of an operand in reasons.
  std::string describe(unsigned operand) const;

  ArrayRef<OperandAccess> operands;
  ArrayRef<utils::IteratorType> iterators;
  ArrayRef<int64_t> sizes;
  FailureReason refuse;

  /// The stored axes of each operand, as functions of the loops.
  SmallVector<ArrayRef<StoredAxis>, 4> axes;
  std::vector<std::vector<StoredAxis>> ownAxes;
  unsigned numSizes = 0;
  SmallVector<bool, 8> dropped; // per loop: outermost digit is 0
  SmallVector<SmallVector<int64_t, 6>, 6> breaks; // per loop, ascending from 1
  IterationSpace space;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_INTERFACES_SPACEBUILDER_H
