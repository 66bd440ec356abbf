//===- RandomScatter.h - Random layouts in local memory ---------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random chips, and layouts in their local memory that apply to random shapes.
// Copies are planned from the canonical maps and run on the simulator.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TEST_UNIT_TARGETS_NPU_MEMORY_RANDOMSCATTER_H
#define LAYOUT_TEST_UNIT_TARGETS_NPU_MEMORY_RANDOMSCATTER_H

#include "layout/Algebra/Families/NpuScatter.h"
#include "layout/Dialect/NPU/Utils/Transfers.h"
#include "layout/Targets/NPU/Simulator/NpuSimulator.h"
#include "gtest/gtest.h"
#include <random>

namespace mlir::npu {

using namespace mlir::layout;

constexpr uint32_t kSeed = 20240917;

using Index = llvm::SmallVector<int64_t>;

struct Case {
  NpuScatter scatter;
  ChipParams params;
  int64_t elementBytes = 4;
  Index shape;
  LayoutMap map;
  std::string text;
};

class RandomScatterTest : public testing::Test {
protected:
  int64_t below(int64_t n) {
    return std::uniform_int_distribution<int64_t>(0, n - 1)(random);
  }
  int64_t pick(std::initializer_list<int64_t> values) {
    return values.begin()[below(int64_t(values.size()))];
  }

  /// Draws a layout that applies to a random shape.
  Case get() {
    while (true) {
      Case c;
      c.params = {pick({1, 2, 3, 4, 8}), pick({1024, 2048, 3000}),
                  pick({16, 64, 128})};
      c.elementBytes = pick({1, 2, 4, 4, 8});
      c.shape = {1 + below(6), 1 + below(10), 1 + below(5), 1 + below(6)};
      c.scatter.mode = NpuMode(below(4));
      c.scatter.start = below(c.params.npus);
      c.scatter.offset = below(3) ? 0 : below(8) * pick({4, 16, 128});
      if (c.elementBytes == 1 && below(2))
        c.scatter.pack = NpuPack::N4;
      if (c.elementBytes == 2 && below(2))
        c.scatter.pack = NpuPack::N2;
      if (c.elementBytes == 4 && c.scatter.mode == NpuMode::Compact && below(2))
        c.scatter.pack = NpuPack::IC2;
      if (c.scatter.mode == NpuMode::Matrix) {
        c.shape = {1 + below(6), 1 + below(50)};
        c.scatter.width = 1 + below(c.shape[1]);
      }
      if (c.scatter.mode == NpuMode::Strided) {
        int64_t sW = 1 + below(2), sH = sW * c.shape[3] + below(3);
        int64_t sC = sH * c.shape[2] + below(5);
        int64_t rows = (c.scatter.start + c.shape[1] - 1) / c.params.npus + 1;
        c.scatter.strides = {sC * rows + below(5), sC, sH, sW};
      }
      if (place(c))
        return c;
    }
  }

  static bool place(Case &c) {
    auto refuse = nullptr;
    if (!checkNpuScatter(c.scatter, refuse))
      return false;
    std::optional<NpuStorage> storage =
        getNpuStorage(c.scatter, c.params, c.elementBytes, c.shape, refuse);
    if (!storage)
      return false;
    c.map = storage->getMap(c.shape);
    c.text = "seed " + std::to_string(kSeed) + ", " + c.map.str() + " on";
    for (int64_t size : c.shape)
      c.text += " " + std::to_string(size);
    c.text += " of " + std::to_string(c.elementBytes) + " bytes, " +
              std::to_string(c.params.npus) + " cores";
    return true;
  }

  /// Plans the DMA transfers of a copy between two layouts and runs them on the
  /// simulator. Fails the test and returns false if there is no plan.
  static bool run(Simulator &npu, const LayoutMap &source, uint64_t from,
                  const LayoutMap &dest, uint64_t to, const Case &c,
                  const Index &shape) {
    std::string why;
    std::optional<std::vector<Transfer>> transfers =
        planTransfers(source, dest, shape, c.elementBytes, {c.params.npus},
                      [&](const llvm::Twine &message) { why = message.str(); });
    EXPECT_TRUE(transfers) << why;
    if (!transfers)
      return false;
    auto operand = [&](const TransferSide &side, uint64_t base) {
      uint64_t address = side.isLocal()
                             ? side.core * c.params.bytesPerNpu + side.byte
                             : base + side.byte;
      return Operand{side.isLocal(), address, side.strides};
    };
    for (const Transfer &transfer : *transfers)
      npu.copy(operand(transfer.dest, to), operand(transfer.source, from),
               transfer.shape, transfer.elementBytes);
    return true;
  }

  std::mt19937 random{kSeed};
};

template <typename Fn> void forEachIndex(const Index &shape, Fn fn) {
  Index index(shape.size(), 0);
  while (true) {
    fn(index);
    int d = int(shape.size()) - 1;
    while (d >= 0 && ++index[d] == shape[d])
      index[d--] = 0;
    if (d < 0)
      return;
  }
}

inline int64_t countElements(const Index &shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

} // namespace mlir::npu

#endif // LAYOUT_TEST_UNIT_TARGETS_NPU_MEMORY_RANDOMSCATTER_H
