//===- Compare.cpp - Numerical difference of two arrays -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Runtime/Compare.h"
#include "layout/Runtime/Npy.h"
#include <cmath>
#include <complex>
#include <limits>

using namespace mlir;
using namespace mlir::layout;

Difference layout::compare(const Array &a, const Array &b) {
  assert(a.getKind() == b.getKind() && a.getShape() == b.getShape());
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Difference difference;
  double scale = 0;
  bool hasNaN = false;
  for (int64_t i = 0, e = a.getNumElements(); i != e; ++i) {
    std::complex<double> x = a.getAsComplex(i), y = b.getAsComplex(i);
    if (x != x || y != y) { // NaN
      hasNaN = true;
      continue;
    }
    if (std::isfinite(std::abs(x)))
      scale = std::max(scale, std::abs(x));
    if (x != y)
      difference.maxAbs = std::max(difference.maxAbs, std::abs(x - y));
  }
  if (hasNaN) {
    difference.maxAbs = difference.maxRel =
        std::numeric_limits<double>::quiet_NaN();
    return difference;
  }
  if (difference.maxAbs == 0)
    return difference;
  difference.maxRel = scale == 0 ? infinity : difference.maxAbs / scale;
  return difference;
}
