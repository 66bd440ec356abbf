//===- Pack.cpp - Moving elements between logical and stored order --------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Pack.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cstring>

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::MutableArrayRef;

namespace {

/// The storage position of every index of a static box: the sum of one table
/// entry per dim, plus the digits that mix several dims.
struct Positions {
  std::vector<std::vector<int64_t>> tables;
  Linear mixed;
  llvm::SmallVector<int64_t> sizes;

  /// Calls fn(logical position, storage position) for the whole box.
  template <typename Fn> bool forEach(Fn fn) const;
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
  Linear position;
  for (const Coordinate &coordinate : special.getCoordinates())
    position =
        add(scale(position, coordinate.extent, sizes), coordinate.value, sizes);

  Positions result;
  llvm::append_range(result.sizes, sizes);
  std::vector<Linear> perDim(sizes.size());
  result.mixed.constant = position.constant;
  for (const DigitTerm &term : position.terms) {
    Linear single;
    single.terms.push_back(term);
    int dim = -1;
    bool isMixed = false;
    single.walkDims([&](unsigned d) {
      isMixed |= dim >= 0 && dim != int(d);
      dim = d;
    });
    (isMixed || dim < 0 ? result.mixed : perDim[dim]).terms.push_back(term);
  }
  llvm::SmallVector<int64_t> index(sizes.size(), 0);
  for (size_t d = 0; d < sizes.size(); ++d) {
    std::vector<int64_t> &table = result.tables.emplace_back();
    table.reserve(sizes[d]);
    for (index[d] = 0; index[d] < sizes[d]; ++index[d]) {
      std::optional<int64_t> value = perDim[d].evaluate(index, sizes);
      if (!value)
        return std::nullopt;
      table.push_back(*value);
    }
    index[d] = 0;
  }
  return result;
}

template <typename Fn> bool Positions::forEach(Fn fn) const {
  if (llvm::is_contained(sizes, 0))
    return true;
  std::optional<int64_t> constant = mixed.constant.getConstant();
  if (!constant)
    return false;
  if (sizes.empty()) {
    fn(0, *constant);
    return true;
  }
  size_t last = sizes.size() - 1;
  const std::vector<int64_t> &inner = tables[last];
  llvm::SmallVector<int64_t> index(sizes.size(), 0);
  int64_t logical = 0;
  while (true) {
    int64_t base = *constant;
    for (size_t d = 0; d < last; ++d)
      base += tables[d][index[d]];
    if (mixed.terms.empty()) {
      for (int64_t i = 0; i < sizes[last]; ++i)
        fn(logical++, base + inner[i]);
    } else {
      for (index[last] = 0; index[last] < sizes[last]; ++index[last]) {
        std::optional<int64_t> value = mixed.evaluate(index, sizes);
        if (!value)
          return false;
        fn(logical++, base - *constant + *value + inner[index[last]]);
      }
    }
    int d = int(last) - 1;
    while (d >= 0 && ++index[d] == sizes[d])
      index[d--] = 0;
    if (d < 0)
      return true;
  }
}

/// Copies elements of a size known to the compiler where it is a common one.
template <typename Fn> static bool withElementSize(unsigned bytes, Fn fn) {
  switch (bytes) {
  case 1:
    return fn(std::integral_constant<size_t, 1>());
  case 2:
    return fn(std::integral_constant<size_t, 2>());
  case 4:
    return fn(std::integral_constant<size_t, 4>());
  case 8:
    return fn(std::integral_constant<size_t, 8>());
  default:
    return fn(size_t(bytes));
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

/// Calls copy(logical position, storage position, bytes) for each element, if
/// the buffers have the sizes that the map asks for.
template <typename Fn>
static bool moveElements(const LayoutMap &map, Sizes sizes,
                         unsigned elementBytes, size_t logicalBytes,
                         size_t storageBytes, Fn copy) {
  if (!haveSizes(map, sizes, elementBytes, logicalBytes, storageBytes))
    return false;
  std::optional<Positions> positions = getPositions(map, sizes);
  if (!positions)
    return false;
  return withElementSize(elementBytes, [&](auto bytes) {
    return positions->forEach([&](int64_t inLogical, int64_t inStorage) {
      copy(inLogical * bytes, inStorage * bytes, bytes);
    });
  });
}

bool mlir::layout::pack(const LayoutMap &map, Sizes sizes,
                        unsigned elementBytes, ArrayRef<char> logical,
                        MutableArrayRef<char> storage) {
  return moveElements(map, sizes, elementBytes, logical.size(), storage.size(),
                      [&](int64_t from, int64_t to, auto bytes) {
                        std::memcpy(storage.data() + to, logical.data() + from,
                                    bytes);
                      });
}

bool mlir::layout::unpack(const LayoutMap &map, Sizes sizes,
                          unsigned elementBytes, ArrayRef<char> storage,
                          MutableArrayRef<char> logical) {
  return moveElements(map, sizes, elementBytes, logical.size(), storage.size(),
                      [&](int64_t to, int64_t from, auto bytes) {
                        std::memcpy(logical.data() + to, storage.data() + from,
                                    bytes);
                      });
}
