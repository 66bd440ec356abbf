//===- CuTeExport.cpp - Export maps as CuTe layouts -----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each digit becomes a leaf with its extent and stride. The extents of a mode
// multiply to the size of the dim, so the outermost digit must divide it. A
// CuTe layout does not state its length; the storage ends with the last
// element.
//
// A map with swizzles is analyzed bit by bit. A swizzle is its own inverse: if
// applying one turns every bit of the offset into a single bit of the index, it
// is the swizzle of the map.
//
//===----------------------------------------------------------------------===//

#include "BitMatrix.h"
#include "layout/Algebra/DigitDecomposition.h"
#include "layout/Interop/CuTe.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::Twine;

static bool isSwizzled(const DigitTerm &term) {
  return term.digit.swizzle != nullptr;
}

/// Returns the layout of a map without swizzles: the leaves of mode d are the
/// digits of dim d. Fails if a digit is of a sum, if digits of a dim overlap or
/// leave a gap, or if the divisor of the outermost one does not divide the dim.
static std::optional<CuTeLayout> getModes(const LayoutMap &special, Sizes sizes,
                                          FailureReason error) {
  unsigned rank = special.getRank();
  auto fail = [&](const Twine &message) {
    error(message);
    return std::nullopt;
  };
  std::optional<std::vector<PlacedDigit>> digits =
      getDigits(special, sizes, error);
  if (!digits)
    return std::nullopt;
  for (const PlacedDigit &placed : *digits)
    if (!placed.digit.isDim())
      return fail("digit " + describe(placed.digit, rank) +
                  " is part of a sum: a mode has the digits of one dim");
  std::optional<std::vector<Source>> sources =
      getSources(*digits, rank, sizes, error);
  if (!sources)
    return std::nullopt;

  CuTeLayout layout;
  layout.modes.resize(rank);
  for (const Source &source : *sources) {
    for (unsigned i : llvm::reverse(source.digits)) {
      const PlacedDigit &placed = (*digits)[i];
      const Digit &digit = placed.digit;
      if (!digit.modulus && sizes[digit.dim] % digit.divisor != 0)
        return fail("digit " + describe(digit, rank) +
                    " is non-divisible: " + Twine(digit.divisor) +
                    " does not divide " + Twine(sizes[digit.dim]) +
                    ", but the product of the extents of a mode is its size");
      layout.modes[digit.dim].push_back({*getExtent(digit, sizes).getConstant(),
                                         *placed.stride.getConstant()});
    }
  }
  for (auto &leaves : layout.modes)
    if (leaves.empty())
      leaves.push_back({1, 0});
  return layout;
}

/// Returns true if every bit of an offset is 0 or equals one bit of the index,
/// and no two equal the same one.
static bool isPlain(ArrayRef<uint64_t> bits) {
  uint64_t seen = 0;
  for (uint64_t bit : bits) {
    if ((bit & (bit - 1)) != 0 || (seen & bit) != 0)
      return false;
    seen |= bit;
  }
  return true;
}

/// Returns the layout of an offset without swizzle: bits[i] is a mask of the
/// one bit of the index that bit i of the offset equals, or 0. Bits that are
/// adjacent in both form one leaf. Fails if a bit of the index is in no
/// bits[i], or if the product of the leaves before the last one does not divide
/// the dim.
static std::optional<CuTeLayout> getModes(ArrayRef<uint64_t> bits, Sizes sizes,
                                          FailureReason error) {
  CuTeLayout layout;
  unsigned bit = 0; // of the index
  for (auto [d, size] : llvm::enumerate(sizes)) {
    auto &leaves = layout.modes.emplace_back();
    auto fail = [&](const Twine &message) {
      error(message);
      return std::nullopt;
    };
    int64_t lo = 1; // of the next leaf
    for (; lo < size; ++bit) {
      auto place = llvm::find(bits, uint64_t(1) << bit);
      if (place == bits.end())
        return fail("no bit of the offset is bit " + Twine(llvm::Log2_64(lo)) +
                    " of dim " + Twine(d));
      int64_t stride = int64_t(1) << (place - bits.begin());
      if (!leaves.empty() &&
          leaves.back().stride * leaves.back().extent == stride)
        leaves.back().extent *= 2;
      else
        leaves.push_back({2, stride});
      lo *= 2;
    }
    // The last leaf has the extent that makes the product the size of the dim.
    if (leaves.empty()) {
      leaves.push_back({1, 0});
      continue;
    }
    int64_t below = lo / leaves.back().extent;
    if (size % below != 0)
      return fail("dim " + Twine(d) + " is non-divisible: " + Twine(below) +
                  " does not divide " + Twine(size) +
                  ", but the product of the extents of a mode is its size");
    leaves.back().extent = size / below;
  }
  return layout;
}

