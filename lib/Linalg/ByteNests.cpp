//===- ByteNests.cpp - Repacks as loop nests over bytes -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ByteNests.h"
#include "layout/Algebra/Box.h"
#include <map>
#include <numeric>

using namespace mlir;
using namespace mlir::layout;

/// The most lanes of a nest whose last lane digits are whole bytes: a vector.
static constexpr int64_t kMostLanes = 32;
/// Limits of unrolling: the lanes of digits within bytes, the codes and bits of
/// one nest, and the nests of one stream.
static constexpr int64_t kMostUnrolledLanes = 64, kMostUnrolledBits = 1 << 12;
static constexpr size_t kMostNests = 64;

//===----------------------------------------------------------------------===//
// Digits of dims
//===----------------------------------------------------------------------===//

namespace {
/// A range of a dim that starts at multiples of all its digits: the positions
/// at its start, and the digits, in bits.
struct Segment {
  int64_t to, from;
  SmallVector<MovedDigit> digits;
};
} // namespace

std::optional<LinearPosition> LinearPosition::get(const IndexExpr &value,
                                                  ArrayRef<int64_t> sizes) {
  std::optional<int64_t> constant = value.constant.getConstant();
  if (!constant)
    return std::nullopt;
  LinearPosition position{*constant, {}};
  position.terms.resize(sizes.size());
  for (const auto &[digit, stride] : value.terms) {
    std::optional<int64_t> number = stride.getConstant();
    if (!digit.isDim() || !number)
      return std::nullopt;
    PositionTerm term{digit.divisor, digit.modulus, *number};
    int64_t size = sizes[digit.dim];
    if (term.divisor >= size)
      continue;
    if (term.modulus >= int64_t(llvm::divideCeil(size, term.divisor)))
      term.modulus = 0;
    position.terms[digit.dim].push_back(term);
  }
  return position;
}

static std::optional<LinearPosition> getPosition(const PlacedPiece &piece) {
  if (!piece.map.getReplicas().empty())
    return std::nullopt;
  return LinearPosition::get(piece.map.getCoordinates().front().value,
                             piece.sizes);
}

int64_t layout::getStride(ArrayRef<PositionTerm> terms, int64_t unit) {
  int64_t stride = 0;
  for (const PositionTerm &term : terms)
    stride += term.getStride(unit);
  return stride;
}

static int64_t evaluate(ArrayRef<PositionTerm> terms, int64_t index) {
  int64_t value = 0;
  for (const PositionTerm &term : terms)
    value += term.evaluate(index);
  return value;
}

std::optional<SmallVector<int64_t>>
layout::findUnits(ArrayRef<ArrayRef<PositionTerm>> positions, int64_t end) {
  SmallVector<int64_t> units{1};
  for (ArrayRef<PositionTerm> terms : positions)
    for (const PositionTerm &term : terms)
      units.append({term.divisor, term.getPeriod()});
  llvm::sort(units);
  units.erase(std::unique(units.begin(), units.end()), units.end());
  for (size_t i = 0; i < units.size(); ++i) {
    bool isLast = i + 1 == units.size();
    if (!isLast && units[i + 1] % units[i])
      return std::nullopt;
    int64_t unit = units[i];
    for (ArrayRef<PositionTerm> terms : positions)
      unit =
          std::max(unit, units[i] * 8 /
                             std::gcd(int64_t(8), getStride(terms, units[i])));
    if (unit > units[i] &&
        (isLast ? unit < end : unit < units[i + 1] && !(units[i + 1] % unit)))
      units.insert(units.begin() + i + 1, unit);
  }
  return units;
}

