//===- CuTeAlgebra.cpp - CuTe's algebra of integer layouts ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All operations are substitutions: a layout of one dim is a sum of digits of
// it, and the offset of another layout replaces that dim. Inverses are those
// that prove injectivity (Proof.h). Only the complement is built from modes,
// i.e. extents and strides of the digits of a coalesced layout.
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/CuTeAlgebra.h"
#include "Expressions/SplitMods.h"
#include "Views/CheckedViews.h"
#include "layout/Algebra/Box.h"
#include "layout/Algebra/IntegerSets.h"
#include "layout/Algebra/Proof.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

static bool check(const IntegerLayout &a, FailureReason error) {
  if (!checkMap(a.map, error))
    return false;
  auto fail = [&](const Twine &why) {
    error("layout " + a.map.str() + why);
    return false;
  };
  if (a.map.getRank() != a.shape.size())
    return fail(" does not have the rank of its shape, which has " +
                Twine(a.shape.size()) + " dims");
  if (a.map.getCoordinates().size() != 1 || !a.map.getReplicas().empty())
    return fail(" does not map to offsets: it must have one coordinate and no "
                "replicas");
  if (llvm::any_of(a.shape, [](int64_t size) { return size < 1; }))
    return fail(" is not a function of one integer: its sizes must be static "
                "and at least 1");
  if (!countIndices(a.shape))
    return fail(" has more indices than fit in 64 bits");
  if (!getRange(a.map.specialize(a.shape).getCoordinates()[0].value, a.shape))
    return fail(" has offsets that do not fit 64 bits");
  return true;
}

/// Returns the only coordinate of `a`, the offset, in normal form on its shape.
static IndexExpr getOffset(const IntegerLayout &a) {
  return a.map.specialize(a.shape).getCoordinates()[0].value;
}

/// Creates the layout on `shape` with the offset `value`, whose extent is one
/// more than the bound of getRange(). Fails if an offset may be negative or the
/// extent does not fit int64.
static IntegerLayoutOr make(const IndexExpr &value, ArrayRef<int64_t> shape,
                            FailureReason error) {
  IndexExpr offset = splitMods(value, shape);
  std::optional<Interval> range = getRange(offset, shape);
  if (!range || range->max == std::numeric_limits<int64_t>::max())
    return error("the offsets of the result do not fit 64 bits");
  if (range->min < 0)
    return error("an offset of the result is negative");
  IntegerLayout result{
      LayoutMap::get(shape.size(), "buffer",
                     {{"offset", offset, SizeExpr(range->max + 1)}}),
      SmallVector<int64_t>(shape)};
  result.map = result.map.specialize(shape);
  return result;
}

/// Returns `offset` with dims[d], a value over dims of `shape`, in place of dim
/// d. `from` has the sizes of the replaced dims.
static IndexExpr replace(const IndexExpr &offset, ArrayRef<IndexExpr> dims,
                         ArrayRef<int64_t> from, ArrayRef<int64_t> shape) {
  SmallVector<SizeExpr> sizeOf(from.begin(), from.end());
  return substitute(offset, dims, sizeOf, shape);
}

/// Returns the highest offset of `a`, or a higher bound if the digits of the
/// offset do not take their highest values together.
static int64_t getLast(const IntegerLayout &a) {
  return getRange(getOffset(a), a.shape)->max;
}

static int64_t getSize(const IntegerLayout &a) {
  return *countIndices(a.shape);
}

/// Fuses each group of dims to one dim, the first dim of a group fastest. Fails
/// where make() does.
static IntegerLayoutOr fuseDims(const IntegerLayout &a,
                                ArrayRef<SmallVector<int64_t>> groups,
                                FailureReason error) {
  SmallVector<IndexExpr> dims(a.shape.size());
  SmallVector<int64_t> shape;
  for (auto [g, group] : llvm::enumerate(groups)) {
    int64_t below = 1;
    for (int64_t d : group) {
      bool isLast = d == group.back();
      dims[d] = takeDigit(IndexExpr::dim(g), below, isLast ? 0 : a.shape[d]);
      below *= a.shape[d];
    }
    shape.push_back(below);
  }
  return make(replace(getOffset(a), dims, a.shape, shape), shape, error);
}

IntegerLayoutOr mlir::layout::coalesce(const IntegerLayout &a,
                                       FailureReason error) {
  if (!check(a, error))
    return std::nullopt;
  SmallVector<int64_t> all(a.shape.size());
  std::iota(all.begin(), all.end(), 0);
  return fuseDims(a, all, error);
}

