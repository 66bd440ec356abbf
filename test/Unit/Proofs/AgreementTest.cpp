//===- AgreementTest.cpp - Three ways to prove agree ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Set arithmetic against an independent enumeration and against the proof by
// construction; then statements that only sets decide, and the time of the
// hardest statements.
//
//===----------------------------------------------------------------------===//

#include "../Algebra/RandomMaps.h"
#include "Proven.h"
#include "layout/Algebra/Proof.h"
#include <ctime>
#include <set>
#include <thread>

using namespace layout_test;
using namespace mlir::layout;

namespace {

constexpr uint64_t kSeed = 20240721;

/// The properties of an expression on a box, by enumeration.
struct Truth {
  bool injective = true, within = true;
  std::set<int64_t> image;

  Truth(const Expr &expr, const Index &sizes) {
    int64_t extent = expr.extent(sizes);
    layout_test::forEachIndex(sizes, [&](const Index &index) {
      int64_t x = expr.value(index, sizes);
      injective &= image.insert(x).second;
      within &= x >= 0 && x < extent;
    });
  }
};

bool isInBox(llvm::ArrayRef<int64_t> index, const Index &sizes) {
  for (auto [i, size] : llvm::zip_equal(index, sizes))
    if (i < 0 || i >= size)
      return false;
  return true;
}

/// Calls check(expression, map, sizes) for random maps without swizzles.
template <typename Check>
void forRandomMaps(uint64_t seed, int count, bool nested, Check check) {
  RandomMaps random(seed);
  for (int i = 0; i < count && !testing::Test::HasFailure(); ++i) {
    unsigned rank = 1 + random.below(3);
    Expr expr = nested ? random.nested(rank) : random.any(rank, 3);
    Index sizes = random.sizes(rank, 6);
    LayoutMap map = buildMap(rank, expr);
    SCOPED_TRACE("seed " + std::to_string(seed) + ", map " + std::to_string(i) +
                 ": " + map.str() + " on " + testing::PrintToString(sizes));
    check(expr, map, sizes);
  }
}

TEST(Agreement, SetsSayWhatEnumerationSays) {
  int answered = 0, total = 0, no = 0;
  for (bool nested : {true, false})
    forRandomMaps(
        kSeed + nested, 600, nested,
        [&](const Expr &expr, const LayoutMap &map, const Index &sizes) {
          // The map as written and its normal form are equal.
          for (const LayoutMap &form : {map, map.specialize(sizes)}) {
            Truth truth(expr, sizes);
            std::vector<IndexExpr> values = getValues(form);
            ++total;
            sets::Statement injective = sets::proveInjective(values, sizes);
            if (injective.answer != ProofResult::Unknown) {
              ++answered;
              ASSERT_EQ(injective.answer == ProofResult::Proved,
                        truth.injective);
            }
            if (injective.answer == ProofResult::Disproved) {
              ++no;
              ASSERT_TRUE(isInBox(injective.index, sizes));
              ASSERT_TRUE(isInBox(injective.other, sizes));
              ASSERT_NE(injective.index, injective.other);
              Index first(injective.index.begin(), injective.index.end());
              Index second(injective.other.begin(), injective.other.end());
              ASSERT_EQ(expr.value(first, sizes), expr.value(second, sizes));
            }
            sets::Statement within =
                sets::proveWithin(values, getExtents(form), sizes);
            if (within.answer != ProofResult::Unknown) {
              ASSERT_EQ(within.answer == ProofResult::Proved, truth.within);
            }
            int64_t point = expr.extent(sizes) / 2;
            sets::Statement unused = sets::proveUnused(values, {point}, sizes);
            if (unused.answer != ProofResult::Unknown) {
              ASSERT_EQ(unused.answer == ProofResult::Proved,
                        truth.image.count(point) == 0);
            }
            if (unused.answer == ProofResult::Disproved) {
              Index index(unused.index.begin(), unused.index.end());
              ASSERT_EQ(expr.value(index, sizes), point);
            }
          }
        });
  // Except for the few swizzles, all maps of this size are decided.
  EXPECT_GT(answered, total * 8 / 10);
  EXPECT_GT(no, total / 20);
}

TEST(Agreement, EqualityBySetsIsTheTruth) {
  RandomMaps random(kSeed + 3);
  int equal = 0, different = 0;
  for (int i = 0; i < 1500; ++i) {
    unsigned rank = 1 + random.below(2);
    Index sizes = random.sizes(rank, 4);
    Expr a = random.nested(rank), b = random.nested(rank);
    bool same = true;
    layout_test::forEachIndex(sizes, [&](const Index &index) {
      same &= a.value(index, sizes) == b.value(index, sizes);
    });
    LayoutMap x = buildMap(rank, a), y = buildMap(rank, b);
    SCOPED_TRACE("seed " + std::to_string(kSeed + 3) + ": " + x.str() +
                 " and " + y.str() + " on " + testing::PrintToString(sizes));
    sets::Statement statement =
        sets::proveEqual(getValues(x), getValues(y), sizes);
    if (statement.answer == ProofResult::Unknown)
      continue;
    ASSERT_EQ(statement.answer == ProofResult::Proved, same);
    if (same) {
      ++equal;
      continue;
    }
    ++different;
    Index index(statement.index.begin(), statement.index.end());
    ASSERT_NE(a.value(index, sizes), b.value(index, sizes));
  }
  EXPECT_GT(equal, 50);
  EXPECT_GT(different, 500);
}

TEST(Agreement, WhatIsProvenByConstructionIsProvenBySets) {
  int both = 0;
  forRandomMaps(
      kSeed + 4, 800, true,
      [&](const Expr &, const LayoutMap &map, const Index &sizes) {
        // Checks these digits on a box too large to enumerate.
        Index large = sizes;
        for (int64_t &size : large)
          size = size * 1000 + 7;
        for (const Index &box : {sizes, large}) {
          if (!isInjectiveByConstruction(map.specialize(box), box))
            continue;
          ProofResult answer =
              sets::proveInjective(getValues(map.specialize(box)), box).answer;
          ASSERT_NE(answer, ProofResult::Disproved);
          both += answer == ProofResult::Proved;
        }
      });
  EXPECT_GT(both, 1200);
}

//===----------------------------------------------------------------------===//
// Statements that only sets decide
//===----------------------------------------------------------------------===//

const BoundedIndex d0 = BoundedIndex::dim(0), d1 = BoundedIndex::dim(1);

LayoutMap strided(int64_t s0, int64_t s1) {
  BoundedIndex offset = place({{d0, SizeExpr(s0)}, {d1, SizeExpr(s1)}});
  return LayoutMap::get(2, "buffer", {{"offset", offset.value, offset.extent}});
}

TEST(Agreement, CoprimeStridesAreProvenOnLargeBoxes) {
  // No stride exceeds the range below it, and the box has 10^12 points.
  LayoutMap map = strided(1000003, 1000033);
  Index sizes{1000033, 1000003};
  EXPECT_FALSE(isInjectiveByConstruction(map, sizes));
  EXPECT_EQ(proveInjective(map, sizes).answer, ProofResult::Proved);

  sizes[0] += 1;
  sizes[1] += 1;
  PairProof proof = proveInjective(map, sizes);
  ASSERT_EQ(proof.answer, ProofResult::Disproved);
  EXPECT_NE(proof.first, proof.second);
  EXPECT_EQ(map.forward(proof.first, sizes), map.forward(proof.second, sizes));
}

TEST(Agreement, DynamicSizesAreDecidedWhereStridesAreNumbers) {
  LayoutMap map = strided(6, 4);
  EXPECT_EQ(proveInjective(map, {kUnknownSize, 3}).answer, ProofResult::Proved);
  EXPECT_EQ(proveInjective(map, {2, kUnknownSize}).answer, ProofResult::Proved);
  EXPECT_EQ(proveInjective(map, {kUnknownSize, 4}).answer,
            ProofResult::Disproved);
}

TEST(Agreement, EqualityIsDecidedOnLargeAndDynamicBoxes) {
  // (d1 mod 6) floordiv 4 equals d1 floordiv 4 below 6, but not above.
  BoundedIndex digit = floorDiv(mod(d1, 6), 4);
  BoundedIndex a = group({d0, digit, mod(d1, 4)});
  BoundedIndex b = group({d0, floorDiv(d1, 4), mod(d1, 4)});
  auto buffer = [](const BoundedIndex &x) {
    return LayoutMap::get(2, "buffer", {{"offset", x.value, x.extent}});
  };
  EXPECT_EQ(equalOn(buffer(a), buffer(b), {1 << 20, 6}), ProofResult::Proved);
  EXPECT_EQ(equalOn(buffer(a), buffer(b), {1 << 20, 7}),
            ProofResult::Disproved);
  EXPECT_EQ(equalOn(buffer(a), buffer(b), {kUnknownSize, 7}),
            ProofResult::Disproved);
  // Sums of digits that do not nest: equal values in two forms.
  BoundedIndex x{add(floorDiv(d1, 2).value, floorDiv(pad(d1, 1, 0), 2).value),
                 100};
  BoundedIndex y{d1.value, 100};
  EXPECT_EQ(equalOn(buffer(x), buffer(y), {1 << 20, 100}), ProofResult::Proved);
  EXPECT_EQ(equalOn(buffer(x), buffer(y), {kUnknownSize, kUnknownSize}),
            ProofResult::Proved);
}

TEST(Agreement, ExtentsAreProvenWhereIntervalsAreTooWide) {
  // d1 - 3 (d1 floordiv 4) is in 0 .. 7 on 20 columns.
  BoundedIndex x{add(d1.value, scale(floorDiv(d1, 4).value, SizeExpr(-3))), 8};
  auto buffer = [](const BoundedIndex &x) {
    return LayoutMap::get(2, "buffer", {{"offset", x.value, x.extent}});
  };
  EXPECT_EQ(isWithinExtents(buffer(x), {5, 20}), ProofResult::Proved);
  EXPECT_EQ(isWithinExtents(buffer(x), {5, 21}), ProofResult::Proved);
  EXPECT_EQ(isWithinExtents(buffer(x), {5, 24}), ProofResult::Disproved);
}

//===----------------------------------------------------------------------===//
// The time limit
//===----------------------------------------------------------------------===//

/// Draws an unsimplified value of digits.
IndexExpr makeHostile(RandomMaps &random, unsigned rank, unsigned count) {
  auto upTo = [&](int64_t bits) {
    return 1 + random.below(int64_t(1) << (1 + random.below(bits)));
  };
  IndexExpr value;
  bool nests = random.below(2);
  for (unsigned i = 0; i < count; ++i) {
    DigitTerm term;
    term.digit.dim = random.below(rank);
    if (nests && i && random.below(3) == 0)
      term.digit.fused = std::make_shared<IndexExpr>(value);
    if (random.below(2)) {
      term.digit.divisor = upTo(30);
      term.digit.modulus = random.below(2) ? 1 + upTo(12) : 0;
    }
    term.stride = SizeExpr(random.below(2) ? upTo(40) : upTo(61));
    value.terms.push_back(term);
  }
  return value;
}

double secondsOfThisThread() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

TEST(Agreement, HostileStatementsEndInTime) {
  RandomMaps random(kSeed + 5);
  double worst = 0;
  for (int i = 0; i < 60; ++i) {
    unsigned rank = 1 + random.below(i % 2 ? 4 : 64);
    IndexExpr a = makeHostile(random, rank, 2 + random.below(i % 3 ? 12 : 64));
    IndexExpr b = makeHostile(random, rank, 2 + random.below(6));
    Index sizes(rank);
    for (int64_t &size : sizes)
      size =
          random.below(8) ? 2 + random.below(int64_t(1) << 40) : kUnknownSize;
    SizeExpr extent(int64_t(1) << 62);
    double start = secondsOfThisThread();
    sets::proveInjective(a, sizes);
    double second = secondsOfThisThread();
    sets::proveEqual(a, b, sizes);
    double third = secondsOfThisThread();
    sets::proveWithin(a, extent, sizes);
    double end = secondsOfThisThread();
    worst = std::max({worst, second - start, third - second, end - third});
    // Ten times the time measured on a fast machine.
    ASSERT_LT(worst, 3.0) << "seed " << kSeed + 5 << ", statement " << i;
  }
  RecordProperty("worst_ms", int(worst * 1000));
}

TEST(Agreement, ThreadsDoNotMeet) {
  std::vector<std::thread> threads;
  std::vector<int> answers(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&answers, t] {
      for (int64_t i = 0; i < 50; ++i) {
        LayoutMap map = strided(3 + i % 5, 2 + t);
        Index sizes{2 + t, 100000};
        answers[t] += proveInjective(map, sizes).answer != ProofResult::Unknown;
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(answers, (std::vector<int>{50, 50, 50, 50}));
}

} // namespace
