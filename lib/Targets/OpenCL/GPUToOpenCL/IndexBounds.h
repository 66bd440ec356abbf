//===- IndexBounds.h - Bounds of kernel indices -----------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bounds of the indices of a kernel, in symbols whose values are known at
// launch: the numbers of work-groups along x, y and z, and the index arguments.
//
//   %y = gpu.global_id y        work-groups of size 4   0 .. 4 g - 1
//   %n = arith.divui %y, %h     %h an argument          0 .. 4 g / h
//   %m = arith.muli %n, %h                              0 .. 4 g
//
// Laws:
//  * a bound holds for all nonnegative values of the symbols for which there is
//    no division by zero;
//  * bounds are mathematical integers: they do not wrap at 64 bits.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_OPENCL_GPUTOOPENCL_INDEXBOUNDS_H
#define LAYOUT_LIB_TARGETS_OPENCL_GPUTOOPENCL_INDEXBOUNDS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/Builders.h"
#include <map>
#include <vector>

namespace mlir::layout {

/// A bound of an index: a sum of products of powers of symbols, e.g. `4 * g *
/// h^-1 + 2`. Symbols are nonnegative numbers that are known at launch.
class Bound {
public:
  Bound(double constant = 0);
  static Bound symbol(unsigned number);

  Bound operator+(const Bound &other) const;
  Bound operator-(const Bound &other) const { return *this + other * -1.0; }
  Bound operator*(const Bound &other) const;
  /// Returns the exact quotient, which is not rounded, or std::nullopt unless
  /// `divisor` has exactly one term.
  std::optional<Bound> dividedBy(const Bound &divisor) const;

  std::optional<double> getConstant() const;
  /// Returns the constant term, or 0 if there is none.
  double getConstantTerm() const;
  size_t getNumTerms() const { return terms.size(); }
  /// Returns true if `*this - other` has no negative coefficient, which proves
  /// that this bound is at least `other`. False proves nothing.
  bool isAtLeast(const Bound &other) const;
  bool isNotNegative() const { return isAtLeast(0); }

  /// Return a bound that is at least, or at most, both `a` and `b`.
  static Bound above(const Bound &a, const Bound &b);
  static Bound below(const Bound &a, const Bound &b);

  /// Emits the value of the bound as an f64. `symbolOf` returns the value of a
  /// symbol, by its number, as an f64.
  Value emit(OpBuilder &b, Location loc,
             function_ref<Value(unsigned)> symbolOf) const;

private:
  /// The coefficient of each product of symbols. The key lists the powers of
  /// symbols 0, 1, .. up to the last symbol of the product; it is empty for the
  /// constant term.
  std::map<std::vector<int>, double> terms;
};

/// Returns true if `op` is an arith op with an operand of type index, other
/// than a cast.
bool computesWithIndices(Operation *op);

class IndexBounds {
public:
  struct Range {
    Bound least, most;
    bool isNotNegative() const { return least.isNotNegative(); }
  };

  /// The number of work-items of a launch along x, y and z, and the work-group
  /// size along x, y and z; -1 if unknown.
  using Grid = std::array<int64_t, 6>;
  /// Symbols 0 to 2 are the numbers of work-groups along x, y and z. Kernel
  /// argument i, if it is an index, is symbol kNumGroupSymbols + i.
  static constexpr unsigned kNumGroupSymbols = 3;
  /// The limit of 32-bit indices, with a margin for rounding in f64.
  static constexpr double kLimit = (1u << 31) - 2;

  IndexBounds(gpu::GPUFuncOp kernel, const Grid &grid);

  /// Returns the range of `index`, or nullptr if it is unknown, or too large
  /// for 32 bits whatever the sizes of a launch are.
  const Range *find(Value index) const;

  /// Returns the arith ops whose index operands and results all have known
  /// ranges, and the scf.for loops whose bounds and step have.
  ArrayRef<Operation *> getOps() const { return ops; }
  /// Returns an upper bound of the magnitudes of all indices with known ranges.
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

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_OPENCL_GPUTOOPENCL_INDEXBOUNDS_H
