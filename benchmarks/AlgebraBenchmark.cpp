//===- AlgebraBenchmark.cpp - The cost of operations on layout maps -------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "benchmark/benchmark.h"
#include "layout/Algebra/Evaluator.h"
#include "layout/Algebra/Families/Blocked.h"
#include "layout/Algebra/Pack.h"
#include "layout/Algebra/Proof.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include <cstring>
#include <random>

using namespace mlir::layout;

namespace {

const int64_t kShape[] = {1, 64, 56, 56};

LayoutMap makeBlocked() {
  auto ignore = [](bool, size_t, const llvm::Twine &) {};
  return parseBlocked("NCHW", "NCHW16c", ignore)->getMap();
}

void buildFromText(benchmark::State &state) {
  for (auto _ : state)
    benchmark::DoNotOptimize(makeBlocked());
}
BENCHMARK(buildFromText);

void specializeOnShape(benchmark::State &state) {
  LayoutMap map = makeBlocked();
  for (auto _ : state)
    benchmark::DoNotOptimize(map.specialize(kShape));
}
BENCHMARK(specializeOnShape);

void proveInjectiveOnShape(benchmark::State &state) {
  LayoutMap map = makeBlocked();
  for (auto _ : state)
    benchmark::DoNotOptimize(proveInjective(map, kShape));
}
BENCHMARK(proveInjectiveOnShape);

void forwardOnePoint(benchmark::State &state) {
  LayoutMap map = makeBlocked().specialize(kShape);
  int64_t index[] = {0, 37, 11, 5};
  for (auto _ : state)
    benchmark::DoNotOptimize(map.forward(index, kShape));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(forwardOnePoint);

/// Gets the #layout.map attribute of a tensor type with a blocked layout, whose
/// canonical map is cached by the first iteration.
void canonicalAttributeAgain(benchmark::State &state) {
  mlir::MLIRContext context;
  context.loadDialect<LayoutDialect>();
  auto family = BlockedAttr::get(&context, "NCHW", "NCHW16c");
  auto type = mlir::RankedTensorType::get(
      kShape, mlir::Float32Type::get(&context), family);
  for (auto _ : state)
    benchmark::DoNotOptimize(MapAttr::get(&context, *getLayoutMap(type)));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(canonicalAttributeAgain);

/// Builds a map from its coordinates and gets its attribute, which exists from
/// the second iteration on and is found by a hash.
void buildCanonicalAgain(benchmark::State &state) {
  mlir::MLIRContext context;
  context.loadDialect<LayoutDialect>();
  LayoutMap map = makeBlocked();
  const Coordinate &offset = map.getCoordinates().front();
  for (auto _ : state)
    benchmark::DoNotOptimize(MapAttr::get(
        &context, LayoutMap::get(4, "buffer",
                                 {{"offset", offset.value, offset.extent}})));
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(buildCanonicalAgain);

/// Evaluates the coordinates of many random indices by an Evaluator, including
/// the time to construct it.
void forwardIndexCompiled(benchmark::State &state) {
  LayoutMap map = makeBlocked();
  constexpr size_t kCount = 10'000'000, kRank = 4;
  std::vector<int64_t> indices(kCount * kRank);
  std::mt19937 random(1);
  for (size_t i = 0; i < indices.size(); ++i)
    indices[i] = random() % kShape[i % kRank];
  std::vector<int64_t> values(kCount * map.getCoordinates().size());
  for (auto _ : state) {
    Evaluator evaluator = *Evaluator::ofCoordinates(map, kShape);
    evaluator.evaluate(indices.data(), kRank, kCount, values.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * kCount);
}
BENCHMARK(forwardIndexCompiled)->Unit(benchmark::kMillisecond);

/// Packs the elements of a constant into blocked storage. Reports the bytes of
/// elements per second, to compare with copyBytes.
void packConstant(benchmark::State &state) {
  LayoutMap map = makeBlocked();
  std::vector<char> logical(64 * 56 * 56 * 4), storage(logical.size());
  for (auto _ : state)
    benchmark::DoNotOptimize(pack(map, kShape, 4, logical, storage));
  state.SetBytesProcessed(state.iterations() * logical.size());
}
BENCHMARK(packConstant);

void copyBytes(benchmark::State &state) {
  std::vector<char> from(64 * 56 * 56 * 4), to(from.size());
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * from.size());
}
BENCHMARK(copyBytes);

} // namespace
