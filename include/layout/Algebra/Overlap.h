//===- Overlap.h - Overlap and refinement of layouts ------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two relations of layouts, with the three-valued answers of Proof.h.
//
// *Overlap*: two tensors in one memory have a byte in common. Their maps have
// the same space and the same coordinates. The last coordinate counts elements
// of `elementBytes` bytes, starting at byte `base`:
//
//     4 cores, f32, aligned to 128 bytes, 1x4x1x8 at byte 0 and at byte 32
//       elements   Disproved: 32 bytes each in every core
//       storage    Proved: each reserves 128
//
// *Refinement*: storage positions, numbered row-major over the coordinates, are
// divided into groups of a fixed length, such as a vector, a cache line, a
// pixel (4 lanes) or a core. Group g has the positions g * length to (g + 1) *
// length - 1, so that groups partition the elements. Layout a with groups of m
// refines b with groups of n if every group of b is a union of groups of a,
// i.e. if elements in one group of a are in one group of b:
//
//     NCHW4c in groups of 4 refines NCHW16c in groups of 16, not the reverse
//
// Laws:
//  * Proved and Disproved hold for every index, for every choice of the dynamic
//    sizes; if sizes are dynamic, Disproved means that the statement is false
//    for some sizes;
//  * each layout in groups of 1 refines every layout; groups of m refine groups
//    of n of the same layout if m divides n; refinement is transitive.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_OVERLAP_H
#define LAYOUT_ALGEBRA_OVERLAP_H

#include "layout/Algebra/Proof.h"
#include "layout/Algebra/Views.h"
#include "layout/Support/FailureReason.h"

namespace mlir::layout {

/// A tensor in memory: its layout, its sizes, the bytes of an element, and the
/// address of its storage.
struct PlacedTensor {
  LayoutMap map;
  llvm::SmallVector<int64_t> sizes;
  int64_t elementBytes = 1; // at least 1
  int64_t base = 0;         // the byte of position 0 of the last coordinate
};

enum class Owned {
  Elements, // the bytes of elements only
  Storage,  // in every core, all bytes from the lowest element to the extent
};

/// Decides if the tensors have a byte in common: Proved if they have, Disproved
/// if not. `owned` states if padding counts as theirs. For overlapping elements
/// on static shapes, the proof has an index of each tensor, whose elements
/// share a byte. Returns std::nullopt and reports to `error` if the tensors
/// cannot be in one memory, i.e. their maps have different spaces or
/// coordinates.
std::optional<PairProof> findOverlap(const PlacedTensor &a,
                                     const PlacedTensor &b, Owned owned,
                                     FailureReason error = {});

/// Decides if `a` in groups of `groupOfA` storage positions refines `b` in
/// groups of `groupOfB`: elements in one group of `a` are also in one group of
/// `b`. Returns std::nullopt for different ranks, for groups below 1, and for
/// layouts with replicas, whose groups do not partition the elements.
std::optional<ProofResult> refines(const LayoutMap &a, int64_t groupOfA,
                                   const LayoutMap &b, int64_t groupOfB,
                                   Sizes sizes, FailureReason error = {});

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_OVERLAP_H
