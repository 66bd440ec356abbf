//===- Evaluator.h - Values at many indices ---------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tuple of `IndexExpr`s compiled for one static box: the coordinates of a
// map, its stored axes, or the dims of its inverse. Digits of single dims
// become one table per dim, so that an index costs one row per dim and an
// addition per value; digits that mix dims are evaluated as they are.
//
//     NCHW16c of 1x64x56x56, stored axes:
//       tables of 1, 64, 56 and 56 rows of 5 numbers, nothing mixed
//
// Laws: the values are those of IndexExpr::evaluate at every index of the box;
// what could leave int64 on the box is not compiled.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_EVALUATOR_H
#define LAYOUT_ALGEBRA_EVALUATOR_H

#include "layout/Algebra/LayoutMap.h"

namespace mlir {
namespace layout {

class Evaluator {
public:
  /// Compiles `values` for the indices of `box` (sizes of all dims that occur,
  /// replicas included). Nothing where a size is dynamic, a stride depends on
  /// one, or a sum may leave int64. Tables take 8 bytes times the sizes up to
  /// `maxTableSize` times the number of values.
  static std::optional<Evaluator> compile(llvm::ArrayRef<IndexExpr> values,
                                          Sizes box,
                                          int64_t maxTableSize = 1 << 16);

  /// The coordinates of `map`, and its stored axes; their indices may end with
  /// the logical dims, for the first replica.
  static std::optional<Evaluator> ofCoordinates(const LayoutMap &map,
                                                Sizes sizes);
  static std::optional<Evaluator> ofStoredAxes(const LayoutMap &map,
                                               Sizes sizes);

  unsigned getNumDims() const { return box.size(); }
  unsigned getNumValues() const { return start.size(); }

  /// The values at one index of the box, which is not checked.
  void evaluate(const int64_t *index, int64_t *values) const;

  /// The values at `count` indices, row by row: `indices` has `stride` numbers
  /// a row, of which the first are the dims; those that are missing are 0.
  void evaluate(const int64_t *indices, size_t stride, size_t count,
                int64_t *values) const;

  /// The share of dim `d` in value 0 for each index of that dim, if values are
  /// sums of such shares alone: what a loop nest can hoist.
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
    std::vector<Sum> operands; // the fused source, or what is swizzled
    int64_t mask = 0;          // of a swizzle
    unsigned value = 0;        // the value that it is a part of
  };

  static bool compileDigit(const DigitTerm &term, Sizes box, Digit &digit);
  static bool compileSum(const IndexExpr &value, Sizes box, Sum &sum);
  static int64_t evaluateDigit(const Digit &digit, const int64_t *index);
  static int64_t evaluateSum(const Sum &sum, const int64_t *index);

  llvm::SmallVector<int64_t> box;
  llvm::SmallVector<int64_t> start; // the constant of each value
  // tables[d]: for each index of dim d its share of every value; empty where
  // dim d has no part in a table.
  std::vector<std::vector<int64_t>> tables;
  std::vector<Digit> digits; // what is in no table
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ALGEBRA_EVALUATOR_H