/// Returns true if the storage of `layout`, which ends with the last element,
/// has the extent of `offset`, the coordinate to export. Otherwise reports an
/// error and returns false.
static bool checkExtent(const CuTeLayout &layout, const Coordinate &offset,
                        Sizes sizes, FailureReason error) {
  SizeExpr end = layout.getMap(sizes, error)->getCoordinates()[0].extent;
  if (end == offset.extent)
    return true;
  error("the storage has " + Twine(*offset.extent.getConstant()) +
        " positions, but the storage of modes ends with the last element, "
        "after " +
        Twine(*end.getConstant()));
  return false;
}

/// Searches a swizzle without which every bit of the offset is 0 or one bit of
/// the index, the one of the fewest bits first. Returns the layout with this
/// swizzle, or std::nullopt if there is none.
static std::optional<CuTeLayout>
undoSwizzle(const Bits &bits, const Coordinate &offset, Sizes sizes) {
  auto ignore = nullptr;
  int64_t n = bits.size();
  for (int64_t count = 1; count <= n / 2; ++count)
    for (int64_t shift = count; count + shift <= n; ++shift)
      for (int64_t low = 0; low + shift + count <= n; ++low)
        for (bool upwards : {false, true}) {
          Bits undone = bits;
          for (int64_t i = low; i < low + count; ++i)
            undone[upwards ? i + shift : i] ^= bits[upwards ? i : i + shift];
          if (!isPlain(undone))
            continue;
          std::optional<CuTeLayout> layout = getModes(undone, sizes, ignore);
          if (!layout)
            continue;
          layout->swizzle = {count, low, upwards ? -shift : shift};
          if (checkExtent(*layout, offset, sizes, ignore))
            return layout;
        }
  return std::nullopt;
}

/// Returns the layout of an offset with swizzled bits: modes, and one swizzle
/// of the whole offset. Fails if none is found, if a bit of the offset is no
/// xor of bits of the index, or if the index has more than kMaxBits bits.
static std::optional<CuTeLayout>
getSwizzledModes(const Coordinate &offset, Sizes sizes, FailureReason error) {
  SmallVector<int64_t> box;
  unsigned count = 0;
  for (int64_t size : sizes) {
    box.push_back(llvm::PowerOf2Ceil(size));
    count += llvm::Log2_64(box.back());
  }
  if (count > kMaxBits) {
    error("the elements of this shape do not fit 64 bits");
    return std::nullopt;
  }
  std::optional<Bits> bits = BitReader(box, error).read(offset.value);
  if (!bits)
    return std::nullopt;
  std::optional<CuTeLayout> layout = undoSwizzle(*bits, offset, sizes);
  if (layout)
    return layout;
  auto swizzled = llvm::find_if(offset.value.terms, isSwizzled);
  if (swizzled != offset.value.terms.end())
    error("digit " + describe(swizzled->digit, sizes.size()) +
          " is not part of one swizzle of the whole offset");
  return std::nullopt;
}

std::optional<std::string> mlir::layout::exportCuTe(const LayoutMap &map,
                                                    Sizes sizes,
                                                    FailureReason error) {
  unsigned rank = map.getRank();
  auto fail = [&](const Twine &message) {
    error(message);
    return std::nullopt;
  };
  if (rank == 0)
    return fail("a tensor of rank 0 has no mode");
  for (unsigned d = 0; d < rank; ++d)
    if (sizes[d] < 0)
      return fail("dim " + Twine(d) +
                  " has a dynamic size: modes need static sizes");
  LayoutMap special = map.specialize(sizes);
  std::optional<Coordinate> offset = getOffset(special, sizes, error);
  if (!offset)
    return std::nullopt;

  if (llvm::any_of(offset->value.terms, isSwizzled)) {
    std::optional<CuTeLayout> layout = getSwizzledModes(*offset, sizes, error);
    return layout ? std::optional(layout->str()) : std::nullopt;
  }
  std::string fault;
  auto keep = [&](const Twine &message) { fault = message.str(); };
  std::optional<CuTeLayout> layout = getModes(special, sizes, keep);
  if (layout && checkExtent(*layout, *offset, sizes, keep))
    return layout->str();
  // Without swizzled digits there may be a swizzle, too: xor into bits that are
  // otherwise 0 copies bits, which are plain digits of the map.
  if ((layout = getSwizzledModes(*offset, sizes, nullptr)))
    return layout->str();
  return fail(fault);
}
