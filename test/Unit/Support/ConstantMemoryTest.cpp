//===- ConstantMemoryTest.cpp - Blocks that share pages -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Support/ConstantMemory.h"
#include "gtest/gtest.h"
#include <cstdint>

using namespace mlir::layout;

namespace {

/// Blocks share a chunk, and the most recently freed one is reused first. A
/// block larger than a chunk has its own.
TEST(ConstantMemory, BlocksLieSideBySide) {
  std::shared_ptr<char> first = allocateConstantBytes(100, 64);
  std::shared_ptr<char> second = allocateConstantBytes(100, 64);
  EXPECT_EQ(second.get() - first.get(), 128);
  char *place = second.get();
  second.reset();
  EXPECT_EQ(allocateConstantBytes(50, 64).get(), place);
  std::shared_ptr<char> large = allocateConstantBytes(size_t(80) << 20, 4096);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(large.get()) % 4096, 0u);
  EXPECT_TRUE(isConstantMemory(large.get() + (size_t(80) << 20) - 1));
  EXPECT_TRUE(isConstantMemory(first.get()));
  first.reset();
  EXPECT_FALSE(isConstantMemory(place));
  EXPECT_FALSE(isConstantMemory(&large));
}

} // namespace
