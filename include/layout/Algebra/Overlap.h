//===- Overlap.h - What two layouts share -----------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two questions about two layouts, with the three answers of Proof.h.
//
// *Overlap*: whether two tensors in one memory have a byte in common. Such
// tensors have maps of one space with the same coordinates; the last coordinate
// counts elements of `elementBytes` bytes, from byte `base` on:
//
//     4 cores, f32, aligned to 128 bytes, 1x4x1x8 at byte 0 and at byte 32
//       elements   No: 32 bytes each in every core
//       storage    Yes: each reserves 128
//
// *Refinement*: storage positions, numbered row-major over the coordinates, in
// groups of a fixed length: group g has the positions g * length to
// (g + 1) * length - 1: a vector, a cache line, a pixel (4 lanes), a core. As
// each element is in one group, groups part the elements. Layout a with groups
// of m refines b with groups of n where every group of b is a union of groups
// of a, that is, where elements in one group of a are in one group of b:
//
//     NCHW4c in groups of 4 refines NCHW16c in groups of 16, not the reverse
//
// Laws:
//  * Yes and No hold of every index, for every choice of the dynamic sizes;
//    with dynamic sizes No says that it does not hold for some;
//  * each layout in groups of 1 refines every layout; groups of m refine those
//    of n of the same layout where m divides n; refinement is transitive.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_OVERLAP_H
#define LAYOUT_ALGEBRA_OVERLAP_H

#include "layout/Algebra/Proof.h"
#include "layout/Algebra/Views.h"
#include "layout/Support/Refusal.h"

namespace mlir {
namespace layout {

/// A tensor as it lies in memory.
struct PlacedTensor {
  LayoutMap map;
  llvm::SmallVector<int64_t> sizes;
  int64_t elementBytes = 1; // at least 1
  int64_t base = 0;         // the byte of position 0 of the last coordinate
};

enum class Owned {
  Elements, // the bytes of elements alone
  Storage,  // holes too: in every core, from the lowest element to the extent
};

/// Yes: they have a byte in common; of elements on static shapes with an
/// element of each that have. Nothing where the tensors cannot be in one
/// memory, and why goes to `error`.
std::optional<PairProof> findOverlap(const PlacedTensor &a,
                                     const PlacedTensor &b, Owned owned,
                                     Refusal error = {});

/// Whether `a` in groups of `groupOfA` positions refines `b` in groups of
/// `groupOfB`. Nothing for layouts with replicas, whose groups part no
/// elements, for those of two ranks and for groups below 1.
std::optional<Answer> refines(const LayoutMap &a, int64_t groupOfA,
                              const LayoutMap &b, int64_t groupOfB, Sizes sizes,
                              Refusal error = {});

} // namespace layout
} // namespace mlir

#endif // LAYOUT_ALGEBRA_OVERLAP_H
