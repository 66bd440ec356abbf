//===- LemmasTest.cpp - The lemmas behind proofs by construction ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If strides are products of dynamic sizes, formulas are not linear, and the
// library proves by construction (lib/Algebra/Proofs/Inverse.cpp). Z3 proves each of
// its rules here as a lemma about all integers: the negation has no model.
// Floors are defined by inequalities (lo * q <= x < lo * q + lo), because the
// solver does not terminate on div and mod.
//
//===----------------------------------------------------------------------===//

#include "gtest/gtest.h"
#include <z3++.h>

namespace {

class Lemmas : public testing::Test {
protected:
  Lemmas() : solver(context) {
    z3::params params(context);
    params.set("timeout", 60000u);
    solver.set(params);
  }

  z3::expr integer(const char *name) { return context.int_const(name); }
  z3::expr integer(int value) { return context.int_val(value); }

  void assume(const z3::expr &fact) { solver.add(fact); }

  /// Assumes 0 <= x < end.
  void assumeDigit(const z3::expr &x, const z3::expr &end) {
    assume(x >= 0 && x < end);
  }

  /// States that q is floor(x / lo), for lo >= 1.
  z3::expr isFloor(const z3::expr &q, const z3::expr &x, const z3::expr &lo) {
    return lo * q <= x && x < lo * q + lo;
  }

  /// Expects that the assumptions are satisfiable and imply the claim.
  void expectProven(const z3::expr &claim) {
    ASSERT_EQ(solver.check(), z3::sat);
    solver.push();
    solver.add(!claim);
    EXPECT_EQ(solver.check(), z3::unsat) << claim << "\n" << solver;
    solver.pop();
  }

