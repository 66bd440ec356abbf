//===- Proof.h - Validity and equality on a shape ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Questions about maps with three answers and a stated bound. `Unknown` is
// never treated as `Yes` (L1, L6 of docs/spec.md). Three ways, by their cost:
//
//  1. By construction: digits placed with strides above everything below them
//     are determined by the coordinates; dims whose digits close up from 1 to
//     their size are determined by the digits. Linear in the digits, works for
//     dynamic sizes. For equality: the normal forms are the same.
//  2. Point by point, on boxes of few points, or of few for each factor
//     (Factors.h), with a witness.
//  3. By Presburger arithmetic (IntegerSets.h), on boxes of any size, dynamic
//     ones where strides are numbers, with a witness. Bounded by about 0.3 s;
//     beyond that, boxes of at most `kMaxPoints` points are walked after all.
//
// Where sizes are dynamic, Yes holds for all of them, and No says that it does
// not hold for some.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_PROOF_H
#define LAYOUT_ALGEBRA_PROOF_H

#include "layout/Algebra/LayoutMap.h"

namespace mlir {
namespace layout {

enum class Answer { No, Unknown, Yes };

/// How many points an enumeration may visit (about 0.1 s).
constexpr int64_t kMaxPoints = int64_t(1) << 20;
/// Walking a box of this size takes about as long as asking for sets, which has
/// no such limit; it comes first up to here, and after sets beyond.
constexpr int64_t kFewPoints = int64_t(1) << 12;

/// An answer about pairs of indices.
struct PairProof {
  Answer answer = Answer::Unknown;
  /// The pair that settles it, where one does: two indices, each followed by
  /// the numbers of its replicas.
  llvm::SmallVector<int64_t> first, second;
};

/// L1: no two indices of the box share a storage point; replicas of one index
/// may. No names two that do.
PairProof proveInjective(const LayoutMap &map, Sizes sizes);

/// The part of `proveInjective` that works by construction; the backward map
/// exists as a formula iff this is true.
bool isInjectiveByConstruction(const LayoutMap &specialized, Sizes sizes);

/// The dims that the values of `axes` determine by construction: for each dim
/// the sum of axis digits that gives it back. Nothing where some dim is not
/// determined. Dims of the results are axis numbers.
std::optional<std::vector<IndexExpr>>
invertAxes(llvm::ArrayRef<StoredAxis> axes, unsigned rank, Sizes sizes);

/// L6: the same storage points for every index of the box, in storage of the
/// same extents.
Answer equalOn(const LayoutMap &a, const LayoutMap &b, Sizes sizes);

struct ExtentProof {
  Answer answer = Answer::Unknown;
  /// For No: an index whose storage point lies outside, followed by the numbers
  /// of its replicas, and the sizes of the box that it lies in.
  llvm::SmallVector<int64_t> index, sizes;
};

/// L2 of one coordinate of a map in its normal form on the box.
ExtentProof proveWithinExtent(const LayoutMap &specialized, unsigned coordinate,
                              Sizes sizes);

/// L2: every coordinate lies in [0, extent) at every index of the box.
Answer isWithinExtents(const LayoutMap &map, Sizes sizes);

/// The storage points that hold an element: those that replicas share count
/// once. The map is valid on the box, which is static; nothing where the number
/// is not found within the bound.
std::optional<int64_t> countPoints(const LayoutMap &map, Sizes sizes);

/// Whether storage on this shape holds points that are no index's image.
Answer hasPadding(const LayoutMap &map, Sizes sizes);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ALGEBRA_PROOF_H
