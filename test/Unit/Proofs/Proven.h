//===- Proven.h - The laws that every layout must satisfy -------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The laws of a layout on a shape, each proven for all indices by set
// arithmetic: points are not shared (L1), coordinates are within their extents
// (L2), the backward formulas invert the forward ones (L3), and the stored axes
// are the coordinates.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TEST_UNIT_PROOFS_PROVEN_H
#define LAYOUT_TEST_UNIT_PROOFS_PROVEN_H

#include "layout/Algebra/Box.h"
#include "layout/Algebra/IntegerSets.h"
#include "layout/Algebra/LayoutMap.h"
#include "gtest/gtest.h"

namespace layout_test {

using Index = std::vector<int64_t>;

inline std::vector<mlir::layout::IndexExpr>
getValues(const mlir::layout::LayoutMap &map) {
  std::vector<mlir::layout::IndexExpr> values;
  for (const mlir::layout::Coordinate &coordinate : map.getCoordinates())
    values.push_back(coordinate.value);
  return values;
}

inline std::vector<mlir::layout::SizeExpr>
getExtents(const mlir::layout::LayoutMap &map) {
  std::vector<mlir::layout::SizeExpr> extents;
  for (const mlir::layout::Coordinate &coordinate : map.getCoordinates())
    extents.push_back(coordinate.extent);
  return extents;
}

/// Evaluates `x` at an index, using only its digits.
inline Index valuesAt(llvm::ArrayRef<mlir::layout::IndexExpr> x,
                      llvm::ArrayRef<int64_t> index,
                      llvm::ArrayRef<int64_t> sizes) {
  Index values;
  for (const mlir::layout::IndexExpr &value : x)
    values.push_back(*value.evaluate(index, sizes));
  return values;
}

/// Expects inverse(axes(index)) == index everywhere. If the solver cannot
/// decide this, e.g. for digits of sums, it is evaluated.
inline void expectInverse(llvm::ArrayRef<mlir::layout::IndexExpr> axes,
                          llvm::ArrayRef<mlir::layout::IndexExpr> inverse,
                          llvm::ArrayRef<int64_t> box) {
  using namespace mlir::layout;
  ProofResult answer = sets::proveInverse(axes, inverse, box).answer;
  if (answer != ProofResult::Unknown) {
    EXPECT_EQ(answer, ProofResult::Proved);
    return;
  }
  ASSERT_LE(*countIndices(box), 1000);
  mlir::layout::forEachIndex(box, [&](llvm::ArrayRef<int64_t> index) {
    EXPECT_EQ(valuesAt(inverse, valuesAt(axes, index, box), box),
              Index(index.begin(), index.end()));
    return true;
  });
}

/// Expects that all laws of `map` are proven on static `sizes`.
inline void expectProven(const mlir::layout::LayoutMap &map,
                         const Index &sizes) {
  using namespace mlir::layout;
  SCOPED_TRACE(map.str() + " on " + testing::PrintToString(sizes));
  LayoutMap special = map.specialize(sizes);
  llvm::SmallVector<int64_t> box = special.getBox(sizes);
  std::vector<IndexExpr> values = getValues(special);
  EXPECT_EQ(sets::proveInjective(values, box).answer, ProofResult::Proved);
  EXPECT_EQ(sets::proveWithin(values, getExtents(special), box).answer,
            ProofResult::Proved);

  // The axes of the map for every shape, with the sizes of this one: even if a
  // size is 1 here, the axes stay distinguishable.
  llvm::SmallVector<IndexExpr> dims;
  llvm::SmallVector<SizeExpr> sizeOf;
  for (auto [d, size] : llvm::enumerate(box)) {
    dims.push_back(IndexExpr::dim(d));
    sizeOf.push_back(SizeExpr(size));
  }
  std::vector<StoredAxis> stored;
  for (const StoredAxis &axis : map.getStoredAxes())
    stored.push_back(
        {substitute(axis.value, dims, sizeOf), axis.extent.substitute(sizeOf)});
  std::optional<std::vector<IndexExpr>> inverse =
      invertAxes(stored, map.getNumDims(), box);
  ASSERT_TRUE(inverse);
  std::vector<IndexExpr> axes, fromAxes;
  for (const StoredAxis &axis : stored)
    axes.push_back(axis.value);
  expectInverse(axes, *inverse, box);
  size_t next = 0;
  for (unsigned c = 0, n = map.getCoordinates().size(); c < n; ++c) {
    IndexExpr sum;
    for (size_t a = 0; a < map.getStoredAxes(c).size(); ++a, ++next)
      sum = add(scale(sum, stored[next].extent), stored[next].value);
    fromAxes.push_back(sum);
  }
  EXPECT_EQ(sets::proveEqual(values, fromAxes, box).answer,
            ProofResult::Proved);
}

/// Sets the stride of the slowest digit to that of the next one, as a bug in a
/// formula would, and expects that the colliding indices are found.
inline void expectBugFound(const mlir::layout::LayoutMap &map,
                           const Index &sizes) {
  using namespace mlir::layout;
  SCOPED_TRACE(map.str() + " on " + testing::PrintToString(sizes));
  LayoutMap special = map.specialize(sizes);
  llvm::SmallVector<int64_t> box = special.getBox(sizes);
  std::vector<IndexExpr> values = getValues(special);
  auto longest =
      llvm::max_element(values, [](const IndexExpr &a, const IndexExpr &b) {
        return a.terms.size() < b.terms.size();
      });
  ASSERT_GE(longest->terms.size(), 2u);
  std::vector<DigitTerm *> terms;
  for (DigitTerm &term : longest->terms)
    terms.push_back(&term);
  llvm::sort(terms, [](const DigitTerm *a, const DigitTerm *b) {
    return *a->stride.getConstant() > *b->stride.getConstant();
  });
  terms[0]->stride = terms[1]->stride;

  sets::Statement injective = sets::proveInjective(values, box);
  ASSERT_EQ(injective.answer, ProofResult::Disproved);
  EXPECT_NE(injective.index, injective.other);
  EXPECT_EQ(valuesAt(values, injective.index, box),
            valuesAt(values, injective.other, box));

  sets::Statement equal = sets::proveEqual(values, getValues(special), box);
  ASSERT_EQ(equal.answer, ProofResult::Disproved);
  EXPECT_NE(valuesAt(values, equal.index, box),
            valuesAt(getValues(special), equal.index, box));
}

} // namespace layout_test

#endif // LAYOUT_TEST_UNIT_PROOFS_PROVEN_H
