//===- ManyLayoutsTest.cpp - The laws on a million random layouts ---------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tests more than a million random layouts per run at a few random indices
// each. Other tests cover fewer layouts at every index. The seed is printed;
// LAYOUT_TEST_SEED sets another.
//
//===----------------------------------------------------------------------===//

#include "RandomMaps.h"
#include "layout/Algebra/Evaluator.h"
#include "layout/Algebra/Proof.h"
#include "layout/Algebra/Views.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <iostream>
#include <numeric>

using namespace layout_test;
using namespace mlir::layout;

namespace {

constexpr int kShards = 8;
constexpr int kLayoutsPerShard = 1 << 16; // 524,288 in total
constexpr int kIndices = 4;
// Parsing text back costs more than all other checks.
constexpr int kLayoutsPerText = 16;

uint64_t getSeed() {
  const char *text = std::getenv("LAYOUT_TEST_SEED");
  return text ? std::strtoull(text, nullptr, 10) : 20261121;
}

/// Returns an equivalent expression in another form.
Expr respell(const Expr &expr, RandomMaps &random) {
  Expr result = expr;
  for (Expr &arg : result.args)
    arg = respell(arg, random);
  switch (random.below(4)) {
  case 0: // x floordiv ab is x floordiv a floordiv b
    if (expr.kind == Expr::FloorDiv)
      for (int64_t a = 2; a < expr.number; ++a)
        if (expr.number % a == 0)
          return Expr{Expr::FloorDiv,
                      expr.number / a,
                      0,
                      {Expr{Expr::FloorDiv, a, 0, result.args}}};
    return result;
  case 1: // x mod a is x mod ab mod a
    if (expr.kind == Expr::Mod)
      return Expr{Expr::Mod,
                  expr.number,
                  0,
                  {Expr{Expr::Mod, expr.number * (1 + random.below(3)), 0,
                        result.args}}};
    return result;
  case 2: // [a, b, c] is [[a, b], c]
    if (expr.kind == Expr::Group && result.args.size() > 2) {
      Expr inner{Expr::Group, 0, 0, {result.args[0], result.args[1]}};
      result.args.erase(result.args.begin());
      result.args.front() = inner;
    }
    return result;
  default: // x is pad(x, 0, 0), and [x]
    return random.below(2) ? Expr{Expr::Pad, 0, 0, {result}}
                           : Expr{Expr::Group, 0, 0, {result}};
  }
}

struct Case {
  Expr expr;
  enum Kind { Nested, Swizzled, Any } kind;
  unsigned rank;
  Index sizes;
  LayoutMap map;
};

class ManyLayouts : public testing::TestWithParam<int> {
protected:
  ManyLayouts() : random(getSeed() + GetParam()) {
    context.loadDialect<LayoutDialect>();
  }

  Case next() {
    Case c;
    c.rank = 1 + random.below(3);
    c.sizes = random.sizes(c.rank, 9);
    int64_t kind = random.below(10);
    c.kind = kind < 6 ? Case::Nested : (kind < 8 ? Case::Swizzled : Case::Any);
    c.expr = c.kind == Case::Nested     ? random.nested(c.rank)
             : c.kind == Case::Swizzled ? random.swizzled(c.rank)
                                        : random.any(c.rank, 3);
    c.map = buildMap(c.rank, c.expr);
    return c;
  }

  Index someIndex(const Index &sizes) {
    Index index;
    for (int64_t size : sizes)
      index.push_back(random.below(size));
    return index;
  }

  void checkValues(const Case &c);
  void checkForm(const Case &c);
  void checkText(const Case &c);
  void checkInverse(const Case &c);
  void checkViews(const Case &c);

