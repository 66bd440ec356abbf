//===- Evaluator.h - Evaluate values at many indices ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tuple of `IndexExpr`s compiled for one static box: the coordinates of a
// map, its stored axes, or the dims of its inverse. Mixed-radix digits of
// single dims become one lookup table per dim, so that an index costs one table
// row per dim and one addition per value. Digits that mix dims are evaluated
// directly.
//
//     NCHW16c of 1x64x56x56, stored axes:
//       tables of 1, 64, 56 and 56 rows of 5 numbers, nothing mixed
//
// Laws: the values equal IndexExpr::evaluate at every index of the box.
// Expressions that may overflow int64 on the box are not compiled.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_EVALUATOR_H
#define LAYOUT_ALGEBRA_EVALUATOR_H

#include "layout/Algebra/LayoutMap.h"

namespace mlir::layout {

class Evaluator {
public:
  /// Compiles `values` for the indices of `box`, the sizes of all dims,
  /// replicas included. Returns std::nullopt if a size is dynamic, a stride or
  /// constant depends on a size, or a sum may overflow int64. A dim of at most
  /// `maxTableSize` indices that some digit depends on alone has a lookup table
  /// of 8 bytes * number of values * size.
  static std::optional<Evaluator> compile(llvm::ArrayRef<IndexExpr> values,
                                          Sizes box,
                                          int64_t maxTableSize = 1 << 16);

  /// Compiles the coordinates of `map` for dims of these sizes. The box has the
  /// dims, followed by the replicas of the map. Returns std::nullopt if a size
  /// is dynamic, a stride depends on it, or a coordinate may overflow int64.
  static std::optional<Evaluator> ofCoordinates(const LayoutMap &map,
                                                Sizes sizes);

  unsigned getNumDims() const { return box.size(); }
  unsigned getNumValues() const { return start.size(); }

  /// Computes the values at one index of the box, replicas included. The index
  /// is not checked.
  void evaluate(const int64_t *index, int64_t *values) const;

  /// Computes the values at `count` indices, and writes them to `values`,
  /// getNumValues() numbers for each index. A row of `indices`, one index, has
  /// `stride` numbers that begin with the dims of the box. If it has fewer
  /// numbers than dims, e.g. no replicas, the other ones are 0.
  void evaluate(const int64_t *indices, size_t stride, size_t count,
                int64_t *values) const;

  /// Returns true if all values are sums of table entries. If there is one
  /// value, it is getStart() plus getTable(d)[index of dim d] for each dim d
  /// whose table is not empty; loops can hoist these terms.
  bool hasOnlyTables() const { return digits.empty(); }
  llvm::ArrayRef<int64_t> getTable(unsigned d) const { return tables[d]; }
  int64_t getStart() const { return start.front(); }

private:
  struct Digit;
  struct Sum {
    int64_t constant = 0;
    std::vector<Digit> digits;
  };
  struct Digit {
    enum Kind { OfDim, OfSum, OfXor } kind = OfDim;
    unsigned dim = 0;
    int64_t divisor = 1, modulus = 0, stride = 1;
    std::vector<Sum> operands; // the fused source, or the swizzle operands
    int64_t mask = 0;          // of a swizzle
    unsigned value = 0;        // the number of the value that it is added to
  };

  static bool compileDigit(const DigitTerm &term, Sizes box, Digit &digit);
  static bool compileSum(const IndexExpr &value, Sizes box, Sum &sum);
  static int64_t evaluateDigit(const Digit &digit, const int64_t *index);
  static int64_t evaluateSum(const Sum &sum, const int64_t *index);

  llvm::SmallVector<int64_t> box;
  llvm::SmallVector<int64_t> start; // the constant of each value
  // tables[d] has a row per index of dim d, with the number to add to each
  // value. It is empty if no digit depends on dim d alone.
  std::vector<std::vector<int64_t>> tables;
  std::vector<Digit> digits; // those that mix dims or are of long dims
};

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_EVALUATOR_H
