//===- BitMatrix.cpp - Linear equations over GF(2) ------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BitMatrix.h"
#include "layout/Algebra/DigitDecomposition.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::Twine;

BitSolution mlir::layout::solve(ArrayRef<uint64_t> columns, unsigned rows) {
  // Gaussian elimination: the xor of a set of columns, and that set. The lowest
  // bit of an xor, the pivot, is in no other xor.
  struct Reduced {
    uint64_t sum, columns;
  };
  llvm::SmallVector<Reduced> basis;
  BitSolution solution;
  for (unsigned c = 0; c < columns.size(); ++c) {
    Reduced next{columns[c], uint64_t(1) << c};
    auto pivot = [](const Reduced &r) { return r.sum & -r.sum; };
    auto eliminate = [&](Reduced &from, const Reduced &by) {
      if (from.sum & pivot(by)) {
        from.sum ^= by.sum;
        from.columns ^= by.columns;
      }
    };
    for (const Reduced &known : basis)
      eliminate(next, known);
    if (next.sum == 0) {
      solution.kernel.push_back(next.columns);
      continue;
    }
    for (Reduced &known : basis)
      eliminate(known, next);
    basis.push_back(next);
  }
  solution.units.assign(rows, 0);
  for (const Reduced &reduced : basis)
    if (llvm::has_single_bit(reduced.sum))
      solution.units[llvm::countr_zero(reduced.sum)] = reduced.columns;
  return solution;
}

std::nullopt_t BitReader::fail(const Digit &digit, const Twine &message) {
  error("digit " + describe(digit, box.size()) + message);
  return std::nullopt;
}

std::optional<Bits> BitReader::readSource(const Digit &digit) {
  if (digit.fused)
    return read(*digit.fused);
  Bits bits;
  if (digit.swizzle) {
    if (digit.swizzle->constant != 0)
      return fail(digit,
                  " adds a constant: index 0 must be at 0 in every coordinate");
    bits.assign(digit.swizzle->bits, 0);
    for (const IndexExpr &operand : digit.swizzle->operands) {
      std::optional<Bits> added = read(operand);
      if (!added)
        return std::nullopt;
      for (auto [bit, by] : llvm::zip(bits, *added))
        bit ^= by;
    }
    return bits;
  }
  unsigned first = 0;
  for (int64_t size : box.take_front(digit.dim))
    first += llvm::Log2_64(size);
  for (unsigned b = 0, n = llvm::Log2_64(box[digit.dim]); b < n; ++b)
    bits.push_back(uint64_t(1) << (first + b));
  return bits;
}

std::optional<Bits> BitReader::read(const Digit &digit) {
  if (!llvm::isPowerOf2_64(digit.divisor) ||
      (digit.modulus && !llvm::isPowerOf2_64(digit.modulus)))
    return fail(digit, " divides by a number that is not a power of two: it is "
                       "not a range of bits");
  std::optional<Bits> bits = readSource(digit);
  if (!bits)
    return std::nullopt;
  size_t skipped = std::min<size_t>(bits->size(), llvm::Log2_64(digit.divisor));
  bits->erase(bits->begin(), bits->begin() + skipped);
  if (digit.modulus)
    bits->resize(std::min<size_t>(bits->size(), llvm::Log2_64(digit.modulus)));
  return bits;
}

std::optional<Bits> BitReader::read(const IndexExpr &value) {
  if (!value.constant.isZero()) {
    error("the layout adds " + describe(IndexExpr(value.constant), box.size()) +
          " to a coordinate: index 0 must be at 0 in every coordinate");
    return std::nullopt;
  }
  Bits sum;
  for (const DigitTerm &term : value.terms) {
    std::optional<Bits> bits = read(term.digit);
    if (!bits)
      return std::nullopt;
    std::optional<int64_t> stride = term.stride.getConstant();
    if (!stride || *stride < 0)
      return fail(term.digit, " has a stride that is not a positive constant");
    // A product is the sum of one shifted copy for each set bit of the stride.
    for (unsigned shift = 0; *stride >> shift != 0; ++shift) {
      if ((*stride >> shift & 1) == 0)
        continue;
      sum.resize(std::max(sum.size(), shift + bits->size()), 0);
      for (auto [b, bit] : llvm::enumerate(*bits)) {
        if (sum[shift + b] && bit)
          return fail(term.digit, " times " + Twine(*stride) +
                                      " carries in bit " + Twine(shift + b) +
                                      ": this is not an xor of bits");
        sum[shift + b] |= bit;
      }
    }
  }
  return sum;
}
