//===- XlaExport.cpp - Export maps as tiled layouts -----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tile splits dims and appends the remainders to the sequence. So the slowest
// digits that are the outermost ones of different dims stay in place. Each
// further digit is split off in turn, together with the unsplit lower part of
// its source. Consecutive splits form one tile if their sources are in the
// order of the splits.
//
//     d0 floordiv 8, d1 floordiv 128, d0 floordiv 2 mod 4, d1 mod 128, d0 mod 2
//       0 by 8 and 1 by 128: T(8,128); then d0 mod 8 by 2: T(2,1)
//
// A dim of static size may have no digit in front: its tile then has its size.
//
// Every dim that a tile covers without splitting it leaves a remainder of
// extent 1 at the end, which later tiles cover, too. So that dims do not double
// with each tile, consecutive remainders are fused into the dim before them.
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/DigitDecomposition.h"
#include "layout/Interop/Xla.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::SmallVectorImpl;
using llvm::Twine;

namespace {

/// The sequence of dims that tiles transform, slowest first, and the tiles
/// emitted so far. An element of the sequence is numbered in the order of
/// creation.
class Tiler {
public:
  /// Appends an element to the sequence: `count` dims, which become one dim in
  /// the first tile that splits the element. Returns its number.
  unsigned add(unsigned count) {
    widths.push_back(count);
    sequence.push_back(widths.size() - 1);
    return sequence.back();
  }

  /// Splits an element into its quotient by `factor`, which keeps its place,
  /// and its remainder, which the tile appends to the sequence. Returns the
  /// number of the remainder.
  unsigned split(unsigned element, int64_t factor) {
    auto position = llvm::find(sequence, element) - sequence.begin();
    if (position == ptrdiff_t(sequence.size()) ||
        (!pending.empty() && position <= pending.back().position)) {
      flush();
      position = llvm::find(sequence, element) - sequence.begin();
    }
    widths.push_back(1);
    pending.push_back({position, factor, unsigned(widths.size() - 1)});
    return pending.back().result;
  }

  /// Returns the number of an element of extent 1 at the end of the sequence,
  /// into which padding can be written. It is the last element if that is a
  /// remainder that no split uses, and else the remainder of the last element
  /// by 1. An empty sequence gets a unit dim.
  unsigned addUnit() {
    if (sequence.empty())
      return add(1);
    if (!isLeftover(sequence.size() - 1))
      return split(sequence.back(), 1);
    widths[sequence.back()] = 1;
    return sequence.back();
  }

  /// Emits the pending splits as one tile, and updates the sequence.
  void flush();

  SmallVector<XlaLayout::Tile> tiles;

private:
  struct Split {
    ptrdiff_t position;
    int64_t factor;
    unsigned result;
  };
  /// Creates an element of extent 1 for a remainder that no split uses, without
  /// placing it in the sequence. Returns its number.
  unsigned addLeftover() {
    widths.push_back(0);
    return widths.size() - 1;
  }
  bool isLeftover(size_t position) const {
    return widths[sequence[position]] == 0;
  }

  SmallVector<unsigned> sequence; // of elements
  SmallVector<unsigned> widths;   // by element; 0 for a leftover
  SmallVector<Split> pending;     // by position
};

} // namespace

void Tiler::flush() {
  if (pending.empty())
    return;
  XlaLayout::Tile tile;
  SmallVector<unsigned> quotients, remainders;
  const Split *split = pending.begin();
  for (size_t p = split->position, n = sequence.size(); p < n; ++p) {
    unsigned element = sequence[p];
    bool isSplit = split != pending.end() && size_t(split->position) == p;
    unsigned leftovers = 0;
    while (p + 1 + leftovers < n && isLeftover(p + 1 + leftovers))
      ++leftovers;
    if (leftovers < 2)
      leftovers = 0;
    p += leftovers;
    quotients.push_back(element);
    // All dims of a split element are fused. A dim that is not split gets the
    // factor 1, and has a remainder of extent 1.
    unsigned width = std::max(widths[element], 1u);
    if (isSplit) {
      tile.append(width - 1 + leftovers, XlaLayout::kFuse);
      tile.push_back(split->factor);
      remainders.push_back(split->result);
      widths[element] = 1;
      ++split;
      continue;
    }
    tile.append(width - 1, 1);
    tile.append(leftovers, XlaLayout::kFuse);
    tile.push_back(1);
    for (unsigned i = 0; i < width; ++i)
      remainders.push_back(addLeftover());
  }
  tiles.push_back(std::move(tile));
  sequence.truncate(pending.front().position);
  sequence.append(quotients);
  sequence.append(remainders);
  pending.clear();
}

