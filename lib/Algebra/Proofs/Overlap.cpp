//===- Overlap.cpp - Overlap and refinement of layouts --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two elements share a byte if the difference of their bytes is 0. So tensors
// overlap if 0 is a value of a map over the dims of both, which integer sets
// decide. For small tensors the sorted bytes of all elements are compared.
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Overlap.h"
#include "Views/CheckedViews.h"
#include "layout/Algebra/Box.h"
#include "layout/Algebra/Evaluator.h"
#include "layout/Algebra/IntegerSets.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::Twine;

namespace {

/// A range [begin, end) of the bytes of each core. It contains all bytes that a
/// tensor has in any core.
struct Extent {
  int64_t begin, end;
  bool isApartFrom(const Extent &other) const {
    return end <= other.begin || other.end <= begin;
  }
};

/// A tensor whose map is in normal form on its shape. `box` has the sizes of
/// its dims and then of its replicas.
struct Tensor {
  explicit Tensor(const PlacedTensor &tensor)
      : map(tensor.map.specialize(tensor.sizes)), box(map.getBox(tensor.sizes)),
        elementBytes(tensor.elementBytes), base(tensor.base) {}

  ArrayRef<Coordinate> getCores() const {
    return map.getCoordinates().drop_back();
  }
  const Coordinate &getOffset() const { return map.getCoordinates().back(); }

  std::optional<Extent> getBytes(int64_t begin, int64_t end) const {
    Extent bytes;
    if (llvm::MulOverflow(begin, elementBytes, bytes.begin) ||
        llvm::AddOverflow(bytes.begin, base, bytes.begin) ||
        llvm::MulOverflow(end, elementBytes, bytes.end) ||
        llvm::AddOverflow(bytes.end, base, bytes.end))
      return std::nullopt;
    return bytes;
  }
  /// Returns the byte range that contains the elements in every core, or
  /// std::nullopt if an offset has no known bound or a byte overflows int64.
  std::optional<Extent> getElementBytes() const {
    std::optional<Interval> range = getRange(getOffset().value, box);
    if (!range || range->max == std::numeric_limits<int64_t>::max())
      return std::nullopt;
    return getBytes(range->min, range->max + 1);
  }
  /// Returns the byte range, for every core, from the lowest element to the end
  /// of the storage, or std::nullopt if one of them is not known.
  std::optional<Extent> getStorageBytes() const {
    std::optional<Interval> range = getRange(getOffset().value, box);
    std::optional<int64_t> extent = getOffset().extent.getConstant();
    return range && extent ? getBytes(range->min, *extent) : std::nullopt;
  }

  LayoutMap map;
  llvm::SmallVector<int64_t> box; // replicas after the dims
  int64_t elementBytes, base;
};

/// The positions of all elements of a tensor, sorted: for each index the
/// coordinates, of which the last is the byte instead of the offset.
class ElementBytes {
public:
  static std::optional<ElementBytes> get(const Tensor &tensor);

  size_t size() const { return order.size(); }
  ArrayRef<int64_t> operator[](size_t i) const {
    return ArrayRef<int64_t>(rows).slice(order[i] * width, width);
  }
  int64_t getNumber(size_t i) const { return order[i]; }

private:
  size_t width;
  std::vector<int64_t> rows;
  std::vector<size_t> order; // of the rows, ascending
};

} // namespace

