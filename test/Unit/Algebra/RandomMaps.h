//===- RandomMaps.h - Random layouts with their own evaluator ---*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An expression over logical indices as written in the text form, evaluated by
// integer arithmetic that shares no code with the library: the oracle of the
// property tests.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TEST_UNIT_ALGEBRA_RANDOMMAPS_H
#define LAYOUT_TEST_UNIT_ALGEBRA_RANDOMMAPS_H

#include "layout/Algebra/LayoutMap.h"
#include "llvm/ADT/STLExtras.h"
#include <random>
#include <string>

namespace layout_test {

using Index = std::vector<int64_t>;

inline int64_t floorDivide(int64_t a, int64_t b) {
  return a / b - (a % b < 0 ? 1 : 0);
}
inline int64_t floorMod(int64_t a, int64_t b) {
  return a - b * floorDivide(a, b);
}

/// A stride: coeff, coeff * size(dim) or coeff * ceil(size(dim), divisor).
struct Stride {
  int64_t coeff = 1;
  int64_t dim = -1; // none
  int64_t divisor = 1;

  int64_t value(const Index &sizes) const {
    return dim < 0 ? coeff : coeff * ((sizes[dim] + divisor - 1) / divisor);
  }
  mlir::layout::SizeExpr build() const {
    using mlir::layout::SizeExpr;
    SizeExpr factor(coeff);
    return dim < 0 ? factor : SizeExpr::dim(dim).ceilDiv(divisor) * factor;
  }
  std::string text() const {
    std::string result = std::to_string(coeff), size;
    if (dim < 0)
      return result;
    size = "size(d" + std::to_string(dim) + ")";
    if (divisor > 1)
      size = "ceil(" + size + ", " + std::to_string(divisor) + ")";
    return result + " * " + size;
  }
};

struct Expr {
  enum Kind { Dim, FloorDiv, Mod, Group, Align, Pad, Xor, Place } kind = Dim;
  int64_t number = 0; // the dim, or the constant of the primitive
  int64_t high = 0;   // Pad: positions after
  std::vector<Expr> args;
  std::vector<Stride> strides; // Place: of each argument

  int64_t extent(const Index &sizes) const {
    switch (kind) {
    case Dim:
      return sizes[number];
    case FloorDiv:
      return (args[0].extent(sizes) + number - 1) / number;
    case Mod:
    case Xor:
      return number;
    case Align:
      return (args[0].extent(sizes) + number - 1) / number * number;
    case Pad:
      return number + args[0].extent(sizes) + high;
    case Group: {
      int64_t product = 1;
      for (const Expr &arg : args)
        product *= arg.extent(sizes);
      return product;
    }
    case Place: {
      int64_t result = 1 + number;
      for (size_t i = 0; i < args.size(); ++i)
        if (strides[i].coeff >= 0)
          result += (args[i].extent(sizes) - 1) * strides[i].value(sizes);
      return result;
    }
    }
    return 0;
  }

  int64_t value(const Index &index, const Index &sizes) const {
    switch (kind) {
    case Dim:
      return index[number];
    case FloorDiv:
      return floorDivide(args[0].value(index, sizes), number);
    case Mod:
      return floorMod(args[0].value(index, sizes), number);
    case Align:
      return args[0].value(index, sizes);
    case Pad:
      return args[0].value(index, sizes) + number;
    case Group: {
      int64_t sum = 0;
      for (const Expr &arg : args)
        sum = sum * arg.extent(sizes) + arg.value(index, sizes);
      return sum;
    }
    case Xor: {
      int64_t bits = 0;
      for (const Expr &arg : args)
        bits ^= floorMod(arg.value(index, sizes), number);
      return bits;
    }
    case Place: {
      int64_t sum = number;
      for (size_t i = 0; i < args.size(); ++i)
        sum += args[i].value(index, sizes) * strides[i].value(sizes);
      return sum;
    }
    }
    return 0;
  }

