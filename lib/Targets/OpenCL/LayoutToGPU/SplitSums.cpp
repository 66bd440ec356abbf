//===- SplitSums.cpp - Split reductions over a work-group -----------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Work-item `part` of a group runs the iterations part, part + parts, .. of a
// loop, starting with the neutral element, and the first one with the init. The
// partial sums are combined in order in work-group memory by the first
// work-item, which then continues alone. Upstream's gpu.all_reduce is lowered
// to subgroup shuffles, which OpenCL 1.2 lacks.
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