std::optional<ElementBytes> ElementBytes::get(const Tensor &tensor) {
  ElementBytes result;
  std::optional<int64_t> count = countIndices(tensor.box);
  std::optional<Evaluator> evaluator = Evaluator::ofCoordinates(
      tensor.map,
      ArrayRef<int64_t>(tensor.box).take_front(tensor.map.getRank()));
  if (!count || *count > kMaxPoints || !evaluator || !tensor.getElementBytes())
    return std::nullopt;
  result.width = evaluator->getNumValues();
  result.rows.resize(*count * result.width);
  int64_t *row = result.rows.data();
  forEachIndex(tensor.box, [&](ArrayRef<int64_t> index) {
    evaluator->evaluate(index.data(), row);
    row += result.width;
    row[-1] = row[-1] * tensor.elementBytes + tensor.base;
    return true;
  });
  result.order.resize(*count);
  std::iota(result.order.begin(), result.order.end(), 0);
  auto getRow = [&](size_t i) {
    return ArrayRef<int64_t>(result.rows).slice(i * result.width, result.width);
  };
  llvm::sort(result.order,
             [&](size_t i, size_t j) { return getRow(i) < getRow(j); });
  return result;
}

static PairProof walk(const Tensor &a, const Tensor &b) {
  PairProof result;
  std::optional<ElementBytes> x = ElementBytes::get(a),
                              y = ElementBytes::get(b);
  if (!x || !y)
    return result;
  result.answer = ProofResult::Disproved;
  for (size_t i = 0, j = 0; i < x->size() && j < y->size();) {
    ArrayRef<int64_t> p = (*x)[i], q = (*y)[j];
    bool sameCore = p.drop_back() == q.drop_back();
    if (sameCore && p.back() < q.back() + b.elementBytes &&
        q.back() < p.back() + a.elementBytes) {
      result.answer = ProofResult::Proved;
      result.first = getIndex(x->getNumber(i), a.box);
      result.second = getIndex(y->getNumber(j), b.box);
      return result;
    }
    bool isBefore = sameCore
                        ? p.back() + a.elementBytes <= q.back() + b.elementBytes
                        : p.drop_back() < q.drop_back();
    ++(isBefore ? i : j);
  }
  return result;
}

/// Returns `value` with its dims 0 to box.size() - 1 renumbered: dim d becomes
/// dim `first` + d. `all` has the sizes of the dims in the new numbering.
static IndexExpr renumber(const IndexExpr &value, unsigned first, Sizes box,
                          Sizes all) {
  llvm::SmallVector<IndexExpr> dims;
  llvm::SmallVector<SizeExpr> sizeOf;
  for (unsigned d = 0; d < box.size(); ++d) {
    dims.push_back(IndexExpr::dim(first + d));
    sizeOf.push_back(SizeExpr::dim(first + d));
  }
  return substitute(value, dims, sizeOf, all);
}

static IndexExpr subtract(const IndexExpr &a, const IndexExpr &b, Sizes sizes) {
  return add(a, scale(b, SizeExpr(-1), sizes), sizes);
}

static PairProof compareAsSets(const Tensor &a, const Tensor &b) {
  unsigned numA = a.box.size(), numB = b.box.size();
  llvm::SmallVector<int64_t> all(a.box);
  llvm::append_range(all, b.box);
  int64_t shift, bytes = a.elementBytes;
  if (llvm::SubOverflow(a.base, b.base, shift))
    return {};
  // Offsets are compared in elements if both tensors have elements of equal
  // size whose distance is a multiple of it. Otherwise they are compared in
  // bytes, and the byte within an element is one more dim per tensor.
  bool inElements = bytes == b.elementBytes && shift % bytes == 0;
  if (!inElements)
    llvm::append_values(all, a.elementBytes, b.elementBytes);
  std::vector<IndexExpr> values;
  for (auto [x, y] :
       llvm::zip_equal(a.map.getCoordinates(), b.map.getCoordinates())) {
    IndexExpr p = x.value, q = renumber(y.value, numA, b.box, all);
    if (&x == &a.getOffset() && inElements) {
      p = add(p, IndexExpr(SizeExpr(shift / bytes)), all);
    } else if (&x == &a.getOffset()) {
      p = add(scale(p, SizeExpr(a.elementBytes), all),
              add(IndexExpr::dim(numA + numB), IndexExpr(SizeExpr(shift))),
              all);
      q = add(scale(q, SizeExpr(b.elementBytes), all),
              IndexExpr::dim(numA + numB + 1), all);
    }
    values.push_back(subtract(p, q, all));
  }
  llvm::SmallVector<int64_t> zeros(values.size(), 0);
  sets::Statement statement = sets::proveUnused(values, zeros, all);
  PairProof result;
  if (statement.answer == ProofResult::Unknown)
    return result;
  result.answer = statement.answer == ProofResult::Proved
                      ? ProofResult::Disproved
                      : ProofResult::Proved;
  if (result.answer == ProofResult::Proved) {
    ArrayRef<int64_t> index = statement.index;
    result.first.assign(index.begin(), index.begin() + numA);
    result.second.assign(index.begin() + numA, index.begin() + numA + numB);
  }
  return result;
}

