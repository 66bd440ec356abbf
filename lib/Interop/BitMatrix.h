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

/// The maximal number of rows and columns of a bit matrix. More are not needed
/// because extents are int64.
constexpr unsigned kMaxBits = 62;

struct BitSolution {
  /// For each row r, a set of columns, as a bit mask, whose xor is the unit
  /// vector of r; 0 if no set has this xor. Earlier columns are preferred.
  llvm::SmallVector<uint64_t> units;
  /// A basis of the sets of columns whose xor is 0, one for each column that
  /// depends on earlier columns.
  llvm::SmallVector<uint64_t> kernel;
};

/// Finds the sets of columns whose xor is a unit vector or 0. The matrix has
/// `rows` rows; each column is the bit mask of its rows. At most `kMaxBits`
/// rows and columns.
BitSolution solve(llvm::ArrayRef<uint64_t> columns, unsigned rows);

/// For each bit of a value, lowest first, the bits of the index whose xor it
/// is, as a bit mask.
using Bits = llvm::SmallVector<uint64_t>;

/// Decomposes values into bits, each of which is the xor of some bits of the
/// index.
class BitReader {
public:
  /// Reads values over `box`: the sizes of the dims, then of the replicas, all
  /// of them powers of two. The bits of the index are those of dim 0, lowest
  /// first, then of dim 1, ..
  BitReader(llvm::ArrayRef<int64_t> box, FailureReason error)
      : box(box), error(error) {}

  /// Returns the bits of `value`. If they are not xors of bits of the index,
  /// because of a constant, a divisor or modulus that is not a power of two, a
  /// stride that is not a positive constant, or a sum with carries, reports why
  /// and returns std::nullopt.
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
