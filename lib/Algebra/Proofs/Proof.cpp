//===- Proof.cpp - Validity and equality on a shape -----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Proof.h"
#include "Expressions/UpperBound.h"
#include "layout/Algebra/Box.h"
#include "layout/Algebra/Evaluator.h"
#include "layout/Algebra/Factors.h"
#include "layout/Algebra/IntegerSets.h"
#include "layout/Algebra/Pack.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir::layout;
using llvm::ArrayRef;

static bool hasAtMost(Sizes box, int64_t points) {
  std::optional<int64_t> count = countIndices(box);
  return count && *count <= points;
}

static std::vector<IndexExpr> getValues(const LayoutMap &map) {
  std::vector<IndexExpr> values;
  for (const Coordinate &coordinate : map.getCoordinates())
    values.push_back(coordinate.value);
  return values;
}

//===----------------------------------------------------------------------===//
// Injectivity
//===----------------------------------------------------------------------===//

namespace {

/// A hash table of points, numbered in the order of insertion.
class PointTable {
public:
  PointTable(size_t numPoints, size_t width)
      : width(width), slots(llvm::PowerOf2Ceil(2 * numPoints + 1), kEmpty) {
    points.reserve(numPoints * width);
  }

  /// Adds `point` and returns std::nullopt. If an equal point is in the table,
  /// adds nothing and returns its number.
  std::optional<uint32_t> add(ArrayRef<int64_t> point) {
    size_t hash = llvm::hash_combine_range(point.begin(), point.end());
    for (size_t slot = hash % slots.size();; slot = (slot + 1) % slots.size()) {
      uint32_t &number = slots[slot];
      if (number == kEmpty) {
        number = count++;
        points.insert(points.end(), point.begin(), point.end());
        return std::nullopt;
      }
      if (ArrayRef(points).slice(number * width, width) == point)
        return number;
    }
  }

private:
  static constexpr uint32_t kEmpty = ~uint32_t(0);
  size_t width;
  uint32_t count = 0;
  std::vector<int64_t> points;
  std::vector<uint32_t> slots;
};

} // namespace

/// Decides by enumeration if no two indices of a box share a point. If Proved,
/// sets `numPoints` to the number of distinct points. Replicas of one index may
/// share a point; `rank` is the number of logical dims, which precede replicas.
static PairProof walk(const Evaluator &evaluator, Sizes box, unsigned rank,
                      int64_t &numPoints) {
  PairProof proof;
  llvm::SmallVector<int64_t> point(evaluator.getNumValues());
  PointTable points(*countIndices(box), point.size());
  std::vector<uint32_t> numbers; // the first index of each point
  uint32_t number = 0;
  bool isInjective = forEachIndex(box, [&](ArrayRef<int64_t> index) {
    evaluator.evaluate(index.data(), point.data());
    std::optional<uint32_t> same = points.add(point);
    if (!same)
      numbers.push_back(number);
    ++number;
    if (!same)
      return true;
    llvm::SmallVector<int64_t> first = getIndex(numbers[*same], box);
    if (ArrayRef(first).take_front(rank) == index.take_front(rank))
      return true;
    proof.first = std::move(first);
    proof.second.assign(index.begin(), index.end());
    return false;
  });
  numPoints = numbers.size();
  proof.answer = isInjective ? ProofResult::Proved : ProofResult::Disproved;
  return proof;
}

static PairProof walk(const LayoutMap &special, Sizes sizes,
                      int64_t &numPoints) {
  std::optional<Evaluator> evaluator = Evaluator::ofCoordinates(special, sizes);
  return evaluator ? walk(*evaluator, special.getBox(sizes), special.getRank(),
                          numPoints)
                   : PairProof();
}

/// Returns true if the factors, each of which is enumerated by itself, have at
/// most kMaxPoints points in sum.
static bool haveFewPoints(ArrayRef<Factor> factors) {
  int64_t rest = kMaxPoints;
  return llvm::all_of(factors, [&](const Factor &factor) {
    std::optional<int64_t> count = countIndices(factor.box);
    return count && (rest -= *count) >= 0;
  });
}

namespace {
/// The minimum, maximum and common divisor of the numbers that the dims of a
/// factor (Factors.h) add to a coordinate.
struct Share {
  int64_t min = 0, max = 0;
  int64_t divisor = 0; // the gcd of all contributions
};
} // namespace

static Share findShare(const Evaluator &evaluator, unsigned value,
                       const Factor &factor) {
  Share share;
  llvm::SmallVector<int64_t> start(evaluator.getNumValues()), point(start),
      zeros(factor.box.size(), 0);
  evaluator.evaluate(zeros.data(), start.data());
  forEachIndex(factor.box, [&](ArrayRef<int64_t> index) {
    evaluator.evaluate(index.data(), point.data());
    int64_t added = point[value] - start[value];
    share.min = std::min(share.min, added);
    share.max = std::max(share.max, added);
    share.divisor = std::gcd(share.divisor, added);
    return true;
  });
  return share;
}

