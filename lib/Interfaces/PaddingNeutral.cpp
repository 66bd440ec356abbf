//===- PaddingNeutral.cpp - Reductions neutral to padding -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PaddingNeutral.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::layout;

namespace {

/// The known part of a value: a constant that it equals, or that it is the
/// accumulator, the old element of the result. Neither is set if the value is
/// unknown.
struct Known {
  Attribute constant;
  bool isAccumulator = false;
};

} // namespace

static bool isZero(Attribute attr) {
  return attr &&
         (matchPattern(attr, m_Zero()) || matchPattern(attr, m_AnyZeroFloat()));
}

/// Returns true if `op` is known to return its other operand if either of its
/// two operands is `constant`. Returns false if `constant` is null.
static bool isNeutralElement(Operation *op, Attribute constant) {
  if (!constant)
    return false;
  if (isa<arith::AddFOp, arith::AddIOp, arith::OrIOp, arith::XOrIOp,
          arith::MaxUIOp>(op))
    return isZero(constant);
  if (isa<arith::MaximumFOp, arith::MaxNumFOp>(op))
    return matchPattern(constant, m_NegInfFloat());
  if (isa<arith::MinimumFOp, arith::MinNumFOp>(op))
    return matchPattern(constant, m_PosInfFloat());
  auto integer = dyn_cast<IntegerAttr>(constant);
  if (!integer)
    return false;
  if (isa<arith::MaxSIOp>(op))
    return integer.getValue().isMinSignedValue();
  if (isa<arith::MinSIOp>(op))
    return integer.getValue().isMaxSignedValue();
  return false;
}

static Known evaluate(Operation *op, ArrayRef<Known> operands) {
  Known known;
  if (op->getNumResults() != 1 || op->getNumRegions() != 0)
    return known;
  SmallVector<Attribute> constants;
  for (const Known &operand : operands)
    constants.push_back(operand.constant);
  // Integers have no NaN, so 0 * x is 0.
  if (isa<arith::MulIOp>(op) && llvm::any_of(constants, isZero)) {
    known.constant = IntegerAttr::get(op->getResult(0).getType(), 0);
    return known;
  }
  if (operands.size() == 2)
    for (unsigned i : {0u, 1u})
      if (operands[i].isAccumulator &&
          isNeutralElement(op, operands[1 - i].constant)) {
        known.isAccumulator = true;
        return known;
      }
  if (!llvm::is_contained(constants, Attribute())) {
    SmallVector<OpFoldResult> results;
    if (succeeded(op->fold(constants, results)) && results.size() == 1) {
      // x * 1 folds to an operand instead of a constant.
      auto same =
          llvm::find(op->getOperands(), dyn_cast<Value>(results.front()));
      known.constant = same == op->operand_end()
                           ? dyn_cast<Attribute>(results.front())
                           : constants[same.getIndex()];
    }
  }
  return known;
}

/// Returns what is known of the value that `body` yields for a result if each
/// input i is `inputs[i]`, or any value if `inputs[i]` is null.
static Known evaluateBody(Block &body, ArrayRef<TypedAttr> inputs,
                          unsigned result) {
  if (body.getNumArguments() <= inputs.size() + result)
    return {};
  DenseMap<Value, Known> values;
  for (auto [input, arg] : llvm::zip(inputs, body.getArguments()))
    values[arg].constant = input;
  values[body.getArgument(inputs.size() + result)].isAccumulator = true;
  auto lookUp = [&](Value value) {
    Known known = values.lookup(value);
    if (!known.constant)
      matchPattern(value, m_Constant(&known.constant));
    return known;
  };
  for (Operation &op : body.without_terminator()) {
    SmallVector<Known> operands;
    for (Value operand : op.getOperands())
      operands.push_back(lookUp(operand));
    if (op.getNumResults() == 1)
      values[op.getResult(0)] = evaluate(&op, operands);
  }
  return lookUp(body.getTerminator()->getOperand(result));
}

bool layout::returnsAccumulator(Block &body, ArrayRef<TypedAttr> inputs,
                                unsigned result) {
  return evaluateBody(body, inputs, result).isAccumulator;
}

bool layout::makesPadding(Block &body, ArrayRef<TypedAttr> inputs,
                          unsigned result, TypedAttr wanted) {
  return wanted && evaluateBody(body, inputs, result).constant == wanted;
}

bool layout::makesPadding(Operation &op, ArrayRef<TypedAttr> inputs,
                          unsigned result, TypedAttr wanted) {
  if (!wanted || op.getNumResults() != 1 || op.getNumRegions() != 0)
    return false;
  // Clones the op on scalars, so that it can be folded.
  Block block;
  IRMapping mapping;
  SmallVector<Known> operands;
  for (auto [operand, input] : llvm::zip_equal(op.getOperands(), inputs)) {
    mapping.map(operand, block.addArgument(getElementTypeOrSelf(operand),
                                           operand.getLoc()));
    operands.push_back({input});
  }
  OpBuilder builder(op.getContext());
  builder.setInsertionPointToEnd(&block);
  Operation *scalar = builder.clone(op, mapping);
  scalar->getResult(0).setType(getElementTypeOrSelf(op.getResult(0)));
  return evaluate(scalar, operands).constant == wanted;
}
