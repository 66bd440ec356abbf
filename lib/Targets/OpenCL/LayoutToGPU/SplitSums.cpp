//===- SplitSums.cpp - Sums that the items of a group share ---------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each item of a group takes the turns part, part + parts, .. of a loop, from
// the neutral element on, the first one from what the op starts with. What the
// parts have becomes one value in their order, in the memory of the group; the
// first item goes on with it alone. Upstream's gpu.all_reduce becomes shuffles
// of subgroups, which OpenCL 1.2 does not have.
//
//===----------------------------------------------------------------------===//

#include "ElementLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::layout;

Value ElementEmitter::startPart(Value start) {
  TypedAttr neutral = *arith::getNeutralElement(parts.combiner);
  return scope.select(parts.isFirst, start,
                      arith::ConstantOp::create(b, loc, neutral));
}

bool ElementEmitter::combineParts(Loops &loops) {
  SmallVector<Value> own = loops.getAccumulators();
  int64_t values = own.size();
  Value memory = scope.addGroupMemory(
      MemRefType::get({parts.count * values}, own.front().getType()));
  Value length = arith::ConstantIndexOp::create(b, loc, values);
  auto at = [&](Value part, int64_t number) -> Value {
    Value first = arith::MulIOp::create(b, loc, part, length);
    return arith::AddIOp::create(
        b, loc, first, arith::ConstantIndexOp::create(b, loc, number));
  };
  for (auto [number, value] : llvm::enumerate(own))
    memref::StoreOp::create(b, loc, value, memory, at(parts.number, number));
  gpu::BarrierOp::create(b, loc);
  scope.endUnless(parts.isFirst);

  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value count = arith::ConstantIndexOp::create(b, loc, parts.count);
  auto forOp = scf::ForOp::create(b, loc, one, count, one, own);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forOp.getBody());
  SmallVector<Value> sums;
  for (auto [number, sum] : llvm::enumerate(forOp.getRegionIterArgs())) {
    Value part = memref::LoadOp::create(b, loc, memory,
                                        at(forOp.getInductionVar(), number));
    SmallVector<Value> combined = emitOp(parts.combiner, {sum, part}, Value());
    if (combined.empty())
      return false;
    sums.push_back(combined.front());
  }
  scf::YieldOp::create(b, loc, sums);
  loops.setAccumulators(forOp.getResults());
  return true;
}