/// Returns true if the sum of one contribution per factor is proven to
/// determine each of them. As in a row-major order, the span of lower
/// contributions must be less than the common divisor of all higher ones.
static bool isTellingSum(llvm::SmallVector<Share> shares) {
  llvm::sort(shares, [](const Share &a, const Share &b) {
    return std::tuple(!a.divisor, a.divisor) <
           std::tuple(!b.divisor, b.divisor);
  });
  int64_t span = 0;
  for (size_t i = 0; i < shares.size() && shares[i].divisor; ++i) {
    int64_t divisor = 0;
    for (const Share &share : llvm::drop_begin(shares, i))
      divisor = std::gcd(divisor, share.divisor);
    if (span >= divisor)
      return false;
    span += shares[i].max - shares[i].min;
  }
  return true;
}

/// Proves that a map is injective by enumerating each factor of the box by
/// itself. This suffices if every coordinate determines the contributions of
/// all factors; otherwise the answer is Unknown. It is Disproved if two indices
/// of one factor share a point. If Proved, `numPoints` is the number of
/// distinct points.
static PairProof walkFactors(const LayoutMap &special, Sizes sizes,
                             int64_t &numPoints) {
  if (special.getCoordinates().empty())
    return PairProof();
  llvm::SmallVector<int64_t> box = special.getBox(sizes);
  std::vector<IndexExpr> values = getValues(special);
  std::vector<Factor> factors =
      findFactors(values, ArrayRef(values).drop_back(), box, special.getRank());
  std::optional<Evaluator> evaluator = Evaluator::ofCoordinates(special, sizes);
  PairProof proof;
  if (!evaluator || !haveFewPoints(factors))
    return proof;
  numPoints = 1;
  for (const Factor &factor : factors) {
    int64_t ownPoints = 0;
    proof = walk(*evaluator, factor.box, special.getRank(), ownPoints);
    if (proof.answer != ProofResult::Proved)
      return proof;
    numPoints *= ownPoints;
  }
  for (unsigned c = 0; c < evaluator->getNumValues(); ++c)
    if (!isTellingSum(llvm::map_to_vector(factors, [&](const Factor &factor) {
          return findShare(*evaluator, c, factor);
        })))
      return PairProof();
  return proof;
}

PairProof mlir::layout::proveInjective(const LayoutMap &map, Sizes sizes) {
  PairProof proof;
  LayoutMap special = map.specialize(sizes);
  // Try `map`, too: with only some static sizes inserted, less can be provable
  // than with none.
  if (isInjectiveByConstruction(special, sizes) ||
      isInjectiveByConstruction(map, sizes)) {
    proof.answer = ProofResult::Proved;
    return proof;
  }
  llvm::SmallVector<int64_t> box = special.getBox(sizes);
  int64_t numPoints;
  if (hasAtMost(box, kFewPoints))
    proof = walk(special, sizes, numPoints);
  if (proof.answer != ProofResult::Unknown)
    return proof;
  sets::Statement statement = sets::proveInjective(getValues(special), box);
  // Integer sets treat replicas like logical dims, so a counterexample may be
  // two replicas of one index, which may share a point.
  auto getIndex = [&](ArrayRef<int64_t> index) {
    return index.take_front(std::min<size_t>(index.size(), special.getRank()));
  };
  bool isOneIndex = statement.answer == ProofResult::Disproved &&
                    getIndex(statement.index) == getIndex(statement.other);
  if (!isOneIndex) {
    proof.answer = statement.answer;
    proof.first = std::move(statement.index);
    proof.second = std::move(statement.other);
  }
  if (proof.answer == ProofResult::Unknown)
    proof = walkFactors(special, sizes, numPoints);
  if (proof.answer == ProofResult::Unknown && hasAtMost(box, kMaxPoints))
    proof = walk(special, sizes, numPoints);
  return proof;
}

