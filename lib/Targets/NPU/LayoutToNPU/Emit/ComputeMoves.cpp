//===- ComputeMoves.cpp - Move elements inside of cores -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit/ProgramBuilder.h"
#include "layout/Dialect/NPU/IR/DmaPlanning.h"
#include "layout/Targets/NPU/LayoutToNPU/Passes.h"
#include "layout/Targets/NPU/TensorMovePlan.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Remarks.h"

namespace mlir::layout {
#define GEN_PASS_DEF_COMPUTEMOVESPASS
#include "layout/Targets/NPU/LayoutToNPU/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;
using namespace mlir::layout;

/// Returns true if the execution units can move the elements of `copy`, and the
/// DMA engine has no direct transfers for them or takes more time.
static bool isCopiedInCores(npu::CopyOp copy, npu::ChipAttr chip,
                            const NpuTimes &times) {
  std::optional<npu::CopiedBox> box = npu::getCopiedBox(copy, nullptr);
  if (!box)
    return false;
  std::optional<TensorMovePlan> plan = TensorMovePlan::get(
      box->from, box->to, box->sizes, box->elementBytes, chip, times, nullptr);
  return plan && plan->method == TensorMovePlan::Method::Cores;
}

static bool isFilledInCores(npu::FillOp fill, npu::ChipAttr chip,
                            const NpuTimes &times) {
  auto type = cast<MemRefType>(fill.getDest().getType());
  FailureOr<npu::Storage> to =
      npu::getStorage(type, [&] { return fill.emitOpError(); });
  return succeeded(to) && isFilledByCores(to->map, type.getShape(),
                                          to->elementBytes, chip, times);
}

namespace {
struct ComputeMovesPass
    : public layout::impl::ComputeMovesPassBase<ComputeMovesPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    npu::ChipAttr chip = npu::findChip(function);
    if (!chip)
      return;
    NpuTimes times(chip);
    // In a parallel region, DMA has been chosen.
    Block &block = function.getBody().front();
    for (auto copy : llvm::to_vector(block.getOps<npu::CopyOp>()))
      if (isCopiedInCores(copy, chip, times))
        computeOnCores(copy);
    for (auto fill : block.getOps<npu::FillOp>())
      if (isFilledInCores(fill, chip, times))
        fill.setEngine(npu::Engine::Compute);
  }
};
} // namespace
