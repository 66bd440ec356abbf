//===- OkkNumbers.h - Arithmetic of the execution units ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The values of OKKernel functions where the execution units differ from IEEE
// 754, as the vendor's model of BM1684 computes them:
//
//     denormals            are +0 or -0, as operands and as results
//     max, min, greater    NaN compares as false: max and min return the second
//                          operand next to NaN; min(0, -0) is the first
//     maxima of windows    NaN is ignored, -inf is the lowest number
//     -x                   +0 for both zeros
//     a / b                a times the reciprocal of b, which is infinite for
//                          infinite b, and 0 for |b| > 2^126
//     sqrt, rsqrt          of -0, negative and infinite numbers are wrong
//     shifts by n          use six bits of n, signed; -32 does not shift
//
// exp, sigmoid, tanh, quotients and roots are within 1e-6 of the results here,
// which are correctly rounded.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_NPU_SIMULATOR_OKKNUMBERS_H
#define LAYOUT_LIB_TARGETS_NPU_SIMULATOR_OKKNUMBERS_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace mlir::npu {

/// Returns `a`, or a zero of its sign if it is denormal.
inline float flushed(float a) {
  return std::abs(a) < std::numeric_limits<float>::min()
             ? std::copysign(0.0f, a)
             : a;
}

inline float sumOf(float a, float b) {
  return flushed(flushed(a) + flushed(b));
}
inline float differenceOf(float a, float b) {
  return flushed(flushed(a) - flushed(b));
}
inline float productOf(float a, float b) {
  return flushed(flushed(a) * flushed(b));
}
inline bool isGreater(float a, float b) { return flushed(a) > flushed(b); }
inline float greaterOf(float a, float b) {
  return flushed(isGreater(a, b) ? a : b);
}
inline float lessOf(float a, float b) {
  return flushed(flushed(b) >= flushed(a) ? a : b);
}
/// Returns the maximum of `most`, that of the previous elements of a window,
/// and `a`, which is flushed to a zero of its sign if it is denormal. If both
/// are equal, it is `a`; if `a` is NaN, it is `most`. The first `most` is the
/// lowest finite number.
inline float latestGreatest(float most, float a) {
  return flushed(a) >= most ? flushed(a) : most;
}
inline float negativeOf(float a) {
  return flushed(a) == 0 ? 0.0f : flushed(-a);
}
inline float positivePartOf(float a) { return greaterOf(a, 0.0f); }

/// The largest divisor whose reciprocal is not flushed to 0, and the smallest
/// one whose reciprocal is finite.
constexpr float kMostDivisor = 0x1p126f, kLeastDivisor = 0x1p-125f;

inline float quotientOf(float a, float b) {
  if (std::isnan(a) || std::isnan(b))
    return std::numeric_limits<float>::quiet_NaN();
  if (std::isinf(b))
    return flushed(a) * b;
  if (std::abs(b) < kLeastDivisor)
    return flushed(a) *
           std::copysign(std::numeric_limits<float>::infinity(), b);
  if (std::abs(b) > kMostDivisor)
    return flushed(a) * std::copysign(0.0f, b);
  return flushed(flushed(a) / b);
}

inline float rootOf(float a) {
  float x = flushed(a);
  if (x == 0)
    return std::signbit(x) ? -7.6313688e18f : 2.2426577e-20f;
  if (std::isinf(x))
    return -x;
  return x < 0 ? std::numeric_limits<float>::infinity() : std::sqrt(x);
}

inline float reciprocalRootOf(float a) {
  float x = flushed(a);
  if (x == 0)
    return std::signbit(x) ? -1.31038075e-19f : 4.45899464e19f;
  if (std::isinf(x))
    return -x;
  return x < 0 ? std::numeric_limits<float>::infinity() : 1 / std::sqrt(x);
}

inline float expOfSeries(float x, int order) {
  float sum = 1, term = 1;
  for (int i = 1; i <= order; ++i) {
    term *= x / float(i);
    sum += term;
  }
  return sum;
}

/// Returns exp(x) as e to the integer part of `x`, from a table, times a Taylor
/// series of order `order` of the fraction. A denormal result becomes zero.
inline float expOfTable(float x, int order) {
  float whole = std::trunc(x);
  return flushed(std::exp(whole) * expOfSeries(x - whole, order));
}

/// Returns tanh(x), computed from exp(x) and exp(-x) by expOfTable.
inline float tanhOfTable(float x, int order) {
  float up = expOfTable(x, order), down = expOfTable(-x, order);
  return (up - down) / (up + down);
}

/// Converts to int32 by truncation, with saturation; NaN becomes the largest or
/// the smallest integer, by its sign.
inline uint32_t truncated(float a) {
  constexpr float kEnd = 0x1p31f;
  if (std::isnan(a) ? !std::signbit(a) : a >= kEnd)
    return INT32_MAX;
  if (std::isnan(a) || a < -kEnd)
    return uint32_t(INT32_MIN);
  return uint32_t(int32_t(a));
}

/// Returns the six low bits of a shift amount as a signed number, or 0 for -32.
/// A negative number is a shift to the right.
inline int32_t shiftAmount(int32_t by) {
  int32_t amount = int32_t(uint32_t(by) << 26) >> 26;
  return amount == -32 ? 0 : amount;
}
inline uint32_t shiftLogical(uint32_t word, int32_t by) {
  int32_t amount = shiftAmount(by);
  return amount < 0 ? word >> -amount : word << amount;
}
inline uint32_t shiftArithmetic(uint32_t word, int32_t by) {
  int32_t amount = shiftAmount(by);
  return amount < 0 ? uint32_t(int32_t(word) >> -amount) : word << amount;
}

} // namespace mlir::npu

#endif // LAYOUT_LIB_TARGETS_NPU_SIMULATOR_OKKNUMBERS_H
