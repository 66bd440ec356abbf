//===- CopyAliasedResults.cpp - Memory of its own for each result ---------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Copies results that may share a buffer. Bufferization assumes different
// buffers for the results of a call and for the tensors that a loop carries,
// even if the callee returns one buffer twice:
// docs/upstream/bufferize-results-of-one-memory.mlir.
//
//===----------------------------------------------------------------------===//

#include "layout/Targets/CPU/LinalgToLLVM/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::layout {
#define GEN_PASS_DEF_COPYALIASEDRESULTSPASS
#include "layout/Targets/CPU/LinalgToLLVM/Passes.h.inc"
} // namespace mlir::layout

using namespace mlir;

/// Returns the tensor of which `value` is a view (a cast, reshape or slice), or
/// `value` itself.
static Value findSource(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::ExtractSliceOp, tensor::ReshapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Returns the region of a structured control-flow op that has `argument` as an
/// input, with all its inputs, or std::nullopt if `argument` is not such an
/// input.
static std::optional<RegionSuccessor> findSuccessor(BlockArgument argument) {
  auto branch =
      dyn_cast<RegionBranchOpInterface>(argument.getOwner()->getParentOp());
  if (!branch)
    return std::nullopt;
  SmallVector<RegionSuccessor> successors;
  branch.getSuccessorRegions(RegionBranchPoint::parent(), successors);
  branch.getSuccessorRegions(*argument.getParentRegion(), successors);
  for (RegionSuccessor successor : successors)
    if (successor.getSuccessor() == argument.getParentRegion() &&
        llvm::is_contained(successor.getSuccessorInputs(), argument))
      return successor;
  return std::nullopt;
}

/// Adds to `memory` the values whose memory `value` may share. A result or a
/// region argument of structured control flow is replaced by the values that
/// may be passed to it. An argument of a region around `user` is added itself,
/// because this pass copies values that share memory before they are passed to
/// it.
static void collectMemory(Value value, Operation *user,
                          llvm::SetVector<Value> &memory,
                          llvm::SmallDenseSet<Value> &visited) {
  value = findSource(value);
  if (!visited.insert(value).second)
    return;
  RegionBranchOpInterface branch;
  std::optional<RegionSuccessor> successor;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (!argument.getOwner()->getParentOp()->isAncestor(user))
      successor = findSuccessor(argument);
    if (successor)
      branch =
          cast<RegionBranchOpInterface>(argument.getOwner()->getParentOp());
  } else if ((branch = value.getDefiningOp<RegionBranchOpInterface>())) {
    successor = RegionSuccessor(branch, branch->getResults());
  }
  if (!successor) {
    memory.insert(value);
    return;
  }
  ValueRange inputs = successor->getSuccessorInputs();
  SmallVector<Value> values;
  branch.getPredecessorValues(
      *successor, llvm::find(inputs, value) - inputs.begin(), values);
  for (Value each : values)
    collectMemory(each, user, memory, visited);
}

/// Returns true if operands of `op` are passed to the next iteration of a loop.
static bool endsIteration(Operation *op) {
  return isa<RegionBranchTerminatorOpInterface>(op) &&
         isa<LoopLikeOpInterface>(op->getParentOp());
}

namespace {
struct CopyAliasedResults
    : layout::impl::CopyAliasedResultsPassBase<CopyAliasedResults> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (!isa<func::ReturnOp>(op) && !endsIteration(op))
        return;
      OpBuilder b(op);
      llvm::SmallDenseSet<Value> seen;
      for (OpOperand &operand : op->getOpOperands()) {
        auto type = dyn_cast<RankedTensorType>(operand.get().getType());
        if (!type)
          continue;
        llvm::SetVector<Value> memory;
        llvm::SmallDenseSet<Value> visited;
        collectMemory(operand.get(), op, memory, visited);
        bool isShared = llvm::any_of(memory, [&](Value each) {
          return seen.contains(each) ||
                 (isa<func::ReturnOp>(op) && matchPattern(each, m_Constant()));
        });
        seen.insert_range(memory);
        if (isShared)
          operand.set(bufferization::AllocTensorOp::create(
              b, op->getLoc(), type, ValueRange(), /*copy=*/operand.get()));
      }
    });
  }
};
} // namespace
