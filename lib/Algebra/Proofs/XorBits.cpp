//===- XorBits.cpp - The canonical form of a swizzle ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/IndexExpr.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::layout;
using llvm::ArrayRef;

/// The maximal number of rewrites of an operand. No known value needs as many,
/// and an operand is correct after each of them.
constexpr unsigned kMaxRounds = 16;

/// Returns a value with the same lowest `bits` bits as `x`. Leaves out a final
/// mod 2^bits, because a swizzle implies it.
static IndexExpr takeLowBits(const IndexExpr &x, unsigned bits, Sizes sizes) {
  int64_t extent = int64_t(1) << bits;
  IndexExpr low = takeDigit(x, 1, extent, sizes);
  // Without its mod, a digit can have a simpler form, and this in turn a mod
  // that can be removed.
  for (unsigned round = 0; round < kMaxRounds; ++round) {
    const Digit *single = low.getSingleDigit();
    if (!single || single->modulus != extent)
      return low;
    Digit digit = *single, whole = digit;
    whole.divisor = 1;
    whole.modulus = 0;
    IndexExpr source;
    source.terms.push_back({whole, SizeExpr(1)});
    IndexExpr unbounded = takeDigit(source, digit.divisor, 0, sizes);
    low = takeDigit(unbounded, 1, extent, sizes);
    const Digit *again = low.getSingleDigit();
    if (again && again->compare(digit) == 0)
      return unbounded;
  }
  return low;
}

IndexExpr mlir::layout::xorBits(ArrayRef<IndexExpr> operands, unsigned bits,
                                Sizes sizes) {
  int64_t mask = (int64_t(1) << bits) - 1;
  Swizzle swizzle;
  swizzle.bits = bits;
  for (const IndexExpr &operand : operands) {
    IndexExpr low = takeLowBits(operand, bits, sizes);
    if (std::optional<int64_t> c = low.constant.getConstant();
        c && low.terms.empty()) {
      swizzle.constant ^= *c & mask;
      continue;
    }
    // Merge a swizzle of swizzles. The operands of one with fewer bits are
    // first taken mod its extent.
    const Digit *digit = low.getSingleDigit();
    if (digit && digit->swizzle && digit->isWholeSource() &&
        digit->swizzle->bits <= bits) {
      for (const IndexExpr &inner : digit->swizzle->operands)
        swizzle.operands.push_back(
            digit->swizzle->bits == bits
                ? inner
                : takeDigit(inner, 1, digit->swizzle->getExtent(), sizes));
      swizzle.constant ^= digit->swizzle->constant;
      continue;
    }
    swizzle.operands.push_back(std::move(low));
  }
  // Equal operands cancel each other.
  llvm::sort(swizzle.operands, [](const IndexExpr &a, const IndexExpr &b) {
    return a.compare(b) < 0;
  });
  std::vector<IndexExpr> left;
  for (IndexExpr &operand : swizzle.operands) {
    if (!left.empty() && left.back() == operand)
      left.pop_back();
    else
      left.push_back(std::move(operand));
  }
  if (left.empty())
    return IndexExpr(SizeExpr(swizzle.constant));
  if (left.size() == 1 && swizzle.constant == 0)
    return takeDigit(left.front(), 1, mask + 1, sizes);
  swizzle.operands = std::move(left);
  Digit digit;
  digit.swizzle = std::make_shared<Swizzle>(std::move(swizzle));
  IndexExpr result;
  result.terms.push_back({digit, SizeExpr(1)});
  return result;
}