/// Returns the dims that `digit` is a digit of, slowest first, or std::nullopt
/// if its source is not a row-major group of whole dims.
static std::optional<SmallVector<unsigned>> getDims(const Digit &digit,
                                                    Sizes sizes) {
  if (digit.isDim())
    return SmallVector<unsigned>{digit.dim};
  if (digit.swizzle)
    return std::nullopt;
  std::vector<PlacedDigit> members;
  for (const DigitTerm &term : digit.fused->terms) {
    if (!term.digit.isDim() || !term.digit.isWholeSource())
      return std::nullopt;
    members.push_back({term.digit, term.stride, std::nullopt});
  }
  if (sortByStride(members))
    return std::nullopt;
  SmallVector<unsigned> dims;
  SmallVector<BoundedIndex> whole;
  for (const PlacedDigit &member : members) {
    dims.push_back(member.digit.dim);
    whole.push_back({IndexExpr::dim(dims.back()), getSize(dims.back(), sizes)});
  }
  if (group(whole).value != *digit.fused)
    return std::nullopt;
  return dims;
}

/// Undoes a simplification of the canonical form, by which (4 * d0 + d1) mod 2
/// became d1 mod 2. If another digit has such a sum as its source, the digit of
/// the dim gets this source, so that both are split off one source.
static void rejoinSums(std::vector<PlacedDigit> &digits) {
  for (PlacedDigit &placed : digits) {
    Digit &digit = placed.digit;
    std::optional<int64_t> end = getEnd(digit);
    if (!digit.isDim() || !end || *end == 0)
      continue;
    for (const PlacedDigit &other : digits) {
      if (!other.digit.fused)
        continue;
      auto isMultiple = [&](const DigitTerm &term) {
        return term.stride.content() % *end == 0;
      };
      auto isWhole = [&](const DigitTerm &term) {
        return term.digit.isDim() && term.digit.dim == digit.dim &&
               term.digit.isWholeSource() && term.stride.isConstantEqual(1);
      };
      const std::vector<DigitTerm> &terms = other.digit.fused->terms;
      if (llvm::any_of(terms, isWhole) &&
          llvm::all_of(terms, [&](const DigitTerm &term) {
            return isWhole(term) || isMultiple(term);
          })) {
        digit.fused = other.digit.fused;
        digit.dim = 0;
        break;
      }
    }
  }
}

namespace {

/// A part of a source, i.e. of a dim or a fused value, that is being split: the
/// digits of the source from `divisor` up to the next part. `id` is the number
/// that Tiler gave the part when it created it. The part keeps this number when
/// tiles change its position.
struct Element {
  unsigned id;
  int64_t divisor;
};

/// Splits digits off the dims or fused values that they are digits of by XLA
/// tiles, in the order of storage, slowest first.
class DigitSplitter {
public:
  DigitSplitter(unsigned rank, Sizes sizes, FailureReason error)
      : rank(rank), sizes(sizes), error(error) {}

  bool split(const PlacedDigit &placed, SmallVectorImpl<Element> &elements,
             Tiler &tiler);

private:
  bool fail(const PlacedDigit &placed, const Twine &message) {
    error("digit " + describe(placed.digit, rank) + message);
    return false;
  }

  unsigned rank;
  Sizes sizes;
  FailureReason error;
};

} // namespace

bool DigitSplitter::split(const PlacedDigit &placed,
                          SmallVectorImpl<Element> &elements, Tiler &tiler) {
  const Digit &digit = placed.digit;
  std::optional<int64_t> room = placed.room->getConstant();
  if (!room)
    return fail(placed, " has a dynamic size and is not before all parts of "
                        "tiles: a tile has constant factors");
  int64_t paddedEnd;
  if (!SizeExpr(*room).isProvablyAtLeast(getExtent(digit, sizes)))
    return fail(placed, " has more values than the " + Twine(*room) +
                            " positions up to the next slower one");
  if (llvm::MulOverflow(*room, digit.divisor, paddedEnd))
    return fail(placed, " ends past 64 bits");

  // Find the part of the source that contains the digit and everything below
  // it.
  Element &element =
      *std::max_element(elements.begin(), elements.end(),
                        [&](const Element &a, const Element &b) {
                          auto key = [&](const Element &e) {
                            return e.divisor <= digit.divisor ? e.divisor : 0;
                          };
                          return key(a) < key(b);
                        });
  int64_t divisor = element.divisor;
  int64_t end = digit.modulus ? digit.divisor * digit.modulus : paddedEnd;
  Element part{tiler.split(element.id, end / divisor), divisor};
  element.divisor = end;
  // If the digit has padding inside, a second split rounds the part up.
  if (end != paddedEnd)
    part.id = tiler.split(part.id, paddedEnd / divisor);
  elements.push_back(part);
  return true;
}

