//===- LayoutMap.cpp - The canonical map of a layout ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/LayoutMap.h"
#include "layout/Algebra/Box.h"
#include "layout/Algebra/Evaluator.h"
#include "layout/Algebra/IntegerSets.h"
#include "layout/Algebra/Print.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <array>
#include <mutex>

using namespace mlir::layout;
using llvm::ArrayRef;

struct LayoutMap::Data {
  unsigned rank = 0;
  std::string space;
  std::vector<Coordinate> coordinates;
  llvm::SmallVector<int64_t> replicas;
  llvm::hash_code hash = 0;

  // The stored axes of all coordinates, computed on first use. Those of
  // coordinate i start at axes[axisBegin[i]].
  mutable std::once_flag axesFound;
  mutable std::vector<StoredAxis> axes;
  mutable std::vector<unsigned> axisBegin;

  // The printed form, computed on first use and kept, because types print their
  // layout often.
  mutable std::once_flag textMade;
  mutable std::string text;

  void findAxes() const {
    std::call_once(axesFound, [this] {
      for (const Coordinate &coordinate : coordinates) {
        axisBegin.push_back(axes.size());
        llvm::append_range(axes,
                           findStoredAxes(coordinate.value, coordinate.extent));
      }
      axisBegin.push_back(axes.size());
    });
  }
};

/// Renumbers replicas by where their digits occur: in the order of coordinates,
/// and of strides from high to low. So maps that differ only in the numbering
/// of replicas become equal, unless these occur in sums or swizzles only.
/// Replicas of extent 1 are dropped.
static void orderReplicas(unsigned rank, std::vector<Coordinate> &coordinates,
                          llvm::SmallVectorImpl<int64_t> &replicas) {
  struct Use {
    size_t coordinate;
    DigitTerm term;
  };
  struct Replica {
    unsigned number;
    int64_t extent;
    std::vector<Use> uses;
  };
  std::vector<Replica> order;
  for (auto [r, extent] : llvm::enumerate(replicas))
    order.push_back({unsigned(r), extent, {}});
  for (auto [c, coordinate] : llvm::enumerate(coordinates))
    for (const DigitTerm &term : coordinate.value.terms)
      if (term.digit.isDim() && term.digit.dim >= rank)
        order[term.digit.dim - rank].uses.push_back({c, term});
  llvm::stable_sort(order, [](const Replica &a, const Replica &b) {
    for (auto [x, y] : llvm::zip(a.uses, b.uses)) {
      if (x.coordinate != y.coordinate)
        return x.coordinate < y.coordinate;
      if (int c = x.term.stride.compare(y.term.stride))
        return c > 0;
      Digit moved = x.term.digit;
      moved.dim = y.term.digit.dim;
      if (int c = moved.compare(y.term.digit))
        return c < 0;
    }
    if (a.uses.size() != b.uses.size())
      return a.uses.size() > b.uses.size();
    return a.extent > b.extent;
  });

  std::vector<IndexExpr> dims(rank + replicas.size());
  std::vector<SizeExpr> sizeOf(dims.size());
  for (unsigned d = 0; d < rank; ++d) {
    dims[d] = IndexExpr::dim(d);
    sizeOf[d] = SizeExpr::dim(d);
  }
  replicas.clear();
  for (const Replica &replica : order) {
    sizeOf[rank + replica.number] = SizeExpr(replica.extent);
    if (replica.extent == 1)
      continue;
    // Write a replica as `r mod extent`, because shapes have no size for it.
    dims[rank + replica.number] =
        takeDigit(IndexExpr::dim(rank + replicas.size()), 1, replica.extent);
    replicas.push_back(replica.extent);
  }
  for (Coordinate &coordinate : coordinates)
    coordinate.value = substitute(coordinate.value, dims, sizeOf);
}

/// Returns the values d0, d1, .. of `dimCount` dims: cached ones for up to 12
/// dims, or else `room`, to which they are written.
static ArrayRef<IndexExpr> getIdentity(unsigned dimCount,
                                       llvm::SmallVectorImpl<IndexExpr> &room) {
  static const auto known = [] {
    std::array<IndexExpr, 12> dims;
    for (unsigned d = 0; d < dims.size(); ++d)
      dims[d] = IndexExpr::dim(d);
    return dims;
  }();
  if (dimCount <= known.size())
    return ArrayRef<IndexExpr>(known).take_front(dimCount);
  for (unsigned d = 0; d < dimCount; ++d)
    room.push_back(IndexExpr::dim(d));
  return room;
}

