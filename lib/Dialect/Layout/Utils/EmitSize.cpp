//===- EmitSize.cpp - Size expressions as IR ------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Dialect/Layout/Utils/EmitSize.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

static OpFoldResult combineSizes(OpBuilder &b, Location loc, OpFoldResult lhs,
                                 OpFoldResult rhs,
                                 function_ref<int64_t(int64_t, int64_t)> fold,
                                 function_ref<Value(Value, Value)> emit) {
  std::optional<int64_t> x = getConstantIntValue(lhs);
  std::optional<int64_t> y = getConstantIntValue(rhs);
  if (x && y)
    return b.getIndexAttr(fold(*x, *y));
  return emit(getValueOrCreateConstantIndexOp(b, loc, lhs),
              getValueOrCreateConstantIndexOp(b, loc, rhs));
}

/// Returns true if `size` may be negative for some sizes >= 0.
static bool mayBeNegative(const SizeExpr &size) {
  return size.getConstantTerm() < 0 ||
         llvm::any_of(
             size.getTerms(),
             [](const SizeExpr::Term &term) {
               return term.coeff < 0 ||
                      llvm::any_of(
                          term.factors,
                          [](const SizeExpr::Atom &atom) {
                            return atom.ceil && mayBeNegative(atom.ceil->num);
                          });
             });
}

OpFoldResult layout::emitSize(OpBuilder &b, Location loc, const SizeExpr &size,
                              ArrayRef<OpFoldResult> sizeOf) {
  auto add = [&](OpFoldResult x, OpFoldResult y) {
    if (isConstantIntValue(x, 0))
      return y;
    return combineSizes(b, loc, x, y, std::plus<int64_t>(),
                        [&](Value x, Value y) -> Value {
                          return arith::AddIOp::create(b, loc, x, y);
                        });
  };
  auto multiply = [&](OpFoldResult x, OpFoldResult y) {
    if (isConstantIntValue(x, 1))
      return y;
    return combineSizes(b, loc, x, y, std::multiplies<int64_t>(),
                        [&](Value x, Value y) -> Value {
                          return arith::MulIOp::create(b, loc, x, y);
                        });
  };
  OpFoldResult sum = b.getIndexAttr(size.getConstantTerm());
  for (const SizeExpr::Term &term : size.getTerms()) {
    OpFoldResult product = b.getIndexAttr(term.coeff);
    for (const SizeExpr::Atom &atom : term.factors) {
      OpFoldResult factor;
      if (!atom.ceil) {
        factor = sizeOf[atom.dim];
      } else {
        OpFoldResult num = emitSize(b, loc, atom.ceil->num, sizeOf);
        factor = combineSizes(
            b, loc, num, b.getIndexAttr(atom.ceil->den),
            [](int64_t x, int64_t y) { return llvm::divideCeilSigned(x, y); },
            [&](Value x, Value y) -> Value {
              if (mayBeNegative(atom.ceil->num))
                return arith::CeilDivSIOp::create(b, loc, x, y);
              return arith::CeilDivUIOp::create(b, loc, x, y);
            });
      }
      product = multiply(product, factor);
    }
    sum = add(sum, product);
  }
  return sum;
}

OpFoldResult layout::emitExtent(OpBuilder &b, Location loc,
                                const SizeExpr &size,
                                ArrayRef<OpFoldResult> sizeOf) {
  OpFoldResult extent = emitSize(b, loc, size, sizeOf);
  if (!mayBeNegative(size))
    return extent;
  return combineSizes(
      b, loc, extent, b.getIndexAttr(0),
      [](int64_t x, int64_t y) { return std::max(x, y); },
      [&](Value x, Value y) -> Value {
        return arith::MaxSIOp::create(b, loc, x, y);
      });
}
