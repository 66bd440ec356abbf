//===- MaskHoisting.cpp - Hoist masks of padded reductions ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emitters/MaskHoisting.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::layout;

/// Returns an index computation of the body as an affine expression of the loop
/// dims, or std::nullopt if it is not affine.
static std::optional<AffineExpr> affineOf(Value value) {
  MLIRContext *context = value.getContext();
  APInt constant;
  if (matchPattern(value, m_ConstantInt(&constant)))
    return constant.getSignificantBits() <= 62
               ? std::optional(
                     getAffineConstantExpr(constant.getSExtValue(), context))
               : std::nullopt;
  Operation *op = value.getDefiningOp();
  if (!op)
    return std::nullopt;
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return getAffineDimExpr(index.getDim(), context);
  if (op->getNumOperands() != 2 || !value.getType().isIndex())
    return std::nullopt;
  std::optional<AffineExpr> lhs = affineOf(op->getOperand(0));
  std::optional<AffineExpr> rhs = affineOf(op->getOperand(1));
  if (!lhs || !rhs)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return *lhs + *rhs;
  if (isa<arith::SubIOp>(op))
    return *lhs - *rhs;
  if (isa<arith::MulIOp>(op) &&
      (isa<AffineConstantExpr>(*lhs) || isa<AffineConstantExpr>(*rhs)))
    return *lhs * *rhs;
  return std::nullopt;
}

/// Returns true if `value` depends only on values from outside of `body`,
/// constants, and indices of parallel loops.
static bool isFixedInReduction(const Kernel &kernel, Value value, Block *body) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return value.getParentBlock() != body;
  if (op->getBlock() != body)
    return true;
  if (auto index = dyn_cast<linalg::IndexOp>(op))
    return kernel.isParallel(index.getDim());
  return op->getNumRegions() == 0 &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return isFixedInReduction(kernel, operand, body);
         });
}

/// Returns the bound that `condition`, rewritten to `difference < 0`, states on
/// the innermost reduction loop on which it depends. Returns std::nullopt if it
/// is not an order comparison of affine index expressions, or if the difference
/// does not increase linearly with that loop. Also returns std::nullopt if it
/// is an unsigned comparison of an expression that subtracts or has a negative
/// constant.
static std::optional<LoopBound> boundOf(const Kernel &kernel, Value condition) {
  auto compare = condition.getDefiningOp<arith::CmpIOp>();
  if (!compare)
    return std::nullopt;
  std::optional<AffineExpr> lhs = affineOf(compare.getLhs());
  std::optional<AffineExpr> rhs = affineOf(compare.getRhs());
  if (!lhs || !rhs)
    return std::nullopt;
  using Predicate = arith::CmpIPredicate;
  Predicate predicate = compare.getPredicate();
  unsigned dims = kernel.extents.size();
  // Unsigned comparisons equal signed ones if no operand is negative. Indices
  // are not, but their differences may be.
  auto isSum = [](AffineExpr expr) {
    bool plain = true;
    expr.walk([&](AffineExpr inner) {
      if (auto constant = dyn_cast<AffineConstantExpr>(inner))
        plain &= constant.getValue() >= 0;
    });
    return plain;
  };
  bool isUnsigned = predicate == Predicate::ult ||
                    predicate == Predicate::ule ||
                    predicate == Predicate::ugt || predicate == Predicate::uge;
  if (isUnsigned && !(isSum(*lhs) && isSum(*rhs)))
    return std::nullopt;
  // All forms become difference < 0.
  AffineExpr difference;
  switch (predicate) {
  case Predicate::slt:
  case Predicate::ult:
    difference = *lhs - *rhs;
    break;
  case Predicate::sle:
  case Predicate::ule:
    difference = *lhs - *rhs - 1;
    break;
  case Predicate::sgt:
  case Predicate::ugt:
    difference = *rhs - *lhs;
    break;
  case Predicate::sge:
  case Predicate::uge:
    difference = *rhs - *lhs - 1;
    break;
  default:
    return std::nullopt;
  }
  difference = simplifyAffineExpr(difference, dims, 0);
  // Bounds the innermost reduction dim, so that the others are known.
  for (unsigned dim = dims; dim-- > 0;) {
    if (kernel.isParallel(dim) || !difference.isFunctionOfDim(dim))
      continue;
    MLIRContext *context = difference.getContext();
    auto at = [&](int64_t position) {
      return simplifyAffineExpr(
          difference.replace(getAffineDimExpr(dim, context),
                             getAffineConstantExpr(position, context)),
          dims, 0);
    };
    auto factor = dyn_cast<AffineConstantExpr>(
        simplifyAffineExpr(at(1) - at(0), dims, 0));
    auto second = dyn_cast<AffineConstantExpr>(
        simplifyAffineExpr(at(2) - at(1), dims, 0));
    if (!factor || factor != second || factor.getValue() <= 0)
      return std::nullopt;
    return LoopBound{dim, factor.getValue(), at(0)};
  }
  return std::nullopt;
}

std::optional<HoistedMasks> layout::findHoistableMasks(const Kernel &kernel,
                                                       ArrayRef<int64_t> tile) {
  linalg::LinalgOp op = kernel.root.op;
  if (!kernel.hasReduction() || op.getNumDpsInits() != 1 || hasEffects(op))
    return std::nullopt;
  Block *body = op.getBlock();
  Value yielded = body->getTerminator()->getOperand(0);
  Value old = op.getRegionOutputArgs()[0];
  HoistedMasks masks;
  masks.next = yielded;
  SmallVector<Value> conjuncts;
  while (auto select = masks.next.getDefiningOp<arith::SelectOp>()) {
    if (select->getBlock() != body || select.getFalseValue() != old)
      break;
    conjuncts.push_back(select.getCondition());
    masks.next = select.getTrueValue();
  }
  if (conjuncts.empty())
    return std::nullopt;
  while (!conjuncts.empty()) {
    Value condition = conjuncts.pop_back_val();
    auto conjunction = condition.getDefiningOp<arith::AndIOp>();
    if (conjunction && conjunction->getBlock() == body) {
      conjuncts.push_back(conjunction.getLhs());
      conjuncts.push_back(conjunction.getRhs());
      continue;
    }
    if (isFixedInReduction(kernel, condition, body)) {
      masks.afterwards.push_back(condition);
      continue;
    }
    std::optional<LoopBound> bound = boundOf(kernel, condition);
    if (!bound)
      return std::nullopt;
    for (auto [dim, extent] : llvm::enumerate(tile))
      if (extent != 1 && bound->rest.isFunctionOfDim(dim))
        return std::nullopt;
    masks.bounds.push_back(*bound);
  }
  return masks;
}
