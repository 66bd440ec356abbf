//===- Proof.cpp - Validity and equality on a shape -----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Proof.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <map>

using namespace mlir::layout;
using llvm::ArrayRef;

/// The number of indices of the box; nothing if dynamic or past int64.
static std::optional<int64_t> countPoints(Sizes sizes) {
  int64_t count = 1;
  for (int64_t size : sizes)
    if (size < 0 || llvm::MulOverflow(count, size, count))
      return std::nullopt;
  return count;
}

/// The next index of the box in row-major order; false after the last.
static bool increment(llvm::SmallVectorImpl<int64_t> &index, Sizes sizes) {
  for (int d = int(sizes.size()) - 1; d >= 0; --d) {
    if (++index[d] < sizes[d])
      return true;
    index[d] = 0;
  }
  return false;
}

InjectivityProof mlir::layout::proveInjective(const LayoutMap &map,
                                              Sizes sizes) {
  InjectivityProof proof;
  LayoutMap special = map.specialize(sizes);
  if (isInjectiveByConstruction(special, sizes)) {
    proof.answer = Answer::Yes;
    return proof;
  }
  std::optional<int64_t> points = countPoints(sizes);
  if (!points || *points > kMaxPoints)
    return proof;
  std::map<llvm::SmallVector<int64_t>, llvm::SmallVector<int64_t>> seen;
  llvm::SmallVector<int64_t> index(sizes.size(), 0);
  do {
    std::optional<llvm::SmallVector<int64_t>> point =
        special.forward(index, sizes);
    if (!point)
      return proof;
    auto [it, isNew] = seen.try_emplace(*point, index);
    if (!isNew) {
      proof.answer = Answer::No;
      proof.first = it->second;
      proof.second = index;
      return proof;
    }
  } while (increment(index, sizes));
  proof.answer = Answer::Yes;
  return proof;
}

Answer mlir::layout::equalOn(const LayoutMap &a, const LayoutMap &b,
                             Sizes sizes) {
  if (a == b)
    return Answer::Yes;
  if (a.getRank() != b.getRank() || a.getSpace() != b.getSpace() ||
      a.getCoordinates().size() != b.getCoordinates().size())
    return Answer::No;
  LayoutMap x = a.specialize(sizes), y = b.specialize(sizes);
  if (x == y)
    return Answer::Yes;
  std::optional<int64_t> points = countPoints(sizes);
  if (!points)
    return Answer::Unknown;
  if (x.storageExtent(sizes) != y.storageExtent(sizes))
    return Answer::No;
  if (*points == 0)
    return Answer::Yes;

  // A differing point decides. Large boxes are probed along each dim alone,
  // where maps that are sums of digits of single dims must differ.
  llvm::SmallVector<int64_t> index(sizes.size(), 0);
  if (*points <= kMaxPoints) {
    do {
      if (x.forward(index, sizes) != y.forward(index, sizes))
        return Answer::No;
    } while (increment(index, sizes));
    return Answer::Yes;
  }
  int64_t budget = kMaxPoints;
  for (size_t d = 0; d < sizes.size() && budget > 0; ++d) {
    for (; index[d] < sizes[d] && budget > 0; ++index[d], --budget)
      if (x.forward(index, sizes) != y.forward(index, sizes))
        return Answer::No;
    index[d] = 0;
  }
  return Answer::Unknown;
}

Answer mlir::layout::hasPadding(const LayoutMap &map, Sizes sizes) {
  SizeExpr stored(1), logical(1);
  for (const Coordinate &coordinate : map.getCoordinates())
    stored = stored * coordinate.extent;
  for (unsigned d = 0, rank = map.getRank(); d < rank; ++d)
    logical = logical * SizeExpr::dim(d);
  stored = stored.specialize(sizes);
  logical = logical.specialize(sizes);
  if (stored.isOverflow() || logical.isOverflow())
    return Answer::Unknown;
  if (stored == logical)
    return Answer::No;
  return stored.isConstant() && logical.isConstant() ? Answer::Yes
                                                     : Answer::Unknown;
}
