//===- SuffixTrieTest.cpp - Longest common suffixes of sequences ----------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Programs/SuffixTrie.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir::layout;

namespace {

using Sequence = std::vector<SuffixTrie::Element>;

bool endsWith(const Sequence &sequence, const Sequence &tail) {
  return tail.size() <= sequence.size() &&
         std::equal(tail.rbegin(), tail.rend(), sequence.rbegin());
}

TEST(SuffixTrie, LongestOtherTailAndTheFirstOfEqualOnes) {
  std::mt19937 random(20240611);
  unsigned numFound = 0;
  for (unsigned round = 0; round < 2000; ++round) {
    SuffixTrie tails;
    std::vector<Sequence> sequences(1 + random() % 12);
    for (Sequence &sequence : sequences) {
      for (unsigned left = 1 + random() % 5; left > 0; --left)
        sequence.push_back({random() % 2, random() % 2});
      tails.add(sequence);
    }
    for (unsigned s = 0; s < sequences.size(); ++s) {
      std::optional<unsigned> expected;
      for (unsigned other = 0; other < sequences.size(); ++other) {
        bool isEarlierOrShorter =
            other < s || sequences[other].size() < sequences[s].size();
        if (other != s && isEarlierOrShorter &&
            endsWith(sequences[s], sequences[other]) &&
            (!expected ||
             sequences[other].size() > sequences[*expected].size()))
          expected = other;
      }
      std::optional<SuffixTrie::Tail> found = tails.find(s);
      ASSERT_EQ(found.has_value(), expected.has_value()) << "round " << round;
      if (!found)
        continue;
      EXPECT_EQ(found->sequence, *expected) << "round " << round;
      EXPECT_EQ(found->length, sequences[*expected].size());
      ++numFound;
    }
  }
  EXPECT_GT(numFound, 1000u);
}

} // namespace
