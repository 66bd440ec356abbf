//===- Proof.cpp - Validity and equality on a shape -----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Proof.h"
#include "Sized.h"
#include "layout/Algebra/Box.h"
#include "layout/Algebra/Evaluator.h"
#include "layout/Algebra/IntegerSets.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/Support/MathExtras.h"

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

/// Points in the order in which they are met: a hash table over rows of
/// numbers.
class PointTable {
public:
  PointTable(size_t numPoints, size_t width)
      : width(width), slots(llvm::PowerOf2Ceil(2 * numPoints + 1), kEmpty) {
    points.reserve(numPoints * width);
  }

  /// The number of the equal point that is there already; nothing for a new
  /// one.
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

static PairProof walk(const LayoutMap &special, Sizes sizes) {
  PairProof proof;
  std::optional<Evaluator> evaluator = Evaluator::ofCoordinates(special, sizes);
  if (!evaluator)
    return proof;
  llvm::SmallVector<int64_t> box = special.getBox(sizes);
  llvm::SmallVector<int64_t> point(evaluator->getNumValues());
  PointTable points(*countIndices(box), point.size());
  bool isInjective = forEachIndex(box, [&](ArrayRef<int64_t> index) {
    evaluator->evaluate(index.data(), point.data());
    std::optional<uint32_t> same = points.add(point);
    if (!same)
      return true;
    proof.first = getIndex(*same, box);
    proof.second.assign(index.begin(), index.end());
    return false;
  });
  proof.answer = isInjective ? Answer::Yes : Answer::No;
  return proof;
}

PairProof mlir::layout::proveInjective(const LayoutMap &map, Sizes sizes) {
  PairProof proof;
  LayoutMap special = map.specialize(sizes);
  // Where some sizes are known, axes can show less than where none is.
  if (isInjectiveByConstruction(special, sizes) ||
      isInjectiveByConstruction(map, sizes)) {
    proof.answer = Answer::Yes;
    return proof;
  }
  llvm::SmallVector<int64_t> box = special.getBox(sizes);
  if (hasAtMost(box, kFewPoints))
    proof = walk(special, sizes);
  if (proof.answer != Answer::Unknown)
    return proof;
  sets::Statement statement = sets::proveInjective(getValues(special), box);
  if (statement.answer == Answer::Unknown && hasAtMost(box, kMaxPoints))
    return walk(special, sizes);
  proof.answer = statement.answer;
  proof.first = std::move(statement.index);
  proof.second = std::move(statement.other);
  return proof;
}

//===----------------------------------------------------------------------===//
// Equality
//===----------------------------------------------------------------------===//

using Points = std::vector<llvm::SmallVector<int64_t>>;

/// The points of all replicas of an index, in an order of their own.
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
}

static Answer walk(const LayoutMap &a, const LayoutMap &b, Sizes sizes) {
  std::optional<Evaluator> x = Evaluator::ofCoordinates(a, sizes),
                           y = Evaluator::ofCoordinates(b, sizes);
  if (!x || !y)
    return Answer::Unknown;
  Points p, q;
  bool isEqual = forEachIndex(sizes, [&](ArrayRef<int64_t> index) {
    getPoints(*x, index, a.getReplicas(), p);
    getPoints(*y, index, b.getReplicas(), q);
    return p == q;
  });
  return isEqual ? Answer::Yes : Answer::No;
}

/// By sets, replica by replica: another order of them proves nothing.
static Answer compareAsSets(const LayoutMap &a, const LayoutMap &b,
                            Sizes sizes) {
  if (a.getReplicas() != b.getReplicas())
    return Answer::Unknown;
  Answer answer =
      sets::proveEqual(getValues(a), getValues(b), a.getBox(sizes)).answer;
  return answer == Answer::No && !a.getReplicas().empty() ? Answer::Unknown
                                                          : answer;
}

static Answer haveEqualExtents(const LayoutMap &a, const LayoutMap &b,
                               Sizes sizes) {
  std::vector<IndexExpr> x, y;
  for (auto [p, q] : llvm::zip_equal(a.getCoordinates(), b.getCoordinates()))
    if (p.extent != q.extent) {
      x.push_back(p.extent);
      y.push_back(q.extent);
    }
  return x.empty() ? Answer::Yes : sets::proveEqual(x, y, sizes).answer;
}

