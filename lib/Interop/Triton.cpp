//===- Triton.cpp - Triton linear layouts ---------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Interop/Triton.h"
#include "BitMatrix.h"
#include "Scanner.h"
#include "layout/Algebra/DigitDecomposition.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

namespace {
class TritonParser {
public:
  TritonParser(StringRef text, TextError error) : scanner(text, error) {}

  bool parse(TritonLayout &layout);

private:
  bool parseCoordinate(TritonLayout &layout);
  bool parseShape(TritonLayout &layout);
  bool checkBases(const TritonLayout &layout);

  Scanner scanner;
  // The columns in the text at which each basis and the shape begin.
  SmallVector<size_t> columns;
  size_t shapeColumn = 0;
};
} // namespace

bool TritonParser::parseCoordinate(TritonLayout &layout) {
  size_t start = scanner.column();
  StringRef name = scanner.word();
  if (name != TritonLayout::kMemory &&
      !llvm::is_contained(TritonLayout::kHardware, name))
    return scanner.fail(
        start, "expected register, lane, warp, block or offset" +
                   (layout.coordinates.empty() ? Twine("")
                                               : ", or ':' and the shape") +
                   (name.empty() ? Twine("") : ", found '" + name + "'"));
  for (const TritonLayout::Coordinate &known : layout.coordinates) {
    if (known.name == name)
      return scanner.fail(start, "'" + name + "' is repeated: write it once");
    if (known.name == TritonLayout::kMemory || name == TritonLayout::kMemory)
      return scanner.fail(
          start,
          "'" + name + "' beside '" + known.name +
              "': offset is linear memory, and must be the only coordinate");
  }
  TritonLayout::Coordinate coordinate{name, {}};
  if (!scanner.expect("=", "after " + name) ||
      !scanner.expect("[", "before the bases of " + name) ||
      !scanner.list("]", [&] {
        columns.push_back(scanner.column());
        return scanner.expect("[", "before the index of a basis") &&
               scanner.integers("]", "a number of the index",
                                coordinate.bases.emplace_back());
      }))
    return false;
  if (columns.size() > kMaxBits)
    return scanner.fail(columns[kMaxBits], "more than " + Twine(kMaxBits) +
                                               " bases: extents do not fit 64 "
                                               "bits");
  layout.coordinates.push_back(std::move(coordinate));
  return true;
}

bool TritonParser::parseShape(TritonLayout &layout) {
  if (!scanner.expect("[", "before the shape"))
    return false;
  unsigned bits = 0;
  return scanner.list("]", [&] {
    size_t start = scanner.column();
    int64_t size;
    if (!scanner.integer(size, "a size"))
      return false;
    if (size < 1 || !llvm::isPowerOf2_64(size))
      return scanner.fail(start,
                          "size " + Twine(size) + ": bits need powers of two");
    bits += llvm::Log2_64(size);
    if (bits > kMaxBits)
      return scanner.fail(start, "the elements of this shape do not fit 64 "
                                 "bits");
    layout.shape.push_back(size);
    return true;
  });
}

/// Packs the bits of a logical index into one bit vector, those of dim 0
/// lowest. Sizes must be powers of two.
static uint64_t pack(ArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  uint64_t bits = 0;
  unsigned begin = 0;
  for (auto [i, size] : llvm::zip(index, shape)) {
    bits |= uint64_t(i) << begin;
    begin += llvm::Log2_64(size);
  }
  return bits;
}

static unsigned countBits(ArrayRef<int64_t> shape) {
  unsigned bits = 0;
  for (int64_t size : shape)
    bits += llvm::Log2_64(size);
  return bits;
}

static BitSolution invert(const TritonLayout &layout) {
  SmallVector<uint64_t> bases;
  for (const TritonLayout::Coordinate &coordinate : layout.coordinates)
    for (ArrayRef<int64_t> basis : coordinate.bases)
      bases.push_back(pack(basis, layout.shape));
  return solve(bases, countBits(layout.shape));
}

