//===- NarrowToUsedSlices.cpp - Narrowing to used slices ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// If all users of a tensor read the same slice, e.g. a classifier that reads
// the first token, only that slice is computed, and in turn the slices of its
// operands:
//
//   %n = norm(%x) : tensor<197x768xf32>      %s = %x[0, 0] [1, 768]
//   %c = %n[0, 0] [1, 768]                   %c = norm(%s) : tensor<1x768xf32>
//
// Upstream's patterns move a slice before an op with one user, but not before
// several ops that read one tensor.
//
//===----------------------------------------------------------------------===//

#include "Legalize/LegalizeLinalg.h"
#include "Tiling/TileAndFuse.h"
#include "layout/Support/StatedSizes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;
using namespace mlir::layout;

namespace {
/// A box of a tensor: the first index and the number of indices of each dim.
struct Part {
  SmallVector<int64_t> firsts, sizes;

  bool operator==(const Part &other) const {
    return firsts == other.firsts && sizes == other.sizes;
  }
};
} // namespace

/// Returns the slice of `tensor` that all users read, or std::nullopt if they
/// read different slices, all of it, or by other ops than slices.
static std::optional<Part> findUsedPart(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || !type.hasStaticShape() || type.getEncoding())
    return std::nullopt;
  std::optional<Part> used;
  for (Operation *user : tensor.getUsers()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(user);
    if (!slice || !isStatedBox(slice))
      return std::nullopt;
    Part part{SmallVector<int64_t>(slice.getStaticOffsets()),
              SmallVector<int64_t>(slice.getStaticSizes())};
    if (used && !(*used == part))
      return std::nullopt;
    used = part;
  }
  if (!used || ArrayRef(used->sizes) == type.getShape() ||
      llvm::is_contained(used->sizes, 0))
    return std::nullopt;
  return used;
}

static FailureOr<Value> makePart(OpBuilder &builder, linalg::LinalgOp op,
                                 const Part &part) {
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (op.getNumDpsInits() != 1 || !op.hasPureTensorSemantics() ||
      op.hasDynamicShape() || !map.isProjectedPermutation())
    return failure();
  SmallVector<int64_t> firsts(op.getNumLoops(), 0),
      extents = op.getStaticLoopRanges();
  for (auto [d, first, size] : llvm::enumerate(part.firsts, part.sizes)) {
    firsts[map.getDimPosition(d)] = first;
    extents[map.getDimPosition(d)] = size;
  }
  FailureOr<linalg::LinalgOp> made = makeBox(builder, op, firsts, extents);
  if (failed(made))
    return failure();
  return Value((*made)->getResult(0));
}

/// Creates the box `part` of a reshape's result from a slice of its operand.
/// Fails if the box is no box of the operand: of the dims that one dim is split
/// into, all after the first one of more than one index must be whole.
static FailureOr<Value> makePart(OpBuilder &builder, Operation *reshape,
                                 ArrayRef<ReassociationIndices> groups,
                                 const Part &part) {
  bool isExpand = isa<tensor::ExpandShapeOp>(reshape);
  Value source = reshape->getOperand(0);
  auto sourceType = cast<RankedTensorType>(source.getType());
  auto type = cast<RankedTensorType>(reshape->getResult(0).getType());
  ArrayRef<int64_t> wide = (isExpand ? type : sourceType).getShape();
  if (groups.empty())
    return failure();
  Part taken;
  for (auto [d, group] : llvm::enumerate(groups)) {
    int64_t inside = 1;
    std::optional<int64_t> outer;
    for (int64_t w : group)
      if (outer)
        inside *= wide[w];
      else if (wide[w] != 1)
        outer = w;
    if (isExpand) {
      // All dims inside of `outer` must be whole.
      for (int64_t w : group)
        if (w != outer && part.sizes[w] != wide[w])
          return failure();
      taken.firsts.push_back(outer ? part.firsts[*outer] * inside : 0);
      taken.sizes.push_back(outer ? part.sizes[*outer] * inside : 1);
      continue;
    }
    if (part.firsts[d] % inside || part.sizes[d] % inside)
      return failure();
    for (int64_t w : group) {
      taken.firsts.push_back(w == outer ? part.firsts[d] / inside : 0);
      taken.sizes.push_back(w == outer ? part.sizes[d] / inside : wide[w]);
    }
  }
  auto attrs = [&](ArrayRef<int64_t> values) {
    return getAsIndexOpFoldResult(builder.getContext(), values);
  };
  Location loc = reshape->getLoc();
  SmallVector<int64_t> ones(taken.firsts.size(), 1);
  Value slice =
      tensor::ExtractSliceOp::create(builder, loc, source, attrs(taken.firsts),
                                     attrs(taken.sizes), attrs(ones));
  RankedTensorType made =
      RankedTensorType::get(part.sizes, type.getElementType());
  if (isExpand)
    return tensor::ExpandShapeOp::create(builder, loc, made, slice, groups)
        .getResult();
  return tensor::CollapseShapeOp::create(builder, loc, made, slice, groups)
      .getResult();
}

static FailureOr<Value> makePart(Operation *op, const Part &part) {
  OpBuilder builder(op);
  if (auto compute = dyn_cast<linalg::LinalgOp>(op))
    return makePart(builder, compute, part);
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op))
    return makePart(builder, op, expand.getReassociationIndices(), part);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return makePart(builder, op, collapse.getReassociationIndices(), part);
  return failure();
}

void layout::narrowToUsedSlices(func::FuncOp function) {
  if (function.isExternal())
    return;
  // Users come later in the block, so they are visited first.
  SmallVector<Operation *> ops;
  for (Block &block : function.getBody())
    for (Operation &op : block)
      if (op.getNumResults() == 1)
        ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops)) {
    std::optional<Part> part = findUsedPart(op->getResult(0));
    if (!part)
      continue;
    FailureOr<Value> made = makePart(op, *part);
    if (failed(made))
      continue;
    for (Operation *user : llvm::make_early_inc_range(op->getUsers())) {
      auto slice = cast<tensor::ExtractSliceOp>(user);
      Value result = *made;
      OpBuilder builder(slice);
      if (slice.getType() != result.getType())
        result = tensor::CollapseShapeOp::create(
            builder, slice.getLoc(), slice.getType(), result,
            *getReassociationIndicesForCollapse(part->sizes,
                                                slice.getType().getShape()));
      slice.replaceAllUsesWith(result);
      slice.erase();
    }
    op->erase();
  }
}
