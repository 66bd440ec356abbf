//===- BitMatrix.h - Linear equations over GF(2) ----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bit vectors are integers, and their sum is xor. A matrix is the list of its
// columns.
//
// Digits with power-of-two divisors and moduli select consecutive bits of the
// index. If no two digits overlap in a bit, a sum of digits times strides
// equals their xor. Each bit of such a value is then a sum of index bits.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_INTEROP_BITMATRIX_H
#define LAYOUT_LIB_INTEROP_BITMATRIX_H

#include "layout/Algebra/IndexExpr.h"
#include "layout/Interop/Notation.h"
#include "layout/Support/FailureReason.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"
#include <cstdint>

namespace mlir::layout {

/// The maximal number of bits; more are not needed because extents are int64.
constexpr unsigned kMaxBits = 62;

struct BitSolution {
  /// For each row r, the set of columns, as a bit mask, whose sum is the unit
  /// vector of r; 0 if no set has this sum. Earlier columns are preferred.
  llvm::SmallVector<uint64_t> units;
  /// A basis of the column sets whose sum is 0, one for each column that
  /// depends on earlier columns.
  llvm::SmallVector<uint64_t> kernel;
};

/// Solves for the unit vectors of `rows` rows; at most `kMaxBits` rows and
/// columns.
BitSolution solve(llvm::ArrayRef<uint64_t> columns, unsigned rows);

/// For each bit of a value, lowest first, the index bits whose sum it is.
using Bits = llvm::SmallVector<uint64_t>;

/// Decomposes values into bits that are sums of index bits.
class BitReader {
public:
  /// Reads values over `box`, powers of two: the sizes of the dims, then of the
  /// replicas. The index bits are those of dim 0, lowest first, then of dim 1,
  /// ..
  BitReader(llvm::ArrayRef<int64_t> box, FailureReason error)
      : box(box), error(error) {}

  /// Returns the bits of `value`, or reports a digit of nonconsecutive bits.
  std::optional<Bits> read(const IndexExpr &value);

private:
  std::optional<Bits> read(const Digit &digit);
  std::optional<Bits> readSource(const Digit &digit);
  std::nullopt_t fail(const Digit &digit, const llvm::Twine &message);

  llvm::ArrayRef<int64_t> box;
  FailureReason error;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_INTEROP_BITMATRIX_H