/// Returns the last coordinate of `tensor` modulo `period` as a tensor of its
/// own, whose dims are cut where all of their digits repeat.
static Tensor reduceModulo(const Tensor &tensor, int64_t period) {
  IndexExpr low = takeDigit(tensor.getOffset().value, 1, period, tensor.box);
  llvm::SmallVector<int64_t> sizes(tensor.box), repeats(sizes.size(), 1);
  for (const DigitTerm &term : low.terms)
    term.digit.walkDims([&](unsigned d) {
      int64_t end = term.digit.divisor * term.digit.modulus;
      // A digit without an end, or of several dims, repeats nowhere.
      repeats[d] = term.digit.isDim() && end && repeats[d]
                       ? std::lcm(repeats[d], end)
                       : 0;
    });
  for (auto [size, repeat] : llvm::zip_equal(sizes, repeats))
    if (repeat)
      size = size < 0 ? repeat : std::min(size, repeat);
  return Tensor({LayoutMap::get(sizes.size(), tensor.map.getSpace(),
                                {{"offset", low, SizeExpr(period)}}),
                 sizes});
}

/// Returns true if the positions of two tensors differ modulo a stride of both,
/// as those of two fields of one block do. False proves nothing. This finds an
/// answer for tensors of any size whose blocks are small.
static bool areApartInBlocks(const Tensor &a, const Tensor &b) {
  if (a.elementBytes != 1 || b.elementBytes != 1 || a.base != b.base)
    return false;
  auto getStrides = [](const Tensor &tensor) {
    llvm::SmallVector<int64_t> strides;
    for (const DigitTerm &term : tensor.getOffset().value.terms)
      if (std::optional<int64_t> stride = term.stride.getConstant();
          stride && *stride > 1)
        strides.push_back(*stride);
    return strides;
  };
  llvm::SmallVector<int64_t> others = getStrides(b);
  for (int64_t period : getStrides(a)) {
    if (!llvm::is_contained(others, period))
      continue;
    Tensor x = reduceModulo(a, period), y = reduceModulo(b, period);
    std::optional<int64_t> m = countIndices(x.box), n = countIndices(y.box);
    if (m && n && std::max(*m, *n) <= 16 * kFewPoints &&
        walk(x, y).answer == ProofResult::Disproved)
      return true;
  }
  return false;
}

static PairProof compareElements(const Tensor &a, const Tensor &b) {
  auto count = [](const Tensor &tensor) {
    return countIndices(tensor.box).value_or(kMaxPoints + 1);
  };
  int64_t most = std::max(count(a), count(b));
  PairProof result;
  if (most <= kFewPoints)
    result = walk(a, b);
  else if (areApartInBlocks(a, b))
    result.answer = ProofResult::Disproved;
  if (result.answer == ProofResult::Unknown)
    result = compareAsSets(a, b);
  if (result.answer == ProofResult::Unknown && most <= kMaxPoints)
    result = walk(a, b);
  return result;
}