/// The maximal number of rewrites of one value. No known value needs as many,
/// and a value is correct after each of them.
constexpr unsigned kMaxRounds = 16;

/// Returns true if one rewrite of `value` may enable another: if it has a digit
/// of a fused value or a swizzle, or two overlapping digits of a dim.
static bool canSettle(const IndexExpr &value) {
  for (auto [i, term] : llvm::enumerate(value.terms)) {
    if (!term.digit.isDim())
      return true;
    if (i == 0)
      continue;
    const Digit &below = value.terms[i - 1].digit;
    if (below.compareSource(term.digit) == 0 &&
        (!below.modulus || term.digit.divisor / below.divisor < below.modulus))
      return true;
  }
  return false;
}

/// Rewrites `value` until it no longer changes, at most kMaxRounds times, so
/// that canonicalizing it again changes nothing (L5).
static IndexExpr settle(IndexExpr value, unsigned dimCount, Sizes sizes = {}) {
  if (!canSettle(value))
    return value;
  llvm::SmallVector<IndexExpr> room;
  ArrayRef<IndexExpr> dims = getIdentity(dimCount, room);
  llvm::SmallVector<SizeExpr> sizeOf;
  for (unsigned d = 0; d < dimCount; ++d)
    sizeOf.push_back(SizeExpr::dim(d));
  for (unsigned round = 0; round < kMaxRounds; ++round) {
    IndexExpr next = mlir::layout::substitute(value, dims, sizeOf, sizes);
    if (next == value)
      break;
    value = std::move(next);
  }
  return value;
}

LayoutMap LayoutMap::get(unsigned rank, llvm::StringRef space,
                         std::vector<Coordinate> coordinates,
                         ArrayRef<int64_t> replicas) {
  llvm::SmallVector<int64_t> ordered(replicas);
  if (!replicas.empty())
    orderReplicas(rank, coordinates, ordered);
  for (Coordinate &coordinate : coordinates)
    coordinate.value =
        settle(std::move(coordinate.value), rank + replicas.size());
  return make(rank, space, std::move(coordinates), ordered);
}

LayoutMap LayoutMap::make(unsigned rank, llvm::StringRef space,
                          std::vector<Coordinate> coordinates,
                          ArrayRef<int64_t> replicas) {
  auto data = std::make_shared<Data>();
  data->rank = rank;
  data->space = space.str();
  data->coordinates = std::move(coordinates);
  llvm::append_range(data->replicas, replicas);
  data->hash = llvm::hash_combine(
      rank, space,
      llvm::hash_combine_range(data->replicas.begin(), data->replicas.end()));
  for (const Coordinate &coordinate : data->coordinates)
    data->hash = llvm::hash_combine(data->hash, coordinate.name,
                                    hash_value(coordinate.value),
                                    hash_value(coordinate.extent));
  LayoutMap map;
  map.data = std::move(data);
  return map;
}

static LayoutMap makeRowMajor(unsigned rank) {
  llvm::SmallVector<BoundedIndex> dims;
  for (unsigned d = 0; d < rank; ++d)
    dims.push_back(BoundedIndex::dim(d));
  BoundedIndex offset = group(dims);
  return LayoutMap::get(rank, "buffer",
                        {{"offset", offset.value, offset.extent}});
}

/// Returns the row-major map of `rank` dims: a cached one up to rank 8, because
/// every tensor without a layout uses it.
LayoutMap LayoutMap::rowMajor(unsigned rank) {
  static const auto known = [] {
    std::array<LayoutMap, 9> maps;
    for (unsigned r = 0; r < maps.size(); ++r)
      maps[r] = makeRowMajor(r);
    return maps;
  }();
  return rank < known.size() ? known[rank] : makeRowMajor(rank);
}

unsigned LayoutMap::getRank() const { return data->rank; }
llvm::StringRef LayoutMap::getSpace() const { return data->space; }
ArrayRef<Coordinate> LayoutMap::getCoordinates() const {
  return data->coordinates;
}
ArrayRef<int64_t> LayoutMap::getReplicas() const { return data->replicas; }
llvm::SmallVector<int64_t> LayoutMap::getBox(Sizes sizes) const {
  llvm::SmallVector<int64_t> box(sizes);
  llvm::append_range(box, data->replicas);
  return box;
}