std::optional<int64_t> mlir::layout::countPoints(const LayoutMap &map,
                                                 Sizes sizes) {
  LayoutMap special = map.specialize(sizes);
  llvm::SmallVector<int64_t> box = special.getBox(sizes);
  if (map.getReplicas().empty() || llvm::is_contained(box, 0) ||
      isInjectiveByConstruction(special, sizes))
    return countIndices(box);
  int64_t numPoints = 0;
  if (walkFactors(special, sizes, numPoints).answer == ProofResult::Proved ||
      (hasAtMost(box, kMaxPoints) &&
       walk(special, sizes, numPoints).answer == ProofResult::Proved))
    return numPoints;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Equality
//===----------------------------------------------------------------------===//

using Points = std::vector<llvm::SmallVector<int64_t>>;

/// Sets `points` to the distinct points of all replicas of an index, sorted.
static void getPoints(const Evaluator &evaluator, ArrayRef<int64_t> index,
                      ArrayRef<int64_t> replicas, Points &points) {
  points.clear();
  llvm::SmallVector<int64_t> whole(index);
  whole.resize(index.size() + replicas.size());
  forEachIndex(replicas, [&](ArrayRef<int64_t> replica) {
    llvm::copy(replica, whole.begin() + index.size());
    points.emplace_back(evaluator.getNumValues());
    evaluator.evaluate(whole.data(), points.back().data());
    return true;
  });
  llvm::sort(points);
  points.erase(llvm::unique(points), points.end());
}

static ProofResult walk(const LayoutMap &a, const LayoutMap &b, Sizes sizes) {
  std::optional<Evaluator> x = Evaluator::ofCoordinates(a, sizes),
                           y = Evaluator::ofCoordinates(b, sizes);
  if (!x || !y)
    return ProofResult::Unknown;
  Points p, q;
  bool isEqual = forEachIndex(sizes, [&](ArrayRef<int64_t> index) {
    getPoints(*x, index, a.getReplicas(), p);
    getPoints(*y, index, b.getReplicas(), q);
    return p == q;
  });
  return isEqual ? ProofResult::Proved : ProofResult::Disproved;
}

/// Compares two maps replica by replica with integer sets. If they differ and
/// have replicas, the answer is Unknown: they may be equal with replicas in
/// another order.
static ProofResult compareAsSets(const LayoutMap &a, const LayoutMap &b,
                                 Sizes sizes) {
  if (a.getReplicas() != b.getReplicas())
    return ProofResult::Unknown;
  ProofResult answer =
      sets::proveEqual(getValues(a), getValues(b), a.getBox(sizes)).answer;
  return answer == ProofResult::Disproved && !a.getReplicas().empty()
             ? ProofResult::Unknown
             : answer;
}

static ProofResult haveEqualExtents(const LayoutMap &a, const LayoutMap &b,
                                    Sizes sizes) {
  std::vector<IndexExpr> x, y;
  for (auto [p, q] : llvm::zip_equal(a.getCoordinates(), b.getCoordinates()))
    if (p.extent != q.extent) {
      x.push_back(p.extent);
      y.push_back(q.extent);
    }
  return x.empty() ? ProofResult::Proved : sets::proveEqual(x, y, sizes).answer;
}

ProofResult mlir::layout::equalOn(const LayoutMap &a, const LayoutMap &b,
                                  Sizes sizes) {
  if (a == b)
    return ProofResult::Proved;
  auto sameName = [](auto pair) {
    return std::get<0>(pair).name == std::get<1>(pair).name;
  };
  if (a.getRank() != b.getRank() || a.getSpace() != b.getSpace() ||
      a.getCoordinates().size() != b.getCoordinates().size() ||
      !llvm::all_of(llvm::zip(a.getCoordinates(), b.getCoordinates()),
                    sameName))
    return ProofResult::Disproved;
  LayoutMap x = a.specialize(sizes), y = b.specialize(sizes);
  if (x == y)
    return ProofResult::Proved;
  if (x.hasOverflow() || y.hasOverflow())
    return ProofResult::Unknown;
  if (llvm::is_contained(sizes, 0))
    return x.storageExtent(sizes) == y.storageExtent(sizes)
               ? ProofResult::Proved
               : ProofResult::Disproved;

  ProofResult extents = haveEqualExtents(x, y, sizes);
  if (extents != ProofResult::Proved)
    return extents;
  if (countIndices(x.getReplicas()) != countIndices(y.getReplicas()) &&
      isInjectiveByConstruction(x, sizes) &&
      isInjectiveByConstruction(y, sizes))
    return ProofResult::Disproved;
  llvm::SmallVector<int64_t> box = x.getBox(sizes);
  ProofResult answer = ProofResult::Unknown;
  if (hasAtMost(box, kFewPoints))
    answer = walk(x, y, sizes);
  if (answer == ProofResult::Unknown)
    answer = compareAsSets(x, y, sizes);
  if (answer == ProofResult::Unknown && hasAtMost(box, kMaxPoints))
    answer = walk(x, y, sizes);
  return answer;
}

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

/// Returns true if coordinate `c` is provably in [0, extent): by the range of
/// its value, or because each axis, a row-major digit of the coordinate, is
/// within its own extent. False proves nothing.
static bool isWithinByConstruction(const LayoutMap &special, unsigned c,
                                   Sizes box) {
  const Coordinate &coordinate = special.getCoordinates()[c];
  std::optional<Interval> range = getRange(coordinate.value, box);
  std::optional<int64_t> extent = coordinate.extent.getConstant();
  if (range && range->min >= 0 && extent && range->max < *extent)
    return true;
  return llvm::all_of(special.getStoredAxes(c), [&](const StoredAxis &axis) {
    std::optional<SizeExpr> bound = getUpperBound(axis.value, box);
    return bound && axis.extent.specialize(box).isProvablyAtLeast(*bound);
  });
}

/// Decides if a coordinate is in [0, extent) at every index of a static box.
/// Enumerates each factor of the box, a set of dims that no digit mixes with
/// others, for its minimal and maximal contribution. Unknown if the factors
/// have more than 2^20 points in sum, or if a stride or the extent is not
/// constant.
static ExtentProof walkExtent(const Coordinate &coordinate, Sizes box,
                              unsigned rank) {
  ExtentProof proof;
  std::vector<Factor> factors = findFactors(coordinate.value, {}, box, rank);
  std::optional<Evaluator> evaluator =
      Evaluator::compile(coordinate.value, box);
  std::optional<int64_t> extent = coordinate.extent.evaluate(box);
  if (!evaluator || !extent || !haveFewPoints(factors))
    return proof;
  llvm::SmallVector<int64_t> least(box.size(), 0), most(least);
  auto getValue = [&](ArrayRef<int64_t> index) {
    int64_t value;
    evaluator->evaluate(index.data(), &value);
    return value;
  };
  for (const Factor &factor : factors) {
    llvm::SmallVector<int64_t> low(box.size(), 0), high(low);
    forEachIndex(factor.box, [&](ArrayRef<int64_t> index) {
      if (getValue(index) < getValue(low))
        low.assign(index.begin(), index.end());
      if (getValue(index) > getValue(high))
        high.assign(index.begin(), index.end());
      return true;
    });
    for (unsigned d : factor.dims) {
      least[d] = low[d];
      most[d] = high[d];
    }
  }
  proof.answer = ProofResult::Proved;
  for (const auto &index : {least, most}) {
    int64_t value = getValue(index);
    if (value >= 0 && value < *extent)
      continue;
    proof.answer = ProofResult::Disproved;
    proof.index = index;
    proof.sizes.assign(box.begin(), box.end());
  }
  return proof;
}

ExtentProof mlir::layout::proveWithinExtent(const LayoutMap &special,
                                            unsigned coordinate, Sizes sizes) {
  ExtentProof proof;
  llvm::SmallVector<int64_t> box = special.getBox(sizes);
  if (isWithinByConstruction(special, coordinate, box)) {
    proof.answer = ProofResult::Proved;
    return proof;
  }
  const Coordinate &c = special.getCoordinates()[coordinate];
  sets::Statement statement = sets::proveWithin(c.value, c.extent, box);
  if (statement.answer == ProofResult::Unknown)
    return walkExtent(c, box, special.getRank());
  proof.answer = statement.answer;
  proof.sizes = std::move(statement.sizes);
  proof.index = std::move(statement.index);
  return proof;
}

ProofResult mlir::layout::isWithinExtents(const LayoutMap &map, Sizes sizes) {
  LayoutMap special = map.specialize(sizes);
  ProofResult answer = ProofResult::Proved;
  for (unsigned c = 0, n = special.getCoordinates().size(); c < n; ++c) {
    // Try `map` first: with only some static sizes inserted, less can be
    // provable than with none.
    bool isWithin = isWithinByConstruction(map, c, map.getBox(sizes));
    if (!isWithin)
      answer = std::min(answer, proveWithinExtent(special, c, sizes).answer);
  }
  return answer;
}

ProofResult mlir::layout::hasPadding(const LayoutMap &map, Sizes sizes) {
  // Replicas may share points, so that points must be counted.
  if (!map.getReplicas().empty() &&
      !isInjectiveByConstruction(map.specialize(sizes), sizes)) {
    std::optional<int64_t> stored = getStorageSize(map, sizes),
                           points = countPoints(map, sizes);
    return stored && points ? (*points < *stored ? ProofResult::Proved
                                                 : ProofResult::Disproved)
                            : ProofResult::Unknown;
  }
  SizeExpr stored(1), points(1);
  for (const Coordinate &coordinate : map.getCoordinates())
    stored = stored * coordinate.extent;
  for (unsigned d = 0, rank = map.getRank(); d < rank; ++d)
    points = points * SizeExpr::dim(d);
  for (int64_t replica : map.getReplicas())
    points = points * SizeExpr(replica);
  stored = stored.specialize(sizes);
  points = points.specialize(sizes);
  if (stored.isOverflow() || points.isOverflow())
    return ProofResult::Unknown;
  if (stored == points)
    return ProofResult::Disproved;
  return stored.isProvablyAtLeast(points + SizeExpr(1)) ? ProofResult::Proved
                                                        : ProofResult::Unknown;
}
