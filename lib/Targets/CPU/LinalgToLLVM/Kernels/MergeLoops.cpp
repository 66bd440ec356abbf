//===- MergeLoops.cpp - Parallel loops that are one run of memory ---------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Merges two loops into one over all positions if every tensor is accessed
// contiguously. Tiles then cross the ends of rows:
//
//   1x1 conv of a 14x14 image: 196 pixels, 12 vectors of 16 and one of 4,
//   instead of 14 rows with a vector of 14 each
//
// Dynamic dims are merged with each other only. For example, the rows of a
// batch of sequences are one loop, whose tiles cross the ends of sequences.
//
// Merged dims of tensors are collapsed. In the middle of a larger tensor this
// would be a copy, and the result would not be recognized as its part. Kernels
// on slices therefore keep their loops.
//
//===----------------------------------------------------------------------===//

#include "Kernels/Kernel.h"
#include "layout/Support/LaneAccess.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::layout;

static bool isView(Operation *op) {
  return isa_and_nonnull<tensor::CastOp, tensor::CollapseShapeOp,
                         tensor::ExpandShapeOp>(op);
}

/// Returns true if `value` or a view of it is inserted into another tensor.
static bool isInserted(Value value) {
  return llvm::any_of(value.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isView(user))
      return isInserted(user->getResult(0));
    return isa<tensor::InsertSliceOp, tensor::ParallelInsertSliceOp>(user) &&
           use.getOperandNumber() == 0;
  });
}

/// Returns true if the memory of `value` may be part of a larger tensor.
static bool isPart(Value value) {
  while (isView(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && !isa<FunctionOpInterface>(argument.getOwner()->getParentOp()))
    return true;
  return value.getDefiningOp<tensor::ExtractSliceOp>() || isInserted(value);
}

/// The positions, in the shape of an operand, of the dims that two kernel loops
/// index.
struct Place {
  int64_t outer, inner;
};

/// Returns true if operand `i` allows merging the kernel loops `outer` and
/// `inner`. Either they alone index dims of it that have their extents, in this
/// order, with only dims of size one in between, and `place` is set to these
/// dims. Or they do not index it, and `place` stays unset.
static bool findPlace(const Kernel &kernel, const Stage &stage, unsigned i,
                      unsigned outer, unsigned inner,
                      std::optional<Place> &place) {
  AffineMap map = stage.maps[i];
  bool movesOuter = map.isFunctionOfDim(outer);
  if (!movesOuter && !map.isFunctionOfDim(inner))
    return true;
  std::optional<unsigned> from =
      map.getResultPosition(getAffineDimExpr(outer, map.getContext()));
  std::optional<unsigned> to =
      map.getResultPosition(getAffineDimExpr(inner, map.getContext()));
  auto type = dyn_cast<RankedTensorType>(stage.getType(i));
  if (!from || !to || *from >= *to || !type ||
      type.getDimSize(*from) != kernel.extents[outer] ||
      type.getDimSize(*to) != kernel.extents[inner])
    return false;
  for (auto [d, expr] : llvm::enumerate(map.getResults())) {
    bool isBetween = *from < d && d < *to;
    if (isBetween && type.getDimSize(d) != 1)
      return false;
    if (d != *from && d != *to &&
        (expr.isFunctionOfDim(outer) || expr.isFunctionOfDim(inner)))
      return false;
  }
  place = Place{*from, *to};
  return true;
}

/// Merges the kernel loop `outer` into the loop `inner` if all operands allow
/// it, and collapses the dims of the operands that they index.
static void merge(Kernel &kernel, unsigned outer, unsigned inner) {
  SmallVector<std::tuple<Stage *, unsigned, Place>> places;
  for (Stage *stage : kernel.stages())
    for (unsigned i = 0, e = stage->maps.size(); i < e; ++i) {
      std::optional<Place> place;
      if (!findPlace(kernel, *stage, i, outer, inner, place))
        return;
      if (place)
        places.push_back({stage, i, *place});
    }
  for (auto [stage, i, place] : places)
    stage->collapse(i, place.outer, place.inner, /*kept=*/place.inner);
  if (!ShapedType::isDynamic(kernel.extents[inner]))
    kernel.extents[inner] *= kernel.extents[outer];
  kernel.extents[outer] = 1;
  kernel.merged[inner].push_back(outer);
  kernel.merged[inner].append(kernel.merged[outer]);
}

/// Collapses trailing unit dims: a bias of 1x64x1x1 is read as 1x64, whose
/// elements are contiguous. Results that may be parts of larger tensors keep
/// their dims.
static void collapseUnitDims(Kernel &kernel) {
  for (Stage *stage : kernel.stages())
    for (unsigned i = 0, e = stage->maps.size(); i < e; ++i) {
      auto type = dyn_cast<RankedTensorType>(stage->getType(i));
      bool isWritten = i >= stage->numInputs();
      if (!type || type.getRank() == 0 ||
          (isWritten && (isPart(stage->operands[i]) ||
                         llvm::any_of(stage->op->getResults(), isInserted))))
        continue;
      unsigned last = countDimsThatMove(type.getShape()) - 1;
      if (last + 1 < type.getRank())
        stage->collapse(i, last, type.getRank() - 1, /*kept=*/last);
    }
}

void layout::mergeLoops(Kernel &kernel) {
  collapseUnitDims(kernel);
  // A reduction of one iteration becomes 0 in the maps.
  auto dropUnitReductions = [&](AffineMap map) {
    for (auto [dim, extent] : llvm::enumerate(kernel.extents))
      if (!kernel.isParallel(dim) && extent == 1)
        map = map.replace(getAffineDimExpr(dim, map.getContext()),
                          getAffineConstantExpr(0, map.getContext()),
                          map.getNumDims(), 0);
    return map;
  };
  for (Stage *stage : kernel.stages()) {
    if (stage->op.hasIndexSemantics() || llvm::any_of(stage->operands, isPart))
      return;
    llvm::transform(stage->maps, stage->maps.begin(), dropUnitReductions);
  }
  linalg::LinalgOp last = kernel.last().op;
  if (llvm::any_of(last->getResults(), isInserted))
    return;
  std::optional<unsigned> outer;
  AffineMap order = kernel.root.maps[kernel.root.numInputs()];
  for (AffineExpr expr : order.getResults()) {
    unsigned dim = cast<AffineDimExpr>(expr).getPosition();
    if (kernel.extents[dim] == 1)
      continue;
    // A static extent must not become dynamic.
    if (outer && ShapedType::isDynamic(kernel.extents[*outer]) ==
                     ShapedType::isDynamic(kernel.extents[dim]))
      merge(kernel, *outer, dim);
    outer = dim;
  }
}
