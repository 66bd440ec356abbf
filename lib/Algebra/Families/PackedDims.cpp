//===- PackedDims.cpp - Layouts of packed and split dims ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Families/PackedDims.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir::layout;
using llvm::ArrayRef;
using llvm::Twine;

llvm::raw_ostream &mlir::layout::operator<<(llvm::raw_ostream &os,
                                            const PackedDim &dim) {
  os << dim.dim;
  if (dim.kind == PackedDim::Whole)
    return os;
  return os << (dim.kind == PackedDim::OddEven ? " : oddeven " : " : ")
            << dim.extent;
}

static std::string str(const PackedDim &dim) {
  std::string text;
  llvm::raw_string_ostream(text) << dim;
  return text;
}

bool mlir::layout::checkPackedDims(
    ArrayRef<PackedDim> dims,
    llvm::function_ref<void(size_t, const Twine &)> error) {
  llvm::SmallSet<int64_t, 8> whole, parts; // any number can be a key
  for (auto [i, entry] : llvm::enumerate(dims)) {
    auto fail = [&, i = i](const Twine &message) {
      error(i, message);
      return false;
    };
    if (entry.dim < 0)
      return fail("a dim must be at least 0, found " + Twine(entry.dim));
    if (entry.kind == PackedDim::Whole) {
      if (parts.contains(entry.dim))
        return fail("dim " + Twine(entry.dim) +
                    " without an extent is inside a part of it: the rest of a "
                    "dim must be its slowest entry");
      if (!whole.insert(entry.dim).second)
        return fail("dim " + Twine(entry.dim) +
                    " without an extent is repeated: the rest of a dim must be "
                    "one entry");
      continue;
    }
    if (entry.extent < 1)
      return fail("an extent must be at least 1, found " + Twine(entry.extent));
    if (entry.kind == PackedDim::OddEven && entry.extent % 2)
      return fail("an extent of 'oddeven' must be even, found " +
                  Twine(entry.extent));
    parts.insert(entry.dim);
  }
  return true;
}

namespace {
/// The part of one logical dim that no entry has stored yet. Entries are read
/// from the fastest to the slowest.
struct Rest {
  BoundedIndex dim;
  int64_t size;           // kUnknownSize if dynamic
  int64_t below = 1;      // product of the extents of the entries read
  bool isClipped = false; // an entry was clipped
  bool isTaken = false;   // an entry took the whole remainder
  const PackedDim *outermost = nullptr;

  BoundedIndex above() const {
    return isTaken ? BoundedIndex::constant(0) : floorDiv(dim, below);
  }
  BoundedIndex take() {
    BoundedIndex all = above();
    size = 1;
    isTaken = true;
    return all;
  }
};
} // namespace

/// Returns the index that stores the even positions of x before the odd ones:
/// 0, 2, .., 1, 3, ..
static BoundedIndex evenBeforeOdd(const BoundedIndex &x) {
  return group({mod(x, 2), floorDiv(x, 2)});
}

std::optional<llvm::SmallVector<BoundedIndex>>
mlir::layout::getStoredDims(ArrayRef<PackedDim> dims, Sizes shape,
                            FailureReason why) {
  auto fail = [&](const Twine &message) {
    why(message);
    return std::nullopt;
  };
  llvm::SmallVector<Rest> rests;
  for (auto [d, size] : llvm::enumerate(shape))
    rests.push_back({BoundedIndex::dim(d), size});
  for (const PackedDim &entry : llvm::reverse(dims)) {
    if (entry.dim >= int64_t(shape.size()))
      return fail("it names dim " + Twine(entry.dim) +
                  ", the tensor has rank " + Twine(shape.size()) +
                  ": write it over the dims of the tensor");
    rests[entry.dim].outermost = &entry;
  }

  llvm::SmallVector<BoundedIndex> stored; // fastest first
  for (const PackedDim &entry : llvm::reverse(dims)) {
    Rest &rest = rests[entry.dim];
    bool isOddEven = entry.kind == PackedDim::OddEven;
    if (entry.kind == PackedDim::Whole) {
      stored.push_back(rest.take());
      continue;
    }
    // An extent of 1 divides every size, even a dynamic one.
    if (rest.size == kUnknownSize && entry.extent != 1)
      return fail("the extent of '" + str(entry) + "' may not divide dim " +
                  Twine(entry.dim) +
                  ", whose size is dynamic: make the dim static, or use "
                  "#layout.blocked, which pads");
    if (rest.size % entry.extent == 0) {
      // The slowest entry of a dim stores all that is left, so it needs no mod.
      // An unsplit dim is then a single digit in every notation.
      BoundedIndex part = rest.above();
      if (&entry != rest.outermost)
        part = mod(part, entry.extent);
      stored.push_back(isOddEven ? evenBeforeOdd(part) : part);
      rest.size /= entry.extent;
      // The product of the extents can exceed the size only if the dim is
      // empty.
      if (llvm::MulOverflow(rest.below, entry.extent, rest.below))
        return fail("the extents of the parts of dim " + Twine(entry.dim) +
                    " do not fit 64 bits: use smaller ones");
      continue;
    }
    bool isClip = !isOddEven && rest.size < entry.extent;
    if (isClip && rest.isClipped)
      return fail(
          "'" + str(entry) + "' follows a part of dim " + Twine(entry.dim) +
          " that was clipped already, with " + Twine(rest.size) +
          " left: drop one of the two, or use #layout.blocked, which pads");
    if (!isClip && !(isOddEven && rest.size == 1))
      return fail("the extent of '" + str(entry) + "' does not divide the " +
                  Twine(rest.size) + " left of dim " + Twine(entry.dim) +
                  ": choose one that does, or use #layout.blocked, which "
                  "pads");
    rest.isClipped |= isClip;
    stored.push_back(rest.take());
  }

  for (auto [d, rest] : llvm::enumerate(rests)) {
    if (rest.isTaken || rest.size == 1)
      continue;
    return fail((rest.size == kUnknownSize ? "an unknown number of positions"
                                           : Twine(rest.size)) +
                " left of dim " + Twine(d) +
                ", which must be 1: add the entry '" + Twine(d) +
                "' for the rest");
  }
  std::reverse(stored.begin(), stored.end());
  return stored;
}