static bool haveOneMemory(const LayoutMap &a, const LayoutMap &b,
                          FailureReason error) {
  auto getName = [](const Coordinate &c) { return llvm::StringRef(c.name); };
  if (a.getSpace() == b.getSpace() && !a.getCoordinates().empty() &&
      llvm::equal(llvm::map_range(a.getCoordinates(), getName),
                  llvm::map_range(b.getCoordinates(), getName)))
    return true;
  error(
      "layouts " + a.str() + " and " + b.str() +
      " are not in one memory: both must have the same space and coordinates");
  return false;
}

std::optional<PairProof> mlir::layout::findOverlap(const PlacedTensor &first,
                                                   const PlacedTensor &second,
                                                   Owned owned,
                                                   FailureReason error) {
  if (!checkMap(first.map, error) || !checkMap(second.map, error) ||
      !haveOneMemory(first.map, second.map, error))
    return std::nullopt;
  if (std::min(first.elementBytes, second.elementBytes) < 1)
    return error("an element must have at least one byte");
  Tensor a(first), b(second);
  PairProof none;
  none.answer = ProofResult::Disproved;
  if (llvm::is_contained(a.box, 0) || llvm::is_contained(b.box, 0))
    return none;
  bool isStorage = owned == Owned::Storage;
  std::optional<Extent> x = isStorage ? a.getStorageBytes()
                                      : a.getElementBytes(),
                        y = isStorage ? b.getStorageBytes()
                                      : b.getElementBytes();
  if (x && y && x->isApartFrom(*y))
    return none;
  if (!isStorage)
    return compareElements(a, b);
  PairProof whole;
  whole.answer = x && y ? ProofResult::Proved : ProofResult::Unknown;
  return whole;
}

//===----------------------------------------------------------------------===//
// Refinement
//===----------------------------------------------------------------------===//

/// Returns floor(position / length), the number of the group in which an index
/// is stored. The position is row-major over the coordinates.
static IndexExpr getGroup(const LayoutMap &special, int64_t length, Sizes box) {
  IndexExpr position;
  for (const Coordinate &coordinate : special.getCoordinates())
    position =
        add(scale(position, coordinate.extent, box), coordinate.value, box);
  return takeDigit(position, length, 0, box);
}

/// Returns a k such that `value` depends on dim d only by floor(d / k): the gcd
/// of the divisors of the digits of d, or 1 if d is in a fused value or
/// swizzle. Returns 0 if it does not depend on d.
static int64_t getDivisor(const IndexExpr &value, unsigned dim) {
  int64_t divisor = 0;
  for (const DigitTerm &term : value.terms)
    term.digit.walkDims([&](unsigned d) {
      if (d == dim)
        divisor =
            std::gcd(divisor, term.digit.isDim() ? term.digit.divisor : 1);
    });
  return divisor;
}

/// Returns true if x and y depend on each dim d only by a floor(d / k), x
/// determines all of these floors, and y depends on nothing else. Then indices
/// with equal x have equal y. False proves nothing.
static bool refinesByConstruction(const IndexExpr &x, const IndexExpr &y,
                                  Sizes box) {
  llvm::SmallVector<IndexExpr> dims;
  llvm::SmallVector<SizeExpr> sizeOf;
  llvm::SmallVector<int64_t> blocks;
  for (auto [d, size] : llvm::enumerate(box)) {
    int64_t seen = getDivisor(x, d), needed = getDivisor(y, d);
    if (seen == 0 ? needed != 0 : needed % seen != 0)
      return false;
    dims.push_back(scale(IndexExpr::dim(d), SizeExpr(seen)));
    // Strides keep size(d), which is at least the number of blocks.
    sizeOf.push_back(SizeExpr::dim(d));
    blocks.push_back(seen == 0 ? 1
                     : size >= 0
                         ? llvm::divideCeil(uint64_t(size), uint64_t(seen))
                         : size);
  }
  IndexExpr ofBlocks = substitute(x, dims, sizeOf, blocks);
  return isInjectiveByConstruction(
      LayoutMap::get(box.size(), "group",
                     {{"number", ofBlocks, naturalExtent(ofBlocks)}}),
      blocks);
}

