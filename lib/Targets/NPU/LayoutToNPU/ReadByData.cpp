//===- ReadByData.cpp - Rows of constants at places that data tell --------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Addresses of commands are known when a program is compiled, so no command
// reads the row of a table that an element names. Ones where the row is that
// one, and zeros elsewhere, multiply the table:
//
//     %r = tensor.extract %table[%id, %d]        embeddings of tokens
//
//     %h[t, r] = %ids[t] == r ? 1 : 0
//     %e[t, d] = %e[t, d] + %h[t, r] * %table[r, d]
//
// Law: the table is of f32 that are finite, and of at most 2^24 rows, so that
// what is added beside the row is 0.
//
//===----------------------------------------------------------------------===//

#include "IntegerBody.h"
#include "PrepareForCores.h"
#include "layout/Support/ConstantBytes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace mlir::layout;

namespace {
/// A read of a table: the element that names the row, which dim has rows, and
/// the loops of the other dims.
struct RowRead {
  tensor::ExtractOp extract;
  BlockArgument row;
  unsigned dim = 0;
  SmallVector<unsigned> loops;
};
} // namespace

static bool isTable(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  ElementsAttr numbers;
  if (!type.hasStaticShape() || !type.getElementType().isF32() ||
      type.getEncoding() || !matchPattern(value, m_Constant(&numbers)))
    return false;
  std::optional<ArrayRef<char>> bytes = getConstantBytes(numbers);
  if (!bytes)
    return false;
  for (size_t i = 0; i + sizeof(float) <= bytes->size(); i += sizeof(float)) {
    float number;
    std::memcpy(&number, bytes->data() + i, sizeof(float));
    if (!std::isfinite(number))
      return false;
  }
  return true;
}

static std::optional<RowRead> findRowRead(linalg::GenericOp op,
                                          tensor::ExtractOp extract) {
  RowRead read{extract, {}, 0, {}};
  if (!isTable(extract.getTensor()))
    return std::nullopt;
  ArrayRef<int64_t> shape = extract.getTensor().getType().getShape();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (auto [d, index] : llvm::enumerate(extract.getIndices())) {
    auto loop = index.getDefiningOp<linalg::IndexOp>();
    if (loop && ranges[loop.getDim()] == shape[d]) {
      read.loops.push_back(loop.getDim());
      continue;
    }
    Value at = index;
    while (Operation *cast = at.getDefiningOp()) {
      if (!isa<arith::IndexCastOp, arith::ExtSIOp>(cast))
        return std::nullopt;
      at = cast->getOperand(0);
    }
    auto row = cast<BlockArgument>(at);
    if (read.row || row.getOwner() != op.getBlock() ||
        int64_t(row.getArgNumber()) >= op.getNumDpsInputs() ||
        !(row.getType().isInteger(32) || row.getType().isInteger(64)) ||
        shape[d] > kExactInteger)
      return std::nullopt;
    read.row = row;
    read.dim = d;
  }
  return read.row ? std::make_optional(read) : std::nullopt;
}

static Value makeEmpty(OpBuilder &builder, Location loc,
                       ArrayRef<int64_t> shape) {
  return tensor::EmptyOp::create(builder, loc, shape, builder.getF32Type());
}

/// The first dims of `rank` loops.
static AffineMap getFirstDims(OpBuilder &builder, unsigned rank,
                              unsigned count) {
  return AffineMap::get(
      rank, 0,
      builder.getMultiDimIdentityMap(rank).getResults().take_front(count),
      builder.getContext());
}

/// Ones at the rows that `ids` name, and zeros: a last dim of `rows`.
static Value makeOnes(OpBuilder &builder, Location loc, Value ids,
                      int64_t rows) {
  SmallVector<int64_t> shape(cast<RankedTensorType>(ids.getType()).getShape());
  unsigned rank = shape.size();
  shape.push_back(rows);
  Value known = makeIndices(builder, loc, rows);
  Value init = makeEmpty(builder, loc, shape);
  AffineMap all = builder.getMultiDimIdentityMap(rank + 1);
  SmallVector<utils::IteratorType> kinds(rank + 1,
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, TypeRange(init.getType()), ValueRange{ids, known},
             ValueRange(init),
             ArrayRef{getFirstDims(builder, rank + 1, rank),
                      all.getMinorSubMap(1), all},
             kinds,
             [](OpBuilder &body, Location loc, ValueRange values) {
               Type f32 = body.getF32Type();
               Value id = arith::SIToFPOp::create(body, loc, f32, values[0]);
               Value is = arith::CmpFOp::create(
                   body, loc, arith::CmpFPredicate::OEQ, id, values[1]);
               auto number = [&](float value) -> Value {
                 return arith::ConstantOp::create(body, loc,
                                                  body.getF32FloatAttr(value));
               };
               Value one =
                   arith::SelectOp::create(body, loc, is, number(1), number(0));
               linalg::YieldOp::create(body, loc, one);
             })
      .getResult(0);
}

