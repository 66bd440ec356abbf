//===- TritonExport.cpp - Export maps as linear layouts -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every bit of a coordinate is a sum of index and replica bits. The bases are
// the columns of the inverse of that matrix.
//
//===----------------------------------------------------------------------===//

#include "BitMatrix.h"
#include "layout/Algebra/DigitDecomposition.h"
#include "layout/Interop/Triton.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::Twine;

/// Returns true if `map` is in linear memory, or in the space `linear` with the
/// coordinates register, lane, warp and block.
static bool hasKnownSpace(const LayoutMap &map) {
  if (map.getSpace() == "buffer")
    return true;
  return map.getSpace() == "linear" &&
         llvm::equal(map.getCoordinates(), TritonLayout::kHardware,
                     [](const Coordinate &coordinate, llvm::StringRef name) {
                       return coordinate.name == name;
                     });
}

/// Returns the number of bits of the indices and replicas in `box`. Reports the
/// reason and returns std::nullopt if a size is not a power of two, or if there
/// are more than 62 bits.
static std::optional<unsigned>
countInputBits(ArrayRef<int64_t> box, unsigned rank, FailureReason refuse) {
  unsigned bits = 0;
  for (auto [d, size] : llvm::enumerate(box)) {
    if (size < 1 || !llvm::isPowerOf2_64(size))
      return refuse(
          (d < rank ? "dim " + Twine(d) : "a replica") +
          (size < 0 ? " is of unknown size" : " is of size " + Twine(size)) +
          ": bits need powers of two");
    bits += llvm::Log2_64(size);
  }
  if (bits > kMaxBits)
    return refuse("the elements of this shape do not fit 64 bits");
  return bits;
}

std::optional<std::string> mlir::layout::exportTriton(const LayoutMap &map,
                                                      Sizes sizes,
                                                      FailureReason error) {
  auto fail = [&](const Twine &message) {
    error(message);
    return std::nullopt;
  };
  SmallVector<int64_t> box = map.getBox(sizes);
  std::optional<unsigned> inputs = countInputBits(box, map.getRank(), error);
  if (!inputs)
    return std::nullopt;

  LayoutMap special = map.specialize(sizes);
  TritonLayout layout;
  layout.shape.assign(sizes.begin(), sizes.end());
  for (const Coordinate &coordinate : special.getCoordinates())
    layout.coordinates.push_back({coordinate.name, {}});
  if (!hasKnownSpace(special))
    return fail("the space '" + special.getSpace() +
                "' is neither linear memory nor 'linear' with the coordinates "
                "register, lane, warp and block");

  // For each bit of the index and the replicas, the mask of the coordinate bits
  // that it flips.
  SmallVector<uint64_t> flips(*inputs, 0);
  unsigned outputs = 0;
  BitReader reader(box, error);
  for (auto [coordinate, written] :
       llvm::zip(special.getCoordinates(), layout.coordinates)) {
    std::optional<int64_t> extent = coordinate.extent.getConstant();
    if (!extent || *extent < 1 || !llvm::isPowerOf2_64(*extent))
      return fail("'" + Twine(coordinate.name) + "' has " +
                  (extent ? Twine(*extent) : Twine("an unknown number of")) +
                  " positions: bits need powers of two");
    std::optional<Bits> bits = reader.read(coordinate.value);
    if (!bits)
      return std::nullopt;
    unsigned count = llvm::Log2_64(*extent);
    if (outputs + count > *inputs ||
        llvm::any_of(
            llvm::drop_begin(*bits, std::min<size_t>(count, bits->size())),
            [](uint64_t bit) { return bit != 0; }))
      return fail("'" + Twine(coordinate.name) +
                  "' has positions without an element, or elements without a "
                  "position: each position of a linear layout holds one");
    bits->resize(count, 0);
    for (uint64_t bit : *bits) {
      for (unsigned i = 0; i < *inputs; ++i)
        if (bit >> i & 1)
          flips[i] |= uint64_t(1) << outputs;
      ++outputs;
    }
    written.bases.resize(count);
  }
  BitSolution inverse = solve(flips, outputs);
  if (outputs != *inputs || !inverse.kernel.empty())
    return fail(Twine(outputs) + " bits of storage for " + Twine(*inputs) +
                " bits of the index: a linear layout must have as many "
                "positions as elements, and no two elements may share one");

  // The basis of a coordinate bit is the index, without replicas, that flips
  // this bit only.
  const uint64_t *flipping = inverse.units.begin();
  for (TritonLayout::Coordinate &coordinate : layout.coordinates)
    for (TritonLayout::Basis &basis : coordinate.bases) {
      uint64_t bits = *flipping++;
      for (int64_t size : sizes) {
        basis.push_back(bits & (size - 1));
        bits >>= llvm::Log2_64(size);
      }
    }
  return layout.str();
}
