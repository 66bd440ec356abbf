//===- Pieces.h - Maps by ranges of dims ------------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A map by pieces has one `LayoutMap` per box of indices. The boxes are
// disjoint and cover the shape. Inside a piece, dims count from the start of
// its range, and size(d) is the length of the range: a piece is an ordinary map
// on an ordinary shape, so that all proofs and queries of maps apply.
//
//     rows of two fused weights that alternate (docs/bundles.md):
//       (r = 0 to ceil(size(r), 2), k) -> bits(bit = r * (32 * size(k)) + ..)
//       (r = ceil(size(r), 2) to size(r), k) -> bits(..)
//
// The maps of this file are in one space. Shapes are static.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ALGEBRA_PIECES_H
#define LAYOUT_ALGEBRA_PIECES_H

#include "layout/Algebra/Proof.h"
#include "layout/Support/FailureReason.h"

namespace mlir::layout {

/// The indices begin <= i < end of a dim, as functions of the shape.
struct DimRange {
  SizeExpr begin, end;

  bool operator==(const DimRange &other) const {
    return begin == other.begin && end == other.end;
  }
};

/// A map for the indices in a box of ranges, one per dim.
struct Piece {
  std::vector<DimRange> ranges;
  LayoutMap map;

  bool operator==(const Piece &other) const {
    return ranges == other.ranges && map == other.map;
  }
  friend llvm::hash_code hash_value(const Piece &piece);

  /// Prints `(d0, d1 = 0 to 4) -> bits(..)`. Whole ranges are not printed.
  void print(llvm::raw_ostream &os) const;
};

/// A piece on a shape: the first index of its box, the sizes of the box, and
/// the map in normal form on these sizes.
struct PlacedPiece {
  llvm::SmallVector<int64_t> begin, sizes;
  LayoutMap map;

  bool isEmpty() const { return llvm::is_contained(sizes, 0); }
  bool contains(llvm::ArrayRef<int64_t> index) const;
};

/// Places `pieces` on a static shape. Returns std::nullopt and reports to
/// `error` if a range is not in its dim or overflows, if two boxes share an
/// index, or if an index of the shape is in no box.
std::optional<std::vector<PlacedPiece>>
placePieces(llvm::ArrayRef<Piece> pieces, Sizes sizes, FailureReason error);

/// Decides if different indices of two different pieces, or of one piece given
/// twice, have different points. For Disproved, the proof names the indices in
/// the shape.
PairProof proveDisjoint(const PlacedPiece &a, const PlacedPiece &b);
PairProof proveInjective(const PlacedPiece &piece);

/// Decides if two lists of pieces that cover the same shape map every index to
/// the same point. Extents are not compared.
ProofResult equalOn(llvm::ArrayRef<PlacedPiece> a,
                    llvm::ArrayRef<PlacedPiece> b);

} // namespace mlir::layout

#endif // LAYOUT_ALGEBRA_PIECES_H
