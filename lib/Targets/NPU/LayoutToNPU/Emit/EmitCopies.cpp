//===- EmitCopies.cpp - Copies and fills of a program ---------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Emit/ProgramBuilder.h"
#include "layout/Dialect/NPU/IR/DmaPlanning.h"
#include "layout/Targets/NPU/TensorMovePlan.h"

using namespace mlir;
using namespace mlir::layout;

/// Emits an elementwise linalg.generic by which the cores compute each element
/// of `to`. `maps` map its indices to those of each of `from`, and `body` emits
/// the value from the elements of `from` there.
static void compute(OpBuilder &builder, Location loc, ValueRange from,
                    ArrayRef<AffineMap> maps, Value to,
                    function_ref<Value(OpBuilder &, ValueRange)> body) {
  unsigned rank = cast<MemRefType>(to.getType()).getRank();
  SmallVector<AffineMap> all(maps);
  all.push_back(builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  linalg::GenericOp::create(
      builder, loc, from, ValueRange{to}, all, loops,
      [&](OpBuilder &inner, Location, ValueRange numbers) {
        linalg::YieldOp::create(inner, loc, body(inner, numbers));
      });
}

/// Returns true if `memref` has no elements.
static bool isEmpty(Value memref) {
  return cast<MemRefType>(memref.getType()).getNumElements() == 0;
}

void ProgramBuilder::copy(Location loc, Value from, Value to,
                          ArrayRef<int64_t> permutation, bool broadcasts) {
  if (isEmpty(to))
    return;
  auto order = permutation.empty() ? DenseI64ArrayAttr()
                                   : builder.getDenseI64ArrayAttr(permutation);
  auto copy =
      npu::CopyOp::create(builder, loc, from, to, order,
                          broadcasts ? builder.getUnitAttr() : UnitAttr());
  std::string why;
  std::optional<TensorMovePlan> move;
  if (std::optional<npu::CopiedBox> box = npu::getCopiedBox(copy, why))
    move = TensorMovePlan::get(box->from, box->to, box->sizes,
                               box->elementBytes, chip, *times, why);
  auto source = cast<MemRefType>(from.getType());
  auto dest = cast<MemRefType>(to.getType());
  if (!move) {
    hasImpossibleMove = true;
    emitError(loc) << "no transfers move a tensor from " << source << " to "
                   << dest << ": " << why;
    return;
  }
  if (move->method == TensorMovePlan::Method::Direct)
    return;
  if (move->method == TensorMovePlan::Method::ThroughSystem) {
    Value between =
        makeScratch(loc, getMemRefType(RankedTensorType::get(
                             dest.getShape(), dest.getElementType())));
    copy.getDestMutable().assign(between);
    // Allocate the destination after the first copy, as it is unused before.
    Operation *alloc = to.getDefiningOp<npu::AllocOp>();
    if (alloc && to.use_empty())
      alloc->moveAfter(copy);
    npu::CopyOp::create(builder, loc, between, to, DenseI64ArrayAttr(),
                        UnitAttr());
    return;
  }
  // npu-compute-moves chooses the engine of copies that DMA moves, too, which
  // npu-spill-tensors can split.
  if (!npu::planMove(copy, chip, nullptr))
    computeOnCores(copy);
}

void layout::computeOnCores(npu::CopyOp copy) {
  OpBuilder builder(copy);
  MemRefType from = copy.getSource().getType(), to = copy.getDest().getType();
  SmallVector<AffineExpr> exprs(from.getRank());
  for (unsigned d = 0, e = to.getRank(); d < e; ++d) {
    unsigned of = copy.getPermutation() ? (*copy.getPermutation())[d] : d;
    bool isRepeated = from.getDimSize(of) == 1 && to.getDimSize(d) != 1;
    exprs[of] = isRepeated ? builder.getAffineConstantExpr(0)
                           : builder.getAffineDimExpr(d);
  }
  compute(builder, copy.getLoc(), copy.getSource(),
          AffineMap::get(to.getRank(), 0, exprs, builder.getContext()),
          copy.getDest(),
          [](OpBuilder &, ValueRange numbers) { return numbers[0]; });
  copy.erase();
}

void ProgramBuilder::fill(Location loc, TypedAttr value, Value to) {
  if (isEmpty(to))
    return;
  auto fill = npu::FillOp::create(builder, loc, value, to, npu::Engine::DMA);
  std::string why;
  if (npu::planMove(fill, chip,
                    [&](const Twine &reason) { why = reason.str(); }))
    return;
  auto type = cast<MemRefType>(to.getType());
  if (!npu::isLocal(type)) {
    hasImpossibleMove = true;
    emitError(loc) << "no transfers fill " << type << ": " << why;
    return;
  }
  fill.erase();
  compute(builder, loc, {}, {}, to, [&](OpBuilder &inner, ValueRange) {
    return arith::ConstantOp::create(inner, loc, value).getResult();
  });
}
