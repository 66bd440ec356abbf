//===- IntegerBody.h - Integer arithmetic as exact f32 arithmetic -*- C++
//-*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// OKKernel has no sums or products of 32-bit integers, and no convolution of
// 8-bit ones. An f32 has every integer of at most 2^24, and sums and products
// that stay below are exact, in any order; so a body of integers whose ranges
// are known becomes one of f32:
//
//     %p = arith.muli %a, %b      |a| <= 128, |b| <= 127: mulf, |p| <= 16256
//     %h = arith.shrsi %p, 2      (p / 4 - 0.5 + 1/8), to the nearest integer
//     %q = arith.maxsi %h, %zero  maximumf
//
// The nearest integer is what is left of x + 1.5 * 2^23, less that number.
//
// The one product that may be larger is that of a requantization,
//
//     clamp((t * m + 2^(s-1)) >> s, low, high)
//
// of a constant m for each channel. Where the clamp decides, t may be clamped
// first: |t| <= T. m = (a * 2^k + b) * 2^l + c, such that the products of t
// with a, b and c are exact, with b = 0 where that can be:
//
//     P = t * (a * 2^(k+l-s)),   R = nearest(P)
//     P' = (P - R) + t * (b * 2^(l-s)),   R' = nearest(P')
//     f = (P' - R') + t * (c * 2^-s)
//     R + R' + 1 where f >= 0.5,  R + R' - 1 where f < -0.5,  R + R' else
//
// All of it is exact. Parts with these properties are looked for; without any
// nothing is written.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_INTEGERBODY_H
#define LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_INTEGERBODY_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace mlir {
namespace layout {

/// The largest integer up to which an f32 has all.
constexpr int64_t kExactInteger = int64_t(1) << 24;

struct IntegerRange {
  int64_t low = 0, high = 0;

  int64_t getLargest() const { return std::max(-low, high); }
  bool isExact() const {
    return low >= -kExactInteger && high <= kExactInteger;
  }
};

/// An integer of a body as an f32, or the f32 that it is.
struct CarriedNumber {
  Value value; // null where the range is too large
  IntegerRange range;
  /// Where what it is is known: within `window` the value is the integer,
  /// elsewhere both lie on the same side of it.
  std::optional<IntegerRange> window;
  /// The integers of a constant tensor, and which input that is.
  const std::vector<int64_t> *constants = nullptr;
  unsigned input = 0;
};

/// Writes a body anew, into `block`.
class IntegerBody {
public:
  /// Appends an input whose elements are `numbers`, for what `input` has.
  using AddInput =
      llvm::function_ref<Value(unsigned input, ArrayRef<float> numbers)>;

  IntegerBody(OpBuilder &builder, Location loc, AddInput addInput)
      : builder(builder), loc(loc), addInput(addInput) {}

  void set(Value value, CarriedNumber number) { numbers[value] = number; }
  /// The value, whose ops are written as far as they are needed.
  std::optional<CarriedNumber> get(Value value);

  Value number(float value);
  Value add(Value a, Value b);
  Value mul(Value a, Value b);
  Value max(Value a, Value b);
  /// The nearest integer of less than 2^22.
  Value nearest(Value x);
  /// The 32-bit integer of an f32 that is one.
  Value word(Value x, IntegerRange range);

private:
  Value oneWhere(arith::CmpFPredicate predicate, Value x, float than);
  std::optional<CarriedNumber> convert(Operation *op);
  std::optional<CarriedNumber> makeExtreme(Operation *op, bool isMax);
  std::optional<CarriedNumber> makeShift(arith::ShRSIOp op);
  std::optional<CarriedNumber> makeRequantized(Value t, CarriedNumber m,
                                               int64_t shift);
  std::optional<CarriedNumber> makeQuotient(CarriedNumber x, int64_t by);
  CarriedNumber make(Value value, IntegerRange range) { return {value, range}; }

  OpBuilder &builder;
  Location loc;
  AddInput addInput;
  DenseMap<Value, CarriedNumber> numbers;
};

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_INTEGERBODY_H
