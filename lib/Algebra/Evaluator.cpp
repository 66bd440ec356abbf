//===- Evaluator.cpp - Evaluate values at many indices --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Evaluator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::layout;
using llvm::ArrayRef;

//===----------------------------------------------------------------------===//
// Compiled digits
//===----------------------------------------------------------------------===//

bool Evaluator::compileSum(const IndexExpr &value, Sizes box, Sum &sum) {
  std::optional<int64_t> constant = value.constant.getConstant();
  // getRange returns std::nullopt if a partial sum may overflow int64.
  if (!constant || !getRange(value, box))
    return false;
  sum.constant = *constant;
  for (const DigitTerm &term : value.terms)
    if (!compileDigit(term, box, sum.digits.emplace_back()))
      return false;
  return true;
}

bool Evaluator::compileDigit(const DigitTerm &term, Sizes box, Digit &digit) {
  std::optional<int64_t> stride = term.stride.getConstant();
  if (!stride)
    return false;
  digit.divisor = term.digit.divisor;
  digit.modulus = term.digit.modulus;
  digit.stride = *stride;
  if (term.digit.fused) {
    digit.kind = Digit::OfSum;
    return compileSum(*term.digit.fused, box, digit.operands.emplace_back());
  }
  if (term.digit.swizzle) {
    const Swizzle &swizzle = *term.digit.swizzle;
    digit.kind = Digit::OfXor;
    digit.mask = swizzle.getExtent() - 1;
    digit.operands.emplace_back().constant = swizzle.constant;
    return llvm::all_of(swizzle.operands, [&](const IndexExpr &operand) {
      return compileSum(operand, box, digit.operands.emplace_back());
    });
  }
  digit.dim = term.digit.dim;
  return true;
}

int64_t Evaluator::evaluateSum(const Sum &sum, const int64_t *index) {
  int64_t result = sum.constant;
  for (const Digit &digit : sum.digits)
    result += evaluateDigit(digit, index);
  return result;
}

int64_t Evaluator::evaluateDigit(const Digit &digit, const int64_t *index) {
  int64_t x = 0;
  switch (digit.kind) {
  case Digit::OfDim:
    x = index[digit.dim];
    break;
  case Digit::OfSum:
    x = evaluateSum(digit.operands.front(), index);
    break;
  case Digit::OfXor:
    for (const Sum &operand : digit.operands)
      x ^= evaluateSum(operand, index);
    x &= digit.mask;
    break;
  }
  if (digit.divisor != 1)
    x = llvm::divideFloorSigned(x, digit.divisor);
  if (digit.modulus)
    x = llvm::mod(x, digit.modulus);
  return x * digit.stride;
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

/// Returns the dim of a digit that depends on just one, else std::nullopt.
static std::optional<unsigned> getOnlyDim(const DigitTerm &term) {
  std::optional<unsigned> dim;
  bool isOne = true;
  term.digit.walkDims([&](unsigned d) {
    isOne &= !dim || *dim == d;
    dim = d;
  });
  return isOne ? dim : std::nullopt;
}

std::optional<Evaluator> Evaluator::compile(ArrayRef<IndexExpr> values,
                                            Sizes box, int64_t maxTableSize) {
  if (llvm::any_of(box, [](int64_t size) { return size < 0; }))
    return std::nullopt;
  Evaluator result;
  llvm::append_range(result.box, box);
  result.tables.resize(box.size());
  llvm::SmallVector<int64_t> index(box.size(), 0);
  for (auto [v, value] : llvm::enumerate(values)) {
    Sum sum;
    if (!compileSum(value, box, sum))
      return std::nullopt;
    result.start.push_back(sum.constant);
    for (auto [term, digit] : llvm::zip_equal(value.terms, sum.digits)) {
      digit.value = v;
      std::optional<unsigned> dim = getOnlyDim(term);
      if (!dim || box[*dim] > maxTableSize) {
        result.digits.push_back(std::move(digit));
        continue;
      }
      std::vector<int64_t> &table = result.tables[*dim];
      table.resize(box[*dim] * values.size(), 0);
      for (int64_t i = 0; i < box[*dim]; ++i) {
        index[*dim] = i;
        table[i * values.size() + v] += evaluateDigit(digit, index.data());
      }
      index[*dim] = 0;
    }
  }
  return result;
}

void Evaluator::evaluate(const int64_t *index, int64_t *values) const {
  size_t width = start.size();
  std::copy(start.begin(), start.end(), values);
  for (size_t d = 0, rank = tables.size(); d < rank; ++d) {
    if (tables[d].empty())
      continue;
    const int64_t *row = tables[d].data() + index[d] * width;
    for (size_t v = 0; v < width; ++v)
      values[v] += row[v];
  }
  for (const Digit &digit : digits)
    values[digit.value] += evaluateDigit(digit, index);
}

void Evaluator::evaluate(const int64_t *indices, size_t stride, size_t count,
                         int64_t *values) const {
  if (stride >= box.size()) {
    for (size_t i = 0; i < count; ++i)
      evaluate(indices + i * stride, values + i * start.size());
    return;
  }
  llvm::SmallVector<int64_t> index(box.size(), 0);
  for (size_t i = 0; i < count; ++i) {
    std::copy_n(indices + i * stride, stride, index.begin());
    evaluate(index.data(), values + i * start.size());
  }
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

std::optional<Evaluator> Evaluator::ofCoordinates(const LayoutMap &map,
                                                  Sizes sizes) {
  LayoutMap special = map.specialize(sizes);
  llvm::SmallVector<IndexExpr> values;
  for (const Coordinate &coordinate : special.getCoordinates())
    values.push_back(coordinate.value);
  return compile(values, special.getBox(sizes));
}
