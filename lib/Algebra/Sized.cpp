//===- Sized.cpp - Values with extents: how a map is written --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Sized.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::layout;
using llvm::ArrayRef;

Sized mlir::layout::pad(const Sized &x, int64_t lo, int64_t hi) {
  return {add(x.value, SizeExpr(lo)), x.extent + SizeExpr(lo) + SizeExpr(hi)};
}

Sized mlir::layout::floorDiv(const Sized &x, int64_t k) {
  return {takeDigit(x.value, k, 0), x.extent.ceilDiv(k)};
}

Sized mlir::layout::mod(const Sized &x, int64_t k) {
  return {takeDigit(x.value, 1, k), SizeExpr(k)};
}

Sized mlir::layout::group(ArrayRef<Sized> elements) {
  Sized result{Linear(), SizeExpr(1)};
  for (const Sized &element : llvm::reverse(elements)) {
    result.value = add(result.value, scale(element.value, result.extent));
    result.extent = result.extent * element.extent;
  }
  return result;
}

Sized mlir::layout::align(const Sized &x, int64_t k) {
  return {x.value, x.extent.alignTo(k)};
}

/// The highest value of stride * e for 0 <= e < extent: nothing is added for a
/// stride that reaches downwards.
static SizeExpr reach(const SizeExpr &extent, const SizeExpr &stride) {
  bool negative = llvm::any_of(
      stride.getTerms(), [](const SizeExpr::Term &t) { return t.coeff < 0; });
  return negative ? SizeExpr(0) : (extent - SizeExpr(1)) * stride;
}

Sized mlir::layout::place(ArrayRef<std::pair<Sized, SizeExpr>> elements) {
  Sized result{Linear(), SizeExpr(1)};
  for (const auto &[element, stride] : elements) {
    result.value = add(result.value, scale(element.value, stride));
    result.extent = result.extent + reach(element.extent, stride);
  }
  return result;
}

SizeExpr mlir::layout::naturalExtent(const Digit &digit) {
  if (digit.modulus)
    return SizeExpr(digit.modulus);
  SizeExpr source =
      digit.fused ? naturalExtent(*digit.fused) : SizeExpr::dim(digit.dim);
  return source.ceilDiv(digit.lo);
}

SizeExpr mlir::layout::naturalExtent(const Linear &value) {
  SizeExpr result = value.constant + SizeExpr(1);
  for (const DigitTerm &term : value.terms)
    result = result + reach(naturalExtent(term.digit), term.stride);
  return result;
}
