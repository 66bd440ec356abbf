//===- IntegerBody.h - Integer bodies as exact f32 bodies -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// OKKernel has no sums or products of 32-bit integers, and no convolution of
// 8-bit ones. An f32 represents every integer up to 2^24, and smaller sums and
// products are exact in any order. So an integer body with known ranges becomes
// one of f32:
//
//     %p = arith.muli %a, %b      |a| <= 128, |b| <= 127: mulf, |p| <= 16256
//     %h = arith.shrsi %p, 2      (p / 4 - 0.5 + 1/8), to the nearest integer
//     %q = arith.maxsi %h, %zero  maximumf
//
// nearest(x) is (x + 1.5 * 2^23) - 1.5 * 2^23.
//
// The only product that may be larger is that of a requantization,
//
//     clamp((t * m + 2^(s-1)) >> s, low, high)
//
// with a constant m per channel. If the clamp saturates for |t| > T, t is
// clamped to |t| <= T first. m = (a * 2^k + b) * 2^l + c is chosen such that
// the products of t with a, b and c are exact, with b = 0 if possible:
//
//     P = t * (a * 2^(k+l-s)),   R = nearest(P)
//     P' = (P - R) + t * (b * 2^(l-s)),   R' = nearest(P')
//     f = (P' - R') + t * (c * 2^-s)
//     R + R' + 1 if f >= 0.5,  R + R' - 1 if f < -0.5,  R + R' otherwise
//
// All steps are exact. If no such a, b and c are found, nothing is rewritten.
//
// The f32 of an integer of b bits with 2^b < 2^22 is congruent to it modulo 2^b,
// and between -2^(b-1) and 2^b - 1. So an i8 is carried with or without sign,
// and an op that depends on the sign adds or subtracts 256 first if the range
// includes the other half. A result out of these bounds wraps:
//
//     %s = arith.addi %a, %b : i8   s = a + b, s - 256 * nearest((s + 0.5) / 256)
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_NUMBERS_INTEGERBODY_H
#define LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_NUMBERS_INTEGERBODY_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include <optional>

namespace mlir::layout {

/// The largest n such that an f32 represents all integers up to n exactly.
constexpr int64_t kExactInteger = int64_t(1) << 24;

struct IntegerRange {
  int64_t low = 0, high = 0;

  int64_t getLargest() const { return std::max(-low, high); }
  bool isExact() const {
    return low >= -kExactInteger && high <= kExactInteger;
  }
};

/// The f32 that stands for an integer value of a body, and the range of that
/// integer; also an f32 value of the body itself.
struct CarriedNumber {
  Value value; // null if the integer may not be exact as f32
  IntegerRange range;
  /// Set if the f32 equals the integer only within this range, and a clamp to a
  /// part of it must follow. An integer outside of the range and its f32 are
  /// both beyond the same end of it.
  std::optional<IntegerRange> window;
  /// If the value is an element of a constant tensor: the elements of that
  /// tensor, and the number of the input.
  const std::vector<int64_t> *constants = nullptr;
  unsigned input = 0;
};

/// The f32 tensor with the values of an integer tensor, and their range.
struct CarriedTensor {
  Value tensor;
  IntegerRange range;
};

/// Rewrites values of an integer body as f32. Callers first state the f32 of
/// each block argument by `set`.
class IntegerBody {
public:
  /// Appends an f32 constant with elements `numbers` to the inputs of the op,
  /// with the shape and indexing map of input number `input`, and returns its
  /// block argument.
  using AddInput =
      llvm::function_ref<Value(unsigned input, ArrayRef<float> numbers)>;

  IntegerBody(OpBuilder &builder, Location loc, AddInput addInput)
      : builder(builder), loc(loc), addInput(addInput) {}

  void set(Value value, CarriedNumber number) { numbers[value] = number; }
  /// States the i32 of a block argument that stays an i32. Such words can be
  /// compared and converted to f32.
  void setWord(Value value, Value word) { words[value] = word; }
  /// Returns the f32 that carries the integer `value` of the body, and emits
  /// the ops that compute it. The f32 is a null Value if only the range of the
  /// integer is known. Returns std::nullopt if the range is not known either.
  std::optional<CarriedNumber> get(Value value);
  /// Emits the i1 `value` of the body as comparisons of f32. Returns a null
  /// value if an operand is not an exact f32, or if `value` has another form.
  Value getCondition(Value value);
  /// Returns the f32 `value` of the body with its integers carried, and emits
  /// the ops that compute it. Returns a null value if an integer is not exact
  /// as f32.
  Value getFloat(Value value);
  /// Returns what `get` returns for an exact integer, with the sign of its type.
  std::optional<CarriedNumber> getSigned(Value value);
  /// Returns what `get` returns for an exact integer, read as unsigned.
  std::optional<CarriedNumber> getUnsigned(Value value);
  /// Returns `number`, an integer of `type`, with the sign of the type.
  std::optional<CarriedNumber> withSign(CarriedNumber number, Type type);
  /// Returns `number`, an integer of `type`, read as unsigned.
  std::optional<CarriedNumber> withoutSign(CarriedNumber number, Type type);

  Value number(float value);
  Value add(Value a, Value b);
  Value mul(Value a, Value b);
  Value max(Value a, Value b);
  Value min(Value a, Value b);
  /// Returns 1 as f32 if the i1 `condition` holds, else 0.
  Value oneIf(Value condition);
  /// Returns, as f32, the integer nearest to the f32 x, for |x| below 2^22.
  Value nearest(Value x);
  /// Returns the low byte of x, an f32 with an integer value below 2^22, as byte
  /// number `at` of an i32 whose other bytes are 0.
  Value byte(Value x, unsigned at);
  /// Converts x, an f32 with an integer value in `range`, to i32.
  Value word(Value x, IntegerRange range);

private:
  /// Returns the i32 of a word or an i32 constant, or a null value for others.
  Value getWord(Value value);
  /// Returns an i32 whose low 22 bits are those of x, for |x| below 2^22.
  Value bits(Value x);
  Value oneWhere(arith::CmpFPredicate predicate, Value x, float than);
  std::optional<CarriedNumber> convert(Operation *op);
  /// Returns what `get` returns, but std::nullopt if the f32 equals the integer
  /// only within a range (`window`).
  std::optional<CarriedNumber> getExact(Value value);
  std::optional<CarriedNumber> makeSum(Operation *op);
  std::optional<CarriedNumber> makeExtreme(Operation *op, bool isMax);
  std::optional<CarriedNumber> makeUnsignedExtreme(Operation *op, bool isMax);
  std::optional<CarriedNumber> makeBit(Value condition, int64_t one);
  std::optional<CarriedNumber> makeTruncated(Operation *op);
  std::optional<CarriedNumber> wrap(std::optional<CarriedNumber> number,
                                    Type type);
  std::optional<CarriedNumber> makeSelect(arith::SelectOp op);
  Value makeComparison(arith::CmpIOp op);
  std::optional<CarriedNumber> makeShift(arith::ShRSIOp op);
  std::optional<CarriedNumber> makeRequantized(Value t, CarriedNumber m,
                                               int64_t shift);
  std::optional<CarriedNumber> makeQuotient(const CarriedNumber &x,
                                            const CarriedNumber &divisor);
  std::optional<CarriedNumber> makeDivision(Operation *op);
  CarriedNumber make(Value value, IntegerRange range) { return {value, range}; }

  OpBuilder &builder;
  Location loc;
  AddInput addInput;
  DenseMap<Value, CarriedNumber> numbers;
  DenseMap<Value, Value> words;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_NPU_LAYOUTTONPU_NUMBERS_INTEGERBODY_H