IntegerLayoutOr mlir::layout::composition(const IntegerLayout &a,
                                          const IntegerLayout &b,
                                          FailureReason error) {
  if (!check(a, error) || !check(b, error))
    return std::nullopt;
  IntegerLayoutOr line = coalesce(a, error);
  if (!line)
    return std::nullopt;
  IndexExpr inner = getOffset(b);
  int64_t size = line->shape[0];
  std::optional<Interval> range = getRange(inner, b.shape);
  bool isInside = range->min >= 0 && range->max < size;
  if (!isInside && sets::proveWithin(inner, SizeExpr(size), b.shape).answer !=
                       ProofResult::Proved)
    return error("offsets of " + b.map.str() + " go up to " +
                 Twine(range->max) + ", and " + a.map.str() + " has " +
                 Twine(size) +
                 " indices: offsets of the first layout must be indices of the "
                 "second one");
  return make(replace(getOffset(*line), inner, line->shape, b.shape), b.shape,
              error);
}

//===----------------------------------------------------------------------===//
// The complement
//===----------------------------------------------------------------------===//

namespace {
struct Mode {
  int64_t extent, stride;
};
} // namespace

/// Returns extent and stride of each digit of a layout of one dim, the fastest
/// first: (4, 1) and (2, 5) for k mod 4 + 5 * (k floordiv 4) on 8. Returns
/// std::nullopt if the offset has a constant, if a stride is not a positive
/// constant, if a digit is of a sum or swizzle, or if the digits overlap or
/// leave a gap.
static std::optional<SmallVector<Mode>> getModes(const IntegerLayout &line) {
  SmallVector<Mode> modes;
  IndexExpr offset = getOffset(line);
  if (!offset.constant.isZero())
    return std::nullopt;
  std::vector<DigitTerm> terms = offset.terms;
  llvm::sort(terms, [](const DigitTerm &a, const DigitTerm &b) {
    return a.digit.divisor < b.digit.divisor;
  });
  int64_t divisor = 1, size = line.shape[0];
  for (const DigitTerm &term : terms) {
    const Digit &digit = term.digit;
    std::optional<int64_t> stride = term.stride.getConstant();
    bool isLast = &term == &terms.back();
    if (!digit.isDim() || digit.divisor != divisor || !stride || *stride < 1 ||
        (digit.modulus == 0) != isLast)
      return std::nullopt;
    int64_t extent = isLast ? size / divisor : digit.modulus;
    modes.push_back({extent, *stride});
    divisor *= extent;
  }
  return divisor == size ? std::optional(modes) : std::nullopt;
}

/// Creates the layout of one dim whose digits have these extents and strides,
/// the fastest first. Fails if the number of indices or an offset does not fit
/// int64.
static IntegerLayoutOr fromModes(ArrayRef<Mode> modes, FailureReason error) {
  IndexExpr offset;
  int64_t divisor = 1;
  for (const Mode &mode : modes) {
    bool isLast = &mode == &modes.back();
    offset = add(offset, scale(takeDigit(IndexExpr::dim(0), divisor,
                                         isLast ? 0 : mode.extent),
                               SizeExpr(mode.stride)));
    if (llvm::MulOverflow(divisor, mode.extent, divisor))
      return error("the complement has more indices than fit in 64 bits");
  }
  return make(offset, divisor, error);
}

/// Returns extents and strides of digits that produce the same set of offsets
/// as `line`, perhaps at other indices, or std::nullopt if none are found. A
/// complement depends on the set only.
static std::optional<SmallVector<Mode>>
getModesOfOffsets(const IntegerLayout &line) {
  if (std::optional<SmallVector<Mode>> modes = getModes(line))
    return modes;
  // A permutation of 0 to size - 1 has the offsets of one digit of stride 1.
  int64_t size = line.shape[0];
  if (getLast(line) + 1 == size &&
      proveInjective(line.map, line.shape).answer == ProofResult::Proved &&
      isWithinExtents(line.map, line.shape) == ProofResult::Proved)
    return SmallVector<Mode>{{size, 1}};
  return std::nullopt;
}

