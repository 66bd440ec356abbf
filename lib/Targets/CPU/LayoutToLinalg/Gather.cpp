//===- Gather.cpp - Storage filled position by position -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gather.h"
#include "layout/Algebra/AffineMaps.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/Layout/Utils/EmitIndex.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::layout;

/// Returns true if each storage position can compute its element or padding:
/// the map has an inverse in closed form, and if there may be padding, `type`
/// states its value or has a zero.
static bool canGather(RankedTensorType type) {
  return (hasFiller(type) || !mayHavePadding(type)) &&
         getBackwardValues(*getLayoutMap(type), type.getShape());
}

/// Emits loops over logical indices and replicas that insert each element into
/// the physical tensor, which is filled with stated padding before.
static Value emitScatter(OpBuilder &b, Location loc, RankedTensorType type,
                         ArrayRef<OpFoldResult> sizes, EmitElement element) {
  LayoutMap map = *getLayoutMap(type);
  Value init = statesPadding(type) ? createPadded(b, loc, type, sizes)
                                   : createEmpty(b, loc, type, sizes);
  SmallVector<Value> ends = getValueOrCreateConstantIndexOp(b, loc, sizes);
  for (int64_t extent : map.getReplicas())
    ends.push_back(arith::ConstantIndexOp::create(b, loc, extent));
  SmallVector<Value> starts(ends.size(),
                            arith::ConstantIndexOp::create(b, loc, 0));
  SmallVector<Value> steps(ends.size(),
                           arith::ConstantIndexOp::create(b, loc, 1));
  scf::LoopNest nest = scf::buildLoopNest(
      b, loc, starts, ends, steps, init,
      [&](OpBuilder &b, Location loc, ValueRange index, ValueRange storage) {
        Value value = element(b, loc, index.take_front(map.getRank()));
        Value stored =
            tensor::InsertOp::create(b, loc, value, storage.front(),
                                     emitStoredAxes(b, loc, map, index, sizes));
        return scf::ValueVector{stored};
      });
  return nest.results.front();
}

Value layout::emitChoice(OpBuilder &b, Location loc, Value condition,
                         EmitValue inside, EmitValue outside) {
  if (!condition)
    return inside(b, loc);
  auto yield = [](EmitValue emit) {
    return [emit](OpBuilder &b, Location loc) {
      scf::YieldOp::create(b, loc, emit(b, loc));
    };
  };
  auto choice =
      scf::IfOp::create(b, loc, condition, yield(inside), yield(outside));
  return choice.getResult(0);
}

Value layout::emitGather(OpBuilder &b, Location loc, RankedTensorType type,
                         ArrayRef<OpFoldResult> sizes, EmitElement element) {
  if (!canGather(type))
    return emitScatter(b, loc, type, sizes, element);
  LayoutMap map = *getLayoutMap(type);
  bool padded = mayHavePadding(type);
  Value init = createEmpty(b, loc, type, sizes);
  unsigned rank = cast<RankedTensorType>(init.getType()).getRank();

  auto buildBody = [&](OpBuilder &b, Location loc, ValueRange) {
    SmallVector<Value> position;
    for (unsigned a = 0; a < rank; ++a)
      position.push_back(linalg::IndexOp::create(b, loc, a));
    EmittedIndex found = *emitBackward(b, loc, map, type.getShape(), position,
                                       sizes, /*checkPadding=*/padded);
    Value result = emitChoice(
        b, loc, found.isElement,
        [&](OpBuilder &b, Location loc) {
          return element(b, loc, found.index);
        },
        [&](OpBuilder &b, Location loc) { return createFiller(b, loc, type); });
    linalg::YieldOp::create(b, loc, result);
  };
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, loc, init.getType(), ValueRange(), init,
      AffineMap::getMultiDimIdentityMap(rank, b.getContext()), iterators,
      buildBody);
  return generic.getResult(0);
}