  mlir::MLIRContext context;
  RandomMaps random;
};

/// Canonicalization keeps the map, for all shapes and on this one.
void ManyLayouts::checkValues(const Case &c) {
  LayoutMap special = c.map.specialize(c.sizes);
  std::optional<Evaluator> compiled = Evaluator::ofCoordinates(c.map, c.sizes);
  ASSERT_TRUE(compiled.has_value());
  ASSERT_EQ((*c.map.storageExtent(c.sizes))[0], c.expr.extent(c.sizes));
  for (int i = 0; i < kIndices; ++i) {
    Index index = someIndex(c.sizes);
    int64_t expected = c.expr.value(index, c.sizes), value;
    ASSERT_EQ((*c.map.forward(index, c.sizes))[0], expected);
    ASSERT_EQ((*special.forward(index, c.sizes))[0], expected);
    compiled->evaluate(index.data(), &value);
    ASSERT_EQ(value, expected);
  }
}

/// Canonicalization is idempotent, and nested layouts have a unique form.
void ManyLayouts::checkForm(const Case &c) {
  Index unknown(c.rank, kUnknownSize);
  ASSERT_TRUE(c.map.specialize(unknown) == c.map)
      << c.map.specialize(unknown).str();
  LayoutMap special = c.map.specialize(c.sizes);
  ASSERT_TRUE(special.specialize(c.sizes) == special)
      << special.specialize(c.sizes).str();
  if (c.kind != Case::Nested)
    return;
  LayoutMap again = buildMap(c.rank, respell(c.expr, random));
  ASSERT_TRUE(again == c.map) << again.str();
  ASSERT_EQ(hash_value(again), hash_value(c.map));
}

void ManyLayouts::checkText(const Case &c) {
  mlir::Attribute attr = MapAttr::get(&context, c.map);
  std::string text;
  llvm::raw_string_ostream os(text);
  attr.print(os);
  ASSERT_EQ(mlir::parseAttribute(text, &context), attr) << text;
}

void ManyLayouts::checkInverse(const Case &c) {
  if (c.kind == Case::Any)
    return;
  Index index = someIndex(c.sizes);
  auto back = c.map.backward({c.expr.value(index, c.sizes)}, c.sizes);
  ASSERT_TRUE(back.has_value());
  ASSERT_EQ(Index(back->begin(), back->end()), index);
}

/// Transposed, sliced, expanded and collapsed layouts address the elements that
/// the view reads, and a layout composed with its inverse is row-major.
void ManyLayouts::checkViews(const Case &c) {
  Index order(c.rank), sizes;
  std::iota(order.begin(), order.end(), 0);
  for (size_t d = c.rank; d-- > 1;)
    std::swap(order[d], order[random.below(d + 1)]);
  for (int64_t d : order)
    sizes.push_back(c.sizes[d]);
  std::optional<LayoutMap> turned = transpose(c.map, order);
  ASSERT_TRUE(turned.has_value());
  Index index = someIndex(c.sizes), seen;
  for (int64_t d : order)
    seen.push_back(index[d]);
  int64_t expected = c.expr.value(index, c.sizes);
  ASSERT_EQ((*turned->forward(seen, sizes))[0], expected);

  // The slice that starts at or before this index.
  Index offsets, left, inner, ones(c.rank, 1);
  for (unsigned d = 0; d < c.rank; ++d) {
    offsets.push_back(random.below(index[d] + 1));
    left.push_back(c.sizes[d] - offsets[d]);
    inner.push_back(index[d] - offsets[d]);
  }
  std::optional<LayoutMap> part = slice(c.map, c.sizes, offsets, left, ones);
  ASSERT_TRUE(part.has_value());
  ASSERT_EQ((*part->forward(inner, left))[0], expected);

  // All dims collapsed and expanded again.
  llvm::SmallVector<int64_t, 2> all(c.rank);
  std::iota(all.begin(), all.end(), 0);
  int64_t line = 0, count = 1;
  for (unsigned d = 0; d < c.rank; ++d) {
    line = line * c.sizes[d] + index[d];
    count *= c.sizes[d];
  }
  std::optional<LayoutMap> flat = collapseShape(c.map, {all}, c.sizes);
  ASSERT_TRUE(flat.has_value());
  ASSERT_EQ((*flat->forward({line}, {count}))[0], expected);
  std::optional<LayoutMap> full = expandShape(*flat, {all}, c.sizes);
  ASSERT_TRUE(full.has_value());
  ASSERT_EQ((*full->forward(index, c.sizes))[0], expected);

  if (c.kind != Case::Nested)
    return;
  LayoutMap special = c.map.specialize(c.sizes);
  if (std::optional<LayoutMap> back = inverse(special, {}, c.sizes)) {
    std::optional<LayoutMap> both = compose(*back, special);
    ASSERT_TRUE(both.has_value()) << back->str();
    if (hasPadding(c.map, c.sizes) == ProofResult::Disproved) {
      ASSERT_EQ((*both->forward(index, c.sizes))[0], line);
    }
  }
}

TEST_P(ManyLayouts, HoldTheLaws) {
  std::cout << "seed " << getSeed() + GetParam() << ", " << kLayoutsPerShard
            << " layouts" << std::endl;
  for (int i = 0; i < kLayoutsPerShard && !HasFailure(); ++i) {
    Case c = next();
    SCOPED_TRACE("seed " + std::to_string(getSeed() + GetParam()) +
                 ", layout " + std::to_string(i));
    checkValues(c);
    checkForm(c);
    checkInverse(c);
    checkViews(c);
    if (i % kLayoutsPerText == 0)
      checkText(c);
    if (HasFailure())
      ADD_FAILURE() << c.map.str() << " on " << testing::PrintToString(c.sizes);
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, ManyLayouts, testing::Range(0, kShards));

} // namespace
