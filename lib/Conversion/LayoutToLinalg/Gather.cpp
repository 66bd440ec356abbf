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
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mlir::layout;

FailureOr<Value> layout::emitGather(OpBuilder &b, Location loc,
                                    RankedTensorType type,
                                    ArrayRef<OpFoldResult> sizes,
                                    EmitElement element, std::string &whyNot) {
  LayoutMap map = *getLayoutMap(type);
  bool hasInverse = getBackwardValues(map, type.getShape()).has_value();
  TypedAttr filler = getFillerAttr(type);
  bool padded = mayHavePadding(type);
  if (!hasInverse || (padded && !filler)) {
    llvm::raw_string_ostream os(whyNot);
    os << "the layout of " << type
       << (hasInverse ? " has padding and its element type no zero"
                      : " has no inverse by construction on this shape");
    return failure();
  }

  Value init = createEmpty(b, loc, type, sizes);
  unsigned rank = cast<RankedTensorType>(init.getType()).getRank();

  auto buildBody = [&](OpBuilder &b, Location loc, ValueRange) {
    SmallVector<Value> position;
    for (unsigned a = 0; a < rank; ++a)
      position.push_back(linalg::IndexOp::create(b, loc, a));
    EmittedIndex found = *emitBackward(b, loc, map, type.getShape(), position,
                                       sizes, /*checkPadding=*/padded);
    Value result;
    if (!found.isElement) {
      result = element(b, loc, found.index);
    } else {
      auto choose = [&](OpBuilder &b, Location loc, bool inside) {
        Value value = inside ? element(b, loc, found.index)
                             : arith::ConstantOp::create(b, loc, filler);
        scf::YieldOp::create(b, loc, value);
      };
      auto choice = scf::IfOp::create(
          b, loc, found.isElement,
          [&](OpBuilder &b, Location loc) { choose(b, loc, true); },
          [&](OpBuilder &b, Location loc) { choose(b, loc, false); });
      result = choice.getResult(0);
    }
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
