//===- NpuMove.cpp - How a tensor gets from place to place ----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/NPU/NpuMove.h"
#include "layout/Dialect/NPU/IR/Moves.h"

using namespace mlir;
using namespace mlir::layout;

std::optional<NpuMove> NpuMove::get(const LayoutMap &from, const LayoutMap &to,
                                    Sizes sizes, int64_t elementBytes,
                                    const npu::TransferLimits &limits,
                                    int64_t launchCost, Refusal error) {
  auto plan =
      [&](Way way,
          ArrayRef<std::pair<const LayoutMap *, const LayoutMap *>> legs)
      -> std::optional<NpuMove> {
    NpuMove move;
    move.way = way;
    for (auto [source, dest] : legs) {
      std::optional<std::vector<npu::Transfer>> transfers =
          npu::planTransfers(*source, *dest, sizes, elementBytes, limits,
                             way == Way::Direct ? error : Refusal(nullptr));
      if (!transfers)
        return std::nullopt;
      move.commands += transfers->size();
      for (const npu::Transfer &transfer : *transfers)
        move.bytes = addCosts(move.bytes, transfer.getBytes());
    }
    return move;
  };
  std::optional<NpuMove> direct = plan(Way::Direct, {{&from, &to}});
  // The other way takes two transfers at least, and twice the bytes.
  if (direct && direct->commands <= 2)
    return direct;
  std::optional<NpuMove> through;
  if (from.getSpace() == "npu" && to.getSpace() == "npu") {
    if (!direct && npu::haveSameCores(from, to, sizes)) {
      NpuMove move;
      move.way = Way::Cores;
      move.commands = 1;
      move.bytes = scaleCost(ShapedType::getNumElements(sizes), elementBytes);
      return move;
    }
    LayoutMap between = LayoutMap::rowMajor(sizes.size());
    through = plan(Way::ThroughSystem, {{&from, &between}, {&between, &to}});
  }
  bool isCheaper = through && (!direct || through->getCost(launchCost) <
                                              direct->getCost(launchCost));
  return isCheaper ? through : direct;
}
