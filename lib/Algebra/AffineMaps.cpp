//===- AffineMaps.cpp - Layout maps as affine maps ------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/AffineMaps.h"
#include "layout/Algebra/Proof.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::layout;

AffineExpr layout::toAffineExpr(const SizeExpr &size,
                                ArrayRef<AffineExpr> sizeOf,
                                MLIRContext *context) {
  AffineExpr sum = getAffineConstantExpr(size.getConstantTerm(), context);
  for (const SizeExpr::Term &term : size.getTerms()) {
    AffineExpr product = getAffineConstantExpr(term.coeff, context);
    for (const SizeExpr::Atom &atom : term.factors)
      product =
          product * (atom.ceil ? toAffineExpr(atom.ceil->num, sizeOf, context)
                                     .ceilDiv(atom.ceil->den)
                               : sizeOf[atom.dim]);
    sum = sum + product;
  }
  return sum;
}

bool layout::isAffine(const IndexExpr &value, bool hasSwizzleExprs) {
  return value.constant.isConstant() &&
         llvm::all_of(value.terms, [&](const DigitTerm &term) {
           return term.stride.isConstant() &&
                  (hasSwizzleExprs || !term.digit.swizzle) &&
                  (!term.digit.fused ||
                   isAffine(*term.digit.fused, hasSwizzleExprs));
         });
}

AffineExpr layout::toAffineExpr(const IndexExpr &value,
                                ArrayRef<AffineExpr> dims,
                                ArrayRef<AffineExpr> sizeOf,
                                MLIRContext *context,
                                SwizzleToExpr swizzleToExpr) {
  AffineExpr sum = toAffineExpr(value.constant, sizeOf, context);
  for (const DigitTerm &term : value.terms) {
    AffineExpr digit;
    if (term.digit.fused)
      digit =
          toAffineExpr(*term.digit.fused, dims, sizeOf, context, swizzleToExpr);
    else if (!term.digit.swizzle)
      digit = dims[term.digit.dim];
    else if (swizzleToExpr)
      digit = swizzleToExpr(*term.digit.swizzle);
    if (!digit)
      return AffineExpr();
    if (term.digit.divisor != 1)
      digit = digit.floorDiv(term.digit.divisor);
    if (term.digit.modulus)
      digit = digit % term.digit.modulus;
    sum = sum + digit * toAffineExpr(term.stride, sizeOf, context);
  }
  return sum;
}

std::optional<IndexExpr>
layout::fromAffineExpr(AffineExpr expr, ArrayRef<IndexExpr> dims, Sizes sizes) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return dims[dim.getPosition()];
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return IndexExpr(SizeExpr(constant.getValue()));
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<IndexExpr> lhs = fromAffineExpr(binary.getLHS(), dims, sizes);
  if (!lhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add) {
    std::optional<IndexExpr> rhs = fromAffineExpr(binary.getRHS(), dims, sizes);
    if (!rhs)
      return std::nullopt;
    return add(*lhs, *rhs, sizes);
  }
  auto rhs = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!rhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Mul)
    return scale(*lhs, SizeExpr(rhs.getValue()), sizes);
  if (rhs.getValue() <= 0)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::FloorDiv)
    return takeDigit(*lhs, rhs.getValue(), 0, sizes);
  if (expr.getKind() == AffineExprKind::Mod)
    return takeDigit(*lhs, 1, rhs.getValue(), sizes);
  return std::nullopt;
}

SmallVector<AffineExpr> layout::getSizeExprs(Sizes sizes,
                                             MLIRContext *context) {
  SmallVector<AffineExpr> exprs;
  unsigned symbol = 0;
  for (int64_t size : sizes)
    exprs.push_back(size >= 0 ? getAffineConstantExpr(size, context)
                              : getAffineSymbolExpr(symbol++, context));
  return exprs;
}

static unsigned countDynamic(Sizes sizes) {
  return llvm::count_if(sizes, [](int64_t size) { return size < 0; });
}

/// Returns the affine map from logical indices to the values of `parts`,
/// coordinates or stored axes of `map`, at replica 0. If one has a swizzle,
/// returns null.
template <typename Range>
static AffineMap getValueMap(const LayoutMap &map, const Range &parts,
                             Sizes sizes, MLIRContext *context) {
  SmallVector<AffineExpr> dims(map.getRank());
  bindDimsList<AffineExpr>(context, dims);
  dims.resize(map.getNumDims(), getAffineConstantExpr(0, context));
  SmallVector<AffineExpr> sizeOf = getSizeExprs(sizes, context);
  SmallVector<AffineExpr> results;
  for (const auto &part : parts) {
    results.push_back(toAffineExpr(part.value, dims, sizeOf, context));
    if (!results.back())
      return AffineMap();
  }
  return AffineMap::get(map.getRank(), countDynamic(sizes), results, context);
}

AffineMap layout::getForwardMap(const LayoutMap &map, Sizes sizes,
                                MLIRContext *context) {
  return getValueMap(map, map.getCoordinates(), sizes, context);
}

AffineMap layout::getAxesMap(const LayoutMap &map, Sizes sizes,
                             MLIRContext *context) {
  return getValueMap(map, map.getStoredAxes(), sizes, context);
}

std::optional<std::vector<IndexExpr>>
layout::getBackwardValues(const LayoutMap &map, Sizes sizes) {
  // Insert static sizes: invertAxes divides only by strides that are constants.
  std::vector<IndexExpr> dims;
  std::vector<SizeExpr> sizeOf;
  for (unsigned d = 0; d < map.getNumDims(); ++d) {
    dims.push_back(IndexExpr::dim(d));
    sizeOf.push_back(d < map.getRank() ? SizeExpr::dim(d).specialize(sizes)
                                       : SizeExpr(0));
  }
  std::vector<StoredAxis> stored;
  for (const StoredAxis &axis : map.getStoredAxes())
    stored.push_back(
        {substitute(axis.value, dims, sizeOf), axis.extent.substitute(sizeOf)});
  return invertAxes(stored, map.getNumDims(), map.getBox(sizes));
}

AffineMap layout::getBackwardMap(const LayoutMap &map, Sizes sizes,
                                 MLIRContext *context) {
  std::optional<std::vector<IndexExpr>> inverse = getBackwardValues(map, sizes);
  if (!inverse)
    return AffineMap();
  inverse->resize(map.getRank());
  SmallVector<AffineExpr> axes(map.getStoredAxes().size());
  bindDimsList<AffineExpr>(context, axes);
  SmallVector<AffineExpr> results;
  for (const IndexExpr &dim : *inverse) {
    results.push_back(toAffineExpr(dim, axes, {}, context));
    if (!results.back())
      return AffineMap();
  }
  return AffineMap::get(axes.size(), 0, results, context);
}