static ProofResult walk(const IndexExpr &x, const IndexExpr &y, Sizes box) {
  std::optional<Evaluator> evaluator = Evaluator::compile({x, y}, box);
  if (!evaluator)
    return ProofResult::Unknown;
  std::vector<std::pair<int64_t, int64_t>> groups;
  forEachIndex(box, [&](ArrayRef<int64_t> index) {
    int64_t values[2];
    evaluator->evaluate(index.data(), values);
    groups.push_back({values[0], values[1]});
    return true;
  });
  llvm::sort(groups);
  auto split = std::adjacent_find(
      groups.begin(), groups.end(), [](const auto &p, const auto &q) {
        return p.first == q.first && p.second != q.second;
      });
  return split == groups.end() ? ProofResult::Proved : ProofResult::Disproved;
}

/// Decides with integer sets if indices with equal x have equal y. Searches for
/// two indices with equal x, and a greater y for the first one.
static ProofResult compareAsSets(const IndexExpr &x, const IndexExpr &y,
                                 Sizes box) {
  std::optional<Interval> range = getRange(y, box);
  int64_t greatest;
  if (!range || llvm::SubOverflow(range->max, range->min, greatest))
    return ProofResult::Unknown;
  if (greatest == 0)
    return ProofResult::Proved;
  llvm::SmallVector<int64_t> all(box);
  llvm::append_range(all, box);
  all.push_back(greatest);
  unsigned rank = box.size();
  IndexExpr dx = subtract(x, renumber(x, rank, box, all), all),
            dy = subtract(y, renumber(y, rank, box, all), all);
  dy = subtract(dy, IndexExpr::dim(2 * rank), all);
  return sets::proveUnused({dx, dy}, {0, 1}, all).answer;
}

std::optional<ProofResult>
mlir::layout::refines(const LayoutMap &a, int64_t groupOfA, const LayoutMap &b,
                      int64_t groupOfB, Sizes sizes, FailureReason error) {
  if (!checkMap(a, error) || !checkMap(b, error))
    return std::nullopt;
  if (a.getRank() != b.getRank())
    return error("a layout of rank " + Twine(a.getRank()) +
                 " cannot refine one of rank " + Twine(b.getRank()));
  if (!a.getReplicas().empty() || !b.getReplicas().empty())
    return error("a layout with replicas stores an element in several groups: "
                 "only layouts without replicas can be compared");
  if (std::min(groupOfA, groupOfB) < 1)
    return error("a group must have at least 1 position, found " +
                 Twine(std::min(groupOfA, groupOfB)));
  if (llvm::is_contained(sizes, 0))
    return ProofResult::Proved;
  IndexExpr x = getGroup(a.specialize(sizes), groupOfA, sizes),
            y = getGroup(b.specialize(sizes), groupOfB, sizes);
  if (x.hasOverflow() || y.hasOverflow())
    return error("the positions of the storage do not fit 64 bits (L1)");
  bool isMultiple = groupOfB % groupOfA == 0;
  if ((isMultiple && takeDigit(x, groupOfB / groupOfA, 0, sizes) == y) ||
      refinesByConstruction(x, y, sizes))
    return ProofResult::Proved;
  std::optional<int64_t> count = countIndices(sizes);
  if (count && *count <= kFewPoints) {
    ProofResult answer = walk(x, y, sizes);
    if (answer != ProofResult::Unknown)
      return answer;
  }
  ProofResult answer = compareAsSets(x, y, sizes);
  // If sizes are dynamic, the sets let both indices have boxes of different
  // sizes, so a counterexample proves nothing.
  if (answer == ProofResult::Disproved && !count)
    answer = ProofResult::Unknown;
  if (answer == ProofResult::Unknown && count && *count <= kMaxPoints)
    answer = walk(x, y, sizes);
  return answer;
}
