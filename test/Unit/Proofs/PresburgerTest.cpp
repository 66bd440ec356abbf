//===- PresburgerTest.cpp - Stored axes of any size are injective ---------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MLIR's own solver, as a second one, on statements about set arithmetic with
// symbolic sizes: the stored axes, whose digits have constant factors. The set
// {(i, j) : i != j, axes(i) == axes(j)} is built explicitly and found empty.
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Families/Blocked.h"
#include "layout/Algebra/Proof.h"
#include "mlir/Analysis/Presburger/IntegerRelation.h"
#include "gtest/gtest.h"
#include <map>

using namespace mlir::layout;
using namespace mlir::presburger;

namespace {

/// The maximum number of constraints of a set.
constexpr unsigned kMaxConstraints = 120;

/// A constant plus variables times factors.
struct Sum {
  std::map<unsigned, int64_t> factors;
  int64_t constant = 0;

  void add(const Sum &other, int64_t factor) {
    constant += factor * other.constant;
    for (auto [variable, f] : other.factors)
      factors[variable] += factor * f;
  }
};

/// Two indices of a box with symbolic sizes.
class Pairs {
public:
  explicit Pairs(unsigned rank)
      : rank(rank), set(PresburgerSpace::getSetSpace(2 * rank, rank)) {
    for (unsigned d = 0; d < rank; ++d)
      for (unsigned variable : {d, rank + d}) {
        Sum x{{{variable, 1}}, 0}, room{{{2 * rank + d, 1}}, -1};
        room.add(x, -1);
        set.addInequality(getRow(x));
        set.addInequality(getRow(room));
      }
  }

  /// Requires that both indices give equal values. Returns false if the value
  /// has no form with constant factors.
  bool requireEqual(const IndexExpr &value) {
    std::optional<Sum> first = translate(value, 0),
                       second = translate(value, rank);
    if (!first || !second)
      return false;
    first->add(*second, -1);
    set.addEquality(getRow(*first));
    return true;
  }

  ProofResult areAllEqual() {
    for (unsigned d = 0; d < rank; ++d) {
      if (set.getNumConstraints() > kMaxConstraints)
        return ProofResult::Unknown;
      Sum difference{{{d, -1}, {rank + d, 1}}, -1};
      IntegerPolyhedron differing = set;
      differing.addInequality(getRow(difference));
      if (!differing.isIntegerEmpty())
        return ProofResult::Disproved;
      difference.constant = 0;
      set.addEquality(getRow(difference));
    }
    return ProofResult::Proved;
  }

private:
  std::vector<int64_t> getRow(const Sum &sum) {
    std::vector<int64_t> row(set.getNumCols(), 0);
    for (auto [variable, factor] : sum.factors)
      row[variable] = factor;
    row.back() = sum.constant;
    return row;
  }

  /// Uses one variable for equal floors.
  Sum floorDiv(const Sum &sum, int64_t divisor) {
    if (divisor == 1)
      return sum;
    auto [it, isNew] =
        floors.try_emplace({sum.factors, sum.constant, divisor}, 0);
    if (isNew)
      it->second = set.addLocalFloorDiv(getRow(sum), divisor);
    return Sum{{{it->second, 1}}, 0};
  }

  std::optional<Sum> translate(const IndexExpr &value, unsigned firstDim) {
    std::optional<int64_t> constant = value.constant.getConstant();
    if (!constant)
      return std::nullopt;
    Sum sum{{}, *constant};
    for (const DigitTerm &term : value.terms) {
      std::optional<int64_t> stride = term.stride.getConstant();
      if (!stride || term.digit.swizzle)
        return std::nullopt;
      std::optional<Sum> source = Sum{{{firstDim + term.digit.dim, 1}}, 0};
      if (term.digit.fused)
        source = translate(*term.digit.fused, firstDim);
      if (!source)
        return std::nullopt;
      Sum digit = floorDiv(*source, term.digit.divisor);
      if (term.digit.modulus)
        digit.add(floorDiv(*source, term.digit.divisor * term.digit.modulus),
                  -term.digit.modulus);
      sum.add(digit, *stride);
    }
    return sum;
  }

