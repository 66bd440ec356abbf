//===- ExpandMaxima.cpp - Maxima as one comparison ------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expands maxima and minima of floats to ops for which LLVM emits few
// instructions of x86, whose maximum returns the second operand if either is
// NaN:
//
//   maxnumf(x, m)    x > m ? x : m       one, if m is never NaN; otherwise four
//   maximumf(a, b)   llvm.intr.maximum   three instead of the four of
//                                        arith-expand; the result for zeros of
//                                        different signs may be either
//
// An accumulator that starts at a number is never NaN, because the result of
// maxnumf is NaN only if both operands are.
//
// The maximum of the lanes of a vector becomes a tree of maxima of halves. LLVM
// would process the lanes one after the other.
//
//===----------------------------------------------------------------------===//

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "LLVM/ExpandedMath.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using P = arith::CmpFPredicate;

static bool ignoresNaN(Operation *op) {
  return isa<arith::MaxNumFOp, arith::MinNumFOp>(op);
}

static bool isExpandable(Operation *op) {
  if (!ignoresNaN(op) && !isa<arith::MaximumFOp, arith::MinimumFOp>(op))
    return false;
  Type type = op->getResult(0).getType(), element = getElementTypeOrSelf(type);
  auto vector = dyn_cast<VectorType>(type);
  return (element.isF32() || element.isF64()) &&
         (!vector || vector.getRank() == 1);
}

namespace {
/// The values of a function that are known to have no NaN element.
class Numbers {
public:
  explicit Numbers(FunctionOpInterface function) {
    for (Block &block : llvm::drop_begin(function.getFunctionBody()))
      for (BlockArgument argument : block.getArguments())
        if (isa<FloatType>(getElementTypeOrSelf(argument.getType())))
          numbers.insert(argument);
    // Begins with all arguments of blocks, so that an accumulator remains if it
    // starts at a number and each iteration yields a number.
    while (numbers.remove_if([&](BlockArgument argument) {
      return !arePredecessorsNumbers(argument);
    }))
      known.clear();
  }

  bool contains(Value value) {
    Attribute constant;
    if (matchPattern(value, m_Constant(&constant)))
      return isNumber(constant);
    if (auto argument = dyn_cast<BlockArgument>(value))
      return numbers.contains(argument);
    Operation *op = value.getDefiningOp();
    bool isShuffle = isa<vector::ShuffleOp>(op);
    if (!isShuffle && !ignoresNaN(op))
      return false;
    if (auto it = known.find(value); it != known.end())
      return it->second;
    auto isIn = [&](Value operand) { return contains(operand); };
    bool isKnown = isShuffle ? llvm::all_of(op->getOperands(), isIn)
                             : llvm::any_of(op->getOperands(), isIn);
    return known[value] = isKnown;
  }

private:
  static bool isNumber(Attribute constant) {
    if (auto splat = dyn_cast<SplatElementsAttr>(constant))
      constant = splat.getSplatValue<Attribute>();
    auto number = dyn_cast<FloatAttr>(constant);
    return number && !number.getValue().isNaN();
  }

  bool arePredecessorsNumbers(BlockArgument argument) {
    Block *block = argument.getOwner();
    for (auto it = block->pred_begin(); it != block->pred_end(); ++it) {
      auto branch = dyn_cast<BranchOpInterface>((*it)->getTerminator());
      Value given = branch
                        ? branch.getSuccessorOperands(
                              it.getSuccessorIndex())[argument.getArgNumber()]
                        : Value();
      if (!given || !contains(given))
        return false;
    }
    return true;
  }

  llvm::SetVector<BlockArgument> numbers;
  DenseMap<Value, bool> known; // the results of `contains` for results of ops
};
} // namespace

/// Replaces the maximum or minimum of all lanes by a tree.
static void expandReduction(vector::ReductionOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value rest = op.getVector();
  int64_t lanes = op.getSourceVectorType().getNumElements();
  while (lanes > 1) {
    lanes /= 2;
    auto low = llvm::to_vector(llvm::seq<int64_t>(0, lanes));
    auto high = llvm::to_vector(llvm::seq<int64_t>(lanes, 2 * lanes));
    rest = vector::makeArithReduction(
        b, op.getLoc(), op.getKind(),
        vector::ShuffleOp::create(b, rest, rest, high),
        vector::ShuffleOp::create(b, rest, rest, low));
  }
  Value result = vector::ExtractOp::create(b, rest, ArrayRef<int64_t>{0});
  if (Value accumulator = op.getAcc())
    result = vector::makeArithReduction(b, op.getLoc(), op.getKind(), result,
                                        accumulator);
  op.replaceAllUsesWith(result);
  op.erase();
}

static void expandReductions(FunctionOpInterface function) {
  using Kind = vector::CombiningKind;
  SmallVector<vector::ReductionOp> reductions;
  function.walk([&](vector::ReductionOp op) {
    bool isExtremum = llvm::is_contained(
        {Kind::MAXNUMF, Kind::MINNUMF, Kind::MAXIMUMF, Kind::MINIMUMF},
        op.getKind());
    if (isExtremum && !op.getSourceVectorType().isScalable() &&
        llvm::isPowerOf2_64(op.getSourceVectorType().getNumElements()))
      reductions.push_back(op);
  });
  llvm::for_each(reductions, expandReduction);
}

/// Returns x > y ? x : y for a maximum, x < y ? x : y for a minimum.
static Value selectExtremum(ImplicitLocOpBuilder &b, Operation *op, Value x,
                            Value y) {
  bool isMaximum = isa<arith::MaxNumFOp, arith::MaximumFOp>(op);
  Value isBeyond = arith::CmpFOp::create(b, isMaximum ? P::OGT : P::OLT, x, y);
  return arith::SelectOp::create(b, isBeyond, x, y);
}

/// Expands `op`, whose operand number `bound` has no NaN element.
static void expand(Operation *op, std::optional<unsigned> bound) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  Value x = op->getOperand(0), y = op->getOperand(1), result;
  if (ignoresNaN(op)) {
    if (!bound)
      return;
    result =
        *bound == 1 ? selectExtremum(b, op, x, y) : selectExtremum(b, op, y, x);
  } else {
    // A maximum with a constant, of a rectifier, keeps the sign of zero.
    if (matchPattern(x, m_Constant()) || matchPattern(y, m_Constant()))
      return;
    auto flags = LLVM::FastmathFlags::nsz;
    result = isa<arith::MaximumFOp>(op)
                 ? LLVM::MaximumOp::create(b, x, y, flags).getResult()
                 : LLVM::MinimumOp::create(b, x, y, flags).getResult();
  }
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

void layout::expandMaxima(FunctionOpInterface function) {
  expandReductions(function);
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (isExpandable(op))
      ops.push_back(op);
  });
  if (ops.empty())
    return;
  Numbers numbers(function);
  // For each op, the number of the operand that has no NaN. All are found
  // before the first op is replaced.
  SmallVector<std::optional<unsigned>> bounds;
  for (Operation *op : ops)
    bounds.push_back(numbers.contains(op->getOperand(1))   ? std::optional(1)
                     : numbers.contains(op->getOperand(0)) ? std::optional(0)
                                                           : std::nullopt);
  for (auto [op, bound] : llvm::zip_equal(ops, bounds))
    expand(op, bound);
}
