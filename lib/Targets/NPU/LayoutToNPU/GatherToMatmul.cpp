//===- GatherToMatmul.cpp - Gathers of rows by data -----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Command addresses are known at compile time, so no command reads a table row
// that is selected by data. A one-hot matrix times the table does:
//
//     %r = tensor.extract %table[%id, %d]        embeddings of tokens
//
//     %h[t, r] = %ids[t] == r ? 1 : 0
//     %e[t, d] = %e[t, d] + %h[t, r] * %table[r, d]
//
// Law: the table is a finite f32 constant of at most 2^24 rows, so the other
// terms of the sum are 0. For any other table with few rows, each row becomes
// an operand, and the body selects one:
//
//     %r = %ids[t] == 2 ? %row2[d] : %ids[t] == 1 ? %row1[d] : %row0[d]
//
//===----------------------------------------------------------------------===//

#include "IntegerBody.h"
#include "LegalizeLinalg.h"
#include "WrappedIndex.h"
#include "layout/Support/ConstantBytes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace mlir::layout;

// Each row is an operand and a command that selects.
static constexpr int64_t kMostChosen = 64;

namespace {
/// A dim of a table whose index `row` is an element of an operand. If `wrap` is
/// not 0, negative indices count from the end of `wrap` rows.
struct NamedDim {
  unsigned dim;
  BlockArgument row;
  int64_t wrap;
};

/// A read of a table: dims with data indices, and the loops of the other dims.
struct RowRead {
  SmallVector<NamedDim> named;
  SmallVector<unsigned> loops;
};
} // namespace

