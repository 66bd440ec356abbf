//===- Pieces.cpp - Maps by ranges of dims --------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Pieces.h"
#include "layout/Algebra/Box.h"
#include "layout/Algebra/Overlap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::Twine;

namespace mlir::layout {
llvm::hash_code hash_value(const Piece &piece) {
  llvm::hash_code hash = hash_value(piece.map);
  for (const DimRange &range : piece.ranges)
    hash = llvm::hash_combine(hash, hash_value(range.begin),
                              hash_value(range.end));
  return hash;
}
} // namespace mlir::layout

void Piece::print(llvm::raw_ostream &os) const {
  os << '(';
  for (auto [d, range] : llvm::enumerate(ranges)) {
    os << (d ? ", d" : "d") << d;
    if (range.begin.isZero() && range.end == SizeExpr::dim(d))
      continue;
    os << " = ";
    range.begin.print(os);
    os << " to ";
    range.end.print(os);
  }
  // The text of the map begins with its dims, `(d0, d1) -> `.
  os << ')'
     << llvm::StringRef(map.str())
            .drop_until([](char c) { return c == ')'; })
            .drop_front();
}

bool PlacedPiece::contains(ArrayRef<int64_t> index) const {
  return llvm::all_of(llvm::zip_equal(index, begin, sizes), [](auto entry) {
    auto [i, first, size] = entry;
    return first <= i && i < first + size;
  });
}

/// Returns the indices that two boxes share, with an empty map, or std::nullopt
/// if there are none.
static std::optional<PlacedPiece> intersect(const PlacedPiece &a,
                                            const PlacedPiece &b) {
  PlacedPiece both;
  for (auto [x, m, y, n] :
       llvm::zip_equal(a.begin, a.sizes, b.begin, b.sizes)) {
    both.begin.push_back(std::max(x, y));
    both.sizes.push_back(std::min(x + m, y + n) - both.begin.back());
    if (both.sizes.back() <= 0)
      return std::nullopt;
  }
  return both;
}

std::optional<std::vector<PlacedPiece>>
mlir::layout::placePieces(ArrayRef<Piece> pieces, Sizes sizes,
                          FailureReason error) {
  std::vector<PlacedPiece> placed;
  std::optional<int64_t> total = countIndices(sizes);
  int64_t covered = 0;
  if (!total)
    return error("a map by pieces needs a static shape of at most 2^63 - 1 "
                 "indices");
  for (auto [p, piece] : llvm::enumerate(pieces)) {
    PlacedPiece &at = placed.emplace_back();
    for (auto [d, range] : llvm::enumerate(piece.ranges)) {
      std::optional<int64_t> begin = range.begin.evaluate(sizes),
                             end = range.end.evaluate(sizes);
      if (!begin || !end || *begin < 0 || *begin > *end || *end > sizes[d])
        return error("piece " + Twine(p) + " has a range of dim " + Twine(d) +
                     " that is not in [0, " + Twine(sizes[d]) +
                     "]: state ranges within the size of the dim");
      at.begin.push_back(*begin);
      at.sizes.push_back(*end - *begin);
    }
    at.map = piece.map.specialize(at.sizes);
    for (size_t other = 0; other < p && !at.isEmpty(); ++other)
      if (!placed[other].isEmpty() && intersect(placed[other], at))
        return error("pieces " + Twine(other) + " and " + Twine(p) +
                     " share indices: each index must be in one piece");
    covered += countIndices(at.sizes).value_or(0);
  }
  if (covered != *total)
    return error("the pieces hold " + Twine(covered) + " of " + Twine(*total) +
                 " indices: each index must be in one piece");
  llvm::erase_if(placed, [](const PlacedPiece &at) { return at.isEmpty(); });
  return placed;
}

/// Adds the start of the box of `piece` to an index in it.
static void moveToShape(llvm::SmallVectorImpl<int64_t> &index,
                        const PlacedPiece &piece) {
  for (auto [i, first] : llvm::zip(index, piece.begin))
    i += first;
}

PairProof mlir::layout::proveInjective(const PlacedPiece &piece) {
  PairProof proof = proveInjective(piece.map, piece.sizes);
  moveToShape(proof.first, piece);
  moveToShape(proof.second, piece);
  return proof;
}

PairProof mlir::layout::proveDisjoint(const PlacedPiece &a,
                                      const PlacedPiece &b) {
  PairProof proof =
      findOverlap({a.map, a.sizes}, {b.map, b.sizes}, Owned::Elements)
          .value_or(PairProof());
  moveToShape(proof.first, a);
  moveToShape(proof.second, b);
  if (proof.answer != ProofResult::Unknown)
    proof.answer = proof.answer == ProofResult::Proved ? ProofResult::Disproved
                                                       : ProofResult::Proved;
  return proof;
}

/// Returns the map of `piece` on the part `box` of its box, whose indices count
/// from the start of `box`.
static LayoutMap restrict(const PlacedPiece &piece, const PlacedPiece &box) {
  llvm::SmallVector<IndexExpr> dims;
  llvm::SmallVector<SizeExpr> sizeOf;
  for (auto [d, begin] : llvm::enumerate(box.begin)) {
    IndexExpr start(SizeExpr(begin - piece.begin[d]));
    dims.push_back(add(IndexExpr::dim(d), start, box.sizes));
    sizeOf.push_back(SizeExpr(piece.sizes[d]));
  }
  return piece.map.substitute(box.sizes.size(), dims, sizeOf, box.sizes)
      .specialize(box.sizes);
}

/// Returns `map` with the extents of `like`, so that only points are compared.
static LayoutMap withExtentsOf(const LayoutMap &map, const LayoutMap &like) {
  std::vector<Coordinate> coordinates = map.getCoordinates().vec();
  for (auto [mine, other] : llvm::zip_equal(coordinates, like.getCoordinates()))
    mine.extent = other.extent;
  return LayoutMap::get(map.getRank(), map.getSpace(), std::move(coordinates),
                        map.getReplicas());
}

ProofResult mlir::layout::equalOn(ArrayRef<PlacedPiece> a,
                                  ArrayRef<PlacedPiece> b) {
  ProofResult result = ProofResult::Proved;
  for (const PlacedPiece &x : a)
    for (const PlacedPiece &y : b) {
      std::optional<PlacedPiece> both = intersect(x, y);
      if (!both)
        continue;
      LayoutMap first = restrict(x, *both), second = restrict(y, *both);
      ProofResult answer =
          equalOn(first, withExtentsOf(second, first), both->sizes);
      if (answer == ProofResult::Disproved)
        return answer;
      if (answer == ProofResult::Unknown)
        result = answer;
    }
  return result;
}
