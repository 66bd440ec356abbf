//===- SolveSwizzles.h - Digits out of swizzles -----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_ALGEBRA_SOLVESWIZZLES_H
#define LAYOUT_LIB_ALGEBRA_SOLVESWIZZLES_H

#include "layout/Algebra/IndexExpr.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir {
namespace layout {

/// A value in terms of storage axes; nothing where it is determined but no
/// formula of digits says how.
using Formula = std::optional<IndexExpr>;

struct KnownDigit {
  Digit digit;
  Formula formula;
};

/// The formula of a sum whose digits are all determined.
std::optional<Formula>
lookupSum(const IndexExpr &x,
          llvm::function_ref<std::optional<Formula>(const Digit &)> lookup);

/// The digits that `known` swizzles determine, beyond those that `lookup`
/// gives: first whole operands, then single bits by elimination over F2.
std::vector<KnownDigit>
solveSwizzles(llvm::ArrayRef<KnownDigit> known,
              llvm::function_ref<std::optional<Formula>(const Digit &)> lookup,
              Sizes sizes);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_ALGEBRA_SOLVESWIZZLES_H
