//===- Concat.cpp - Layouts of concatenated tensors -----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Expressions/UpperBound.h"
#include "Views/CheckedViews.h"
#include "layout/Algebra/Proof.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::Twine;

/// Checks that the parts have equal rank, space, coordinates and replicas, and
/// sizes that differ along `axis` only. Reports the first violation and returns
/// false.
static bool checkParts(ArrayRef<ConcatPart> parts, int64_t axis,
                       FailureReason error) {
  auto fail = [&](const Twine &why) {
    error(why);
    return false;
  };
  if (parts.empty())
    return fail("a concatenation needs at least one part");
  const ConcatPart &first = parts.front();
  for (auto [p, part] : llvm::enumerate(parts)) {
    if (!checkMap(part.map, error))
      return false;
    unsigned rank = part.map.getRank();
    auto fits = [](const Coordinate &a, const Coordinate &b) {
      return a.name == b.name;
    };
    if (rank != first.map.getRank() ||
        part.map.getReplicas() != first.map.getReplicas() ||
        part.map.getSpace() != first.map.getSpace() ||
        !std::equal(part.map.getCoordinates().begin(),
                    part.map.getCoordinates().end(),
                    first.map.getCoordinates().begin(),
                    first.map.getCoordinates().end(), fits))
      return fail("part " + Twine(p) + " is stored as " + part.map.str() +
                  " and part 0 as " + first.map.str() +
                  ": all parts must have the same rank, space and replicas");
    if (axis < 0 || axis >= int64_t(rank))
      return fail("there is no dim " + Twine(axis) +
                  " to concatenate along in rank " + Twine(rank));
    if (part.sizes.size() != rank)
      return fail(Twine(part.sizes.size()) + " sizes of part " + Twine(p) +
                  " for a layout of rank " + Twine(rank));
    for (unsigned d = 0; d < rank; ++d) {
      if (part.sizes[d] < 0 && part.sizes[d] != kUnknownSize)
        return fail("part " + Twine(p) + " has the negative size " +
                    Twine(part.sizes[d]));
      if (int64_t(d) != axis && part.sizes[d] != first.sizes[d])
        return fail("part " + Twine(p) +
                    " and part 0 differ in the size of dim " + Twine(d) +
                    ": only sizes of the concatenated dim may differ");
    }
    if (parts.size() > 1 && part.sizes[axis] == kUnknownSize)
      return fail("part " + Twine(p) + " has a dynamic size along dim " +
                  Twine(axis) + ": the start of the next part is unknown");
  }
  return true;
}

/// Returns the constants, one per coordinate, by which `place` exceeds `part`.
/// `place` is the slice of the whole layout at the indices of the part. Returns
/// std::nullopt if no constants are proven to be the difference.
static std::optional<llvm::SmallVector<SizeExpr>>
findShift(const LayoutMap &part, const LayoutMap &place, Sizes sizes) {
  LayoutMap from = part.specialize(sizes), to = place.specialize(sizes);
  llvm::SmallVector<int64_t> origin(part.getNumDims(), 0);
  llvm::SmallVector<SizeExpr> shift;
  std::vector<Coordinate> shifted;
  for (auto [a, b] : llvm::zip(from.getCoordinates(), to.getCoordinates())) {
    IndexExpr difference = add(b.value, scale(a.value, SizeExpr(-1)));
    if (difference.terms.empty()) {
      shift.push_back(difference.constant);
    } else {
      // If the difference is not a constant by its form, try its value at index
      // 0.
      std::optional<int64_t> here = difference.evaluate(origin, sizes);
      if (!here)
        return std::nullopt;
      shift.push_back(SizeExpr(*here));
    }
    // The coordinate of the part after the shift, with the extent of the whole.
    shifted.push_back(
        {b.name, add(a.value, IndexExpr(shift.back())), b.extent});
  }
  LayoutMap moved = LayoutMap::get(part.getRank(), part.getSpace(),
                                   std::move(shifted), from.getReplicas());
  if (equalOn(moved, to, sizes) != ProofResult::Proved)
    return std::nullopt;
  return shift;
}

/// Returns `map` with those extents raised that are too small for an index of
/// `sizes`, as in a layout made for another shape. Returns std::nullopt if the
/// required extents are not known.
static std::optional<LayoutMap> withRoomFor(const LayoutMap &map, Sizes sizes) {
  std::vector<Coordinate> coordinates = map.getCoordinates();
  LayoutMap special = map.specialize(sizes);
  for (auto [coordinate, known] :
       llvm::zip(coordinates, special.getCoordinates())) {
    std::optional<SizeExpr> needed =
        getUpperBound(known.value, map.getBox(sizes));
    if (!needed)
      return std::nullopt;
    if (known.extent.isProvablyAtLeast(*needed))
      continue;
    if (!needed->isProvablyAtLeast(known.extent))
      return std::nullopt;
    coordinate.extent = *needed;
  }
  return LayoutMap::get(map.getRank(), map.getSpace(), std::move(coordinates),
                        map.getReplicas());
}

