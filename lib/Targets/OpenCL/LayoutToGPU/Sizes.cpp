//===- Sizes.cpp - Dynamic sizes of inlined tensors -----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Sizes.h"
#include "FusionPlan.h"
#include "layout/Dialect/Layout/IR/Layout.h"
#include "layout/Dialect/Layout/IR/LayoutTypes.h"
#include "layout/Dialect/Layout/Utils/EmitSize.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;
using namespace mlir::layout;

SmallVector<BoundedIndex> layout::getShownDims(RankedTensorType laidOut,
                                               RankedTensorType plain) {
  if (*getStorageType(laidOut) == plain)
    return getStoredDims(laidOut);
  SmallVector<BoundedIndex> axes;
  LayoutMap map = *getLayoutMap(laidOut);
  for (const StoredAxis &axis : map.getStoredAxes())
    axes.push_back({axis.value, axis.extent});
  return axes;
}

/// Returns the number of the first of `dims` whose extent is the size of
/// logical dim `d` of `laidOut`, or std::nullopt if there is none. `dims` are
/// those of the plain tensor that the storage is passed as.
static std::optional<int64_t>
findShown(RankedTensorType laidOut, ArrayRef<BoundedIndex> dims, unsigned d) {
  for (auto [i, dim] : llvm::enumerate(dims))
    if (dim.extent.specialize(laidOut.getShape()) == SizeExpr::dim(d))
      return i;
  return std::nullopt;
}

bool layout::areSizesShown(RankedTensorType laidOut, RankedTensorType plain) {
  SmallVector<BoundedIndex> dims = getShownDims(laidOut, plain);
  return llvm::all_of(
      llvm::seq<unsigned>(0, laidOut.getRank()), [&](unsigned d) {
        return !laidOut.isDynamicDim(d) || findShown(laidOut, dims, d);
      });
}

/// Returns an operand that has the shape of `result` by definition, or null.
static Value getTensorOfSameSize(OpResult result) {
  Operation *op = result.getOwner();
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    return destination.getTiedOpOperand(result)->get();
  bool isElementwise = isa<ConvertOp, tensor::CastOp>(op) ||
                       OpTrait::hasElementwiseMappableTraits(op);
  if (!isElementwise)
    return {};
  auto tensor = llvm::find_if(op->getOperands(), [](Value operand) {
    return isa<RankedTensorType>(operand.getType());
  });
  return tensor == op->getOperands().end() ? Value() : *tensor;
}

/// Returns the sizes of the result of `view`, computed from those of its
/// source. If the source is plain, each dynamic size must be the size of one of
/// its dims (areSizesShown).
static SmallVector<OpFoldResult> getSizesOfView(OpBuilder &b, Location loc,
                                                StorageViewOp view) {
  Value source = view.getSource();
  RankedTensorType from = view.getSource().getType();
  RankedTensorType to = view.getResult().getType();
  SmallVector<OpFoldResult> sizes;
  if (hasLayout(from)) {
    SmallVector<OpFoldResult> sizeOf = tensor::getMixedSizes(b, loc, source);
    for (const BoundedIndex &dim : getShownDims(from, to))
      sizes.push_back(emitSize(b, loc, dim.extent, sizeOf));
    return sizes;
  }
  SmallVector<BoundedIndex> dims = getShownDims(to, from);
  for (auto [d, size] : llvm::enumerate(to.getShape()))
    sizes.push_back(
        ShapedType::isDynamic(size)
            ? tensor::getMixedSize(b, loc, source, *findShown(to, dims, d))
            : OpFoldResult(b.getIndexAttr(size)));
  return sizes;
}

/// Returns the size of dim `d` of `tensor`, computed from operands of its op.
/// If they do not determine the size, returns null.
static Value resolve(OpBuilder &b, Location loc, OpResult tensor, unsigned d) {
  Operation *op = tensor.getOwner();
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(d))
    return arith::ConstantIndexOp::create(b, loc, type.getDimSize(d));
  unsigned number = type.getDynamicDimIndex(d);
  // The cast of device memory has the dynamic sizes as operands.
  if (auto cast = dyn_cast<UnrealizedConversionCastOp>(op))
    return cast.getInputs()[1 + number];
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return empty.getDynamicSizes()[number];
  if (auto view = dyn_cast<StorageViewOp>(op))
    return getValueOrCreateConstantIndexOp(b, loc,
                                           getSizesOfView(b, loc, view)[d]);
  if (Value same = getTensorOfSameSize(tensor))
    return tensor::DimOp::create(b, loc, same, d);
  FailureOr<OpFoldResult> size = failure();
  if (isa<ReifyRankedShapedTypeOpInterface>(op))
    size = reifyDimOfResult(b, op, tensor.getResultNumber(), d);
  return succeeded(size) ? getValueOrCreateConstantIndexOp(b, loc, *size)
                         : Value();
}

void layout::resolveSizes(Operation *root) {
  SmallVector<tensor::DimOp> open;
  root->walk([&](tensor::DimOp op) { open.push_back(op); });
  while (!open.empty()) {
    tensor::DimOp op = open.pop_back_val();
    auto source = dyn_cast<OpResult>(op.getSource());
    std::optional<int64_t> d = op.getConstantIndex();
    bool isComputed = source && d &&
                      (isa<UnrealizedConversionCastOp>(source.getOwner()) ||
                       getComputeKind(source.getOwner()) != ComputeKind::None);
    if (!isComputed)
      continue;
    OpBuilder b(op);
    Operation *before = op->getPrevNode();
    Value size = resolve(b, op.getLoc(), source, *d);
    if (!size)
      continue;
    // Newly created tensor.dim ops are resolved, too.
    for (Operation *made = before ? before->getNextNode()
                                  : &op->getBlock()->front();
         made != op; made = made->getNextNode())
      if (auto dim = dyn_cast<tensor::DimOp>(made))
        open.push_back(dim);
    op.replaceAllUsesWith(size);
    op.erase();
  }
}
