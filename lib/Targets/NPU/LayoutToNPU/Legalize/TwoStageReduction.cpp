//===- TwoStageReduction.cpp - Two-stage sums over cores ------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The columns of a matrix are spread over all cores, so a sum over them moves
// the matrix through system memory to a layout with whole rows. Two sums avoid
// this. The first is over the columns of each core, and only its result is
// moved:
//
//     s[r] = s[r] + x[r, c]          tensor<128x768>
//     p[r, k] = p[r, k] + x[r, k, c] tensor<128x64x12>, on 64 cores
//     s[r] = s[r] + p[r, k]
//
// Law: every element is added once; the order of f32 additions differs.
//
//===----------------------------------------------------------------------===//

#include "Tiling/TileAndFuse.h"
#include "layout/Dialect/NPU/IR/OkkFunctionMatcher.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::layout;

/// The least number of columns per core for which a sum is split. With fewer,
/// the first sum hardly reduces the data.
static constexpr int64_t kLeastColumns = 8;

/// Returns true if the op adds f32 elements of its only input, of at most three
/// dims, along the last dim.
static bool isSumOfRows(linalg::LinalgOp op) {
  if (op->getNumOperands() != 2 || op.getNumDpsInits() != 1 ||
      op.hasDynamicShape() || op.getNumReductionLoops() != 1)
    return false;
  OpOperand &input = op->getOpOperand(0), &init = op->getOpOperand(1);
  unsigned loops = op.getNumLoops();
  MLIRContext *context = op.getContext();
  auto inputType = dyn_cast<RankedTensorType>(input.get().getType());
  auto type = dyn_cast<RankedTensorType>(init.get().getType());
  if (!inputType || !type || !type.getElementType().isF32() ||
      inputType.getEncoding() || type.getEncoding() || loops > 3 ||
      !op.getMatchingIndexingMap(&input).isIdentity() ||
      op.getMatchingIndexingMap(&init) !=
          AffineMap::getMultiDimIdentityMap(loops, context)
              .getMajorSubMap(loops - 1))
    return false;
  std::optional<npu::ElementFunction> function = npu::getElementFunction(op);
  return function && function->name == "add" &&
         function->arguments[0].operand + function->arguments[1].operand == 1;
}

/// Creates a sum of `input` over its last dim, accumulated into `init`.
static Value makeSum(OpBuilder &builder, Location loc, Value input,
                     Value init) {
  int64_t rank = cast<RankedTensorType>(input.getType()).getRank();
  AffineMap map = builder.getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  loops.back() = utils::IteratorType::reduction;
  return linalg::GenericOp::create(
             builder, loc, init.getType(), input, init,
             ArrayRef{map, map.getMajorSubMap(rank - 1)}, loops,
             [](OpBuilder &inner, Location at, ValueRange values) {
               Value sum =
                   arith::AddFOp::create(inner, at, values[1], values[0]);
               linalg::YieldOp::create(inner, at, sum);
             })
      .getResult(0);
}

void layout::sumInTwoStages(func::FuncOp function, int64_t npus) {
  SmallVector<linalg::LinalgOp> ops;
  function.walk([&](linalg::LinalgOp op) {
    // A slice, e.g. one made by tiling, may be loaded in any layout.
    if (!isForCores(op) || !isSumOfRows(op) ||
        op->getOperand(0).getDefiningOp<tensor::ExtractSliceOp>())
      return;
    int64_t columns = op.getStaticLoopRanges().back();
    if (npus > 1 && columns % npus == 0 && columns / npus >= kLeastColumns)
      ops.push_back(op);
  });
  for (linalg::LinalgOp op : ops) {
    OpBuilder builder(op);
    Location loc = op.getLoc();
    Value input = op->getOperand(0), init = op->getOperand(1);
    auto type = cast<RankedTensorType>(input.getType());
    int64_t rank = type.getRank();
    SmallVector<int64_t> shape(type.getShape());
    shape.back() = npus;
    auto partial = RankedTensorType::get(shape, type.getElementType());
    shape.push_back(type.getDimSize(rank - 1) / npus);
    SmallVector<ReassociationIndices> groups(rank);
    for (int64_t d = 0; d <= rank; ++d)
      groups[std::min(d, rank - 1)].push_back(d);
    Value columns = tensor::ExpandShapeOp::create(
        builder, loc, RankedTensorType::get(shape, type.getElementType()),
        input, groups);
    Value zero =
        arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
    Value empty = tensor::EmptyOp::create(builder, loc, partial.getShape(),
                                          partial.getElementType());
    Value start =
        linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
    Value sums = makeSum(builder, loc, columns, start);
    op->getResult(0).replaceAllUsesWith(makeSum(builder, loc, sums, init));
    op.erase();
  }
}
