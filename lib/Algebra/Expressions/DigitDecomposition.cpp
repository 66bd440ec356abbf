//===- DigitDecomposition.cpp - Digits in storage order -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/DigitDecomposition.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::Twine;

bool mlir::layout::checkRank(unsigned rank, Sizes shape, FailureReason error) {
  if (rank == shape.size())
    return true;
  error("the notation has " + Twine(rank) + " dims, the tensor has rank " +
        Twine(shape.size()) +
        " (L1): write the layout over the dims of the tensor");
  return false;
}

llvm::SmallVector<int64_t> mlir::layout::unknownSizes(const LayoutMap &map) {
  return llvm::SmallVector<int64_t>(map.getRank(), kUnknownSize);
}

SizeExpr mlir::layout::getSize(unsigned dim, Sizes sizes) {
  return sizes[dim] >= 0 ? SizeExpr(sizes[dim]) : SizeExpr::dim(dim);
}

SizeExpr mlir::layout::getExtent(const Digit &digit, Sizes sizes) {
  return naturalExtent(digit).specialize(sizes);
}

std::optional<int64_t> mlir::layout::getEnd(const Digit &digit) {
  int64_t end;
  if (llvm::MulOverflow(digit.divisor, digit.modulus, end))
    return std::nullopt;
  return end;
}

std::string mlir::layout::describe(const IndexExpr &value, unsigned rank) {
  // LayoutMap prints maps only; the text of a value is that of its coordinate.
  std::string text =
      LayoutMap::get(rank, "space", {{"x", value, naturalExtent(value)}}).str();
  llvm::StringRef inner(text);
  inner.consume_back(")");
  return inner.split("(x = ").second.str();
}

std::string mlir::layout::describe(const Digit &digit, unsigned rank) {
  IndexExpr value;
  value.terms.push_back({digit, SizeExpr(1)});
  return describe(value, rank);
}

std::optional<Coordinate> mlir::layout::getOffset(const LayoutMap &special,
                                                  Sizes sizes,
                                                  FailureReason error) {
  if (llvm::is_contained(sizes, 0)) {
    error("a tensor without elements has no layout to write");
    return std::nullopt;
  }
  ArrayRef<Coordinate> coordinates = special.getCoordinates();
  if (special.getSpace() != "buffer" || coordinates.size() != 1) {
    error("the layout is in the space '" + special.getSpace() +
          "': the notation describes linear memory only");
    return std::nullopt;
  }
  if (!special.getReplicas().empty()) {
    error("the layout has replicas: the notation stores each element once");
    return std::nullopt;
  }
  const Coordinate &offset = coordinates.front();
  if (special.hasOverflow()) {
    error("the sizes of the layout do not fit 64 bits");
    return std::nullopt;
  }
  if (!offset.value.constant.isZero()) {
    error("the layout adds " +
          describe(IndexExpr(offset.value.constant), special.getRank()) +
          " to every offset: offsets of the notation start at 0");
    return std::nullopt;
  }
  return offset;
}

const PlacedDigit *
mlir::layout::sortByStride(std::vector<PlacedDigit> &digits) {
  // The next digit is the one with the largest stride.
  for (auto next = digits.begin(); next != digits.end(); ++next) {
    auto rest = llvm::make_range(next, digits.end());
    auto highest = llvm::find_if(rest, [&](const PlacedDigit &candidate) {
      return llvm::all_of(rest, [&](const PlacedDigit &other) {
        return candidate.stride.isProvablyAtLeast(other.stride);
      });
    });
    if (highest == rest.end())
      return &*next;
    std::rotate(next, highest, highest + 1);
  }
  return nullptr;
}

std::optional<std::vector<PlacedDigit>>
mlir::layout::getDigits(const LayoutMap &special, Sizes sizes,
                        FailureReason error) {
  std::optional<Coordinate> offset = getOffset(special, sizes, error);
  if (!offset)
    return std::nullopt;
  auto fail = [&](const Digit &digit, const Twine &message) {
    error("digit " + describe(digit, special.getRank()) + message);
    return std::nullopt;
  };
  std::vector<PlacedDigit> digits;
  for (const DigitTerm &term : offset->value.terms) {
    if (!term.stride.isProvablyAtLeast(1))
      return fail(term.digit, " has a stride that may not be positive: the "
                              "notation has positive strides only");
    digits.push_back({term.digit, term.stride, std::nullopt});
  }
  if (const PlacedDigit *unordered = sortByStride(digits))
    return fail(
        unordered->digit,
        " is slower than another digit for some sizes and faster for others");
  SizeExpr above = offset->extent;
  for (PlacedDigit &placed : digits) {
    placed.room = above.exactQuotient(placed.stride);
    above = placed.stride;
  }
  return digits;
}

