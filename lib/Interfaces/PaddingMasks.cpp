//===- PaddingMasks.cpp - Masks for loops over padding --------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "layout/Interfaces/PaddingMasks.h"
#include "PaddingNeutral.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Interfaces/ReachedStorage.h"

using namespace mlir;
using namespace mlir::layout;

TypedAttr layout::getPaddingAlong(ArrayRef<OperandAccess> operands,
                                  const IterationSpace &space, unsigned k,
                                  unsigned loop) {
  RankedTensorType type = operands[k].type;
  if (!type)
    return {};
  bool isIndexed =
      llvm::any_of(operands[k].map.getResults(), [&](AffineExpr expr) {
        auto dim = dyn_cast<AffineDimExpr>(expr);
        return dim && dim.getPosition() == loop;
      });
  // An expression of the loop, or one without some of its digits, may reach
  // another element when the loop is beyond its size.
  if (!isIndexed || !storesAllOf(space, k, loop))
    return {};
  // If the loops read beyond the storage, the operand is padded with the filler
  // value of its type.
  if (getPadding(type) || !mayHavePadding(type))
    return getFillerAttr(type);
  return {};
}

static bool makes(const ScalarBody &body, ArrayRef<TypedAttr> inputs,
                  unsigned result, TypedAttr wanted) {
  return body.block ? makesPadding(*body.block, inputs, result, wanted)
                    : body.op && makesPadding(*body.op, inputs, result, wanted);
}

PaddingMasks layout::findPaddingMasks(ArrayRef<OperandAccess> operands,
                                      ArrayRef<utils::IteratorType> iterators,
                                      ArrayRef<bool> readsInit,
                                      const ScalarBody &body,
                                      const IterationSpace &space,
                                      ArrayRef<unsigned> copyMask) {
  assert(operands.size() >= readsInit.size() && "results come after inputs");
  unsigned numInputs = operands.size() - readsInit.size();
  bool isElementwise =
      !llvm::is_contained(iterators, utils::IteratorType::reduction);
  PaddingMasks masks;
  for (unsigned r = 0; r < readsInit.size(); ++r) {
    RankedTensorType type = operands[numInputs + r].type;
    SmallVector<unsigned> &mask = masks.loops.emplace_back();
    bool keepsBefore = readsInit[r];
    for (auto [loop, padded] : llvm::enumerate(space.isPadded)) {
      if (!padded)
        continue;
      SmallVector<TypedAttr> inputs;
      for (unsigned k = 0; k < numInputs; ++k)
        inputs.push_back(getPaddingAlong(operands, space, k, loop));
      if (iterators[loop] == utils::IteratorType::reduction) {
        if (body.block && returnsAccumulator(*body.block, inputs, r))
          continue;
        mask.push_back(loop);
        keepsBefore = true;
      } else if (type && statesPadding(type)) {
        // The plan of a copy, which computed `copyMask`, accounts for the
        // padding of its input.
        if (body.isCopy
                ? !llvm::is_contained(copyMask, loop)
                : isElementwise && makes(body, inputs, r, getPadding(type)))
          continue;
        mask.push_back(loop);
      }
    }
    masks.instead.push_back(keepsBefore || !type ? TypedAttr()
                                                 : getPadding(type));
  }
  return masks;
}
