//===- IndexBounds.h - How large the indices of a kernel get ----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bounds of the indices of a kernel, in symbols whose values each launch knows:
// the groups along x, y and z, and the arguments that are indices.
//
//   %y = gpu.global_id y        groups of 4 items    0 .. 4 g - 1
//   %n = arith.divui %y, %h     %h an argument       0 .. 4 g / h
//   %m = arith.muli %n, %h                           0 .. 4 g
//
// Laws:
//  * a bound holds for all values of the symbols that are not negative, and for
//    which nothing is divided by zero;
//  * bounds are of exact numbers: what wraps around in 64 bits is beyond them.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_GPUTOOPENCL_INDEXBOUNDS_H
#define LAYOUT_LIB_TARGETS_OPENCL_GPUTOOPENCL_INDEXBOUNDS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"
#include <map>
#include <vector>

namespace mlir {
namespace layout {

/// A sum of products of powers of symbols; a power may be negative.
class Bound {
public:
  Bound(double constant = 0);
  static Bound symbol(unsigned number);

  Bound operator+(const Bound &other) const;
  Bound operator-(const Bound &other) const { return *this + other * -1.0; }
  Bound operator*(const Bound &other) const;
  /// Nothing where the divisor is no product.
  std::optional<Bound> dividedBy(const Bound &divisor) const;

  std::optional<double> getConstant() const;
  /// The part without symbols.
  double getConstantTerm() const;
  size_t getNumTerms() const { return terms.size(); }
  /// Proven from the coefficients alone.
  bool isAtLeast(const Bound &other) const;
  bool isNotNegative() const { return isAtLeast(0); }

  /// No smaller, and no larger, than both.
  static Bound above(const Bound &a, const Bound &b);
  static Bound below(const Bound &a, const Bound &b);

  /// The value as an f64, of symbols that are of type f64.
  Value emit(OpBuilder &b, Location loc,
             function_ref<Value(unsigned)> symbolOf) const;

private:
  /// The coefficient of each product, given by the powers of all symbols up to
  /// its last one.
  std::map<std::vector<int>, double> terms;
};

/// Whether an op of arith other than a cast takes an index.
bool computesWithIndices(Operation *op);

class IndexBounds {
public:
  struct Range {
    Bound least, most;
    bool isNotNegative() const { return least.isNotNegative(); }
  };

  /// Items of a launch along x, y and z, and those of a group; -1 is not known.
  using Grid = std::array<int64_t, 6>;
  /// The symbol of an argument follows those of the groups.
  static constexpr unsigned kNumGroupSymbols = 3;
  /// Numbers below it have 32 bits, with room for the rounding of an f64.
  static constexpr double kLimit = (1u << 31) - 2;

  IndexBounds(gpu::GPUFuncOp kernel, const Grid &grid);

  /// Null where nothing is known, or no launch keeps it below the limit.
  const Range *find(Value index) const;

  /// The ops whose indices are all known ..
  ArrayRef<Operation *> getOps() const { return ops; }
  /// .. and what no known index is beyond, on either side of zero.
  const Bound &getLargest() const { return largest; }

private:
  std::optional<Range> compute(Operation *op) const;
  void add(Value index, const std::optional<Range> &range);
  void addOp(Operation *op, const Grid &grid);
  bool include(const Range &range);

  DenseMap<Value, Range> ranges;
  SmallVector<Operation *> ops;
  Bound largest;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_OPENCL_GPUTOOPENCL_INDEXBOUNDS_H
