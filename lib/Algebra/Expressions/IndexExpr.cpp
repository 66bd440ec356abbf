//===- IndexExpr.cpp - Sums of index digits -------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/IndexExpr.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::layout;
using llvm::ArrayRef;

//===----------------------------------------------------------------------===//
// Orders and values
//===----------------------------------------------------------------------===//

static int compareInts(int64_t a, int64_t b) {
  return a == b ? 0 : (a < b ? -1 : 1);
}

int Digit::compareSource(const Digit &other) const {
  auto kind = [](const Digit &digit) {
    return digit.isDim() ? 0 : (digit.fused ? 1 : 2);
  };
  if (int c = kind(*this) - kind(other))
    return c;
  if (fused)
    return fused == other.fused ? 0 : fused->compare(*other.fused);
  if (swizzle)
    return swizzle == other.swizzle ? 0 : swizzle->compare(*other.swizzle);
  return compareInts(dim, other.dim);
}

int Digit::compare(const Digit &other) const {
  if (int c = compareSource(other))
    return c;
  if (int c = compareInts(divisor, other.divisor))
    return c;
  return compareInts(modulus, other.modulus);
}

int IndexExpr::compare(const IndexExpr &other) const {
  if (int c = compareInts(terms.size(), other.terms.size()))
    return c;
  for (auto [a, b] : llvm::zip(terms, other.terms)) {
    if (int c = a.digit.compare(b.digit))
      return c;
    if (int c = a.stride.compare(b.stride))
      return c;
  }
  return constant.compare(other.constant);
}

int Swizzle::compare(const Swizzle &other) const {
  if (int c = compareInts(bits, other.bits))
    return c;
  if (int c = compareInts(constant, other.constant))
    return c;
  if (int c = compareInts(operands.size(), other.operands.size()))
    return c;
  for (auto [a, b] : llvm::zip(operands, other.operands))
    if (int c = a.compare(b))
      return c;
  return 0;
}

static llvm::hash_code hashSource(const Digit &digit) {
  if (digit.fused)
    return hash_value(*digit.fused);
  if (!digit.swizzle)
    return llvm::hash_value(digit.dim);
  llvm::hash_code hash =
      llvm::hash_combine(digit.swizzle->bits, digit.swizzle->constant);
  for (const IndexExpr &operand : digit.swizzle->operands)
    hash = llvm::hash_combine(hash, hash_value(operand));
  return hash;
}

llvm::hash_code mlir::layout::hash_value(const IndexExpr &linear) {
  llvm::hash_code hash = hash_value(linear.constant);
  for (const DigitTerm &term : linear.terms)
    hash = llvm::hash_combine(hash, hash_value(term.stride), term.digit.divisor,
                              term.digit.modulus, hashSource(term.digit));
  return hash;
}

IndexExpr IndexExpr::dim(unsigned d) {
  IndexExpr result;
  Digit digit;
  digit.dim = d;
  result.terms.push_back({digit, SizeExpr(1)});
  return result;
}

const Digit *IndexExpr::getSingleDigit() const {
  if (terms.size() == 1 && constant.isZero() &&
      terms[0].stride.isConstantEqual(1))
    return &terms[0].digit;
  return nullptr;
}

bool IndexExpr::hasOverflow() const {
  return constant.isOverflow() ||
         llvm::any_of(terms, [](const DigitTerm &term) {
           auto overflows = [](const IndexExpr &x) { return x.hasOverflow(); };
           const Digit &digit = term.digit;
           return term.stride.isOverflow() ||
                  (digit.fused && overflows(*digit.fused)) ||
                  (digit.swizzle &&
                   llvm::any_of(digit.swizzle->operands, overflows));
         });
}

/// Returns the value that the digit takes its floor and mod of, at an index of
/// a shape, or std::nullopt on overflow or if it depends on a dynamic size.
static std::optional<int64_t> evaluateSource(const Digit &digit,
                                             ArrayRef<int64_t> index,
                                             ArrayRef<int64_t> sizes) {
  if (digit.fused)
    return digit.fused->evaluate(index, sizes);
  if (!digit.swizzle)
    return index[digit.dim];
  int64_t result = digit.swizzle->constant;
  for (const IndexExpr &operand : digit.swizzle->operands) {
    std::optional<int64_t> value = operand.evaluate(index, sizes);
    if (!value)
      return std::nullopt;
    result ^= *value & (digit.swizzle->getExtent() - 1);
  }
  return result;
}

std::optional<int64_t> IndexExpr::evaluate(ArrayRef<int64_t> index,
                                           ArrayRef<int64_t> sizes) const {
  std::optional<int64_t> sum = constant.evaluate(sizes);
  if (!sum)
    return std::nullopt;
  for (const DigitTerm &term : terms) {
    std::optional<int64_t> source = evaluateSource(term.digit, index, sizes);
    std::optional<int64_t> stride = term.stride.evaluate(sizes);
    if (!source || !stride)
      return std::nullopt;
    int64_t value = llvm::divideFloorSigned(*source, term.digit.divisor);
    if (term.digit.modulus)
      value = llvm::mod(value, term.digit.modulus);
    if (llvm::MulOverflow(value, *stride, value) ||
        llvm::AddOverflow(*sum, value, *sum))
      return std::nullopt;
  }
  return sum;
}

void Digit::walkDims(llvm::function_ref<void(unsigned)> fn) const {
  if (fused)
    fused->walkDims(fn);
  else if (swizzle)
    for (const IndexExpr &operand : swizzle->operands)
      operand.walkDims(fn);
  else
    fn(dim);
}

void IndexExpr::walkDims(llvm::function_ref<void(unsigned)> fn) const {
  for (const DigitTerm &term : terms)
    term.digit.walkDims(fn);
}

//===----------------------------------------------------------------------===//
// Ranges
//===----------------------------------------------------------------------===//

std::optional<Interval> mlir::layout::getRange(const Digit &digit,
                                               Sizes sizes) {
  std::optional<Interval> source;
  if (digit.fused) {
    source = getRange(*digit.fused, sizes);
  } else if (digit.swizzle) {
    source = Interval{0, digit.swizzle->getExtent() - 1};
  } else if (digit.dim < sizes.size() && sizes[digit.dim] >= 0) {
    source = Interval{0, std::max<int64_t>(sizes[digit.dim], 1) - 1};
  }
  if (source) {
    source->min = llvm::divideFloorSigned(source->min, digit.divisor);
    source->max = llvm::divideFloorSigned(source->max, digit.divisor);
    if (!digit.modulus || (source->min >= 0 && source->max < digit.modulus))
      return source;
  }
  if (digit.modulus)
    return Interval{0, digit.modulus - 1};
  return std::nullopt;
}

std::optional<Interval> mlir::layout::getRange(const IndexExpr &x,
                                               Sizes sizes) {
  std::optional<int64_t> constant = x.constant.getConstant();
  if (!constant)
    return std::nullopt;
  Interval range{*constant, *constant};
  for (const DigitTerm &term : x.terms) {
    std::optional<int64_t> stride = term.stride.getConstant();
    std::optional<Interval> digit = getRange(term.digit, sizes);
    if (!stride || !digit)
      return std::nullopt;
    int64_t a, b;
    if (llvm::MulOverflow(digit->min, *stride, a) ||
        llvm::MulOverflow(digit->max, *stride, b) ||
        llvm::AddOverflow(range.min, std::min(a, b), range.min) ||
        llvm::AddOverflow(range.max, std::max(a, b), range.max))
      return std::nullopt;
  }
  return range;
}