/// Returns a layout for the concatenation along `axis` of parts that have
/// `size` indices there and the layout `part`. Each part follows the one before
/// it in the first coordinate.
static LayoutMap stack(const LayoutMap &part, unsigned axis, int64_t size) {
  IndexView view;
  view.rank = part.getRank();
  view.sizes.assign(view.rank, kUnknownSize);
  for (unsigned d = 0; d < view.rank; ++d) {
    BoundedIndex dim =
        d == axis ? mod(BoundedIndex::dim(d), size) : BoundedIndex::dim(d);
    view.dims.push_back(dim.value);
    view.sizeOf.push_back(dim.extent);
  }
  LayoutMap inPart = applyView(part, view);
  std::vector<Coordinate> coordinates = inPart.getCoordinates();
  Coordinate &front = coordinates.front();
  BoundedIndex stacked = group({floorDiv(BoundedIndex::dim(axis), size),
                                BoundedIndex{front.value, front.extent}});
  front.value = stacked.value;
  front.extent = stacked.extent;
  return LayoutMap::get(part.getRank(), part.getSpace(), std::move(coordinates),
                        part.getReplicas());
}

std::optional<Concatenation> mlir::layout::concat(ArrayRef<ConcatPart> parts,
                                                  int64_t axis,
                                                  FailureReason error) {
  if (!checkParts(parts, axis, error))
    return std::nullopt;
  llvm::SmallVector<int64_t> wholeSizes = parts.front().sizes;
  if (parts.size() > 1) {
    int64_t &total = wholeSizes[axis] = 0;
    for (const ConcatPart &part : parts)
      if (llvm::AddOverflow(total, part.sizes[axis], total))
        return error("the size of the whole along dim " + Twine(axis) +
                     " does not fit 64 bits");
  }

  std::vector<LayoutMap> candidates;
  for (const ConcatPart &part : parts)
    if (!llvm::is_contained(candidates, part.map))
      candidates.push_back(part.map);
  const ConcatPart &first = parts.front();
  if (first.sizes[axis] > 0 && !first.map.getCoordinates().empty())
    candidates.push_back(stack(first.map, axis, first.sizes[axis]));

  unsigned rank = wholeSizes.size();
  for (const LayoutMap &candidate : candidates) {
    std::optional<LayoutMap> whole = withRoomFor(candidate, wholeSizes);
    if (!whole || whole->hasOverflow() ||
        proveInjective(*whole, wholeSizes).answer != ProofResult::Proved)
      continue;
    Concatenation result{*whole, wholeSizes, {}};
    llvm::SmallVector<int64_t> offsets(rank, 0), strides(rank, 1);
    for (const ConcatPart &part : parts) {
      llvm::SmallVector<int64_t> sizes(rank, kWholeDim);
      if (parts.size() > 1)
        sizes[axis] = part.sizes[axis];
      std::optional<LayoutMap> place =
          slice(*whole, wholeSizes, offsets, sizes, strides);
      std::optional<llvm::SmallVector<SizeExpr>> shift;
      if (place)
        shift = findShift(part.map, *place, part.sizes);
      if (!shift)
        break;
      result.shifts.push_back(std::move(*shift));
      offsets[axis] += part.sizes[axis];
    }
    if (result.shifts.size() == parts.size())
      return result;
  }
  return error("no layout of the whole keeps every part where its own "
               "layout puts it, up to a shift (L7): give the parts the "
               "layouts of slices of the whole, or copy them");
}

bool mlir::layout::isTiledByParts(const Concatenation &concatenation,
                                  ArrayRef<ConcatPart> parts) {
  using Run = std::pair<int64_t, int64_t>; // positions [begin, end)
  size_t numCoordinates = concatenation.whole.getCoordinates().size();
  std::vector<std::vector<Run>> runs(numCoordinates);
  for (auto [part, shift] : llvm::zip_equal(parts, concatenation.shifts)) {
    auto extents = part.map.storageExtent(part.sizes);
    for (size_t c = 0; c < numCoordinates; ++c) {
      std::optional<int64_t> begin = shift[c].getConstant();
      int64_t end;
      if (!begin || !extents || llvm::AddOverflow(*begin, (*extents)[c], end))
        return false;
      runs[c].push_back({*begin, end});
    }
  }
  // Along one coordinate the parts must be consecutive. Along the others, each
  // must cover the whole extent.
  bool isSplit = false;
  for (auto [c, run] : llvm::enumerate(runs)) {
    std::optional<int64_t> extent =
        concatenation.whole.getCoordinates()[c].extent.evaluate(
            concatenation.sizes);
    if (!extent)
      return false;
    if (llvm::all_of(run, [&](const Run &r) { return r == Run(0, *extent); }))
      continue;
    llvm::sort(run);
    int64_t end = 0;
    for (const Run &next : run) {
      if (isSplit || next.first != end)
        return false;
      end = next.second;
    }
    if (end != *extent)
      return false;
    isSplit = true;
  }
  return isSplit || parts.size() == 1;
}