/// Splits the indices begin <= i < end of a dim of the new piece. The index of
/// the old piece is i + `shift`.
static std::optional<SmallVector<Segment>>
splitRange(ArrayRef<PositionTerm> to, ArrayRef<PositionTerm> from,
           int64_t begin, int64_t end, int64_t shift) {
  // Digits of both indices are the same if they differ by whole periods.
  for (const PositionTerm &term : from)
    if (shift % term.getPeriod())
      return std::nullopt;
  std::optional<SmallVector<int64_t>> units = findUnits({to, from}, end);
  if (!units)
    return std::nullopt;
  SmallVector<Segment> segments;
  while (begin < end) {
    size_t top = units->size() - 1;
    while (begin % (*units)[top] || begin + (*units)[top] > end)
      --top;
    int64_t unit = (*units)[top], count = (end - begin) / unit;
    if (top + 1 < units->size())
      count = std::min(count,
                       ((*units)[top + 1] - begin % (*units)[top + 1]) / unit);
    Segment segment{evaluate(to, begin), evaluate(from, begin + shift), {}};
    for (size_t i = 0; i <= top; ++i)
      if (int64_t extent = i == top ? count : (*units)[i + 1] / (*units)[i];
          extent > 1)
        segment.digits.push_back(
            {getStride(to, (*units)[i]), getStride(from, (*units)[i]), extent});
    segments.push_back(std::move(segment));
    begin += count * unit;
  }
  return segments;
}

//===----------------------------------------------------------------------===//
// Nests
//===----------------------------------------------------------------------===//

SmallVector<uint8_t> ByteNest::getMasks() const {
  SmallVector<uint8_t> masks(lanes);
  for (const MovedBits &each : bits)
    for (auto [mask, own] : llvm::zip_equal(masks, each.masks))
      mask |= own;
  return masks;
}

bool ByteNest::writesWholeBytes() const {
  return llvm::all_of(getMasks(), [](uint8_t mask) { return mask == 0xff; });
}

int64_t ByteNest::countBytes() const {
  int64_t count = lanes;
  for (const ByteLoop &loop : loops)
    count *= loop.extent;
  return count;
}

std::optional<SmallVector<int64_t>> layout::findSlices(const ByteNest &nest,
                                                       int64_t bytes) {
  SmallVector<int64_t> begins;
  int64_t offset = nest.begin, room = bytes;
  for (const ByteLoop &loop : nest.loops) {
    int64_t begin = std::min(offset, room - loop.stride * loop.extent);
    if (begin < 0)
      return std::nullopt;
    begins.push_back(begin);
    offset -= begin;
    room = loop.stride;
  }
  begins.push_back(offset);
  if (offset + nest.lanes > room)
    return std::nullopt;
  return begins;
}

ByteNest ByteNest::restrict(unsigned i, int64_t first, int64_t count) const {
  ByteNest part = *this;
  part.begin += first * loops[i].stride;
  for (MovedBits &each : part.bits)
    each.byte += first * each.strides[i];
  if (count > 1) {
    part.loops[i].extent = count;
    return part;
  }
  part.loops.erase(part.loops.begin() + i);
  for (MovedBits &each : part.bits)
    each.strides.erase(each.strides.begin() + i);
  return part;
}

bool StreamNests::isFull() const {
  int64_t written = 0;
  for (const ByteNest &nest : nests)
    if (nest.writesWholeBytes())
      written += nest.countBytes();
  return written == bytes;
}

namespace {
class Planner {
public:
  explicit Planner(int64_t bytes) : bytes(bytes) {}

  /// Adds the codes of `move` that are in both pieces.
  bool addPieces(const CodeMove &move, const PlacedPiece &to,
                 const PlacedPiece &from);
  /// Returns the nests if all of them are slices of the stream.
  std::optional<std::vector<ByteNest>> finish();

private:
  /// Adds the bits at all values of `digits`, in bits; `to` and `from` are the
  /// positions at 0.
  bool addBox(unsigned source, int64_t to, int64_t from,
              SmallVector<MovedDigit> digits);
  bool addSlices(ByteNest nest, std::vector<ByteNest> &slices);
  MovedBits &getBits(int64_t begin, ArrayRef<MovedDigit> loops, int64_t lanes,
                     MovedBits bits);

