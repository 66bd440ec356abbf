//===- BitMatrix.h - Linear equations over bits -----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vectors of bits are numbers, their sum is xor. A matrix is the list of its
// columns.
//
// Digits of powers of two are runs of bits of the index, and where no two of
// them meet in a bit, a sum of digits times strides is the xor of them: every
// bit of such a value is a sum of index bits.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_INTEROP_BITMATRIX_H
#define LAYOUT_LIB_INTEROP_BITMATRIX_H

#include "layout/Algebra/IndexExpr.h"
#include "layout/Interop/Notation.h"
#include "layout/Support/Refusal.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"
#include <cstdint>

namespace mlir {
namespace layout {

/// More bits than a number has are not needed: extents are int64.
constexpr unsigned kMaxBits = 62;

struct BitSolution {
  /// For each row r the columns whose sum is that unit vector, as a set of
  /// bits; 0 where no columns give it. Early columns are preferred.
  llvm::SmallVector<uint64_t> units;
  /// Sets of columns whose sum is 0, independent of each other: one for each
  /// column that depends on those before it.
  llvm::SmallVector<uint64_t> kernel;
};

/// Solves for the unit vectors of `rows` rows; both at most `kMaxBits`.
BitSolution solve(llvm::ArrayRef<uint64_t> columns, unsigned rows);

/// For each bit of a value the index bits whose sum it is, the lowest first.
using Bits = llvm::SmallVector<uint64_t>;

class BitReader {
public:
  /// `box` has powers of two: the sizes of the dims, then of the replicas. The
  /// index bits are those of dim 0, from the lowest one, then of dim 1, ..
  BitReader(llvm::ArrayRef<int64_t> box, Refusal error)
      : box(box), error(error) {}

  /// Names the digit that is no run of bits where there is one.
  std::optional<Bits> read(const IndexExpr &value);

private:
  std::optional<Bits> read(const Digit &digit);
  std::optional<Bits> readSource(const Digit &digit);
  std::nullopt_t fail(const Digit &digit, const llvm::Twine &message);

  llvm::ArrayRef<int64_t> box;
  Refusal error;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_INTEROP_BITMATRIX_H
