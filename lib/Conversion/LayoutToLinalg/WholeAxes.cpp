//===- WholeAxes.cpp - Dims that storage keeps in one piece ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "WholeAxes.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"

using namespace mlir;
using namespace mlir::layout;

SmallVector<OpFoldResult>
WholeAxes::permute(ArrayRef<OpFoldResult> ofDims,
                   ArrayRef<OpFoldResult> other) const {
  SmallVector<OpFoldResult> result(other);
  for (auto [a, dim] : llvm::enumerate(dimOfAxis))
    if (dim)
      result[a] = ofDims[*dim];
  return result;
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
                      const llvm::SmallBitVector &touched) {
  FailureOr<LayoutMap> map = getLayoutMap(a), other = getLayoutMap(b);
  if (failed(map) || failed(other) || *map != *other)
    return std::nullopt;
  for (unsigned d = 0; d < touched.size(); ++d)
    if (!touched[d] && a.getDimSize(d) != b.getDimSize(d))
      return std::nullopt;
  WholeAxes axes;
  llvm::SmallBitVector found(touched.size());
  for (const StoredAxis &axis : map->getStoredAxes()) {
    axes.dimOfAxis.emplace_back();
    const Digit *digit = axis.value.getSingleDigit();
    if (digit && !digit->fused && digit->isWholeSource() &&
        touched[digit->dim] && axis.extent == SizeExpr::dim(digit->dim)) {
      axes.dimOfAxis.back() = digit->dim;
      found.set(digit->dim);
      continue;
    }
    // A touched dim must not show anywhere else, neither in values nor extents.
    bool clashes = false;
    axis.value.walkDims([&](unsigned d) { clashes |= touched[d]; });
    clashes |= speaksOf(axis.extent, touched);
    for (const DigitTerm &term : axis.value.terms)
      clashes |= !term.stride.isConstant();
    if (clashes)
      return std::nullopt;
  }
  return found == touched ? std::optional<WholeAxes>(std::move(axes))
                          : std::nullopt;
}
