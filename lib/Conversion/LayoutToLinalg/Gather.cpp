//===- Gather.cpp - Storage filled position by position -------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Gather.h"
#include "layout/Algebra/AffineMaps.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::layout;

static SmallVector<Value> applyMap(OpBuilder &b, Location loc, AffineMap map,
                                   ArrayRef<Value> operands) {
  SmallVector<OpFoldResult> folded(operands.begin(), operands.end());
  SmallVector<Value> results;
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    results.push_back(getValueOrCreateConstantIndexOp(
        b, loc,
        affine::makeComposedFoldedAffineApply(b, loc, map.getSubMap({i}),
                                              folded)));
  return results;
}

FailureOr<Value> layout::emitGather(OpBuilder &b, Location loc,
                                    RankedTensorType type,
                                    ArrayRef<OpFoldResult> sizes,
                                    EmitElement element, std::string &whyNot) {
  MLIRContext *context = b.getContext();
  LayoutMap map = *getLayoutMap(type);
  AffineMap backward = getBackwardMap(map, type.getShape(), context);
  TypedAttr filler = getFillerAttr(type);
  bool padded = mayHavePadding(type);
  if (!backward || (padded && !filler)) {
    llvm::raw_string_ostream os(whyNot);
    os << "the layout of " << type
       << (backward ? " has padding and its element type no zero"
                    : " has no inverse by construction on this shape");
    return failure();
  }
  AffineMap axes = getAxesMap(map, type.getShape(), context);

  SmallVector<Value> sizeValues, dynamicSizes;
  for (auto [d, size] : llvm::enumerate(sizes)) {
    sizeValues.push_back(getValueOrCreateConstantIndexOp(b, loc, size));
    if (type.isDynamicDim(d))
      dynamicSizes.push_back(sizeValues.back());
  }
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value init = createEmpty(b, loc, type, sizes);
  unsigned rank = cast<RankedTensorType>(init.getType()).getRank();

  auto buildBody = [&](OpBuilder &b, Location loc, ValueRange) {
    SmallVector<Value> position;
    for (unsigned a = 0; a < rank; ++a)
      position.push_back(linalg::IndexOp::create(b, loc, a));
    SmallVector<Value> index = applyMap(b, loc, backward, position);
    Value result;
    if (!padded) {
      result = element(b, loc, index);
    } else {
      // An index of the box whose own position this is.
      Value valid;
      auto require = [&](arith::CmpIPredicate predicate, Value x, Value y) {
        Value holds = arith::CmpIOp::create(b, loc, predicate, x, y);
        valid = valid ? arith::AndIOp::create(b, loc, valid, holds) : holds;
      };
      for (auto [i, size] : llvm::zip_equal(index, sizeValues)) {
        require(arith::CmpIPredicate::sge, i, zero);
        require(arith::CmpIPredicate::slt, i, size);
      }
      SmallVector<Value> operands(index);
      llvm::append_range(operands, dynamicSizes);
      for (auto [here, own] :
           llvm::zip_equal(position, applyMap(b, loc, axes, operands)))
        if (here != own)
          require(arith::CmpIPredicate::eq, here, own);
      auto choose = [&](OpBuilder &b, Location loc, bool inside) {
        Value value = inside ? element(b, loc, index)
                             : arith::ConstantOp::create(b, loc, filler);
        scf::YieldOp::create(b, loc, value);
      };
      if (!valid) {
        result = element(b, loc, index);
      } else {
        auto choice = scf::IfOp::create(
            b, loc, valid,
            [&](OpBuilder &b, Location loc) { choose(b, loc, true); },
            [&](OpBuilder &b, Location loc) { choose(b, loc, false); });
        result = choice.getResult(0);
      }
    }
    linalg::YieldOp::create(b, loc, result);
  };
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, loc, init.getType(), ValueRange(), init,
      AffineMap::getMultiDimIdentityMap(rank, context), iterators, buildBody);
  return generic.getResult(0);
}
