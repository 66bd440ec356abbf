//===- BoundedIndex.cpp - Values with extents -----------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Expressions/UpperBound.h"
#include "Views/Combine.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::layout;
using llvm::ArrayRef;

BoundedIndex mlir::layout::pad(const BoundedIndex &x, int64_t lo, int64_t hi) {
  return {add(x.value, SizeExpr(lo)), x.extent + SizeExpr(lo) + SizeExpr(hi)};
}

BoundedIndex mlir::layout::floorDiv(const BoundedIndex &x, int64_t k) {
  return {takeDigit(x.value, k, 0), x.extent.ceilDiv(k)};
}

BoundedIndex mlir::layout::mod(const BoundedIndex &x, int64_t k) {
  return {takeDigit(x.value, 1, k), SizeExpr(k)};
}

/// Returns the sum of each element times its stride in canonical form. All
/// terms are combined at once: if they were added one by one, the form of
/// digits that do not nest would depend on the order of `elements`.
static IndexExpr sumOf(ArrayRef<std::pair<BoundedIndex, SizeExpr>> elements) {
  SizeExpr constant;
  std::vector<DigitTerm> terms;
  terms.reserve(elements.size());
  for (const auto &[element, stride] : elements) {
    constant = constant + element.value.constant * stride;
    for (const DigitTerm &term : element.value.terms)
      terms.push_back({term.digit, term.stride * stride});
  }
  return combine(std::move(constant), std::move(terms), /*sizes=*/{});
}

BoundedIndex mlir::layout::group(ArrayRef<BoundedIndex> elements) {
  llvm::SmallVector<std::pair<BoundedIndex, SizeExpr>> placed;
  SizeExpr extent(1);
  for (const BoundedIndex &element : llvm::reverse(elements)) {
    placed.push_back({element, extent});
    extent = extent * element.extent;
  }
  return {sumOf(placed), extent};
}

BoundedIndex mlir::layout::align(const BoundedIndex &x, int64_t k) {
  return {x.value, x.extent.alignTo(k)};
}

/// Returns the highest value of stride * e for 0 <= e < extent, or 0 for a
/// stride that may be negative.
static SizeExpr reach(const SizeExpr &extent, const SizeExpr &stride) {
  bool reachesUpwards =
      stride.getConstantTerm() >= 0 &&
      llvm::all_of(stride.getTerms(),
                   [](const SizeExpr::Term &t) { return t.coeff >= 0; });
  return reachesUpwards ? (extent - SizeExpr(1)) * stride : SizeExpr(0);
}

BoundedIndex
mlir::layout::place(ArrayRef<std::pair<BoundedIndex, SizeExpr>> elements) {
  SizeExpr extent(1);
  for (const auto &[element, stride] : elements)
    extent = extent + reach(element.extent, stride);
  return {sumOf(elements), extent};
}

BoundedIndex mlir::layout::xorOf(ArrayRef<BoundedIndex> operands,
                                 int64_t extent) {
  assert(llvm::isPowerOf2_64(extent) &&
         llvm::Log2_64(extent) <= kMaxSwizzleBits);
  llvm::SmallVector<IndexExpr> values;
  for (const BoundedIndex &operand : operands)
    values.push_back(operand.value);
  return {xorBits(values, llvm::Log2_64(extent)), SizeExpr(extent)};
}

SizeExpr mlir::layout::naturalExtent(const Digit &digit) {
  if (digit.modulus)
    return SizeExpr(digit.modulus);
  SizeExpr source = SizeExpr::dim(digit.dim);
  if (digit.fused)
    source = naturalExtent(*digit.fused);
  else if (digit.swizzle)
    source = SizeExpr(digit.swizzle->getExtent());
  return source.ceilDiv(digit.divisor);
}

SizeExpr mlir::layout::naturalExtent(const IndexExpr &value) {
  if (const Digit *digit = value.getSingleDigit())
    return naturalExtent(*digit);
  SizeExpr result = value.constant + SizeExpr(1);
  for (const DigitTerm &term : value.terms)
    result = result + reach(naturalExtent(term.digit), term.stride);
  return result;
}

/// Returns `size` with the static ones of `sizes` inserted. An empty `sizes`
/// means that all are dynamic.
static SizeExpr specialize(const SizeExpr &size, Sizes sizes) {
  return sizes.empty() ? size : size.specialize(sizes);
}

/// Returns one more than the inclusive maximum of `range`, or std::nullopt if
/// its minimum is negative.
static std::optional<SizeExpr> getUpperBound(const Interval &range) {
  if (range.min < 0)
    return std::nullopt;
  return SizeExpr(range.max) + SizeExpr(1);
}

std::optional<SizeExpr> mlir::layout::getUpperBound(const Digit &digit,
                                                    Sizes sizes) {
  if (std::optional<Interval> range = getRange(digit, sizes))
    return ::getUpperBound(*range);
  if (!digit.fused)
    return specialize(naturalExtent(digit), sizes);
  std::optional<SizeExpr> source = getUpperBound(*digit.fused, sizes);
  return source ? std::optional(source->ceilDiv(digit.divisor)) : std::nullopt;
}

std::optional<SizeExpr> mlir::layout::getUpperBound(const IndexExpr &value,
                                                    Sizes sizes) {
  if (std::optional<Interval> range = getRange(value, sizes))
    return ::getUpperBound(*range);
  SizeExpr constant = specialize(value.constant, sizes);
  if (!constant.isProvablyAtLeast(0))
    return std::nullopt;
  SizeExpr bound = constant + SizeExpr(1);
  for (const DigitTerm &term : value.terms) {
    SizeExpr stride = specialize(term.stride, sizes);
    std::optional<SizeExpr> digit = getUpperBound(term.digit, sizes);
    if (!digit || !stride.isProvablyAtLeast(0))
      return std::nullopt;
    bound = bound + (*digit - SizeExpr(1)) * stride;
  }
  return bound;
}
