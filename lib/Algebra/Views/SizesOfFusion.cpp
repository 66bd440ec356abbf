//===- SizesOfFusion.cpp - Sizes of fused dims ----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Views/SizesOfFusion.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::layout;

SizeExpr SizesOfFusion::apply(const SizeExpr::Ceil &ceil) const {
  // ceil(2 a b, 12) was simplified to ceil(a b, 6): undo the division by
  // multiplying with the factor again.
  int64_t den;
  if (llvm::MulOverflow(ceil.den, factor, den))
    return apply(ceil.num).ceilDiv(ceil.den);
  return apply(ceil.num * SizeExpr(factor)).ceilDiv(den);
}

SizeExpr SizesOfFusion::apply(const SizeExpr &size) const {
  if (size.isOverflow())
    return size;
  SizeExpr sum(size.getConstantTerm());
  for (const SizeExpr::Term &term : size.getTerms()) {
    SizeExpr ofRun(term.coeff), rest(1);
    for (const SizeExpr::Atom &atom : term.factors) {
      if (atom.ceil)
        rest = rest * apply(*atom.ceil);
      else if (isInRun(atom.dim))
        ofRun = ofRun * SizeExpr::dim(atom.dim);
      else
        rest = rest * SizeExpr::dim(atom.dim);
    }
    // `ofRun` and `product` are single terms, so exactQuotient only cancels
    // factors.
    auto divideOut = [&](const SizeExpr &product, const SizeExpr &by) {
      while (std::optional<SizeExpr> quotient = ofRun.exactQuotient(product)) {
        ofRun = *quotient;
        rest = rest * by;
      }
    };
    divideOut(symbols * SizeExpr(factor), total);
    divideOut(symbols, total.ceilDiv(factor));
    sum = sum + (ofRun.isConstant() ? ofRun * rest : SizeExpr::overflow());
  }
  return sum;
}

IndexExpr SizesOfFusion::apply(const IndexExpr &value) const {
  IndexExpr result(apply(value.constant));
  for (const DigitTerm &term : value.terms) {
    const Digit &digit = term.digit;
    IndexExpr source = IndexExpr::dim(digit.dim);
    if (digit.fused) {
      source = apply(*digit.fused);
    } else if (digit.swizzle) {
      llvm::SmallVector<IndexExpr> operands{
          IndexExpr(SizeExpr(digit.swizzle->constant))};
      for (const IndexExpr &operand : digit.swizzle->operands)
        operands.push_back(apply(operand));
      source = xorBits(operands, digit.swizzle->bits);
    }
    IndexExpr part = scale(takeDigit(source, digit.divisor, digit.modulus),
                           apply(term.stride));
    result.constant = result.constant + part.constant;
    llvm::append_range(result.terms, part.terms);
  }
  // Add all parts at once: the form of overlapping digits depends on all of
  // them.
  return add(result, IndexExpr());
}

LayoutMap SizesOfFusion::apply(const LayoutMap &map) const {
  std::vector<Coordinate> coordinates;
  for (const Coordinate &coordinate : map.getCoordinates())
    coordinates.push_back(
        {coordinate.name, apply(coordinate.value), apply(coordinate.extent)});
  return LayoutMap::get(map.getRank(), map.getSpace(), std::move(coordinates),
                        map.getReplicas());
}