bool TritonParser::checkBases(const TritonLayout &layout) {
  size_t column = 0;
  for (const TritonLayout::Coordinate &coordinate : layout.coordinates)
    for (ArrayRef<int64_t> basis : coordinate.bases) {
      size_t start = columns[column++];
      if (basis.size() != layout.shape.size())
        return scanner.fail(start, "a basis of " + Twine(basis.size()) +
                                       " numbers for a shape of " +
                                       Twine(layout.shape.size()) +
                                       " dims: it needs one for each");
      for (auto [i, size] : llvm::zip(basis, layout.shape))
        if (i < 0 || i >= size)
          return scanner.fail(start, "the basis leaves the shape: " + Twine(i) +
                                         " in a dim of size " + Twine(size));
    }
  BitSolution inverse = invert(layout);
  unsigned bit = 0;
  for (auto [d, size] : llvm::enumerate(layout.shape))
    for (int64_t i = 1; i < size; i *= 2)
      if (!inverse.units[bit++])
        return scanner.fail(
            shapeColumn, "the bases do not span the shape: no sum of them is " +
                             Twine(i) + " of dim " + Twine(d) + " alone");
  return true;
}

bool TritonParser::parse(TritonLayout &layout) {
  do {
    if (!parseCoordinate(layout))
      return false;
  } while (!scanner.consume(":"));
  shapeColumn = scanner.column();
  if (!parseShape(layout) || !scanner.expectEnd() || !checkBases(layout))
    return false;
  if (layout.isMemory())
    return true;
  // Give coordinates that the text leaves out no bits.
  SmallVector<TritonLayout::Coordinate, 4> all;
  for (StringRef name : TritonLayout::kHardware) {
    auto written =
        llvm::find_if(layout.coordinates, [&](const auto &coordinate) {
          return coordinate.name == name;
        });
    if (written != layout.coordinates.end())
      all.push_back(*written);
    else
      all.push_back({name, {}});
  }
  layout.coordinates = std::move(all);
  return true;
}

std::optional<TritonLayout> mlir::layout::parseTriton(StringRef text,
                                                      TextError error) {
  TritonLayout layout;
  if (!TritonParser(text, error).parse(layout))
    return std::nullopt;
  return layout;
}

//===----------------------------------------------------------------------===//
// Maps and texts
//===----------------------------------------------------------------------===//

std::optional<LayoutMap> TritonLayout::getMap(Sizes sizes,
                                              FailureReason error) const {
  unsigned rank = shape.size();
  if (!checkRank(rank, sizes, error))
    return std::nullopt;
  for (unsigned d = 0; d < rank; ++d)
    if (sizes[d] != shape[d]) {
      error("dim " + Twine(d) + " has the size " + Twine(shape[d]) +
            ", the tensor has " +
            (sizes[d] < 0 ? "an unknown size" : Twine(sizes[d])) +
            " there (L1): write the bases for this shape");
      return std::nullopt;
    }

  // The inputs of the map are the bits of the logical dims, and those of one
  // replica dim: one bit per set of bases whose xor is 0.
  BitSolution inverse = invert(*this);
  SmallVector<std::pair<BoundedIndex, uint64_t>>
      inputs; // and the bits they flip
  auto addInput = [&](unsigned dim, int64_t lo, uint64_t flips) {
    inputs.push_back({mod(floorDiv(BoundedIndex::dim(dim), lo), 2), flips});
  };
  for (unsigned d = 0, bit = 0; d < rank; ++d)
    for (int64_t i = 1; i < shape[d]; i *= 2)
      addInput(d, i, inverse.units[bit++]);
  for (auto [r, flips] : llvm::enumerate(inverse.kernel))
    addInput(rank, int64_t(1) << r, flips);
  SmallVector<int64_t> replicas;
  if (!inverse.kernel.empty())
    replicas.push_back(int64_t(1) << inverse.kernel.size());

  std::vector<mlir::layout::Coordinate> result;
  uint64_t mask = 1; // of the next bit
  for (const Coordinate &coordinate : coordinates) {
    SmallVector<BoundedIndex> bits; // the highest first
    for (size_t b = 0; b < coordinate.bases.size(); ++b, mask *= 2) {
      SmallVector<BoundedIndex> flipping;
      for (const auto &[input, flips] : inputs)
        if (flips & mask)
          flipping.push_back(input);
      bits.insert(bits.begin(), xorOf(flipping, 2));
    }
    BoundedIndex value = group(bits);
    result.push_back({coordinate.name.str(), value.value, value.extent});
  }
  return LayoutMap::get(rank, isMemory() ? "buffer" : "linear",
                        std::move(result), replicas)
      .specialize(sizes);
}

std::string TritonLayout::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  auto print = [&](ArrayRef<int64_t> numbers) {
    os << '[';
    llvm::interleave(numbers, os, ",");
    os << ']';
  };
  for (const Coordinate &coordinate : coordinates) {
    os << coordinate.name << "=[";
    llvm::interleave(coordinate.bases, os, print, ",");
    os << "] ";
  }
  os << ": ";
  print(shape);
  return text;
}