IntegerLayoutOr mlir::layout::complement(const IntegerLayout &a, int64_t size,
                                         FailureReason error) {
  IntegerLayoutOr line = coalesce(a, error);
  if (!line)
    return std::nullopt;
  if (size < 1)
    return error("a complement in " + Twine(size) +
                 " offsets does not exist: there must be at least 1 offset");
  std::optional<SmallVector<Mode>> modes = getModesOfOffsets(*line);
  if (!modes)
    return error("no complement of " + a.map.str() +
                 " is known: its offsets are not those of modes with extents "
                 "and positive strides");
  llvm::sort(*modes,
             [](const Mode &x, const Mode &y) { return x.stride < y.stride; });
  SmallVector<Mode> gaps;
  int64_t filled = 1; // all offsets below are covered
  for (const Mode &mode : *modes) {
    if (mode.stride % filled != 0)
      return error("layout " + a.map.str() + " has no complement: stride " +
                   Twine(mode.stride) + " is not a multiple of the " +
                   Twine(filled) + " offsets below it");
    if (mode.stride != filled)
      gaps.push_back({mode.stride / filled, filled});
    if (llvm::MulOverflow(mode.stride, mode.extent, filled))
      return error("the offsets do not fit 64 bits");
  }
  if (int64_t rest = llvm::divideCeil(uint64_t(size), uint64_t(filled));
      rest != 1)
    gaps.push_back({rest, filled});
  return fromModes(gaps, error);
}

//===----------------------------------------------------------------------===//
// Inverses
//===----------------------------------------------------------------------===//

/// Returns the inverse of a layout of one dim: its index as a formula of the
/// offset, which is dim 0, or std::nullopt if no formula is found. At values
/// that are no offsets of the layout, the formula means nothing.
static std::optional<IndexExpr> invertLine(const IntegerLayout &line) {
  LayoutMap special = line.map.specialize(line.shape);
  ArrayRef<StoredAxis> axes = special.getStoredAxes();
  std::optional<std::vector<IndexExpr>> index = invertAxes(axes, 1, line.shape);
  if (!index)
    return std::nullopt;
  // The offset is the row-major index over the stored axes: express each axis
  // as a digit of it.
  SmallVector<IndexExpr> ofOffset(axes.size());
  SmallVector<SizeExpr> extents;
  int64_t below = 1;
  for (unsigned a = axes.size(); a-- > 0;) {
    int64_t extent = *axes[a].extent.getConstant();
    ofOffset[a] = takeDigit(IndexExpr::dim(0), below, a == 0 ? 0 : extent);
    below *= extent;
  }
  for (const StoredAxis &axis : axes)
    extents.push_back(axis.extent);
  return substitute(index->front(), ofOffset, extents, getLast(line) + 1);
}

/// Fuses all dims of `a` to one, and returns this layout and its inverse: the
/// index as a formula of the offset, which is dim 0. Fails if no such formula
/// is found.
static std::optional<std::pair<IntegerLayout, IndexExpr>>
invert(const IntegerLayout &a, FailureReason error) {
  IntegerLayoutOr line = coalesce(a, error);
  if (!line)
    return std::nullopt;
  if (std::optional<IndexExpr> index = invertLine(*line))
    return std::make_pair(*line, *index);
  return error("no inverse of " + a.map.str() +
               " was found: its index is not a formula of its offset (L7)");
}

IntegerLayoutOr mlir::layout::leftInverse(const IntegerLayout &a,
                                          FailureReason error) {
  auto inverse = invert(a, error);
  if (!inverse)
    return std::nullopt;
  return make(inverse->second, getLast(inverse->first) + 1, error);
}

/// Returns the largest n such that all of 0 to n - 1 are offsets of `line`, a
/// layout of one dim, or std::nullopt if a search of kMaxPoints offsets does
/// not end. `index` is its inverse, the index as a formula of the offset.
static std::optional<int64_t> countOffsets(const IntegerLayout &line,
                                           const IndexExpr &index) {
  if (std::optional<SmallVector<Mode>> modes = getModesOfOffsets(line)) {
    llvm::sort(*modes, [](const Mode &x, const Mode &y) {
      return x.stride < y.stride;
    });
    int64_t count = 1;
    for (const Mode &mode : *modes)
      if (mode.stride == count)
        count *= mode.extent;
    return count;
  }
  IndexExpr offset = getOffset(line);
  for (int64_t count = 0; count <= kMaxPoints; ++count) {
    std::optional<int64_t> k = index.evaluate(count, {});
    if (!k || *k < 0 || *k >= line.shape[0] ||
        offset.evaluate(*k, line.shape) != count)
      return count;
  }
  return std::nullopt;
}

IntegerLayoutOr mlir::layout::rightInverse(const IntegerLayout &a,
                                           FailureReason error) {
  auto inverse = invert(a, error);
  if (!inverse)
    return std::nullopt;
  std::optional<int64_t> count = countOffsets(inverse->first, inverse->second);
  if (!count)
    return error("a right inverse needs a search over more than " +
                 Twine(kMaxPoints) + " offsets of " + a.map.str());
  if (*count == 0)
    return error(a.map.str() +
                 " has no right inverse: it does not produce offset 0");
  IndexExpr index = replace(inverse->second, IndexExpr::dim(0), *count, *count);
  return make(index, *count, error);
}

