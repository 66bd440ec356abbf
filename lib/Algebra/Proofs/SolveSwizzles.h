//===- SolveSwizzles.h - Solve swizzles for digits --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_ALGEBRA_PROOFS_SOLVESWIZZLES_H
#define LAYOUT_LIB_ALGEBRA_PROOFS_SOLVESWIZZLES_H

#include "layout/Algebra/IndexExpr.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::layout {

/// The value of a digit that the storage axes determine, as an expression of
/// them, or std::nullopt if no such expression is known. A digit that they do
/// not determine has no Formula.
using Formula = std::optional<IndexExpr>;

struct KnownDigit {
  Digit digit;
  Formula formula;
};

/// Returns the formula of `x` from the formulas of its digits, which `lookup`
/// returns. Returns std::nullopt if a digit is not determined. The Formula
/// inside of the result is std::nullopt if a digit is determined without a
/// formula.
std::optional<Formula>
lookupSum(const IndexExpr &x,
          llvm::function_ref<std::optional<Formula>(const Digit &)> lookup);

/// Returns digits that are not yet determined and follow from swizzles in
/// `known`, whose values are known. `lookup` returns the formulas of determined
/// digits. Solves for whole operands of a swizzle. If that determines no digit,
/// solves for single bits by elimination over GF(2).
std::vector<KnownDigit>
solveSwizzles(llvm::ArrayRef<KnownDigit> known,
              llvm::function_ref<std::optional<Formula>(const Digit &)> lookup,
              Sizes sizes);

} // namespace mlir::layout

#endif // LAYOUT_LIB_ALGEBRA_PROOFS_SOLVESWIZZLES_H
