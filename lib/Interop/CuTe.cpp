//===- CuTe.cpp - CuTe layouts --------------------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Interop/CuTe.h"
#include "Scanner.h"
#include "layout/Algebra/DigitDecomposition.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
/// An integer of a CuTe text, or a tuple of these, recursively, with its column
/// in the text.
struct IntTuple {
  size_t column = 0;
  bool isLeaf = true;
  int64_t value = 0;
  std::vector<IntTuple> elements;
};
} // namespace

/// The maximal nesting depth of tuples, which bounds the recursion. Deeper
/// tuples are an error.
static constexpr unsigned kMaxDepth = 64;

static bool parseTuple(Scanner &scanner, IntTuple &tuple, unsigned depth = 0) {
  tuple.column = scanner.column();
  if (!scanner.consume("(")) {
    scanner.consume("_"); // marks compile-time constants
    return scanner.integer(tuple.value, "a number or a tuple");
  }
  tuple.isLeaf = false;
  if (depth == kMaxDepth)
    return scanner.fail(tuple.column, "tuples nest deeper than " +
                                          Twine(kMaxDepth) + " levels");
  if (!scanner.list(")", [&] {
        return parseTuple(scanner, tuple.elements.emplace_back(), depth + 1);
      }))
    return false;
  return !tuple.elements.empty() ||
         scanner.fail(tuple.column, "a tuple is empty: it needs an element");
}

/// Appends the leaves of one mode, fastest first. Returns false after an error
/// if extents and strides do not nest alike or an extent is below 1.
static bool addLeaves(Scanner &scanner, const IntTuple &shape,
                      const IntTuple &stride,
                      SmallVectorImpl<CuTeLayout::Leaf> &leaves) {
  if (shape.isLeaf != stride.isLeaf)
    return scanner.fail(
        stride.column,
        stride.isLeaf
            ? "one stride for a tuple of extents: both sides must nest alike"
            : "a tuple of strides for one extent: both sides must nest alike");
  if (shape.isLeaf) {
    if (shape.value < 1)
      return scanner.fail(shape.column, "extent " + Twine(shape.value) +
                                            ": it must be at least 1");
    leaves.push_back({shape.value, stride.value});
    return true;
  }
  if (shape.elements.size() != stride.elements.size())
    return scanner.fail(stride.column,
                        Twine(stride.elements.size()) + " strides for " +
                            Twine(shape.elements.size()) +
                            " extents: both sides must nest alike");
  return llvm::all_of(
      llvm::zip(shape.elements, stride.elements), [&](auto pair) {
        return addLeaves(scanner, std::get<0>(pair), std::get<1>(pair), leaves);
      });
}

/// Returns the number of indices of a mode, or std::nullopt on int64 overflow.
static std::optional<int64_t> countIndices(ArrayRef<CuTeLayout::Leaf> leaves) {
  int64_t size = 1;
  for (const CuTeLayout::Leaf &leaf : leaves)
    if (llvm::MulOverflow(size, leaf.extent, size))
      return std::nullopt;
  return size;
}

static bool addModes(Scanner &scanner, const IntTuple &shape,
                     const IntTuple &stride, CuTeLayout &layout) {
  auto addMode = [&](const IntTuple &extents, const IntTuple &strides) {
    auto &leaves = layout.modes.emplace_back();
    return addLeaves(scanner, extents, strides, leaves) &&
           (countIndices(leaves) ||
            scanner.fail(extents.column, "the extents of this mode do not "
                                         "fit 64 bits"));
  };
  if (shape.isLeaf || stride.isLeaf)
    return addMode(shape, stride);
  if (shape.elements.size() != stride.elements.size())
    return scanner.fail(stride.column,
                        Twine(stride.elements.size()) + " strides for " +
                            Twine(shape.elements.size()) +
                            " extents: both sides must nest alike");
  return llvm::all_of(
      llvm::zip(shape.elements, stride.elements),
      [&](auto pair) { return addMode(std::get<0>(pair), std::get<1>(pair)); });
}

/// Parses `S<2,0,2> o`, or `Sw<2,0,2> o 0 o` with an offset that is added
/// before the swizzle. Returns false after an error.
static bool parseSwizzle(Scanner &scanner, CuTeLayout &layout) {
  size_t start = scanner.column();
  StringRef word = scanner.word();
  if (word != "S" && word != "Sw")
    return scanner.fail(
        start, "expected a swizzle S<B,M,S> or a shape, found '" + word + "'");
  SmallVector<int64_t> values;
  size_t column = scanner.column();
  if (!scanner.expect("<", "before the numbers of the swizzle") ||
      !scanner.integers(">", "a number of the swizzle", values))
    return false;
  if (values.size() != 3)
    return scanner.fail(column,
                        Twine(values.size()) +
                            " numbers in a swizzle: it needs B, M and S");
  CuTeLayout::Swizzle swizzle{values[0], values[1], values[2]};
  if (swizzle.bits < 0 || swizzle.base < 0)
    return scanner.fail(
        column, "the bits and the base of a swizzle must not be negative");
  // Test before std::abs, which overflows for the minimal int64.
  bool isHuge = llvm::any_of(
      values, [](int64_t value) { return value > 62 || value < -62; });
  if (isHuge || swizzle.bits + swizzle.base + std::abs(swizzle.shift) > 62)
    return scanner.fail(
        column, "the bits of the swizzle exceed the 62 bits of an offset");
  if (std::abs(swizzle.shift) < swizzle.bits)
    return scanner.fail(
        column, "a swizzle of " + Twine(swizzle.bits) +
                    " bits must move them by at least as many, not by " +
                    Twine(swizzle.shift));
  layout.swizzle = swizzle;
  if (!scanner.expect("o", "after the swizzle"))
    return false;
  // A number before `o` is the offset; a number before `:` is a shape.
  StringRef digits = scanner.rest().take_while(llvm::isDigit);
  if (!digits.empty() &&
      scanner.rest().drop_front(digits.size()).ltrim(' ').starts_with("o"))
    return scanner.integer(layout.offset, "an offset") &&
           scanner.expect("o", "after the offset");
  return true;
}