  unsigned rank;
  IntegerPolyhedron set;
  std::map<std::tuple<std::map<unsigned, int64_t>, int64_t, int64_t>, unsigned>
      floors;
};

/// Proves that the axes of a map determine the index, for all sizes.
ProofResult areAxesInjective(unsigned rank, llvm::ArrayRef<StoredAxis> axes) {
  Pairs pairs(rank);
  for (const StoredAxis &axis : axes)
    if (!pairs.requireEqual(axis.value))
      return ProofResult::Unknown;
  return pairs.areAllEqual();
}

LayoutMap blocked(const char *from, const char *to) {
  auto fail = [](bool, size_t, const llvm::Twine &message) {
    ADD_FAILURE() << message.str();
  };
  return parseBlocked(from, to, fail)->getMap();
}

const BoundedIndex d0 = BoundedIndex::dim(0), d1 = BoundedIndex::dim(1),
                   d2 = BoundedIndex::dim(2);

LayoutMap buffer(unsigned rank, const BoundedIndex &offset) {
  return LayoutMap::get(rank, "buffer",
                        {{"offset", offset.value, offset.extent}});
}

TEST(Presburger, BlockedAxesOfAnySizeAreInjective) {
  const std::pair<const char *, const char *> layouts[] = {
      {"NCHW", "NHWC"},     {"NCHW", "NCHW16c"},     {"NCHW", "NCHW4n8c"},
      {"NCHW", "NCHW2c4c"}, {"OIHW", "OIHW4i16o4i"}, {"OIHW", "OIHW[4o4i]"},
      {"MK", "MK16m2k"}};
  for (auto [from, to] : layouts) {
    LayoutMap map = blocked(from, to);
    EXPECT_EQ(areAxesInjective(map.getRank(), map.getStoredAxes()),
              ProofResult::Proved)
        << to;
  }
}

TEST(Presburger, ShiftedDigitsOfAnySizeAreInjective) {
  BoundedIndex shifted = pad(d1, 2, 0);
  std::vector<StoredAxis> axes{{floorDiv(shifted, 4).value, 0},
                               {mod(shifted, 4).value, 4},
                               {d0.value, 0}};
  EXPECT_EQ(areAxesInjective(2, axes), ProofResult::Proved);
}

TEST(Presburger, ImageCoordinatesOfAnySizeAreInjective) {
  std::vector<StoredAxis> axes{{floorDiv(d2, 4).value, 0},
                               {d1.value, 0},
                               {d0.value, 0},
                               {mod(d2, 4).value, 4}};
  EXPECT_EQ(areAxesInjective(3, axes), ProofResult::Proved);
}

TEST(Presburger, AWrongModulusIsFound) {
  std::vector<StoredAxis> axes{{floorDiv(d0, 16).value, 0},
                               {mod(d0, 15).value, 15}};
  EXPECT_EQ(areAxesInjective(1, axes), ProofResult::Disproved);
}

TEST(Presburger, AMissingAxisIsFound) {
  LayoutMap map = blocked("OIHW", "OIHW4i16o4i");
  for (size_t a = 0; a < map.getStoredAxes().size(); ++a) {
    std::vector<StoredAxis> axes = map.getStoredAxes().vec();
    axes.erase(axes.begin() + a);
    EXPECT_EQ(areAxesInjective(4, axes), ProofResult::Disproved) << a;
  }
}

/// If a dim is fused below another, its size is a stride.
TEST(Presburger, AxesWithSymbolicStridesAreGivenUp) {
  BoundedIndex fused = group({d0, d1});
  std::vector<StoredAxis> axes{{floorDiv(fused, 4).value, 0},
                               {mod(fused, 4).value, 4}};
  EXPECT_EQ(areAxesInjective(2, axes), ProofResult::Unknown);
}

/// c floordiv k and c mod m distinguish all c iff m >= k. This solver agrees
/// with the proof by construction for all sizes.
TEST(Presburger, AgreesWithTheProofByConstruction) {
  llvm::SmallVector<int64_t> unknown(2, kUnknownSize);
  for (int64_t k : {2, 3, 4, 6})
    for (int64_t m : {2, 3, 4, 6}) {
      BoundedIndex offset = group({d0, floorDiv(d1, k), mod(d1, m)});
      LayoutMap map = buffer(2, offset);
      std::vector<StoredAxis> axes{
          {d0.value, 0}, {floorDiv(d1, k).value, 0}, {mod(d1, m).value, m}};
      ProofResult answer = areAxesInjective(2, axes);
      EXPECT_EQ(answer, m >= k ? ProofResult::Proved : ProofResult::Disproved)
          << k << " " << m;
      if (isInjectiveByConstruction(map, unknown)) {
        EXPECT_EQ(answer, ProofResult::Proved);
      }
    }
}

} // namespace
