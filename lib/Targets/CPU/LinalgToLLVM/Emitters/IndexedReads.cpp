//===- IndexedReads.cpp - Elements that lanes read by indices -------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/KernelPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::layout;

namespace {
/// Computes by how much values in the body of a stage increase when a kernel
/// dim advances by one.
class LaneSteps {
public:
  LaneSteps(const Stage &stage, unsigned dim) : stage(stage), dim(dim) {}

  /// Returns by how much `value` increases when the kernel dim advances by one,
  /// or std::nullopt if it is unknown.
  std::optional<int64_t> find(Value value) {
    auto [known, isNew] = steps.try_emplace(value);
    if (!isNew)
      return known->second;
    std::optional<int64_t> step = compute(value);
    return steps[value] = step;
  }

private:
  std::optional<int64_t> compute(Value value) {
    linalg::LinalgOp linalgOp = stage.op;
    if (value.getParentBlock() != linalgOp.getBlock())
      return 0;
    if (auto argument = dyn_cast<BlockArgument>(value))
      return stage.maps[argument.getArgNumber()].isFunctionOfDim(dim)
                 ? std::nullopt
                 : std::optional<int64_t>(0);
    Operation *op = value.getDefiningOp();
    if (auto index = dyn_cast<linalg::IndexOp>(op))
      return stage.dims[index.getDim()] == dim ? 1 : 0;
    SmallVector<int64_t> operands;
    for (Value operand : op->getOperands()) {
      std::optional<int64_t> step = find(operand);
      if (!step)
        return std::nullopt;
      operands.push_back(*step);
    }
    if (llvm::all_of(operands, [](int64_t step) { return step == 0; }))
      return 0;
    // Steps that cancel out are unknown, because the operands are vectors.
    std::optional<int64_t> sum;
    if (isa<arith::AddIOp>(op))
      sum = operands[0] + operands[1];
    else if (isa<arith::SubIOp>(op))
      sum = operands[0] - operands[1];
    else if (isa<arith::IndexCastOp>(op) &&
             layout::bitsOf(value.getType()) >= 64)
      sum = operands[0];
    return sum == 0 ? std::nullopt : sum;
  }

  const Stage &stage;
  unsigned dim;
  DenseMap<Value, std::optional<int64_t>> steps;
};
} // namespace

LaneAccess layout::classifyExtract(const Stage &stage,
                                   tensor::ExtractOp extract, unsigned dim) {
  LaneSteps lanes(stage, dim);
  SmallVector<std::optional<int64_t>> steps;
  for (Value index : extract.getIndices())
    steps.push_back(lanes.find(index));
  auto isFixed = [](std::optional<int64_t> step) { return step == 0; };
  if (llvm::all_of(steps, isFixed))
    return LaneAccess::Invariant;
  return llvm::all_of(ArrayRef(steps).drop_back(), isFixed) &&
                 steps.back() == 1 && isWholeBytes(extract.getType())
             ? LaneAccess::Contiguous
             : LaneAccess::Other;
}
