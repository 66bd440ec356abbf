//===- SolveSwizzles.h - Solve swizzles for digits --------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_ALGEBRA_SOLVESWIZZLES_H
#define LAYOUT_LIB_ALGEBRA_SOLVESWIZZLES_H

#include "layout/Algebra/IndexExpr.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::layout {

/// A value in terms of storage axes, or std::nullopt if it is determined but
/// not by a formula of digits.
using Formula = std::optional<IndexExpr>;

struct KnownDigit {
  Digit digit;
  Formula formula;
};

/// Returns the formula of a sum, or std::nullopt if a digit is not determined.
std::optional<Formula>
lookupSum(const IndexExpr &x,
          llvm::function_ref<std::optional<Formula>(const Digit &)> lookup);

/// Returns the digits that `known` swizzles determine, beyond those of
/// `lookup`. Solves for whole operands, then for single bits by elimination
/// over GF(2).
std::vector<KnownDigit>
solveSwizzles(llvm::ArrayRef<KnownDigit> known,
              llvm::function_ref<std::optional<Formula>(const Digit &)> lookup,
              Sizes sizes);

} // namespace mlir::layout

#endif // LAYOUT_LIB_ALGEBRA_SOLVESWIZZLES_H