  int64_t bytes;
  std::vector<ByteNest> nests;
  /// The nests by begin, lanes, strides and extents of loops.
  std::map<std::vector<int64_t>, unsigned> numbers;
};
} // namespace

bool Planner::addPieces(const CodeMove &move, const PlacedPiece &to,
                        const PlacedPiece &from) {
  std::optional<LinearPosition> next = getPosition(to), old = getPosition(from);
  if (!next || !old)
    return false;
  SmallVector<SmallVector<Segment>> dims;
  SmallVector<int64_t> counts;
  for (size_t d = 0; d < to.sizes.size(); ++d) {
    int64_t shift = to.begin[d] - from.begin[d];
    int64_t begin = std::max<int64_t>(0, -shift),
            end = std::min(to.sizes[d], from.sizes[d] - shift);
    if (begin >= end)
      return true;
    std::optional<SmallVector<Segment>> segments =
        splitRange(next->terms[d], old->terms[d], begin, end, shift);
    if (!segments)
      return false;
    counts.push_back(segments->size());
    dims.push_back(std::move(*segments));
  }
  return forEachIndex(counts, [&](ArrayRef<int64_t> index) {
    int64_t first = next->constant, last = old->constant;
    SmallVector<MovedDigit> digits;
    for (auto [segments, i] : llvm::zip_equal(dims, index)) {
      first += segments[i].to;
      last += segments[i].from;
      llvm::append_range(digits, segments[i].digits);
    }
    return addBox(move.source, first, last, std::move(digits));
  });
}

/// Moves those of `digits`, sorted by stride, that are lanes to the front, and
/// returns their number: the bytes that adjoin each other up to the last digit
/// that is within bytes of the old stream, and enough for a vector. A last digit
/// may be split.
static size_t takeLanes(SmallVectorImpl<MovedDigit> &digits, int64_t &lanes) {
  size_t count = 0;
  int64_t reach = 1;
  lanes = 1;
  for (auto [i, digit] : llvm::enumerate(digits)) {
    if (digit.to != 8 * reach || reach * digit.extent > kMostUnrolledLanes)
      break;
    reach *= digit.extent;
    if (digit.from % 8) {
      count = i + 1;
      lanes = reach;
    }
  }
  for (; count && count < digits.size() && lanes < kMostLanes; ++count) {
    MovedDigit &digit = digits[count];
    int64_t extent = std::min(digit.extent, kMostLanes / lanes);
    while (digit.extent % extent)
      --extent;
    if (digit.to != 8 * lanes || digit.from % 8 || extent == 1)
      break;
    MovedDigit rest{digit.to * extent, digit.from * extent,
                    digit.extent / extent};
    digit.extent = extent;
    lanes *= extent;
    if (rest.extent > 1) {
      digits.insert(digits.begin() + count + 1, rest);
      return count + 1;
    }
  }
  return count;
}

MovedBits &Planner::getBits(int64_t begin, ArrayRef<MovedDigit> loops,
                            int64_t lanes, MovedBits bits) {
  std::vector<int64_t> key{begin, lanes};
  for (const MovedDigit &loop : loops)
    key.insert(key.end(), {loop.to, loop.extent});
  auto [number, isNew] = numbers.try_emplace(std::move(key), nests.size());
  if (isNew) {
    nests.push_back({begin, {}, lanes, {}});
    for (const MovedDigit &loop : loops)
      nests.back().loops.push_back({loop.to / 8, loop.extent});
  }
  SmallVectorImpl<MovedBits> &all = nests[number->second].bits;
  for (MovedBits &each : all)
    if (each.source == bits.source && each.byte == bits.byte &&
        each.shift == bits.shift && each.strides == bits.strides &&
        each.lanes == bits.lanes)
      return each;
  all.push_back(std::move(bits));
  return all.back();
}

