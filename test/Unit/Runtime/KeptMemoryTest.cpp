//===- KeptMemoryTest.cpp - Reuse of large blocks across runs -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Runtime/KeptMemory.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <set>

using namespace mlir::layout;

namespace {

constexpr size_t kLarge = 48 << 20;

TEST(KeptMemory, GivesAFreedBlockToTheNextWhoFits) {
  void *block = allocateMemory(kLarge);
  freeMemory(block);
  void *larger = allocateMemory(2 * kLarge);
  EXPECT_NE(larger, block);
  EXPECT_EQ(allocateMemory(kLarge - 64), block);
  freeMemory(block);
  freeMemory(larger);
  releaseKeptMemory();
}

TEST(KeptMemory, GivesTheSmallestThatFits) {
  void *large = allocateMemory(2 * kLarge), *small = allocateMemory(kLarge);
  freeMemory(large);
  freeMemory(small);
  EXPECT_EQ(allocateMemory(kLarge), small);
  EXPECT_EQ(allocateMemory(kLarge), large);
  freeMemory(small);
  freeMemory(large);
  releaseKeptMemory();
}

TEST(KeptMemory, GivesABlockToOneAtATime) {
  void *block = allocateMemory(kLarge);
  void *other = allocateMemory(kLarge);
  EXPECT_NE(other, block);
  freeMemory(block);
  EXPECT_EQ(allocateMemory(kLarge), block);
  freeMemory(block);
  freeMemory(other);
  releaseKeptMemory();
}

TEST(KeptMemory, KeepsTwoResults) {
  void *blocks[] = {allocateMemory(kLarge), allocateMemory(kLarge),
                    allocateMemory(kLarge)};
  void *temporary = allocateMemory(kLarge);
  freeMemory(temporary);
  for (void *block : blocks)
    freeResultMemory(block);
  // The oldest result was freed; the others and the temporary remain.
  std::set<void *> kept{blocks[1], blocks[2], temporary};
  std::set<void *> reused{allocateMemory(kLarge), allocateMemory(kLarge),
                          allocateMemory(kLarge)};
  EXPECT_EQ(reused, kept);
  for (void *block : kept)
    freeMemory(block);
  releaseKeptMemory();
}

TEST(KeptMemory, TakesAndGivesMemoryOfTheCLibrary) {
  freeMemory(nullptr);
  freeMemory(std::malloc(16));
  std::free(allocateMemory(16));
  std::free(allocateMemory(kLarge));
  void *block = std::malloc(kLarge);
  freeMemory(block);
  EXPECT_EQ(allocateMemory(kLarge), block);
  std::free(block);
}

} // namespace
