//===- RoundTripTest.cpp - Random copies through the simulator ------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Random chips, layouts and shapes: a tensor is copied from system memory to
// local memory by transfers planned from the canonical maps, every byte of
// local memory is compared, and a random slice is copied back. The simulator
// has no notion of layouts.
//
//===----------------------------------------------------------------------===//

#include "RandomScatter.h"
#include "layout/Algebra/Evaluator.h"
#include "layout/Algebra/Views.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace mlir::layout;
using namespace mlir::npu;

namespace {

constexpr int kRounds = 100000;

using RoundTripTest = RandomScatterTest;

TEST_F(RoundTripTest, EveryByteIsWhereTheMapSaysAndPaddingIsUntouched) {
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    Case c = get();
    SCOPED_TRACE(c.text);
    Simulator npu({c.params.npus, c.params.bytesPerNpu, c.params.euBytes});
    int64_t e = c.elementBytes, bytes = countElements(c.shape) * e;
    std::vector<uint8_t> data(bytes);
    for (uint8_t &byte : data)
      byte = uint8_t(random());
    uint64_t x = npu.allocSystem(bytes);
    npu.writeSystem(x, data.data(), bytes);
    if (!run(npu, LayoutMap::rowMajor(c.shape.size()), x, c.map, 0, c, c.shape))
      break;

    // Checks the position of each element, and that no other byte was written.
    std::optional<Evaluator> where = Evaluator::ofCoordinates(c.map, c.shape);
    ASSERT_TRUE(where);
    int64_t number = 0;
    forEachIndex(c.shape, [&](const Index &index) {
      int64_t at[2];
      where->evaluate(index.data(), at);
      for (int64_t b = 0; b < e; ++b)
        EXPECT_EQ(npu.readLocal(at[0], at[1] * e + b, 1), data[number + b]);
      number += e;
    });
    EXPECT_EQ(npu.countWritten(), bytes);

    // Copies a slice back.
    Index offsets, sizes, ones(c.shape.size(), 1);
    for (int64_t size : c.shape) {
      offsets.push_back(below(size));
      sizes.push_back(1 + below(size - offsets.back()));
    }
    std::optional<LayoutMap> part = slice(c.map, c.shape, offsets, sizes, ones);
    ASSERT_TRUE(part);
    int64_t partBytes = countElements(sizes) * e;
    uint64_t y = npu.allocSystem(partBytes);
    if (!run(npu, *part, 0, LayoutMap::rowMajor(sizes.size()), y, c, sizes))
      break;
    std::vector<uint8_t> back(partBytes);
    npu.readSystem(y, back.data(), partBytes);
    number = 0;
    forEachIndex(sizes, [&](const Index &index) {
      int64_t linear = 0;
      for (size_t d = 0; d < index.size(); ++d)
        linear = linear * c.shape[d] + offsets[d] + index[d];
      for (int64_t b = 0; b < e; ++b)
        EXPECT_EQ(back[number + b], data[linear * e + b]);
      number += e;
    });
    EXPECT_EQ(npu.getErrors(), std::vector<std::string>());
    EXPECT_EQ(npu.getCounters().bytesToLocal, bytes);
    EXPECT_EQ(npu.getCounters().bytesToSystem, partBytes);
  }
}