bool Planner::addBox(unsigned source, int64_t to, int64_t from,
                     SmallVector<MovedDigit> digits) {
  for (MovedDigit &digit : digits)
    if (digit.to < 0) {
      to += digit.to * (digit.extent - 1);
      from += digit.from * (digit.extent - 1);
      digit = {-digit.to, -digit.from, digit.extent};
    }
  llvm::sort(digits);
  auto isByte = [](const MovedDigit &digit) { return digit.to % 8 == 0; };
  SmallVector<MovedDigit> unrolled, whole, loops;
  for (const MovedDigit &digit : digits)
    (isByte(digit) ? whole : unrolled).push_back(digit);
  int64_t lanes = 1;
  size_t laneDigits = takeLanes(whole, lanes), chosen = unrolled.size();
  MovedBits bits{source, 0, 0, {}, {}, SmallVector<uint8_t>(lanes)};
  for (const MovedDigit &digit : ArrayRef(whole).take_front(laneDigits)) {
    if (digit.from % 8)
      unrolled.push_back(digit);
    else
      bits.lanes.push_back({digit.to / 8, digit.from / 8, digit.extent});
  }
  // The digits from `chosen` to `moved` choose lanes, the others a position.
  size_t moved = unrolled.size();
  for (const MovedDigit &digit :
       llvm::reverse(ArrayRef(whole).drop_front(laneDigits))) {
    if (digit.from % 8)
      unrolled.push_back(digit);
    else if (!loops.empty() && loops.back().to == digit.to * digit.extent &&
             loops.back().from == digit.from * digit.extent)
      loops.back() = {digit.to, digit.from, digit.extent * loops.back().extent};
    else
      loops.push_back(digit);
  }
  for (const MovedDigit &loop : loops)
    bits.strides.push_back(loop.from / 8);
  SmallVector<int64_t> extents;
  for (const MovedDigit &digit : unrolled)
    extents.push_back(digit.extent);
  if (countIndices(extents).value_or(kMostUnrolledBits + 1) > kMostUnrolledBits)
    return false;
  return forEachIndex(extents, [&](ArrayRef<int64_t> index) {
    int64_t next = to, old = from;
    for (auto [i, digit] : llvm::enumerate(unrolled)) {
      old += digit.from * index[i];
      if (i < chosen || i >= moved)
        next += digit.to * index[i];
    }
    bits.byte = old / 8;
    bits.shift = next % 8 - old % 8;
    MovedBits &known = getBits(next / 8, loops, lanes, bits);
    for (auto [lane, mask] : llvm::enumerate(known.masks)) {
      bool isChosen = true;
      for (size_t i = chosen; i < moved; ++i)
        isChosen &= static_cast<int64_t>(lane) / (unrolled[i].to / 8) %
                        unrolled[i].extent ==
                    index[i];
      if (isChosen)
        mask |= 1 << next % 8;
    }
    return nests.size() <= kMostNests;
  });
}

bool Planner::addSlices(ByteNest nest, std::vector<ByteNest> &slices) {
  if (findSlices(nest, bytes)) {
    slices.push_back(std::move(nest));
    return slices.size() <= kMostNests;
  }
  // The stream may end before the last period of the slowest loop does.
  int64_t last = nest.loops.front().extent - 1;
  return addSlices(nest.restrict(0, 0, last), slices) &&
         addSlices(nest.restrict(0, last, 1), slices);
}

std::optional<std::vector<ByteNest>> Planner::finish() {
  std::vector<ByteNest> slices;
  for (ByteNest &nest : nests)
    if (!addSlices(std::move(nest), slices))
      return std::nullopt;
  return slices;
}

std::optional<std::vector<ByteNest>>
layout::planByteNests(ArrayRef<CodeMove> moves, int64_t bytes) {
  Planner planner(bytes);
  for (const CodeMove &move : moves)
    for (const PlacedPiece &to : move.to->pieces)
      for (const PlacedPiece &from : move.from->pieces)
        if (!to.isEmpty() && !from.isEmpty() &&
            !planner.addPieces(move, to, from))
          return std::nullopt;
  return planner.finish();
}
