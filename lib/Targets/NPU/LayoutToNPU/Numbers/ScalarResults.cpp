//===- ScalarResults.cpp - Results of rank 0 ------------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tiling/TileAndFuse.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace mlir::layout;

static RankedTensorType getWithDim(Type type) {
  return RankedTensorType::get({1},
                               cast<RankedTensorType>(type).getElementType());
}

/// Creates the rank-0 init of an op as a tensor<1>: an empty tensor or a fill
/// if `init` is one, or else a reshape.
static Value makeInit(OpBuilder &builder, Location loc, Value init) {
  RankedTensorType type = getWithDim(init.getType());
  auto makeEmpty = [&]() -> Value {
    return tensor::EmptyOp::create(builder, loc, type.getShape(),
                                   type.getElementType());
  };
  if (init.getDefiningOp<tensor::EmptyOp>())
    return makeEmpty();
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    return linalg::FillOp::create(builder, loc, fill.getInputs(), makeEmpty())
        .getResult(0);
  return tensor::ExpandShapeOp::create(builder, loc, type, init,
                                       ArrayRef<ReassociationIndices>());
}

/// Adds a leading dim of size 1 to an input by tensor.expand_shape. It is the
/// dim that is spread over the cores, as all others are reduced. Returns
/// scalars and rank-0 tensors unchanged.
static Value giveDim(OpBuilder &builder, Location loc, Value input) {
  auto type = dyn_cast<RankedTensorType>(input.getType());
  if (!type || type.getRank() == 0)
    return input;
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), 1);
  SmallVector<ReassociationIndices> groups{{0, 1}};
  for (int64_t d = 2; d < int64_t(shape.size()); ++d)
    groups.push_back({d});
  return tensor::ExpandShapeOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()), input,
      groups);
}

/// Adds a leading loop of one iteration to the op, and a dim to its results.
static void giveDim(linalg::LinalgOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<AffineMap> maps;
  SmallVector<Value> inputs, inits;
  SmallVector<Type> types;
  for (OpOperand *input : op.getDpsInputOperands()) {
    inputs.push_back(giveDim(builder, loc, input->get()));
    maps.push_back(op.getMatchingIndexingMap(input).shiftDims(1));
    if (inputs.back() != input->get())
      maps.back() = maps.back().insertResult(builder.getAffineDimExpr(0), 0);
  }
  for (OpOperand &init : op.getDpsInitsMutable()) {
    inits.push_back(makeInit(builder, loc, init.get()));
    types.push_back(inits.back().getType());
    maps.push_back(
        AffineMap::get(op.getNumLoops() + 1, 0, builder.getAffineDimExpr(0)));
  }
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  iterators.insert(iterators.begin(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(builder, loc, types, inputs, inits,
                                           maps, iterators);
  IRMapping mapping;
  op->getRegion(0).cloneInto(&generic.getRegion(), mapping);
  generic.walk([](linalg::IndexOp index) { index.setDim(index.getDim() + 1); });
  for (auto [from, to] :
       llvm::zip_equal(op->getResults(), generic.getResults()))
    from.replaceAllUsesWith(tensor::CollapseShapeOp::create(
        builder, loc, cast<RankedTensorType>(from.getType()), to,
        ArrayRef<ReassociationIndices>()));
  op.erase();
}

void layout::giveScalarsADim(func::FuncOp function) {
  SmallVector<linalg::LinalgOp> ops;
  function.walk([&](linalg::LinalgOp op) {
    if (isForCores(op) && op->getNumResults() &&
        llvm::all_of(op->getResultTypes(), [](Type type) {
          return cast<RankedTensorType>(type).getRank() == 0;
        }))
      ops.push_back(op);
  });
  for (linalg::LinalgOp op : ops)
    giveDim(op);
}
