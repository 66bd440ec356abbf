//===- PackedDimsTest.cpp - Random layouts of packed dims -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The scan of docs/spec.md, section 3.2, on numbers: the expected values use no
// digit, extent or map of the library.
//
//===----------------------------------------------------------------------===//

#include "layout/Algebra/Families/PackedDims.h"
#include "RandomShapes.h"
#include "layout/Algebra/LayoutMap.h"
#include "layout/Algebra/Proof.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <map>
#include <set>

using namespace layout_test;
using namespace mlir::layout;

namespace {

constexpr uint64_t kSeed = 20250117;

using Index = SmallIndex;

using PackedDimsText = std::vector<PackedDim>;

std::string str(llvm::ArrayRef<PackedDim> dims) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const PackedDim &dim : dims)
    os << '[' << dim << ']';
  return text;
}

PackedDimsText randomPackedDims(RandomShapes &random, size_t rank) {
  PackedDimsText dims;
  for (int64_t n = random.below(2 * rank + 1); n > 0; --n) {
    bool oddEven = random.below(3) == 0;
    int64_t extent = oddEven ? 2 + 2 * random.below(3) : 1 + random.below(6);
    dims.push_back({random.below(rank),
                    oddEven ? PackedDim::OddEven : PackedDim::Packed, extent});
  }
  // Whole dims are outside of their parts.
  for (size_t d = 0; d < rank; ++d) {
    if (random.below(8) == 0)
      continue;
    size_t first = 0;
    while (first < dims.size() && dims[first].dim != int64_t(d))
      ++first;
    dims.insert(dims.begin() + random.below(first + 1),
                {int64_t(d), PackedDim::Whole, 0});
  }
  return dims;
}

/// Computes the extents by the rules of the specification, fastest first, or
/// returns std::nullopt if the layout does not apply.
std::optional<Index> scanExtents(const PackedDimsText &dims, Index left) {
  Index extents;
  std::set<int64_t> clipped;
  for (size_t i = dims.size(); i-- > 0;) {
    int64_t &rest = left[dims[i].dim], p = dims[i].extent;
    if (dims[i].kind == PackedDim::Whole) {
      extents.push_back(rest);
      rest = 1;
    } else if (rest % p == 0) {
      extents.push_back(p);
      rest /= p;
    } else if (dims[i].kind == PackedDim::OddEven) {
      if (rest != 1)
        return std::nullopt;
      extents.push_back(1);
    } else {
      if (rest > p || !clipped.insert(dims[i].dim).second)
        return std::nullopt;
      extents.push_back(rest);
      rest = 1;
    }
  }
  for (int64_t rest : left)
    if (rest != 1)
      return std::nullopt;
  return extents;
}

/// Computes the sum of alpha * (i / v mod p), back to front. In an oddeven
/// part, even values precede odd ones.
int64_t scanOffset(const PackedDimsText &dims, const Index &extents,
                   const Index &index) {
  int64_t offset = 0, alpha = 1;
  std::map<int64_t, int64_t> covered;
  for (size_t k = 0; k < extents.size(); ++k) {
    const PackedDim &dim = dims[dims.size() - 1 - k];
    int64_t p = extents[k], &v = covered.try_emplace(dim.dim, 1).first->second;
    int64_t digit = index[dim.dim] / v % p;
    if (dim.kind == PackedDim::OddEven && p > 1)
      digit = digit % 2 ? p / 2 + (digit - 1) / 2 : digit / 2;
    offset += alpha * digit;
    alpha *= p;
    v *= p;
  }
  return offset;
}