namespace {
/// An entry of the sequence before the first tile: the dims of `source`, or, if
/// `source` is null, one dim of size 1.
struct Origin {
  const Source *source;
  SmallVector<unsigned> dims; // slowest first
};
} // namespace

static const Source *getSourceOf(ArrayRef<Source> sources, unsigned digit) {
  return llvm::find_if(sources, [&](const Source &source) {
    return llvm::is_contained(source.digits, digit);
  });
}

static void addUnitDims(std::vector<Origin> &origins, unsigned rank) {
  for (unsigned d = 0; d < rank; ++d) {
    if (llvm::any_of(origins, [&](const Origin &origin) {
          return llvm::is_contained(origin.dims, d);
        }))
      continue;
    auto next = llvm::find_if(
        origins, [&](const Origin &origin) { return origin.dims.front() > d; });
    origins.insert(next, {nullptr, {d}});
  }
}

/// Returns true if a digit can stay before the tiles: it has no mod and is not
/// padded.
static bool staysInFront(const PlacedDigit &placed, Sizes sizes) {
  return !placed.digit.modulus &&
         *placed.room == getExtent(placed.digit, sizes);
}

static std::optional<std::string> exportFor(const LayoutMap &map, Sizes sizes,
                                            FailureReason error) {
  unsigned rank = map.getRank();
  std::optional<std::vector<PlacedDigit>> digits =
      getDenseDigits(map.specialize(sizes), sizes, error);
  if (!digits)
    return std::nullopt;
  splitAlignedDigits(*digits, sizes);
  rejoinSums(*digits);
  for (const PlacedDigit &placed : *digits)
    if (!getDims(placed.digit, sizes)) {
      error("digit " + describe(placed.digit, rank) +
            " is neither of one dim nor of a row-major group of whole dims: "
            "other sums, and parts that do not divide their whole, are not "
            "supported");
      return std::nullopt;
    }
  std::optional<std::vector<Source>> sources =
      getSources(*digits, rank, sizes, error);
  if (!sources)
    return std::nullopt;

  // The sequence before the first tile: the digits that stay in front, the
  // sources without such a digit, and the unit dims at their logical positions.
  size_t front = 0;
  while (front < digits->size() && staysInFront((*digits)[front], sizes))
    ++front;
  std::vector<Origin> origins;
  for (unsigned i = 0; i < digits->size(); ++i) {
    const Source *source = getSourceOf(*sources, i);
    if (i >= front && llvm::any_of(origins, [&](const Origin &origin) {
          return origin.source == source;
        }))
      continue;
    // Padding between the positions of all digits is a digit of the constant 0,
    // which has no dims.
    if (SmallVector<unsigned> dims = *getDims(source->whole, sizes);
        !dims.empty())
      origins.push_back({source, dims});
  }
  addUnitDims(origins, rank);

  Tiler tiler;
  XlaLayout layout;
  llvm::DenseMap<const Source *, SmallVector<Element>> elements;
  std::optional<unsigned> unit; // an element of extent 1
  for (const Origin &origin : origins) {
    unsigned id = tiler.add(origin.dims.size());
    if (origin.source)
      elements[origin.source].push_back({id, 1});
    else
      unit = id;
    layout.minorToMajor.append(origin.dims);
  }
  std::reverse(layout.minorToMajor.begin(), layout.minorToMajor.end());
  DigitSplitter splitter(rank, sizes, error);
  for (unsigned i = front; i < digits->size(); ++i) {
    SmallVector<Element> &parts = elements[getSourceOf(*sources, i)];
    if (parts.empty())
      parts.push_back({unit ? *unit : tiler.addUnit(), 1});
    if (!splitter.split((*digits)[i], parts, tiler))
      return std::nullopt;
  }
  tiler.flush();
  layout.tiles = std::move(tiler.tiles);
  return layout.str();
}

std::optional<std::string> mlir::layout::exportXla(const LayoutMap &map,
                                                   Sizes sizes,
                                                   FailureReason error) {
  // Prefer a text that is valid for every size to one for these sizes.
  if (std::optional<std::string> text =
          exportFor(map, unknownSizes(map), nullptr))
    return text;
  return exportFor(map, sizes, error);
}
