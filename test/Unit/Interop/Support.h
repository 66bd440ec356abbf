//===- Support.h - Shared helpers of notation tests -------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Import and export with the error as text, and random layouts whose offsets
// are computed by plain arithmetic.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TEST_UNIT_INTEROP_SUPPORT_H
#define LAYOUT_TEST_UNIT_INTEROP_SUPPORT_H

#include "layout/Algebra/Proof.h"
#include "layout/Interop/Interop.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <functional>
#include <random>

namespace layout_test {

using namespace mlir::layout;
using Index = std::vector<int64_t>;

/// A result, or the error with its column, if any.
template <typename T> struct Result {
  std::optional<T> value;
  std::string fault;
};

inline Result<ImportedLayout> parse(Notation notation, llvm::StringRef text) {
  Result<ImportedLayout> result;
  result.value =
      parseAs(notation, text, [&](size_t column, const llvm::Twine &message) {
        EXPECT_TRUE(result.fault.empty()) << "two faults in one text";
        result.fault = std::to_string(column) + ": " + message.str();
      });
  EXPECT_EQ(result.value.has_value(), result.fault.empty()) << text.str();
  return result;
}

inline Result<LayoutMap> import(Notation notation, llvm::StringRef text,
                                const Index &shape) {
  Result<ImportedLayout> layout = parse(notation, text);
  Result<LayoutMap> result;
  result.fault = layout.fault;
  if (layout.value)
    result.value =
        getMap(*layout.value, shape, [&](const llvm::Twine &message) {
          result.fault = message.str();
        });
  EXPECT_EQ(result.value.has_value(), result.fault.empty()) << text.str();
  return result;
}

inline Result<std::string> write(Notation notation, const LayoutMap &map,
                                 const Index &sizes) {
  Result<std::string> result;
  result.value =
      exportAs(notation, map, sizes, [&](const llvm::Twine &message) {
        EXPECT_TRUE(result.fault.empty()) << "two faults of one map";
        result.fault = message.str();
      });
  EXPECT_EQ(result.value.has_value(), result.fault.empty()) << map.str();
  return result;
}

/// Calls `fn` for every index below `sizes`, in row-major order.
inline void forEachIndex(const Index &sizes,
                         const std::function<void(const Index &)> &fn) {
  Index index(sizes.size(), 0);
  for (int64_t size : sizes)
    if (size == 0)
      return;
  while (true) {
    fn(index);
    size_t d = sizes.size();
    while (d > 0 && ++index[d - 1] == sizes[d - 1])
      index[--d] = 0;
    if (d == 0)
      return;
  }
}

class Random {
public:
  explicit Random(uint64_t seed) : engine(seed) {}

  int64_t below(int64_t n) {
    return std::uniform_int_distribution<int64_t>(0, n - 1)(engine);
  }
  template <typename T> void shuffle(std::vector<T> &values) {
    std::shuffle(values.begin(), values.end(), engine);
  }

private:
  std::mt19937_64 engine;
};

/// A digit: floor(index[dim] / divisor) mod modulus (0: no mod) times stride.
struct NumberDigit {
  unsigned dim = 0;
  int64_t divisor = 1, modulus = 0, stride = 0;

  int64_t value(const Index &index) const {
    int64_t v = index[dim] / divisor;
    return modulus ? v % modulus : v;
  }
};

/// A layout as a sum of digits on a static shape.
struct NumberLayout {
  Index sizes;
  std::vector<NumberDigit> digits; // slowest first
  int64_t extent = 1;

  int64_t offset(const Index &index) const {
    int64_t sum = 0;
    for (const NumberDigit &digit : digits)
      sum += digit.value(index) * digit.stride;
    return sum;
  }

  LayoutMap build() const {
    llvm::SmallVector<std::pair<BoundedIndex, SizeExpr>> placed;
    for (const NumberDigit &digit : digits) {
      BoundedIndex value =
          floorDiv(BoundedIndex::dim(digit.dim), digit.divisor);
      if (digit.modulus)
        value = mod(value, digit.modulus);
      placed.push_back({value, SizeExpr(digit.stride)});
    }
    return LayoutMap::get(sizes.size(), "buffer",
                          {{"offset", place(placed).value, SizeExpr(extent)}});
  }

  /// Draws a layout: every dim is split by up to `splits` factors, divisible
  /// unless `nonDivisible`, with the digits in random order, and at most
  /// `padding` positions after a digit.
  static NumberLayout random(Random &random, unsigned rank, int64_t splits,
                             bool nonDivisible, int64_t padding) {
    NumberLayout layout;
    for (unsigned d = 0; d < rank; ++d) {
      int64_t divisor = 1;
      for (int64_t n = random.below(splits + 1); n > 0; --n) {
        int64_t factor = 2 + random.below(3);
        layout.digits.push_back({d, divisor, factor});
        divisor *= factor;
      }
      layout.digits.push_back({d, divisor, 0});
      int64_t outer = 1 + random.below(3);
      int64_t missing = nonDivisible ? random.below(divisor) : 0;
      layout.sizes.push_back(outer * divisor - missing);
    }
    random.shuffle(layout.digits);
    for (auto it = layout.digits.rbegin(); it != layout.digits.rend(); ++it) {
      it->stride = layout.extent;
      int64_t extent =
          it->modulus ? it->modulus
                      : (layout.sizes[it->dim] + it->divisor - 1) / it->divisor;
      layout.extent *= extent + random.below(padding + 1);
    }
    return layout;
  }

  /// Checks that the map has the same offsets and storage size as this layout.
  void expectEqual(const LayoutMap &map) const {
    ASSERT_EQ((*map.storageExtent(sizes))[0], extent);
    forEachIndex(sizes, [&](const Index &index) {
      ASSERT_EQ((*map.forward(index, sizes))[0], offset(index))
          << testing::PrintToString(index);
    });
  }
};

} // namespace layout_test

#endif // LAYOUT_TEST_UNIT_INTEROP_SUPPORT_H
