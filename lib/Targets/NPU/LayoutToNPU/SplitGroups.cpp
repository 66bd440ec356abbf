//===- SplitGroups.cpp - Convolutions as those of images ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// OKKernel has convolutions of all channels and of each channel. A convolution
// of groups becomes one of all channels for each group:
//
//   %r = linalg.conv_2d_ngchw_gfchw(%x, %w)         of 4 groups
//     %x0 = tensor.extract_slice %x[0, 0, ..]       [n, c, h, w] of group 0
//     %r0 = linalg.conv_2d_nchw_fchw(%x0, %w0)
//     ..
//     %r = tensor.concat dim(1) %r0, %r1, %r2, %r3  each expanded to a group
//
// and one along a line is one of images of one row.
//
//===----------------------------------------------------------------------===//

#include "PrepareForCores.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::layout;

/// One index of `dim`, without that dim.
static Value takeGroup(OpBuilder &builder, Location loc, Value whole,
                       unsigned dim, int64_t group) {
  auto type = cast<RankedTensorType>(whole.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> ones(type.getRank(), builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes =
      getAsIndexOpFoldResult(type.getContext(), type.getShape());
  offsets[dim] = builder.getIndexAttr(group);
  sizes[dim] = builder.getIndexAttr(1);
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + dim);
  return tensor::ExtractSliceOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()), whole,
      offsets, sizes, ones);
}

/// What a group starts from: filled for it where the whole is.
static Value takeInit(OpBuilder &builder, Location loc, Value whole,
                      int64_t group) {
  auto fill = whole.getDefiningOp<linalg::FillOp>();
  if (!fill)
    return takeGroup(builder, loc, whole, 1, group);
  auto type = cast<RankedTensorType>(whole.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.erase(shape.begin() + 1);
  Value empty =
      tensor::EmptyOp::create(builder, loc, shape, type.getElementType());
  return linalg::FillOp::create(builder, loc, fill.getInputs(),
                                ValueRange(empty))
      .getResult(0);
}

/// The strides and dilations, which an op need not state.
static std::pair<Attribute, Attribute> getStridesAndDilations(Operation *op) {
  if (auto conv = dyn_cast<linalg::Conv2DNgchwGfchwOp>(op))
    return {conv.getStrides(), conv.getDilations()};
  auto conv = cast<linalg::Conv2DNgchwFgchwOp>(op);
  return {conv.getStrides(), conv.getDilations()};
}

static void splitGroups(linalg::LinalgOp op, unsigned weightDim) {
  // Without points an op is what it starts from.
  if (llvm::is_contained(op.getStaticLoopRanges(), 0)) {
    op->getResult(0).replaceAllUsesWith(op.getDpsInits()[0]);
    op->erase();
    return;
  }
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<Value> parts;
  SmallVector<int64_t> shape(type.getShape());
  shape[1] = 1;
  auto [strides, dilations] = getStridesAndDilations(op);
  SmallVector<ReassociationIndices> dims{{0}, {1, 2}, {3}, {4}};
  for (int64_t group = 0; group < type.getDimSize(1); ++group) {
    Value init = takeInit(builder, loc, op.getDpsInits()[0], group);
    Value part =
        linalg::Conv2DNchwFchwOp::create(
            builder, loc, TypeRange(init.getType()),
            ValueRange{
                takeGroup(builder, loc, op->getOperand(0), 1, group),
                takeGroup(builder, loc, op->getOperand(1), weightDim, group)},
            ValueRange(init), strides, dilations)
            .getResult(0);
    parts.push_back(tensor::ExpandShapeOp::create(
        builder, loc, RankedTensorType::get(shape, type.getElementType()), part,
        dims));
  }
  Value whole = parts.front();
  if (parts.size() > 1)
    whole = tensor::ConcatOp::create(builder, loc, 1, parts);
  op->getResult(0).replaceAllUsesWith(whole);
  op->erase();
}

/// With a row of one before the last dim.
static Value addRow(OpBuilder &builder, Location loc, Value line) {
  auto type = cast<RankedTensorType>(line.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin() + 2, 1);
  SmallVector<ReassociationIndices> dims{{0}, {1}, {2, 3}};
  return tensor::ExpandShapeOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()), line,
      dims);
}

static void makeImages(linalg::Conv1DNcwFcwOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  auto withRow = [&](DenseIntElementsAttr values) {
    return builder.getI64VectorAttr({1, *values.getValues<int64_t>().begin()});
  };
  Value init = addRow(builder, loc, op.getOutputs()[0]);
  Value image = linalg::Conv2DNchwFchwOp::create(
                    builder, loc, TypeRange(init.getType()),
                    ValueRange{addRow(builder, loc, op.getInputs()[0]),
                               addRow(builder, loc, op.getInputs()[1])},
                    ValueRange(init), withRow(op.getStrides()),
                    withRow(op.getDilations()))
                    .getResult(0);
  SmallVector<ReassociationIndices> dims{{0}, {1}, {2, 3}};
  op->getResult(0).replaceAllUsesWith(
      tensor::CollapseShapeOp::create(builder, loc, image, dims));
  op.erase();
}

void layout::splitGroups(func::FuncOp function) {
  SmallVector<std::pair<linalg::LinalgOp, unsigned>> ops;
  function.walk([&](linalg::LinalgOp op) {
    bool isGroupFirst = isa<linalg::Conv2DNgchwGfchwOp>(*op);
    if ((!isGroupFirst && !isa<linalg::Conv2DNgchwFgchwOp>(*op)) ||
        op.hasDynamicShape() || !op.hasPureTensorSemantics())
      return;
    // One channel of each group goes from core to core like its results.
    auto input = cast<RankedTensorType>(op->getOperand(0).getType());
    if (input.getElementType().isF32() && input.getDimSize(2) > 1)
      ops.push_back({op, isGroupFirst ? 0 : 1});
  });
  for (auto [op, weightDim] : ops)
    ::splitGroups(op, weightDim);
  SmallVector<linalg::Conv1DNcwFcwOp> lines;
  function.walk([&](linalg::Conv1DNcwFcwOp op) {
    if (op.hasPureTensorSemantics() && !op.hasDynamicShape() &&
        getElementTypeOrSelf(op->getResult(0)).isF32())
      lines.push_back(op);
  });
  llvm::for_each(lines, makeImages);
}