/// A copy within local memory between two layouts of a tensor: with packing,
/// another start core, or aligned and compact.
TEST_F(RoundTripTest, LocalToLocalIsTheSameTensor) {
  for (int round = 0; round < kRounds / 10 && !HasFailure(); ++round) {
    Case from, to;
    do {
      from = get();
      to = get();
      to.params = from.params;
      to.elementBytes = from.elementBytes;
      if (to.scatter.mode == NpuMode::Matrix ||
          to.scatter.mode == NpuMode::Strided)
        to.scatter.mode = NpuMode::Compact;
      to.shape = from.shape;
      to.scatter.start %= to.params.npus;
      // After the other tensor, in a chip with more memory.
      to.scatter.offset += from.params.bytesPerNpu / 128 * 128 + 128;
      to.params.bytesPerNpu *= 3;
    } while (from.shape.size() != 4 || !place(to));
    // An address is a core and a byte of the larger chip from here on.
    from.params = to.params;
    SCOPED_TRACE(from.text + " to " + to.text);
    Simulator npu({to.params.npus, to.params.bytesPerNpu, 1});
    int64_t bytes = countElements(to.shape) * to.elementBytes;
    std::vector<uint8_t> data(bytes), back(bytes);
    for (uint8_t &byte : data)
      byte = uint8_t(random());
    uint64_t x = npu.allocSystem(bytes), y = npu.allocSystem(bytes);
    npu.writeSystem(x, data.data(), bytes);
    LayoutMap linear = LayoutMap::rowMajor(4);
    if (!run(npu, linear, x, from.map, 0, from, from.shape) ||
        !run(npu, from.map, 0, to.map, 0, to, to.shape) ||
        !run(npu, to.map, 0, linear, y, to, to.shape))
      break;
    npu.readSystem(y, back.data(), bytes);
    EXPECT_EQ(back, data);
    EXPECT_EQ(npu.countWritten(), 2 * bytes);
    EXPECT_EQ(npu.getErrors(), std::vector<std::string>());
    EXPECT_EQ(npu.getCounters().bytesInside, bytes);
  }
}

/// Transposed dims and repeated channels within local memory: loops that exceed
/// the engine become several transfers.
TEST_F(RoundTripTest, TransposedAndRepeatedInsideLocalMemory) {
  for (int round = 0; round < kRounds / 20 && !HasFailure(); ++round) {
    bool repeats = below(2);
    Index order{0, 1, 2, 3};
    std::shuffle(order.begin(), order.end(), random);
    Case from, to;
    do {
      from = get();
      if (from.shape.size() != 4)
        continue;
      if (repeats)
        from.shape[1] = 1;
      to = from;
      to.scatter = NpuScatter();
      to.scatter.mode = NpuMode::Compact;
      to.scatter.start = below(from.params.npus);
      to.scatter.offset = 4096;
      to.params.bytesPerNpu = 1 << 16;
      for (int d = 0; d < 4; ++d)
        to.shape[d] = from.shape[order[d]];
      if (repeats)
        to.shape[llvm::find(order, 1) - order.begin()] = 1 + below(6);
    } while (from.shape.size() != 4 || !place(from) || !place(to));
    from.params = to.params;
    SCOPED_TRACE(from.text + " to " + to.text);

    // The source, read in the order of the destination.
    std::vector<IndexExpr> dims(4);
    std::vector<SizeExpr> sizeOf;
    for (int d = 0; d < 4; ++d) {
      sizeOf.push_back(SizeExpr(from.shape[d]));
      dims[order[d]] =
          repeats && order[d] == 1 ? IndexExpr() : IndexExpr::dim(d);
    }
    LayoutMap read = from.map.substitute(4, dims, sizeOf, to.shape);
    Simulator npu({to.params.npus, to.params.bytesPerNpu, 1});
    int64_t e = from.elementBytes, bytes = countElements(from.shape) * e;
    std::vector<uint8_t> data(bytes), back(countElements(to.shape) * e);
    for (uint8_t &byte : data)
      byte = uint8_t(random());
    uint64_t x = npu.allocSystem(bytes), y = npu.allocSystem(back.size());
    npu.writeSystem(x, data.data(), bytes);
    LayoutMap linear = LayoutMap::rowMajor(4);
    if (!run(npu, linear, x, from.map, 0, from, from.shape) ||
        !run(npu, read, 0, to.map, 0, to, to.shape) ||
        !run(npu, to.map, 0, linear, y, to, to.shape))
      break;
    npu.readSystem(y, back.data(), back.size());
    int64_t number = 0;
    forEachIndex(to.shape, [&](const Index &index) {
      Index source(4);
      for (int d = 0; d < 4; ++d)
        source[order[d]] = repeats && order[d] == 1 ? 0 : index[d];
      int64_t at = 0;
      for (int d = 0; d < 4; ++d)
        at = at * from.shape[d] + source[d];
      for (int64_t b = 0; b < e; ++b)
        EXPECT_EQ(back[number + b], data[at * e + b]);
      number += e;
    });
    EXPECT_EQ(npu.getErrors(), std::vector<std::string>());
  }
}

} // namespace