  /// Returns the text in #layout.map, in which dims from `rank` on are
  /// replicas. An operand of a primitive has parentheses if required.
  std::string text(unsigned rank, bool isOperand = false) const {
    auto arg = [&] { return args[0].text(rank, /*isOperand=*/true); };
    auto list = [&] {
      std::string result;
      for (const Expr &arg : args)
        result += (result.empty() ? "" : ", ") + arg.text(rank);
      return result;
    };
    std::string k = std::to_string(number), result;
    switch (kind) {
    case Dim:
      return number < rank ? "d" + k : "r" + std::to_string(number - rank);
    case Group:
      return "[" + list() + "]";
    case Align:
      return "[" + list() + "] align " + k;
    case Pad:
      return "pad(" + list() + ", " + k + ", " + std::to_string(high) + ")";
    case Xor:
      return "xor(" + list() + " : " + k + ")";
    case FloorDiv:
      result = arg() + " floordiv " + k;
      break;
    case Mod:
      result = arg() + " mod " + k;
      break;
    case Place:
      for (size_t i = 0; i < args.size(); ++i)
        result += args[i].text(rank, /*isOperand=*/true) + " * " +
                  strides[i].text() + " + ";
      result += k;
      break;
    }
    return isOperand ? "(" + result + ")" : result;
  }

  mlir::layout::BoundedIndex build() const {
    using namespace mlir::layout;
    switch (kind) {
    case Dim:
      return BoundedIndex::dim(number);
    case FloorDiv:
      return floorDiv(args[0].build(), number);
    case Mod:
      return mod(args[0].build(), number);
    case Align:
      return align(args[0].build(), number);
    case Pad:
      return pad(args[0].build(), number, high);
    case Group: {
      llvm::SmallVector<BoundedIndex> elements;
      for (const Expr &arg : args)
        elements.push_back(arg.build());
      return group(elements);
    }
    case Xor: {
      llvm::SmallVector<BoundedIndex> operands;
      for (const Expr &arg : args)
        operands.push_back(arg.build());
      return xorOf(operands, number);
    }
    case Place: {
      std::vector<std::pair<BoundedIndex, SizeExpr>> elements;
      for (size_t i = 0; i < args.size(); ++i)
        elements.push_back({args[i].build(), strides[i].build()});
      elements.push_back({BoundedIndex::constant(number), SizeExpr(1)});
      return place(elements);
    }
    }
    return {};
  }
};

inline mlir::layout::LayoutMap buildMap(unsigned rank, const Expr &expr) {
  mlir::layout::BoundedIndex offset = expr.build();
  return mlir::layout::LayoutMap::get(
      rank, "buffer", {{"offset", offset.value, offset.extent}});
}

class RandomMaps {
public:
  explicit RandomMaps(uint64_t seed) : engine(seed) {}

  int64_t below(int64_t n) {
    return std::uniform_int_distribution<int64_t>(0, n - 1)(engine);
  }

  Index sizes(unsigned rank, int64_t most) {
    Index result(rank);
    for (int64_t &size : result)
      size = 1 + below(most);
    return result;
  }

  /// Draws a layout with nested digits: every dim is split by a chain of
  /// factors, the digits are in random order, and some of them are fused or
  /// aligned.
  Expr nested(unsigned rank) {
    std::vector<Expr> digits;
    for (unsigned d = 0; d < rank; ++d) {
      Expr dim;
      dim.number = d;
      if (below(5) == 0)
        dim = Expr{Expr::Pad, below(3), below(3), {dim}};
      int64_t lo = 1;
      for (int64_t parts = below(3); parts > 0; --parts) {
        int64_t factor = 2 + below(3);
        digits.push_back(Expr{Expr::Mod, factor, 0, {above(dim, lo)}});
        lo *= factor;
      }
      digits.push_back(above(dim, lo));
    }
    std::shuffle(digits.begin(), digits.end(), engine);
    Expr result{Expr::Group, 0, 0, {}};
    for (Expr &digit : digits) {
      bool join = !result.args.empty() && below(6) == 0;
      if (!join) {
        result.args.push_back(digit);
        continue;
      }
      Expr fused{Expr::Group, 0, 0, {result.args.back(), digit}};
      result.args.back() =
          below(2) ? fused : Expr{Expr::Align, 2 + below(7), 0, {fused}};
    }
    return result;
  }