static bool isFinite(Value table) {
  ElementsAttr numbers;
  if (!getElementTypeOrSelf(table).isF32() ||
      !matchPattern(table, m_Constant(&numbers)))
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

/// Narrows the read to the constant indices, and to the trip counts of dims
/// that are indexed by loops. Returns `extract` if that is the whole table.
static tensor::ExtractOp readSlice(linalg::GenericOp op,
                                   tensor::ExtractOp extract) {
  RankedTensorType type = extract.getTensor().getType();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  SmallVector<OpFoldResult> offsets, sizes;
  SmallVector<int64_t> shape;
  SmallVector<Value> indices;
  if (!type.hasStaticShape() || type.getEncoding())
    return extract;
  OpBuilder builder(op);
  for (auto [index, size] :
       llvm::zip_equal(extract.getIndices(), type.getShape())) {
    std::optional<int64_t> known = getConstantIntValue(index);
    if (known && (*known < 0 || *known >= size))
      return extract;
    auto loop = index.getDefiningOp<linalg::IndexOp>();
    int64_t read = loop ? std::min(size, ranges[loop.getDim()]) : size;
    offsets.push_back(builder.getIndexAttr(known.value_or(0)));
    sizes.push_back(builder.getIndexAttr(known ? 1 : read));
    if (known)
      continue;
    shape.push_back(read);
    indices.push_back(index);
  }
  if (ArrayRef<int64_t>(shape) == type.getShape())
    return extract;
  SmallVector<OpFoldResult> ones(offsets.size(), builder.getIndexAttr(1));
  Value slice = tensor::ExtractSliceOp::create(
      builder, op.getLoc(), RankedTensorType::get(shape, type.getElementType()),
      extract.getTensor(), offsets, sizes, ones);
  auto read =
      tensor::ExtractOp::create(builder, extract.getLoc(), slice, indices);
  read->moveBefore(extract);
  extract.replaceAllUsesWith(read.getResult());
  extract.erase();
  return read;
}

static std::optional<RowRead> findRowRead(linalg::GenericOp op,
                                          tensor::ExtractOp extract) {
  RowRead read;
  RankedTensorType type = extract.getTensor().getType();
  if (!type.hasStaticShape() || type.getEncoding())
    return std::nullopt;
  ArrayRef<int64_t> shape = type.getShape();
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (auto [d, index] : llvm::enumerate(extract.getIndices())) {
    auto loop = index.getDefiningOp<linalg::IndexOp>();
    if (loop && ranges[loop.getDim()] == shape[d]) {
      read.loops.push_back(loop.getDim());
      continue;
    }
    Value at = index;
    int64_t wrap = 0;
    while (Operation *made = at.getDefiningOp()) {
      if (isa<arith::IndexCastOp, arith::ExtSIOp>(made)) {
        at = made->getOperand(0);
        continue;
      }
      auto select = dyn_cast<arith::SelectOp>(made);
      std::optional<WrappedIndex> wrapped;
      if (select && wrap == 0)
        wrapped = matchWrappedIndex(select);
      if (!wrapped)
        return std::nullopt;
      at = wrapped->index;
      wrap = wrapped->size;
    }
    auto row = cast<BlockArgument>(at);
    if (row.getOwner() != op.getBlock() ||
        int64_t(row.getArgNumber()) >= op.getNumDpsInputs() ||
        !(row.getType().isInteger(32) || row.getType().isInteger(64)) ||
        shape[d] > kExactInteger || wrap > kExactInteger)
      return std::nullopt;
    read.named.push_back({unsigned(d), row, wrap});
  }
  return read.named.empty() ? std::nullopt : std::make_optional(read);
}

/// Returns a map from `rank` loops to the first `count` of them.
static AffineMap getFirstDims(OpBuilder &builder, unsigned rank,
                              unsigned count) {
  return AffineMap::get(
      rank, 0,
      builder.getMultiDimIdentityMap(rank).getResults().take_front(count),
      builder.getContext());
}

/// Emits the row number of `id` as f32. If `wrap` is not 0, a negative `id`
/// counts from the end of `wrap` rows.
static Value makeRowNumber(OpBuilder &body, Location loc, Value id,
                           int64_t wrap) {
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(body, loc,
                                     body.getF32FloatAttr(float(value)));
  };
  Value row = arith::SIToFPOp::create(body, loc, body.getF32Type(), id);
  if (wrap == 0)
    return row;
  Value isNegative = arith::CmpFOp::create(body, loc, arith::CmpFPredicate::OLT,
                                           row, number(0));
  Value fromEnd = arith::AddFOp::create(body, loc, row, number(wrap));
  return arith::SelectOp::create(body, loc, isNegative, fromEnd, row);
}