//===----------------------------------------------------------------------===//
// Division and product
//===----------------------------------------------------------------------===//

/// Splits `size` indices by a tile: index (i, j) is tile(i) + rest(j). Returns
/// the tile and the rest, its complement, as layouts of one dim. Fails if they
/// do not cover 0 to size - 1 exactly.
static std::optional<std::pair<IntegerLayout, IntegerLayout>>
splitByTile(const IntegerLayout &tile, int64_t size, FailureReason error) {
  IntegerLayoutOr line = coalesce(tile, error);
  IntegerLayoutOr rest = line ? complement(*line, size, error) : std::nullopt;
  if (!rest)
    return std::nullopt;
  int64_t filled;
  if (llvm::AddOverflow(getLast(*line), getLast(*rest), filled) ||
      filled + 1 != size)
    return error("tile " + tile.map.str() + " of " + Twine(getSize(*line)) +
                 " does not divide " + Twine(size) +
                 " indices into whole tiles: pad the dim "
                 "to a multiple");
  return std::make_pair(*line, *rest);
}

/// Returns the offset of a layout of one dim, with dim `dim` of `shape` as its
/// index.
static IndexExpr atDim(const IntegerLayout &line, unsigned dim,
                       ArrayRef<int64_t> shape) {
  return replace(getOffset(line), IndexExpr::dim(dim), line.shape, shape);
}

IntegerLayoutOr mlir::layout::divide(const IntegerLayout &a,
                                     ArrayRef<IntegerLayout> tiles,
                                     DivideForm form, FailureReason error) {
  if (!check(a, error))
    return std::nullopt;
  int64_t rank = a.shape.size();
  if (int64_t(tiles.size()) != rank)
    return error(Twine(tiles.size()) + " tiles for a layout of rank " +
                 Twine(rank) + ": one for each dim");
  SmallVector<std::pair<IntegerLayout, IntegerLayout>> parts;
  SmallVector<int64_t> shape(2 * rank);
  for (auto [d, tile] : llvm::enumerate(tiles)) {
    auto part = splitByTile(tile, a.shape[d], error);
    if (!part)
      return std::nullopt;
    shape[d] = part->first.shape[0];
    shape[rank + d] = part->second.shape[0];
    parts.push_back(std::move(*part));
  }
  SmallVector<IndexExpr> dims;
  for (auto [d, part] : llvm::enumerate(parts))
    dims.push_back(add(atDim(part.first, d, shape),
                       atDim(part.second, rank + d, shape), shape));
  IntegerLayoutOr flat =
      make(replace(getOffset(a), dims, a.shape, shape), shape, error);
  if (!flat || form == DivideForm::Flat)
    return flat;
  SmallVector<SmallVector<int64_t>> groups;
  if (form == DivideForm::Logical)
    for (int64_t d = 0; d < rank; ++d)
      groups.push_back({d, rank + d});
  else
    groups.resize(2);
  if (form != DivideForm::Logical)
    for (int64_t d = 0; d < rank; ++d) {
      groups[0].push_back(d);
      groups[1].push_back(rank + d);
    }
  if (form == DivideForm::Tiled) {
    groups.resize(1);
    for (int64_t d = 0; d < rank; ++d)
      groups.push_back({rank + d});
  }
  return fuseDims(*flat, groups, error);
}

IntegerLayoutOr mlir::layout::logicalDivide(const IntegerLayout &a,
                                            const IntegerLayout &tile,
                                            FailureReason error) {
  IntegerLayoutOr line = coalesce(a, error);
  return line ? divide(*line, tile, DivideForm::Flat, error) : std::nullopt;
}

IntegerLayoutOr mlir::layout::logicalProduct(const IntegerLayout &a,
                                             const IntegerLayout &b,
                                             FailureReason error) {
  IntegerLayoutOr first = coalesce(a, error);
  IntegerLayoutOr second = first ? coalesce(b, error) : std::nullopt;
  if (!second)
    return std::nullopt;
  int64_t size;
  if (llvm::MulOverflow(getSize(a), getLast(*second) + 1, size))
    return error("the offsets of the product do not fit 64 bits");
  IntegerLayoutOr rest = complement(*first, size, error);
  IntegerLayoutOr repeated =
      rest ? composition(*rest, *second, error) : std::nullopt;
  if (!repeated)
    return std::nullopt;
  SmallVector<int64_t> shape{first->shape[0], second->shape[0]};
  return make(add(atDim(*first, 0, shape), atDim(*repeated, 1, shape), shape),
              shape, error);
}