  /// Draws a nested layout whose power-of-two digits are swizzled, each by xor
  /// with bits of previous digits, so that it stays injective.
  Expr swizzled(unsigned rank) {
    Expr result = nested(rank);
    for (size_t i = 1; i < result.args.size(); ++i) {
      Expr &digit = result.args[i];
      bool isBits =
          digit.kind == Expr::Mod && (digit.number == 2 || digit.number == 4);
      if (!isBits || below(3) == 0)
        continue;
      Expr swizzle{Expr::Xor, digit.number, 0, {digit}};
      for (int64_t n = 1 + below(2); n > 0; --n)
        swizzle.args.push_back(result.args[below(i)]);
      digit = swizzle;
    }
    return result;
  }

  /// Draws any expression, often not injective.
  Expr any(unsigned rank, unsigned depth) {
    if (depth == 0 || below(4) == 0) {
      Expr dim;
      dim.number = below(rank);
      return dim;
    }
    switch (below(6)) {
    case 0:
      return Expr{Expr::FloorDiv, 1 + below(6), 0, {any(rank, depth - 1)}};
    case 1:
      return Expr{Expr::Mod, 1 + below(6), 0, {any(rank, depth - 1)}};
    case 2:
      return Expr{Expr::Align, 1 + below(6), 0, {any(rank, depth - 1)}};
    case 3:
      return Expr{Expr::Pad, below(4), below(4), {any(rank, depth - 1)}};
    case 4: {
      Expr swizzle{Expr::Xor, int64_t(1) << below(4), 0, {}};
      for (int64_t n = 2 + below(2); n > 0; --n)
        swizzle.args.push_back(any(rank, depth - 1));
      return swizzle;
    }
    default: {
      Expr group{Expr::Group, 0, 0, {}};
      for (int64_t n = 1 + below(3); n > 0; --n)
        group.args.push_back(any(rank, depth - 1));
      return group;
    }
    }
  }

  /// Draws any expression of the grammar of #layout.map over logical dims and
  /// replicas, including strides that are negative or sizes of dims.
  Expr written(unsigned rank, unsigned numDims, unsigned depth) {
    if (depth == 0 || below(5) == 0) {
      Expr dim;
      dim.number = below(numDims);
      return dim;
    }
    auto arg = [&] { return written(rank, numDims, depth - 1); };
    switch (below(8)) {
    case 0:
    case 1:
      return Expr{Expr::FloorDiv, 1 + below(8), 0, {arg()}};
    case 2:
    case 3:
      return Expr{Expr::Mod, 1 + below(8), 0, {arg()}};
    case 4:
      return Expr{Expr::Align, 1 + below(6), 0, {arg()}};
    case 5: {
      Expr x{Expr::Xor, int64_t(1) << below(4), 0, {}};
      for (int64_t n = 1 + below(3); n > 0; --n)
        x.args.push_back(arg());
      return x;
    }
    case 6: {
      Expr sum{Expr::Place, below(3) ? 0 : below(9), 0, {}};
      for (int64_t n = 1 + below(3); n > 0; --n) {
        sum.args.push_back(arg());
        bool isSize = rank > 0 && below(4) == 0;
        sum.strides.push_back({below(5) ? 1 + below(8) : -1 - below(3),
                               isSize ? below(rank) : -1,
                               below(2) ? 1 : 1 + below(4)});
      }
      return sum;
    }
    default: {
      if (below(4) == 0)
        return Expr{Expr::Pad, below(4), below(4), {arg()}};
      Expr group{Expr::Group, 0, 0, {}};
      for (int64_t n = 1 + below(3); n > 0; --n)
        group.args.push_back(arg());
      return group;
    }
    }
  }

private:
  Expr above(const Expr &x, int64_t lo) {
    return lo == 1 ? x : Expr{Expr::FloorDiv, lo, 0, {x}};
  }

  std::mt19937_64 engine;
};

/// Calls `fn` for every index below `sizes`, in row-major order.
template <typename Fn> void forEachIndex(const Index &sizes, Fn fn) {
  Index index(sizes.size(), 0);
  for (int64_t size : sizes)
    if (size == 0)
      return;
  while (true) {
    fn(index);
    int d = int(sizes.size()) - 1;
    while (d >= 0 && ++index[d] == sizes[d])
      index[d--] = 0;
    if (d < 0)
      return;
  }
}

} // namespace layout_test

#endif // LAYOUT_TEST_UNIT_ALGEBRA_RANDOMMAPS_H