TEST(PackedDims, IsABijectionByTheFormulaOrDoesNotApply) {
  RandomShapes random(kSeed);
  int applied = 0, refused = 0;
  for (int i = 0; i < 6000; ++i) {
    size_t rank = 1 + random.below(4);
    PackedDimsText dims = randomPackedDims(random, rank);
    Index shape = random.shape(rank, rank > 2 ? 6 : 24);
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", layout " +
                 std::to_string(i) + ": " + str(dims) + " on " +
                 testing::PrintToString(shape));
    ASSERT_TRUE(checkPackedDims(
        dims, [](size_t, const llvm::Twine &m) { ADD_FAILURE() << m.str(); }));
    std::string why;
    auto stored = getStoredDims(
        dims, shape, [&](const llvm::Twine &message) { why = message.str(); });
    std::optional<Index> extents = scanExtents(dims, shape);
    ASSERT_EQ(stored.has_value(), extents.has_value()) << why;
    ASSERT_EQ(stored.has_value(), why.empty());
    ++(stored ? applied : refused);
    if (!stored)
      continue;

    for (size_t k = 0; k < extents->size(); ++k)
      ASSERT_EQ((*stored)[stored->size() - 1 - k].extent.evaluate(shape),
                (*extents)[k]);
    BoundedIndex offset = group(*stored);
    LayoutMap map = LayoutMap::get(rank, "buffer",
                                   {{"offset", offset.value, offset.extent}});
    ASSERT_EQ(proveInjective(map, shape).answer, ProofResult::Proved);
    std::vector<Index> indices = allIndices(shape);
    std::set<int64_t> image;
    for (const Index &index : indices) {
      int64_t x = (*map.forward(index, shape))[0];
      ASSERT_EQ(x, scanOffset(dims, *extents, index));
      image.insert(x);
    }
    ASSERT_EQ(image.size(), indices.size());
    ASSERT_EQ(*image.begin(), 0);
    ASSERT_EQ(*image.rbegin(), int64_t(indices.size()) - 1);
    ASSERT_EQ(*map.storageExtent(shape), Index{int64_t(indices.size())});
  }
  EXPECT_GT(applied, 1000);
  EXPECT_GT(refused, 1000);
}

TEST(PackedDims, ADynamicSizeIsTakenWhereItDecidesNothing) {
  RandomShapes random(kSeed + 1);
  int applied = 0, refused = 0;
  for (int i = 0; i < 3000; ++i) {
    size_t rank = 1 + random.below(3);
    PackedDimsText dims = randomPackedDims(random, rank);
    Index known = random.shape(rank, 8);
    for (int64_t &size : known)
      if (random.below(2))
        size = kUnknownSize;
    SCOPED_TRACE("seed " + std::to_string(kSeed + 1) + ", layout " +
                 std::to_string(i) + ": " + str(dims) + " on " +
                 testing::PrintToString(known));
    auto stored = getStoredDims(dims, known, nullptr);
    // If it applies, every size gives the same map; otherwise some size is
    // refused, or the size is divided by a part.
    bool hasPart = false, someRefused = false;
    for (const PackedDim &dim : dims)
      hasPart |= known[dim.dim] == kUnknownSize && dim.extent > 1;
    for (int trial = 0; trial < 24; ++trial) {
      Index shape = known;
      for (int64_t &size : shape)
        if (size == kUnknownSize)
          size = 1 + random.below(9);
      std::optional<Index> extents = scanExtents(dims, shape);
      someRefused |= !extents;
      if (!stored)
        continue;
      ASSERT_TRUE(extents.has_value());
      BoundedIndex offset = group(*stored);
      for (const Index &index : allIndices(shape))
        ASSERT_EQ(offset.value.evaluate(index, shape),
                  scanOffset(dims, *extents, index));
    }
    ASSERT_TRUE(stored || hasPart || someRefused);
    ++(stored ? applied : refused);
  }
  EXPECT_GT(applied, 300);
  EXPECT_GT(refused, 300);
}

TEST(PackedDims, EntriesThatNoShapeTakesAreFaults) {
  auto faultOf = [](llvm::ArrayRef<PackedDim> dims) {
    std::optional<size_t> fault;
    checkPackedDims(dims,
                    [&](size_t entry, const llvm::Twine &) { fault = entry; });
    return fault;
  };
  EXPECT_EQ(faultOf({{0, PackedDim::Whole, 0}, {1, PackedDim::Packed, 4}}),
            std::nullopt);
  EXPECT_EQ(faultOf({{0, PackedDim::Whole, 0}, {-1, PackedDim::Whole, 0}}), 1u);
  EXPECT_EQ(faultOf({{0, PackedDim::Packed, 0}}), 0u);
  EXPECT_EQ(faultOf({{0, PackedDim::OddEven, 5}}), 0u);
}

} // namespace