std::optional<CuTeLayout> mlir::layout::parseCuTe(StringRef text,
                                                  TextError error) {
  Scanner scanner(text, error);
  CuTeLayout layout;
  IntTuple shape, stride;
  if ((llvm::isAlpha(scanner.peek()) && !parseSwizzle(scanner, layout)) ||
      !parseTuple(scanner, shape) ||
      !scanner.expect(":", "between extents and strides") ||
      !parseTuple(scanner, stride) || !scanner.expectEnd() ||
      !addModes(scanner, shape, stride, layout))
    return std::nullopt;
  return layout;
}

//===----------------------------------------------------------------------===//
// Maps and texts
//===----------------------------------------------------------------------===//

BoundedIndex CuTeLayout::Swizzle::apply(const BoundedIndex &offset) const {
  int64_t from = base + std::max<int64_t>(shift, 0);
  int64_t to = base - std::min<int64_t>(shift, 0);
  auto power = [](int64_t bit) { return int64_t(1) << bit; };
  // Leave out high bits that are 0 in every offset: their xor changes nothing.
  int64_t count = bits;
  while (count > 0 &&
         SizeExpr(power(from + count - 1)).isProvablyAtLeast(offset.extent))
    --count;
  if (count == 0)
    return offset;
  // Take each bit as a digit of its own. If strides are powers of two, it
  // becomes a bit of a digit of a single dim.
  auto field = [&](int64_t begin, int64_t end) {
    SmallVector<BoundedIndex> bits;
    while (end > begin)
      bits.push_back(mod(floorDiv(offset, power(--end)), 2));
    return group(bits);
  };
  BoundedIndex changed =
      xorOf({field(to, to + count), field(from, from + count)}, power(count));
  // The result is a group of the bits above, the changed bits and the bits
  // below. So its extent covers all values of the changed bits.
  return group(
      {floorDiv(offset, power(to + count)), changed, mod(offset, power(to))});
}

std::optional<LayoutMap> CuTeLayout::getMap(Sizes shape,
                                            FailureReason error) const {
  unsigned rank = modes.size();
  if (!checkRank(rank, shape, error))
    return std::nullopt;
  SmallVector<int64_t> stated = getStatedShape();
  SmallVector<std::pair<BoundedIndex, SizeExpr>> placed;
  for (unsigned d = 0; d < rank; ++d) {
    int64_t size = stated[d], lo = 1;
    if (shape[d] != size) {
      error("mode " + Twine(d) + " has " + Twine(size) +
            " indices, the tensor has " +
            (shape[d] < 0 ? "an unknown size" : Twine(shape[d])) +
            " there (L1): write the modes for this shape");
      return std::nullopt;
    }
    for (const Leaf &leaf : modes[d]) {
      placed.push_back({mod(floorDiv(BoundedIndex::dim(d), lo), leaf.extent),
                        SizeExpr(leaf.stride)});
      lo *= leaf.extent;
    }
  }
  placed.push_back({BoundedIndex::constant(SizeExpr(offset)), SizeExpr(1)});
  BoundedIndex result = place(placed);
  if (swizzle)
    result = swizzle->apply(result);
  return LayoutMap::get(rank, "buffer",
                        {{"offset", result.value, result.extent}})
      .specialize(shape);
}

SmallVector<int64_t> CuTeLayout::getStatedShape() const {
  SmallVector<int64_t> shape;
  for (ArrayRef<Leaf> leaves : modes)
    shape.push_back(*countIndices(leaves));
  return shape;
}

std::string CuTeLayout::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (swizzle)
    os << "Sw<" << swizzle->bits << ',' << swizzle->base << ','
       << swizzle->shift << "> o " << offset << " o ";
  auto print = [&](int64_t Leaf::*number) {
    bool isTuple = modes.size() != 1 || modes[0].size() != 1;
    if (isTuple)
      os << '(';
    llvm::interleave(
        modes, os,
        [&](ArrayRef<Leaf> leaves) {
          if (leaves.size() != 1)
            os << '(';
          llvm::interleave(
              leaves, os, [&](const Leaf &leaf) { os << leaf.*number; }, ",");
          if (leaves.size() != 1)
            os << ')';
        },
        ",");
    if (isTuple)
      os << ')';
  };
  print(&Leaf::extent);
  os << ':';
  print(&Leaf::stride);
  return text;
}