  z3::context context;
  z3::solver solver;
};

//===----------------------------------------------------------------------===//
// place: Inverter::addSum
//===----------------------------------------------------------------------===//

/// Two digits, the lower one with a dynamic extent: the base of the induction,
/// and the reason why every row-major group (`group` in BoundedIndex.h, the
/// axes of findStoredAxes) is injective.
TEST_F(Lemmas, MixedRadixOfTwoDigitsIsInjective) {
  z3::expr a = integer("a"), x = integer("x"), b = integer("b"),
           y = integer("y"), B = integer("B");
  assume(a >= 0 && x >= 0);
  assumeDigit(b, B);
  assumeDigit(y, B);
  assume(a * B + b == x * B + y);
  expectProven(a == x && b == y);
}

/// Each stride must exceed the reach of everything below it: `rest` is the sum
/// of all lower digits and `reach` its bound.
TEST_F(Lemmas, AStrideAboveTheReachDeterminesItsDigitAndTheRest) {
  z3::expr digit = integer("digit"), other = integer("other"),
           rest = integer("rest"), otherRest = integer("otherRest"),
           stride = integer("stride"), reach = integer("reach");
  assume(rest >= 0 && rest <= reach && otherRest >= 0 && otherRest <= reach);
  assume(stride >= reach + 1);
  assume(digit * stride + rest == other * stride + otherRest);
  expectProven(digit == other && rest == otherRest);
}

/// "reach = reach + (bound - 1) * stride": the loop invariant.
TEST_F(Lemmas, TheReachBoundsTheSum) {
  z3::expr digit = integer("digit"), bound = integer("bound"),
           rest = integer("rest"), stride = integer("stride"),
           reach = integer("reach");
  assume(rest >= 0 && rest <= reach && stride >= 1);
  assumeDigit(digit, bound);
  z3::expr sum = digit * stride + rest;
  expectProven(sum >= 0 && sum <= reach + (bound - 1) * stride);
}

/// "digit = takeDigit(rest, stride, 0)", "rest = takeDigit(rest, 1, stride)":
/// the formulas that extract the digit of the highest stride.
TEST_F(Lemmas, PeelingOffTheHighestStrideGivesItsDigit) {
  z3::expr digit = integer("digit"), rest = integer("rest"),
           stride = integer("stride"), q = integer("q");
  assumeDigit(rest, stride);
  z3::expr sum = digit * stride + rest;
  assume(isFloor(q, sum, stride));
  expectProven(q == digit && sum - stride * q == rest);
}

/// "placed.downwards": a digit with stride -s is the reversed digit with stride
/// s above `lowest`.
TEST_F(Lemmas, ADigitThatReachesDownwardsIsItsReverseUpwards) {
  z3::expr digit = integer("digit"), bound = integer("bound"),
           stride = integer("stride");
  assumeDigit(digit, bound);
  assume(stride >= 1);
  z3::expr lowest = (bound - 1) * -stride, reversed = bound - 1 - digit;
  expectProven(digit * -stride == lowest + reversed * stride && reversed >= 0 &&
               reversed < bound);
}

//===----------------------------------------------------------------------===//
// split: Inverter::close
//===----------------------------------------------------------------------===//

/// x = k * (x div k) + x mod k, and the two parts are unique.
TEST_F(Lemmas, SplitIsInjective) {
  z3::expr x = integer("x"), y = integer("y"), k = integer("k"),
           q = integer("q"), r = integer("r");
  assume(k >= 1);
  assume(isFloor(q, x, k) && x - k * q == r);
  assume(isFloor(q, y, k) && y - k * q == r);
  expectProven(x == k * q + r && x == y && r >= 0 && r < k);
}

/// "source = lo * digit + (source mod lo)": a digit with a modulus, and the
/// part below it, give source mod (lo * modulus).
TEST_F(Lemmas, ADigitAboveAKnownPartExtendsIt) {
  z3::expr x = integer("x"), lo = integer("lo"), modulus = integer("modulus"),
           q = integer("q"), below = integer("below"), t = integer("t"),
           digit = integer("digit");
  assume(lo >= 1 && modulus >= 1);
  assume(x == lo * q + below);
  assumeDigit(below, lo);
  assume(q == modulus * t + digit);
  assumeDigit(digit, modulus);
  z3::expr part = lo * digit + below;
  expectProven(part >= 0 && part < lo * modulus &&
               x == (lo * modulus) * t + part);
}

/// A known part determines smaller parts that divide it: x mod (lo * k)
/// determines x mod lo.
TEST_F(Lemmas, AKnownPartKnowsTheSmallerPartsThatDivideIt) {
  z3::expr x = integer("x"), lo = integer("lo"), k = integer("k"),
           t = integer("t"), known = integer("known"), q = integer("q"),
           below = integer("below");
  assume(lo >= 1 && k >= 1);
  assume(x == (lo * k) * t + known);
  assumeDigit(known, lo * k);
  assume(known == lo * q + below);
  assumeDigit(below, lo);
  expectProven(x == lo * (k * t + q) + below);
}

/// "done": a part with at least as many values as the source is the source.
TEST_F(Lemmas, APartAsLargeAsTheSourceIsTheSource) {
  z3::expr x = integer("x"), end = integer("end"), t = integer("t"),
           part = integer("part");
  assumeDigit(x, end);
  assume(x == end * t + part);
  assumeDigit(part, end);
  expectProven(x == part);
}

//===----------------------------------------------------------------------===//
// shift: Inverter::getDigitsOf
//===----------------------------------------------------------------------===//

/// A shift by multiples of lo is added to a digit without a modulus:
/// "digit.formula + (shift - ofDigit) / period".
TEST_F(Lemmas, AShiftByWholeDigitsAddsToTheDigit) {
  z3::expr x = integer("x"), lo = integer("lo"), periods = integer("periods"),
           q = integer("q"), shifted = integer("shifted");
  assume(lo >= 1);
  assume(isFloor(q, x, lo));
  assume(isFloor(shifted, x + lo * periods, lo));
  expectProven(shifted == q + periods);
}

/// A shift by multiples of lo * modulus does not change a digit with a modulus:
/// by the lemma above, it adds modulus * periods to the floor, of which the
/// digit is the remainder.
TEST_F(Lemmas, AShiftByWholePeriodsKeepsADigitWithAModulus) {
  z3::expr modulus = integer("modulus"), periods = integer("periods"),
           above = integer("above"), moved = integer("moved"),
           aboveShifted = integer("aboveShifted"), digit = integer("digit"),
           shifted = integer("shifted");
  assumeDigit(digit, modulus);
  assumeDigit(shifted, modulus);
  assume(aboveShifted * modulus + shifted == moved * modulus + digit);
  expectProven(aboveShifted == moved && shifted == digit);
  // The shift adds the same number to the floor and to the part above the
  // digit.
  assume(moved == above + periods);
  expectProven(moved * modulus + digit ==
               (above * modulus + digit) + periods * modulus);
}

//===----------------------------------------------------------------------===//
// fuse: Inverter::closeSources, and the extents of BoundedIndex.h
//===----------------------------------------------------------------------===//

/// A fused value that is known is a sum with known digits; by the first lemmas,
/// "closedFused .. addSum".
TEST_F(Lemmas, FuseOfThreeDigitsIsInjectiveAndWithinItsExtent) {
  z3::expr a = integer("a"), b = integer("b"), c = integer("c"),
           x = integer("x"), y = integer("y"), z = integer("z"),
           A = integer("A"), B = integer("B"), C = integer("C");
  assumeDigit(a, A);
  assumeDigit(x, A);
  assumeDigit(b, B);
  assumeDigit(y, B);
  assumeDigit(c, C);
  assumeDigit(z, C);
  // [a, b] is one digit f of extent A * B, by the two facts below.
  z3::expr f = integer("f"), g = integer("g");
  assume(f == a * B + b && g == x * B + y);
  solver.push();
  expectProven(f >= 0 && f < A * B);
  assume(f == g);
  expectProven(a == x && b == y);
  solver.pop();
  assume(f * C + c == g * C + z);
  expectProven(f == g && c == z);
}

/// pad: the shifted value stays within the padded extent and is injective.
TEST_F(Lemmas, PadKeepsValuesApartAndWithinTheExtent) {
  z3::expr x = integer("x"), y = integer("y"), extent = integer("extent"),
           lo = integer("lo"), hi = integer("hi");
  assume(lo >= 0 && hi >= 0);
  assumeDigit(x, extent);
  assumeDigit(y, extent);
  expectProven(x + lo >= 0 && x + lo < lo + extent + hi);
  assume(x + lo == y + lo);
  expectProven(x == y);
}

/// A wrong rule is refuted: a stride equal to the bound.
TEST_F(Lemmas, AStrideEqualToTheReachProvesNothing) {
  z3::expr digit = integer("digit"), other = integer("other"),
           rest = integer("rest"), otherRest = integer("otherRest"),
           stride = integer("stride"), reach = integer("reach");
  assume(rest >= 0 && rest <= reach && otherRest >= 0 && otherRest <= reach);
  assume(stride >= reach && stride >= 1);
  assume(digit * stride + rest == other * stride + otherRest);
  solver.add(digit != other);
  EXPECT_EQ(solver.check(), z3::sat);
}

} // namespace
