//===- Bits.cpp - Copy codes to and from positions of bits ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Bits that are adjacent in a code and in the stream are moved together: a
// 4-bit code is one shift and one mask, a bit of a bit plane is one as well.
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Bits.h"
#include "layout/Algebra/Box.h"
#include "layout/Algebra/Evaluator.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::MutableArrayRef;

unsigned mlir::layout::getCodeBytes(unsigned width) {
  return llvm::PowerOf2Ceil(llvm::divideCeil(width, 8));
}

std::optional<int64_t>
mlir::layout::getStreamBytes(ArrayRef<PlacedPiece> pieces) {
  int64_t bits = 0;
  for (const PlacedPiece &piece : pieces) {
    std::optional<llvm::SmallVector<int64_t>> extent =
        piece.map.storageExtent(piece.sizes);
    if (!extent)
      return std::nullopt;
    bits = std::max(bits, extent->front());
  }
  return llvm::divideCeil(uint64_t(bits), uint64_t(8));
}

namespace {
/// `count` bits from bit `ofCode` of a code on, which are at `shift` bits after
/// the position of bit 0 of the piece.
struct Run {
  unsigned ofCode, count;
  int64_t shift;
};
} // namespace

/// Returns the runs of adjacent bits of a code, or one run per bit, without
/// shifts, if the distance of the bits depends on the index.
static std::vector<Run> findRuns(const Evaluator &position, int64_t bits) {
  std::vector<Run> runs;
  ArrayRef<int64_t> table = position.getTable(position.getNumDims() - 1);
  for (unsigned b = 0; b < bits; ++b) {
    int64_t shift = table.empty() ? 0 : table[b] - table[0];
    if (position.hasOnlyTables() && b &&
        shift == runs.back().shift + runs.back().count)
      ++runs.back().count;
    else
      runs.push_back({b, 1, shift});
  }
  return runs;
}

/// Calls move(number of the code, first bit of the code, position, count) for
/// all bits of `piece`. Returns false if positions overflow int64.
template <typename Fn>
static bool forEachRun(const PlacedPiece &piece, Sizes shape, Fn move) {
  std::optional<Evaluator> position =
      Evaluator::ofCoordinates(piece.map, piece.sizes);
  if (!position)
    return false;
  std::vector<Run> runs = findRuns(*position, piece.sizes.back());
  llvm::SmallVector<int64_t> box(piece.sizes);
  box.back() = 1; // the runs count the bits
  llvm::SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  llvm::SmallVector<int64_t> at(box.size());
  forEachIndex(box, [&](ArrayRef<int64_t> index) {
    int64_t code = 0, first = 0;
    for (size_t d = 0; d < shape.size(); ++d)
      code += (piece.begin[d] + index[d]) * strides[d];
    position->evaluate(index.data(), &first);
    for (const Run &run : runs) {
      int64_t place = first + run.shift;
      if (!position->hasOnlyTables()) {
        llvm::copy(index, at.begin());
        at.back() = run.ofCode;
        position->evaluate(at.data(), &place);
      }
      move(code, unsigned(piece.begin.back()) + run.ofCode, place, run.count);
    }
    return true;
  });
  return true;
}

static uint64_t getMask(unsigned count) {
  return llvm::maskTrailingOnes<uint64_t>(count);
}

/// Returns `count` bits of `bytes` from bit `position` on, at most 64.
static uint64_t readBits(ArrayRef<char> bytes, int64_t position,
                         unsigned count) {
  size_t byte = position / 8;
  unsigned shift = position % 8;
  if (byte + 8 <= bytes.size() && shift + count <= 64)
    return (llvm::support::endian::read64le(bytes.data() + byte) >> shift) &
           getMask(count);
  uint64_t value = 0;
  for (unsigned b = 0; b < count; ++b, ++position)
    value |= uint64_t(uint8_t(bytes[position / 8]) >> (position % 8) & 1) << b;
  return value;
}

/// Writes the lowest `count` bits of `value` from bit `position` on.
static void writeBits(MutableArrayRef<char> bytes, int64_t position,
                      unsigned count, uint64_t value) {
  size_t byte = position / 8;
  unsigned shift = position % 8;
  if (byte + 8 <= bytes.size() && shift + count <= 64) {
    char *word = bytes.data() + byte;
    uint64_t kept =
        llvm::support::endian::read64le(word) & ~(getMask(count) << shift);
    llvm::support::endian::write64le(word, kept | (value & getMask(count))
                                                      << shift);
    return;
  }
  for (unsigned b = 0; b < count; ++b, ++position) {
    char &into = bytes[position / 8];
    char bit = char(1u << (position % 8));
    into = value >> b & 1 ? into | bit : into & ~bit;
  }
}

/// Returns the little-endian integer of `size` bytes at `bytes`.
static uint64_t readCode(const char *bytes, unsigned size) {
  uint64_t code = 0;
  for (unsigned i = 0; i < size; ++i)
    code |= uint64_t(uint8_t(bytes[i])) << (8 * i);
  return code;
}

static void writeCode(char *bytes, unsigned size, uint64_t code) {
  for (unsigned i = 0; i < size; ++i)
    bytes[i] = char(code >> (8 * i));
}

/// Returns true if a buffer of codes of this shape and a stream of these pieces
/// have the given sizes in bytes, or if the stream is longer.
static bool haveSizes(ArrayRef<PlacedPiece> pieces, Sizes shape, unsigned width,
                      size_t codeBytes, size_t streamBytes) {
  std::optional<int64_t> count = countIndices(shape);
  std::optional<int64_t> stream = getStreamBytes(pieces);
  return count && stream && width <= 64 &&
         size_t(*count) * getCodeBytes(width) == codeBytes &&
         size_t(*stream) <= streamBytes;
}

bool mlir::layout::packBits(ArrayRef<PlacedPiece> pieces, Sizes shape,
                            unsigned width, ArrayRef<char> codes,
                            MutableArrayRef<char> stream) {
  unsigned bytes = getCodeBytes(width);
  return haveSizes(pieces, shape, width, codes.size(), stream.size()) &&
         llvm::all_of(pieces, [&](const PlacedPiece &piece) {
           return forEachRun(piece, shape,
                             [&](int64_t code, unsigned bit, int64_t position,
                                 unsigned count) {
                               uint64_t value =
                                   readCode(codes.data() + code * bytes, bytes);
                               writeBits(stream, position, count, value >> bit);
                             });
         });
}

bool mlir::layout::unpackBits(ArrayRef<PlacedPiece> pieces, Sizes shape,
                              unsigned width, ArrayRef<char> stream,
                              MutableArrayRef<char> codes) {
  unsigned bytes = getCodeBytes(width);
  if (!haveSizes(pieces, shape, width, codes.size(), stream.size()))
    return false;
  std::fill(codes.begin(), codes.end(), 0);
  return llvm::all_of(pieces, [&](const PlacedPiece &piece) {
    return forEachRun(
        piece, shape,
        [&](int64_t code, unsigned bit, int64_t position, unsigned count) {
          char *at = codes.data() + code * bytes;
          uint64_t value = readBits(stream, position, count) << bit;
          writeCode(at, bytes, readCode(at, bytes) | value);
        });
  });
}