/// The rows that `ones` name: their dims, and those of the table without rows.
static Value makeProduct(OpBuilder &builder, Location loc, Value ones,
                         Value table, unsigned dim) {
  SmallVector<int64_t> shape(cast<RankedTensorType>(ones.getType()).getShape());
  ArrayRef<int64_t> tableShape =
      cast<RankedTensorType>(table.getType()).getShape();
  // The loops of the result, then that of rows.
  unsigned named = shape.size() - 1, last = named + tableShape.size() - 1;
  shape.pop_back();
  SmallVector<AffineExpr> ofTable;
  for (auto [d, size] : llvm::enumerate(tableShape)) {
    if (d == dim) {
      ofTable.push_back(builder.getAffineDimExpr(last));
      continue;
    }
    ofTable.push_back(builder.getAffineDimExpr(shape.size()));
    shape.push_back(size);
  }
  AffineMap ofOnes = getFirstDims(builder, last + 1, named)
                         .insertResult(builder.getAffineDimExpr(last), named);
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getF32FloatAttr(0));
  Value start =
      linalg::FillOp::create(builder, loc, zero, makeEmpty(builder, loc, shape))
          .getResult(0);
  SmallVector<utils::IteratorType> kinds(last, utils::IteratorType::parallel);
  kinds.push_back(utils::IteratorType::reduction);
  return linalg::GenericOp::create(
             builder, loc, TypeRange(start.getType()), ValueRange{ones, table},
             ValueRange(start),
             ArrayRef{
                 ofOnes,
                 AffineMap::get(last + 1, 0, ofTable, builder.getContext()),
                 getFirstDims(builder, last + 1, last)},
             kinds,
             [](OpBuilder &body, Location loc, ValueRange values) {
               Value product =
                   arith::MulFOp::create(body, loc, values[0], values[1]);
               Value sum = arith::AddFOp::create(body, loc, values[2], product);
               linalg::YieldOp::create(body, loc, sum);
             })
      .getResult(0);
}

/// The op with the rows as an operand.
static void replaceRead(linalg::GenericOp op, const RowRead &read) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  OpOperand &ids = op->getOpOperand(read.row.getArgNumber());
  RowRead known = read;
  Value table = known.extract.getTensor();
  Value ones =
      makeOnes(builder, loc, ids.get(),
               cast<RankedTensorType>(table.getType()).getDimSize(read.dim));
  Value rows = makeProduct(builder, loc, ones, table, read.dim);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  AffineMap map = op.getMatchingIndexingMap(&ids);
  for (unsigned loop : read.loops)
    map = map.insertResult(builder.getAffineDimExpr(loop), map.getNumResults());
  unsigned at = op.getNumDpsInputs();
  Value element = op.getBlock()->insertArgument(at, builder.getF32Type(), loc);
  known.extract.replaceAllUsesWith(element);
  known.extract.erase();
  op.getInputsMutable().append(rows);
  maps.insert(maps.begin() + at, map);
  op.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
}

void layout::readByData(func::FuncOp function) {
  SmallVector<linalg::GenericOp> ops;
  function.walk([&](linalg::GenericOp op) {
    if (op.hasPureTensorSemantics() && !op.hasDynamicShape())
      ops.push_back(op);
  });
  for (linalg::GenericOp op : ops) {
    for (auto extract :
         llvm::to_vector(op.getBlock()->getOps<tensor::ExtractOp>()))
      if (std::optional<RowRead> read = findRowRead(op, extract))
        replaceRead(op, *read);
    for (Operation &inner :
         llvm::make_early_inc_range(llvm::reverse(*op.getBlock())))
      if (isOpTriviallyDead(&inner))
        inner.erase();
  }
}
