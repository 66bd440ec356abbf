//===- Pack.cpp - Copy elements to and from storage order -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Pack.h"
#include "layout/Algebra/Box.h"
#include "layout/Algebra/Evaluator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::MutableArrayRef;

namespace {

/// Computes the storage position of every index of a nonempty static box.
struct Positions {
  Evaluator position;
  llvm::SmallVector<int64_t> sizes;    // of the logical dims
  llvm::SmallVector<int64_t> replicas; // extents

  /// Calls fn(logical position, storage position) for the whole box, once for
  /// each replica that `which` selects.
  enum Which { FirstReplica, AllReplicas };
  template <typename Fn> void forEach(Which which, Fn fn) const;

private:
  template <typename Fn>
  void forEachOf(llvm::SmallVectorImpl<int64_t> &index, Fn fn) const;
};

} // namespace

std::optional<int64_t> mlir::layout::getStorageSize(const LayoutMap &map,
                                                    Sizes sizes) {
  std::optional<llvm::SmallVector<int64_t>> extents = map.storageExtent(sizes);
  if (!extents)
    return std::nullopt;
  int64_t count = 1;
  for (int64_t extent : *extents)
    if (llvm::MulOverflow(count, extent, count))
      return std::nullopt;
  return count;
}

static std::optional<Positions> getPositions(const LayoutMap &map,
                                             Sizes sizes) {
  LayoutMap special = map.specialize(sizes);
  IndexExpr position;
  for (const Coordinate &coordinate : special.getCoordinates())
    position = add(scale(position, coordinate.extent), coordinate.value);
  // A table may be long: it is no larger than the storage.
  std::optional<Evaluator> evaluator = Evaluator::compile(
      position, special.getBox(sizes), std::numeric_limits<int64_t>::max());
  if (!evaluator)
    return std::nullopt;
  return Positions{std::move(*evaluator), llvm::SmallVector<int64_t>(sizes),
                   llvm::SmallVector<int64_t>(special.getReplicas())};
}

template <typename Fn> void Positions::forEach(Which which, Fn fn) const {
  llvm::SmallVector<int64_t> index(sizes.size() + replicas.size(), 0);
  auto replica = llvm::MutableArrayRef<int64_t>(index).drop_front(sizes.size());
  do {
    forEachOf(index, fn);
  } while (which == AllReplicas && increment(replica, replicas));
}

/// Calls fn(logical position, storage position) for every logical index and the
/// one replica whose numbers are at the end of `index`. The numbers before them
/// must be 0; they are changed and set to 0 again.
template <typename Fn>
void Positions::forEachOf(llvm::SmallVectorImpl<int64_t> &index, Fn fn) const {
  auto getPosition = [&] {
    int64_t result;
    position.evaluate(index.data(), &result);
    return result;
  };
  // If no digit mixes dims, each dim has a lookup table, and the positions
  // along one dim are read from its table. This is the innermost dim of at
  // least 16 indices, which is longer than most filters are wide, so that its
  // elements are near each other. If there is none, it is the longest dim.
  llvm::SmallVector<int64_t> outerSizes(sizes);
  std::optional<size_t> inner;
  if (!sizes.empty() && position.hasOnlyTables()) {
    auto isLong = [](int64_t size) { return size >= 16; };
    auto found = llvm::find_if(llvm::reverse(sizes), isLong);
    inner = found != sizes.rend() ? sizes.rend() - found - 1
                                  : llvm::max_element(sizes) - sizes.begin();
    outerSizes[*inner] = 1;
  }
  llvm::SmallVector<int64_t> strides(sizes.size(), 1);
  for (size_t d = sizes.size(); d-- > 1;)
    strides[d - 1] = strides[d] * sizes[d];
  auto outer = llvm::MutableArrayRef<int64_t>(index).take_front(sizes.size());
  do {
    int64_t base = getPosition(), logical = 0;
    for (auto [at, stride] : llvm::zip_equal(outer, strides))
      logical += at * stride;
    if (!inner) {
      fn(logical, base);
      continue;
    }
    llvm::ArrayRef<int64_t> row = position.getTable(*inner);
    int64_t step = strides[*inner];
    if (row.empty()) { // the position does not depend on this dim
      for (int64_t i = 0; i < sizes[*inner]; ++i)
        fn(logical + i * step, base);
      continue;
    }
    base -= row.front();
    for (int64_t shift : row) {
      fn(logical, base + shift);
      logical += step;
    }
  } while (increment(outer, outerSizes));
}

/// Calls fn(bytes) with the element size as a std::integral_constant if it is
/// 1, 2, 4 or 8, and as a number otherwise.
template <typename Fn> static void withElementSize(unsigned bytes, Fn fn) {
  switch (bytes) {
  case 1:
    fn(std::integral_constant<size_t, 1>());
    break;
  case 2:
    fn(std::integral_constant<size_t, 2>());
    break;
  case 4:
    fn(std::integral_constant<size_t, 4>());
    break;
  case 8:
    fn(std::integral_constant<size_t, 8>());
    break;
  default:
    fn(size_t(bytes));
    break;
  }
}

static bool haveSizes(const LayoutMap &map, Sizes sizes, unsigned elementBytes,
                      size_t logicalBytes, size_t storageBytes) {
  std::optional<int64_t> storage = getStorageSize(map, sizes);
  size_t logical = elementBytes;
  for (int64_t size : sizes)
    logical *= size;
  return storage && logical == logicalBytes &&
         size_t(*storage) * elementBytes == storageBytes;
}

/// Calls copy(logical byte, storage byte, bytes per element) for each element
/// and each replica that `which` selects. Returns false if the buffers do not
/// have the sizes that the map requires, or if positions overflow int64.
template <typename Fn>
static bool moveElements(const LayoutMap &map, Sizes sizes,
                         unsigned elementBytes, size_t logicalBytes,
                         size_t storageBytes, Positions::Which which, Fn copy) {
  if (!haveSizes(map, sizes, elementBytes, logicalBytes, storageBytes))
    return false;
  // An empty tensor has no elements to copy, but dims whose tables might be
  // huge.
  if (llvm::is_contained(sizes, 0))
    return true;
  std::optional<Positions> positions = getPositions(map, sizes);
  if (!positions)
    return false;
  withElementSize(elementBytes, [&](auto bytes) {
    positions->forEach(which, [&](int64_t inLogical, int64_t inStorage) {
      copy(inLogical * bytes, inStorage * bytes, bytes);
    });
  });
  return true;
}

bool mlir::layout::pack(const LayoutMap &map, Sizes sizes,
                        unsigned elementBytes, ArrayRef<char> logical,
                        MutableArrayRef<char> storage) {
  return moveElements(
      map, sizes, elementBytes, logical.size(), storage.size(),
      Positions::AllReplicas, [&](int64_t from, int64_t to, auto bytes) {
        std::memcpy(storage.data() + to, logical.data() + from, bytes);
      });
}

bool mlir::layout::unpack(const LayoutMap &map, Sizes sizes,
                          unsigned elementBytes, ArrayRef<char> storage,
                          MutableArrayRef<char> logical) {
  return moveElements(
      map, sizes, elementBytes, logical.size(), storage.size(),
      Positions::FirstReplica, [&](int64_t to, int64_t from, auto bytes) {
        std::memcpy(logical.data() + to, storage.data() + from, bytes);
      });
}
