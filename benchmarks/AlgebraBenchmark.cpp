//===- AlgebraBenchmark.cpp - What questions to a map cost ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "benchmark/benchmark.h"
#include "layout/Algebra/Families/Blocked.h"
#include "layout/Algebra/Pack.h"
#include "layout/Algebra/Proof.h"
#include <cstring>

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

/// Bytes of elements per second, to be read beside copyBytes.
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
