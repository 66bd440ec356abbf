//===- WholeAxes.cpp - Dims stored as whole axes --------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Interfaces/WholeAxes.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Interfaces/OpLayoutRule.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

SmallVector<OpFoldResult>
WholeAxes::permute(ArrayRef<OpFoldResult> ofDims,
                   ArrayRef<OpFoldResult> other) const {
  SmallVector<OpFoldResult> result(other);
  for (auto [a, dim] : llvm::enumerate(dimOfAxis))
    if (dim && divisorOfAxis[a] == 1)
      result[a] = ofDims[*dim];
    else if (dim)
      result[a] = IntegerAttr::get(
          IndexType::get(ofDims[*dim].getContext()),
          llvm::divideCeilSigned(*getConstantIntValue(ofDims[*dim]),
                                 divisorOfAxis[a]));
  return result;
}

/// Returns true if `x` depends on each touched dim d (one that is padded or
/// sliced) only by digits of `d mod divisors[d]`, the index inside of a tile.
static bool staysInside(const IndexExpr &x, const llvm::SmallBitVector &touched,
                        ArrayRef<int64_t> divisors) {
  return llvm::all_of(x.terms, [&](const DigitTerm &term) {
    const Digit &digit = term.digit;
    if (!digit.isDim()) {
      bool isTouched = false;
      digit.walkDims([&](unsigned d) { isTouched |= touched[d]; });
      return !isTouched;
    }
    if (!touched[digit.dim])
      return true;
    return !divisors.empty() && digit.modulus &&
           cutsAtDivisorsOf(digit, divisors[digit.dim]);
  });
}

static bool speaksOf(const SizeExpr &size, const llvm::SmallBitVector &dims) {
  for (const SizeExpr::Term &term : size.getTerms())
    for (const SizeExpr::Atom &atom : term.factors)
      if (atom.ceil ? speaksOf(atom.ceil->num, dims) : dims[atom.dim])
        return true;
  return false;
}

std::optional<WholeAxes>
layout::findWholeAxes(RankedTensorType a, RankedTensorType b,
                      const llvm::SmallBitVector &touched,
                      function_ref<bool(unsigned, int64_t)> isDivisor) {
  FailureOr<LayoutMap> map = getLayoutMap(a), other = getLayoutMap(b);
  if (failed(map) || failed(other) || *map != *other ||
      !map->getReplicas().empty())
    return std::nullopt;
  for (unsigned d = 0; d < touched.size(); ++d)
    if (!touched[d] && a.getDimSize(d) != b.getDimSize(d))
      return std::nullopt;
  WholeAxes axes;
  SmallVector<int64_t> divisors(touched.size(), 0);
  for (const StoredAxis &axis : map->getStoredAxes()) {
    std::optional<unsigned> &dim = axes.dimOfAxis.emplace_back();
    int64_t &divisor = axes.divisorOfAxis.emplace_back(1);
    const Digit *digit = axis.value.getSingleDigit();
    if (!digit || !digit->isDim() || digit->modulus || !touched[digit->dim] ||
        axis.extent != SizeExpr::dim(digit->dim).ceilDiv(digit->divisor))
      continue;
    if (digit->divisor != 1 &&
        !(isDivisor && isDivisor(digit->dim, digit->divisor)))
      continue;
    dim = digit->dim;
    divisor = divisors[digit->dim] = digit->divisor;
  }
  for (unsigned d : touched.set_bits())
    if (!divisors[d])
      return std::nullopt;
  for (auto [axis, dim] : llvm::zip(map->getStoredAxes(), axes.dimOfAxis)) {
    if (dim)
      continue;
    // Other axes may use a touched dim only by its index inside of a tile, and
    // their extents may not use it.
    bool clashes = speaksOf(axis.extent, touched) ||
                   !staysInside(axis.value, touched, divisors);
    for (const DigitTerm &term : axis.value.terms)
      clashes |= !term.stride.isConstant();
    if (clashes)
      return std::nullopt;
  }
  return axes;
}