/// Creates the one-hot encoding of `ids`, with a last dim of size `rows`.
static Value makeOnes(OpBuilder &builder, Location loc, Value ids, int64_t rows,
                      int64_t wrap) {
  SmallVector<int64_t> shape(cast<RankedTensorType>(ids.getType()).getShape());
  unsigned rank = shape.size();
  shape.push_back(rows);
  Value known = makeIndices(builder, loc, rows);
  Value init =
      tensor::EmptyOp::create(builder, loc, shape, builder.getF32Type());
  AffineMap all = builder.getMultiDimIdentityMap(rank + 1);
  SmallVector<utils::IteratorType> kinds(rank + 1,
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, TypeRange(init.getType()), ValueRange{ids, known},
             ValueRange(init),
             ArrayRef{getFirstDims(builder, rank + 1, rank),
                      all.getMinorSubMap(1), all},
             kinds,
             [&](OpBuilder &body, Location loc, ValueRange values) {
               Value id = makeRowNumber(body, loc, values[0], wrap);
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

/// Creates the product of one-hot rows and a table, whose dim `dim` is summed
/// over.
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
  Value empty =
      tensor::EmptyOp::create(builder, loc, shape, builder.getF32Type());
  Value start = linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
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

/// Adds the selected rows as an operand and returns its element.
static Value multiplyTable(linalg::GenericOp op, tensor::ExtractOp extract,
                           const RowRead &read) {
  OpBuilder builder(op);
  auto [dim, row, wrap] = read.named.front();
  OpOperand &ids = op->getOpOperand(row.getArgNumber());
  // A scalar index becomes one row. A sum of products without another dim would
  // be computed as an average times a count, which rounds.
  Value named = ids.get();
  auto idsType = cast<RankedTensorType>(named.getType());
  bool isNumber = idsType.getRank() == 0;
  if (isNumber)
    named =
        tensor::ExpandShapeOp::create(builder, op.getLoc(), idsType.clone({1}),
                                      named, ArrayRef<ReassociationIndices>());
  Value ones = makeOnes(builder, op.getLoc(), named,
                        extract.getTensor().getType().getDimSize(dim), wrap);
  Value rows =
      makeProduct(builder, op.getLoc(), ones, extract.getTensor(), dim);
  if (isNumber)
    rows = takeIndex(builder, op.getLoc(), rows, 0, 0);
  AffineMap map = op.getMatchingIndexingMap(&ids);
  for (unsigned loop : read.loops)
    map = map.insertResult(builder.getAffineDimExpr(loop), map.getNumResults());
  return addOperand(op, rows, map);
}

/// Emits the selection among the rows of the last dim of `named`, each of which
/// is an operand, and returns the element.
static Value chooseRow(OpBuilder &body, linalg::GenericOp op, Value table,
                       ArrayRef<unsigned> loops, ArrayRef<NamedDim> named) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  if (named.empty())
    return addOperand(op, table,
                      AffineMap::getMultiDimMapWithTargets(
                          op.getNumLoops(), loops, op.getContext()));
  auto [dim, row, wrap] = named.back();
  Value id = makeRowNumber(body, loc, row, wrap), chosen;
  int64_t rows = cast<RankedTensorType>(table.getType()).getDimSize(dim);
  for (int64_t i = 0; i < rows; ++i) {
    Value slice = takeIndex(builder, loc, table, dim, i);
    Value element = chooseRow(body, op, slice, loops, named.drop_back());
    if (!chosen) {
      chosen = element;
      continue;
    }
    Value is = arith::CmpFOp::create(
        body, loc, arith::CmpFPredicate::OEQ, id,
        arith::ConstantOp::create(body, loc, body.getF32FloatAttr(float(i))));
    chosen = arith::SelectOp::create(body, loc, is, element, chosen);
  }
  return chosen;
}

/// Returns true if the table has at most `kMostChosen` rows to select from.
static bool hasFewRows(RankedTensorType table, const RowRead &read) {
  int64_t rows = 1;
  for (const NamedDim &named : read.named) {
    rows *= table.getDimSize(named.dim);
    if (rows == 0 || rows > kMostChosen)
      return false;
  }
  return true;
}

void layout::convertGathersToMatmuls(func::FuncOp function) {
  SmallVector<linalg::GenericOp> ops;
  function.walk([&](linalg::GenericOp op) {
    if (op.hasPureTensorSemantics() && !op.hasDynamicShape())
      ops.push_back(op);
  });
  for (linalg::GenericOp op : ops) {
    for (auto extract :
         llvm::to_vector(op.getBlock()->getOps<tensor::ExtractOp>())) {
      extract = readSlice(op, extract);
      std::optional<RowRead> read = findRowRead(op, extract);
      OpBuilder body(extract);
      Value element;
      if (read && read->named.size() == 1 && isFinite(extract.getTensor()))
        element = multiplyTable(op, extract, *read);
      else if (read && hasFewRows(extract.getTensor().getType(), *read))
        element =
            chooseRow(body, op, extract.getTensor(), read->loops, read->named);
      if (!element)
        continue;
      extract.replaceAllUsesWith(element);
      extract.erase();
    }
    for (Operation &inner :
         llvm::make_early_inc_range(llvm::reverse(*op.getBlock())))
      if (isOpTriviallyDead(&inner))
        inner.erase();
  }
}