ArrayRef<StoredAxis> LayoutMap::getStoredAxes() const {
  data->findAxes();
  return data->axes;
}
ArrayRef<StoredAxis> LayoutMap::getStoredAxes(unsigned coordinate) const {
  data->findAxes();
  unsigned begin = data->axisBegin[coordinate];
  return ArrayRef<StoredAxis>(data->axes)
      .slice(begin, data->axisBegin[coordinate + 1] - begin);
}

void LayoutMap::print(llvm::raw_ostream &os) const {
  std::call_once(data->textMade, [this] { data->text = makeText(*this); });
  os << data->text;
}

std::string LayoutMap::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  print(os);
  return text;
}

bool LayoutMap::operator==(const LayoutMap &other) const {
  if (data == other.data)
    return true;
  if (!data || !other.data || data->hash != other.data->hash ||
      data->rank != other.data->rank || data->space != other.data->space ||
      data->replicas != other.data->replicas ||
      data->coordinates.size() != other.data->coordinates.size())
    return false;
  return llvm::all_of(
      llvm::zip(data->coordinates, other.data->coordinates), [](auto pair) {
        const Coordinate &a = std::get<0>(pair), &b = std::get<1>(pair);
        return a.name == b.name && a.extent == b.extent && a.value == b.value;
      });
}

llvm::hash_code mlir::layout::hash_value(const LayoutMap &map) {
  return map.data ? map.data->hash : llvm::hash_code(0);
}

bool LayoutMap::hasOverflow() const {
  return llvm::any_of(data->coordinates, [](const Coordinate &coordinate) {
    return coordinate.extent.isOverflow() || coordinate.value.hasOverflow();
  });
}

LayoutMap LayoutMap::substitute(unsigned newRank, ArrayRef<IndexExpr> dims,
                                ArrayRef<SizeExpr> sizeOf, Sizes sizes) const {
  assert(dims.size() == sizeOf.size() && "a size for each dim");
  llvm::SmallVector<IndexExpr> allDims;
  llvm::SmallVector<SizeExpr> allSizes;
  if (!data->replicas.empty()) {
    llvm::append_range(allDims, dims);
    llvm::append_range(allSizes, sizeOf);
    for (auto [r, extent] : llvm::enumerate(data->replicas)) {
      allDims.push_back(IndexExpr::dim(newRank + r));
      allSizes.push_back(SizeExpr(extent));
    }
    dims = allDims;
    sizeOf = allSizes;
  }
  std::vector<Coordinate> coordinates;
  coordinates.reserve(data->coordinates.size());
  for (const Coordinate &coordinate : data->coordinates)
    coordinates.push_back(
        {coordinate.name,
         settle(layout::substitute(coordinate.value, dims, sizeOf, sizes),
                newRank + data->replicas.size(), sizes),
         coordinate.extent.substitute(sizeOf)});
  // A value that rewriting with sizes no longer changes is also in canonical
  // form without sizes.
  return data->replicas.empty()
             ? make(newRank, data->space, std::move(coordinates), {})
             : get(newRank, data->space, std::move(coordinates),
                   data->replicas);
}

LayoutMap LayoutMap::specialize(Sizes sizes) const {
  llvm::SmallVector<IndexExpr> room;
  ArrayRef<IndexExpr> dims = getIdentity(data->rank, room);
  llvm::SmallVector<SizeExpr> sizeOf;
  for (unsigned d = 0; d < data->rank; ++d)
    sizeOf.push_back(sizes[d] >= 0 ? SizeExpr(sizes[d]) : SizeExpr::dim(d));
  return substitute(data->rank, dims, sizeOf, sizes);
}

std::optional<llvm::SmallVector<int64_t>>
LayoutMap::forward(ArrayRef<int64_t> index, Sizes sizes) const {
  llvm::SmallVector<int64_t> first;
  if (index.size() < getNumDims()) {
    llvm::append_range(first, index);
    first.resize(getNumDims(), 0);
    index = first;
  }
  llvm::SmallVector<int64_t> point;
  for (const Coordinate &coordinate : data->coordinates) {
    std::optional<int64_t> value = coordinate.value.evaluate(index, sizes);
    if (!value)
      return std::nullopt;
    point.push_back(*value);
  }
  return point;
}

