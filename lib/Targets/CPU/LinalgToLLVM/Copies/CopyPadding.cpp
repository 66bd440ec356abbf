//===- CopyPadding.cpp - Padding that is written with a copy --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Copies/CopyPadding.h"
#include "Copies/CopyTiles.h"
#include "layout/Support/StatedSizes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::layout;

/// Returns true if slice `rest` starts where slice `part` ends in the last dim,
/// and has the same offsets and sizes in all other dims. Both must be static
/// with unit strides. Their sizes in the last dim must add up to a power of
/// two, like a tile of a blocked layout.
static bool goesOn(OffsetSizeAndStrideOpInterface part,
                   OffsetSizeAndStrideOpInterface rest) {
  if (!isStatedBox(part) || !isStatedBox(rest))
    return false;
  ArrayRef<int64_t> from = part.getStaticOffsets(),
                    on = rest.getStaticOffsets();
  ArrayRef<int64_t> sizes = part.getStaticSizes(), more = rest.getStaticSizes();
  return from.drop_back() == on.drop_back() &&
         sizes.drop_back() == more.drop_back() &&
         from.back() + sizes.back() == on.back() &&
         llvm::isPowerOf2_64(sizes.back() + more.back());
}

/// Returns true if `copy` copies between two orders and the last subscript of
/// its result is a loop index alone, so that padding can follow the elements
/// along this loop.
static bool endsWithLoop(linalg::LinalgOp copy) {
  return isCopyBetweenOrders(copy) &&
         isa<AffineDimExpr>(
             copy.getIndexingMapsArray().back().getResults().back());
}

bool layout::isPaddingOfCopy(linalg::LinalgOp fill) {
  if (!isa<linalg::FillOp>(fill) || fill->getNumResults() != 1 ||
      !fill->hasOneUse())
    return false;
  auto rest = dyn_cast<tensor::InsertSliceOp>(*fill->user_begin());
  return rest && llvm::any_of(rest->getUsers(), [&](Operation *user) {
           auto part = dyn_cast<tensor::InsertSliceOp>(user);
           if (!part || part.getDest() != rest.getResult() ||
               !goesOn(part, rest))
             return false;
           // An inserted slice of the source becomes a memref.copy.
           Operation *copy = part.getSource().getDefiningOp();
           auto op = dyn_cast_or_null<linalg::LinalgOp>(copy);
           return op ? endsWithLoop(op)
                     : isa_and_nonnull<tensor::ExtractSliceOp,
                                       tensor::ExpandShapeOp>(copy) &&
                           canCopyInVectors(
                               part.getSourceType().getElementType());
         });
}

linalg::FillOp layout::findPadding(Operation *copy, Value target) {
  auto part = target.getDefiningOp<memref::SubViewOp>();
  Operation *before = copy->getPrevNode();
  while (isa_and_nonnull<ViewLikeOpInterface>(before))
    before = before->getPrevNode();
  auto fill = dyn_cast_or_null<linalg::FillOp>(before);
  auto op = dyn_cast<linalg::LinalgOp>(copy);
  if (!part || !fill || (op && !endsWithLoop(op)))
    return nullptr;
  auto rest = fill.getOutputs()[0].getDefiningOp<memref::SubViewOp>();
  bool isPadding =
      rest && rest.getSource() == part.getSource() && goesOn(part, rest);
  return isPadding ? fill : nullptr;
}