Answer mlir::layout::equalOn(const LayoutMap &a, const LayoutMap &b,
                             Sizes sizes) {
  if (a == b)
    return Answer::Yes;
  auto sameName = [](auto pair) {
    return std::get<0>(pair).name == std::get<1>(pair).name;
  };
  if (a.getRank() != b.getRank() || a.getSpace() != b.getSpace() ||
      a.getCoordinates().size() != b.getCoordinates().size() ||
      !llvm::all_of(llvm::zip(a.getCoordinates(), b.getCoordinates()),
                    sameName))
    return Answer::No;
  LayoutMap x = a.specialize(sizes), y = b.specialize(sizes);
  if (x == y)
    return Answer::Yes;
  if (x.hasOverflow() || y.hasOverflow())
    return Answer::Unknown;
  if (llvm::is_contained(sizes, 0))
    return x.storageExtent(sizes) == y.storageExtent(sizes) ? Answer::Yes
                                                            : Answer::No;

  Answer extents = haveEqualExtents(x, y, sizes);
  if (extents != Answer::Yes)
    return extents;
  if (countIndices(x.getReplicas()) != countIndices(y.getReplicas()))
    return Answer::No;
  llvm::SmallVector<int64_t> box = x.getBox(sizes);
  Answer answer = Answer::Unknown;
  if (hasAtMost(box, kFewPoints))
    answer = walk(x, y, sizes);
  if (answer == Answer::Unknown)
    answer = compareAsSets(x, y, sizes);
  if (answer == Answer::Unknown && hasAtMost(box, kMaxPoints))
    answer = walk(x, y, sizes);
  return answer;
}

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

/// Whether no term can be below zero, and the natural extent counts each.
static bool isBelowNaturalExtent(const IndexExpr &value) {
  return value.constant.isProvablyAtLeast(0) &&
         llvm::all_of(value.terms, [](const DigitTerm &term) {
           const Digit &digit = term.digit;
           return reachesUpwards(term.stride) &&
                  (digit.modulus || !digit.fused ||
                   isBelowNaturalExtent(*digit.fused));
         });
}

/// Whether a coordinate stays inside its extent because each of its axes does:
/// the axes are row-major digits of it.
static bool isWithinByConstruction(const LayoutMap &special, unsigned c,
                                   Sizes box) {
  const Coordinate &coordinate = special.getCoordinates()[c];
  std::optional<Interval> range = getRange(coordinate.value, box);
  std::optional<int64_t> extent = coordinate.extent.getConstant();
  if (range && range->min >= 0 && extent && range->max < *extent)
    return true;
  return llvm::all_of(special.getStoredAxes(c), [&](const StoredAxis &axis) {
    return isBelowNaturalExtent(axis.value) &&
           axis.extent.specialize(box).isProvablyAtLeast(
               naturalExtent(axis.value).specialize(box));
  });
}

/// The first index of a small box that a coordinate takes outside.
static ExtentProof walkExtent(const Coordinate &coordinate, Sizes box) {
  ExtentProof proof;
  std::optional<Evaluator> evaluator =
      Evaluator::compile(coordinate.value, box);
  std::optional<int64_t> extent = coordinate.extent.evaluate(box);
  if (!evaluator || !extent || !hasAtMost(box, kMaxPoints))
    return proof;
  proof.answer = Answer::Yes;
  forEachIndex(box, [&](ArrayRef<int64_t> index) {
    int64_t value;
    evaluator->evaluate(index.data(), &value);
    if (value >= 0 && value < *extent)
      return true;
    proof.answer = Answer::No;
    proof.index.assign(index.begin(), index.end());
    proof.sizes.assign(box.begin(), box.end());
    return false;
  });
  return proof;
}

ExtentProof mlir::layout::proveWithinExtent(const LayoutMap &special,
                                            unsigned coordinate, Sizes sizes) {
  ExtentProof proof;
  llvm::SmallVector<int64_t> box = special.getBox(sizes);
  if (isWithinByConstruction(special, coordinate, box)) {
    proof.answer = Answer::Yes;
    return proof;
  }
  const Coordinate &c = special.getCoordinates()[coordinate];
  sets::Statement statement = sets::proveWithin(c.value, c.extent, box);
  if (statement.answer == Answer::Unknown)
    return walkExtent(c, box);
  proof.answer = statement.answer;
  proof.sizes = std::move(statement.sizes);
  proof.index = std::move(statement.index);
  return proof;
}

Answer mlir::layout::isWithinExtents(const LayoutMap &map, Sizes sizes) {
  LayoutMap special = map.specialize(sizes);
  Answer answer = Answer::Yes;
  for (unsigned c = 0, n = special.getCoordinates().size(); c < n; ++c) {
    // Where some sizes are known, axes can show less than where none is.
    bool isWithin = isWithinByConstruction(map, c, map.getBox(sizes));
    if (!isWithin)
      answer = std::min(answer, proveWithinExtent(special, c, sizes).answer);
  }
  return answer;
}

Answer mlir::layout::hasPadding(const LayoutMap &map, Sizes sizes) {
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
    return Answer::Unknown;
  if (stored == points)
    return Answer::No;
  return stored.isProvablyAtLeast(points + SizeExpr(1)) ? Answer::Yes
                                                        : Answer::Unknown;
}