std::optional<llvm::SmallVector<int64_t>>
LayoutMap::storageExtent(Sizes sizes) const {
  llvm::SmallVector<int64_t> extents;
  for (const Coordinate &coordinate : data->coordinates) {
    std::optional<int64_t> extent = coordinate.extent.evaluate(sizes);
    if (!extent)
      return std::nullopt;
    extents.push_back(std::max<int64_t>(*extent, 0));
  }
  return extents;
}

/// Returns the values of the stored axes at `point`. Each coordinate is
/// row-major over its axes.
static llvm::SmallVector<int64_t> splitPoint(const LayoutMap &special,
                                             ArrayRef<int64_t> point) {
  llvm::SmallVector<int64_t> values;
  for (auto [c, x] : llvm::enumerate(point)) {
    ArrayRef<StoredAxis> axes = special.getStoredAxes(c);
    size_t first = values.size();
    values.resize(first + axes.size());
    int64_t rest = x;
    for (size_t a = axes.size(); a-- > 0;) {
      int64_t extent = *axes[a].extent.getConstant();
      values[first + a] = a == 0 ? rest : llvm::mod(rest, extent);
      rest = llvm::divideFloorSigned(rest, extent);
    }
  }
  return values;
}

/// Searches the index whose storage point is `point`, and returns it with its
/// replica numbers at the end. Enumerates a box of at most 2^20 indices, and
/// uses integer sets for a larger one. Returns std::nullopt for padding. If the
/// sets give no answer, returns std::nullopt, too, and sets `isKnown` to false.
static std::optional<llvm::SmallVector<int64_t>>
searchIndex(const LayoutMap &special, ArrayRef<int64_t> point, Sizes box,
            bool &isKnown) {
  std::vector<IndexExpr> values;
  for (const Coordinate &coordinate : special.getCoordinates())
    values.push_back(coordinate.value);
  std::optional<int64_t> count = countIndices(box);
  std::optional<Evaluator> evaluator;
  if (count && *count <= kMaxPoints)
    evaluator = Evaluator::compile(values, box);
  if (evaluator) {
    std::optional<llvm::SmallVector<int64_t>> found;
    llvm::SmallVector<int64_t> image(point.size());
    forEachIndex(box, [&](ArrayRef<int64_t> index) {
      evaluator->evaluate(index.data(), image.data());
      if (ArrayRef<int64_t>(image) == point)
        found.emplace(index.begin(), index.end());
      return !found;
    });
    return found;
  }
  sets::Statement unused = sets::proveUnused(values, point, box);
  isKnown = unused.answer != ProofResult::Unknown;
  return unused.answer == ProofResult::Disproved
             ? std::optional(std::move(unused.index))
             : std::nullopt;
}

std::optional<llvm::SmallVector<int64_t>>
LayoutMap::backward(ArrayRef<int64_t> point, Sizes sizes, bool *isKnown) const {
  bool known = true;
  if (!isKnown)
    isKnown = &known;
  *isKnown = true;
  std::optional<llvm::SmallVector<int64_t>> extents = storageExtent(sizes);
  if (!extents || llvm::is_contained(sizes, 0))
    return std::nullopt;
  for (auto [x, extent] : llvm::zip(point, *extents))
    if (x < 0 || x >= extent)
      return std::nullopt;

  LayoutMap special = specialize(sizes);
  llvm::SmallVector<int64_t> box = getBox(sizes), index;
  if (auto inverse = invertAxes(special.getStoredAxes(), getNumDims(), box)) {
    llvm::SmallVector<int64_t> axisValues = splitPoint(special, point);
    for (const IndexExpr &dim : *inverse)
      if (std::optional<int64_t> i = dim.evaluate(axisValues, {}))
        index.push_back(*i);
    if (index.size() == box.size()) {
      for (auto [i, size] : llvm::zip(index, box))
        if (i < 0 || i >= size)
          return std::nullopt;
      std::optional<llvm::SmallVector<int64_t>> image =
          special.forward(index, sizes);
      if (image && ArrayRef<int64_t>(*image) != point)
        return std::nullopt;
      index.truncate(getRank());
      if (image)
        return index;
    }
  }
  // There is no formula, or its evaluation overflows int64.
  std::optional<llvm::SmallVector<int64_t>> found =
      searchIndex(special, point, box, *isKnown);
  if (found)
    found->truncate(getRank());
  return found;
}