std::optional<std::vector<PlacedDigit>>
mlir::layout::getDenseDigits(const LayoutMap &special, Sizes sizes,
                             FailureReason error) {
  std::optional<std::vector<PlacedDigit>> digits =
      getDigits(special, sizes, error);
  if (!digits)
    return std::nullopt;
  auto fail = [&](const PlacedDigit &placed, const Twine &message) {
    error("digit " + describe(placed.digit, special.getRank()) + message);
    return std::nullopt;
  };
  std::vector<PlacedDigit> dense;
  SizeExpr above = special.getCoordinates().front().extent;
  for (auto digit = digits->begin(); digit != digits->end(); ++digit) {
    // Fuse digits down to the first one whose stride divides the positions
    // above. Its stride becomes that of the fused digit.
    auto last = digit;
    while (last != digits->end() && !above.exactQuotient(last->stride))
      ++last;
    if (last == digits->end())
      return fail(*digit, " has a stride that does not divide the positions "
                          "up to the next slower one");
    PlacedDigit placed{digit->digit, last->stride,
                       above.exactQuotient(last->stride)};
    if (digit != last) {
      IndexExpr sum;
      for (const PlacedDigit &part : llvm::make_range(digit, last + 1)) {
        std::optional<SizeExpr> stride =
            part.stride.exactQuotient(last->stride);
        if (!stride)
          return fail(
              part, " has a stride that is not a multiple of the faster ones");
        sum.terms.push_back({part.digit, *stride});
      }
      placed.digit = Digit();
      placed.digit.fused =
          std::make_shared<IndexExpr>(add(sum, IndexExpr(), sizes));
    }
    above = placed.stride;
    digit = last;
    dense.push_back(std::move(placed));
  }
  if (above.isConstantEqual(1))
    return dense;
  // If all strides exceed 1, the positions in between are padding: a digit of
  // the constant 0.
  PlacedDigit padding{{}, SizeExpr(1), above};
  padding.digit.fused = std::make_shared<IndexExpr>();
  dense.push_back(std::move(padding));
  return dense;
}

void mlir::layout::splitAlignedDigits(std::vector<PlacedDigit> &digits,
                                      Sizes sizes) {
  for (size_t i = 0; i < digits.size(); ++i) {
    PlacedDigit &outer = digits[i];
    if (!outer.room)
      continue;
    SizeExpr extent = getExtent(outer.digit, sizes);
    if (outer.digit.modulus || *outer.room == extent ||
        outer.room->isConstant())
      continue;
    int64_t k = outer.room->content(), divisor;
    if (k <= 1 || extent.alignTo(k) != *outer.room ||
        llvm::MulOverflow(outer.digit.divisor, k, divisor))
      continue;
    PlacedDigit inner = outer;
    inner.digit.modulus = k;
    inner.room = SizeExpr(k);
    outer.digit.divisor = divisor;
    outer.room = outer.room->exactQuotient(SizeExpr(k));
    outer.stride = outer.stride * SizeExpr(k);
    digits.insert(digits.begin() + i + 1, inner);
  }
}

std::optional<std::vector<Source>>
mlir::layout::getSources(ArrayRef<PlacedDigit> digits, unsigned rank,
                         Sizes sizes, FailureReason error) {
  auto fail = [&](const Twine &message) {
    error(message);
    return std::nullopt;
  };
  std::vector<Source> sources;
  for (unsigned i = 0; i < digits.size(); ++i) {
    const Digit &digit = digits[i].digit;
    auto source = llvm::find_if(sources, [&](const Source &source) {
      return source.whole.compareSource(digit) == 0;
    });
    if (source == sources.end()) {
      Digit whole = digit;
      whole.divisor = 1;
      whole.modulus = 0;
      source = sources.insert(source, {whole, getExtent(whole, sizes), {}});
    }
    source->digits.push_back(i);
  }

  llvm::SmallVector<bool> isStored(rank, false);
  for (const Source &source : sources) {
    std::optional<unsigned> twice;
    source.whole.walkDims([&](unsigned d) {
      if (isStored[d])
        twice = d;
      isStored[d] = true;
    });
    if (twice)
      return fail(describe(IndexExpr::dim(*twice), rank) +
                  " is part of two values that are stored");
  }
  for (Source &source : sources) {
    llvm::stable_sort(source.digits, [&](unsigned a, unsigned b) {
      return digits[a].digit.divisor > digits[b].digit.divisor;
    });
    int64_t expected = 0; // divisor * modulus of the next digit
    for (unsigned i : source.digits) {
      const Digit &digit = digits[i].digit;
      std::optional<int64_t> end = getEnd(digit);
      if (!end || *end != expected)
        return fail("digit " + describe(digit, rank) +
                    " does not end where the next one of " +
                    describe(source.whole, rank) + " begins");
      expected = digit.divisor;
    }
    if (expected != 1)
      return fail("no digit stores " + describe(source.whole, rank) + " mod " +
                  Twine(expected));
  }
  for (unsigned d = 0; d < rank; ++d)
    if (!isStored[d] && sizes[d] != 1)
      return fail("no digit stores " + describe(IndexExpr::dim(d), rank));
  return sources;
}
