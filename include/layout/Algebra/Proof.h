//===- Proof.h - Validity and equality on a shape ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Three-valued statements about maps, with bounded effort. `Unknown` is never
// treated as `Proved` (L1, L6 of docs/spec.md). The methods are, cheapest
// first:
//
//  1. By construction: a mixed-radix digit is determined by the coordinates if
//     its stride exceeds the sum of all terms with smaller strides. A dim is
//     determined if its digits cover it without gaps. Linear in the number of
//     digits, valid for dynamic sizes. For equality: the normal forms are
//     identical.
//  2. By enumeration, with a witness, if the box or each of its factors
//     (Factors.h) has few points.
//  3. By Presburger arithmetic (IntegerSets.h), with a witness, on boxes of any
//     size. Dynamic sizes require constant strides. Bounded by about 0.3 s;
//     after that, boxes of at most `kMaxPoints` points are enumerated.
//
// If sizes are dynamic, Proved holds for all sizes, and Disproved means that
// the statement is false for some.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_PROOF_H
#define LAYOUT_ALGEBRA_PROOF_H

#include "layout/Algebra/LayoutMap.h"

namespace mlir::layout {

enum class ProofResult { Disproved, Unknown, Proved };

/// The maximal number of points of an enumeration (about 0.1 s).
constexpr int64_t kMaxPoints = int64_t(1) << 20;
/// The maximal number of points that are enumerated before integer sets are
/// tried, which take about as long. Larger boxes are enumerated only if the
/// sets give no answer.
constexpr int64_t kFewPoints = int64_t(1) << 12;

/// An answer about pairs of indices, e.g. if two share a point, and a pair that
/// proves it. The function that returns it says what Proved stands for.
struct PairProof {
  ProofResult answer = ProofResult::Unknown;
  /// Two indices that are a witness of the answer, each followed by its replica
  /// numbers. Both are empty if there is no witness.
  llvm::SmallVector<int64_t> first, second;
};

/// Decides L1: no two indices of the box share a storage point; replicas of one
/// index may. For Disproved, the proof names two indices that do.
PairProof proveInjective(const LayoutMap &map, Sizes sizes);

/// Returns true if the strides and extents of the digits alone prove that the
/// map is injective, for a map in normal form on `sizes`. False proves nothing.
bool isInjectiveByConstruction(const LayoutMap &specialized, Sizes sizes);

/// Inverts the map from `rank` dims to `axes` by construction: returns each dim
/// as a sum of digits of the axes, in which dim a stands for the value of
/// axes[a]. Returns std::nullopt if no such formula of some dim is found.
std::optional<std::vector<IndexExpr>>
invertAxes(llvm::ArrayRef<StoredAxis> axes, unsigned rank, Sizes sizes);

/// Decides L6: both maps have the same storage points for every index of the
/// box, and the same extents.
ProofResult equalOn(const LayoutMap &a, const LayoutMap &b, Sizes sizes);

struct ExtentProof {
  ProofResult answer = ProofResult::Unknown;
  /// For Disproved: an index at which the coordinate is outside of its extent,
  /// followed by its replicas, and the sizes of its box.
  llvm::SmallVector<int64_t> index, sizes;
};

/// Decides if one coordinate of a map, in normal form on `sizes`, is in [0,
/// extent) at every index of the box (L2).
ExtentProof proveWithinExtent(const LayoutMap &specialized, unsigned coordinate,
                              Sizes sizes);

/// Decides L2: every coordinate is in [0, extent) at every index of the box.
ProofResult isWithinExtents(const LayoutMap &map, Sizes sizes);

/// Counts the storage points that hold an element, each once even if replicas
/// share it. The box is static and the map valid on it. Returns std::nullopt if
/// replicas may share points and more than 2^20 points had to be enumerated, or
/// if the count overflows int64.
std::optional<int64_t> countPoints(const LayoutMap &map, Sizes sizes);

/// Decides if storage on this shape has points that hold no element.
ProofResult hasPadding(const LayoutMap &map, Sizes sizes);

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_PROOF_H
