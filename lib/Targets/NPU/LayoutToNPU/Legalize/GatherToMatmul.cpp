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
// Law: each term but one of the sum is +0, so the table is an f32 constant
// without infinities, NaN and -0, of at most 2^24 rows. For any other table of
// at most 64 rows, each row becomes an operand, and the body selects one:
//
//     %r = %ids[t] > 1.5 ? %row2[d] : %ids[t] > 0.5 ? %row1[d] : %row0[d]
//
// For more rows of 32-bit elements there are two products, with the high and
// the low 16 bits of the elements as f32, from which the body makes the
// element:
//
//     %r = bitcast (i32 %high[t, d] << 16 | i32 %low[t, d])
//
// Several indices become one of all the rows that they name:
//
//     %r = tensor.extract %table[%i, %d, %j]     row %i * 7 + %j of 5 * 7
//
//===----------------------------------------------------------------------===//

#include "Legalize/LegalizeLinalg.h"
#include "Legalize/WrappedIndex.h"
#include "Numbers/IntegerBody.h"
#include "layout/Support/ConstantBytes.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace mlir::layout;

// The maximum number of rows that a body selects from. Each row is an operand,
// and each but the first a command.
static constexpr int64_t kMostChosen = 64;

namespace {
/// A dim of a table whose index is `row`, an integer element of an operand of
/// the op. If `wrap` is not 0, negative indices count from the end of `wrap`
/// rows.
struct NamedDim {
  unsigned dim;
  BlockArgument row;
  int64_t wrap;
};

/// A tensor.extract of a table: the dims that are indexed by data, and the
/// loops that index the other dims.
struct RowRead {
  SmallVector<NamedDim> named;
  SmallVector<unsigned> loops;
};
} // namespace

/// Returns true if `table` is a constant with f32 elements x such that
/// 0 + 1 * x + 0 * y is x for any two of them.
static bool hasExactProducts(Value table) {
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
    if (!std::isfinite(number) || (number == 0 && std::signbit(number)))
      return false;
  }
  return true;
}

/// Lets a tensor.extract read a slice of its table. Dims with constant indices
/// are dropped, and dims indexed by a loop get its trip count as size. Returns
/// the new extract, or the old one if the slice is the whole table or an index
/// or type is not supported.
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

/// Emits the row number of `id` as f32. If `wrap` is not 0, a negative `id`
/// counts from the end of `wrap` rows.
static Value makeRowNumber(OpBuilder &body, Location loc, Value id,
                           int64_t wrap) {
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(body, loc,
                                     body.getF32FloatAttr(float(value)));
  };
  Value row = id;
  if (!id.getType().isF32())
    row = arith::SIToFPOp::create(body, loc, body.getF32Type(), id);
  if (wrap == 0)
    return row;
  Value isNegative = arith::CmpFOp::create(body, loc, arith::CmpFPredicate::OLT,
                                           row, number(0));
  Value fromEnd = arith::AddFOp::create(body, loc, row, number(wrap));
  return arith::SelectOp::create(body, loc, isNegative, fromEnd, row);
}

namespace {
using MakeBody = function_ref<Value(OpBuilder &, Location, ValueRange)>;

/// A read of rows of `table` along `dim`: `ids` has the row numbers, and `map`
/// maps the loops of the op to the indices of `ids`. If `wrap` is not 0,
/// negative row numbers count from the end of `wrap` rows.
struct Rows {
  Value table;
  unsigned dim = 0;
  SmallVector<unsigned> loops; // that index the other dims of the table
  Value ids;
  AffineMap map; // from loops to `ids`
  int64_t wrap = 0;
};
} // namespace

/// Creates an elementwise op with an f32 result of `shape`, whose body `make`
/// emits.
static Value makeElementwise(OpBuilder &builder, Location loc,
                             ArrayRef<int64_t> shape, ValueRange inputs,
                             SmallVector<AffineMap> maps, MakeBody make) {
  Value init =
      tensor::EmptyOp::create(builder, loc, shape, builder.getF32Type());
  maps.push_back(builder.getMultiDimIdentityMap(shape.size()));
  SmallVector<utils::IteratorType> kinds(shape.size(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, TypeRange(init.getType()), inputs, ValueRange(init),
             maps, kinds,
             [&](OpBuilder &body, Location loc, ValueRange values) {
               linalg::YieldOp::create(body, loc, make(body, loc, values));
             })
      .getResult(0);
}

/// Returns a map from `rank` loops to the first `count` of them.
static AffineMap getFirstDims(OpBuilder &builder, unsigned rank,
                              unsigned count) {
  return AffineMap::get(
      rank, 0,
      builder.getMultiDimIdentityMap(rank).getResults().take_front(count),
      builder.getContext());
}

/// Replaces several data indices of `read` by one row number. Creates the row
/// numbers, in a tensor over the loops that these indices depend on, and the
/// table with the dims that they index collapsed into one. Returns the read of
/// both.
static Rows combineIndices(OpBuilder &builder, linalg::GenericOp op,
                           Value table, const RowRead &read) {
  auto type = cast<RankedTensorType>(table.getType());
  llvm::SmallBitVector used(op.getNumLoops());
  SmallVector<Value> ids;
  SmallVector<AffineMap> maps;
  for (const NamedDim &named : read.named) {
    OpOperand &operand = op->getOpOperand(named.row.getArgNumber());
    ids.push_back(operand.get());
    maps.push_back(op.getMatchingIndexingMap(&operand));
    for (unsigned loop = 0; loop < used.size(); ++loop)
      if (maps.back().isFunctionOfDim(loop))
        used.set(loop);
  }
  SmallVector<int64_t> shape, ranges = op.getStaticLoopRanges();
  SmallVector<AffineExpr> exprs;
  for (unsigned loop : used.set_bits()) {
    shape.push_back(ranges[loop]);
    exprs.push_back(builder.getAffineDimExpr(loop));
  }
  llvm::SmallBitVector unused = used;
  unused.flip();
  for (AffineMap &map : maps)
    map = compressDims(map, unused);
  Rows rows;
  rows.map = AffineMap::get(op.getNumLoops(), 0, exprs, builder.getContext());
  rows.ids = makeElementwise(
      builder, op.getLoc(), shape, ids, maps,
      [&](OpBuilder &body, Location loc, ValueRange values) {
        Value sum;
        for (auto [named, id] :
             llvm::zip_equal(read.named, values.drop_back())) {
          Value row = makeRowNumber(body, loc, id, named.wrap);
          if (!sum) {
            sum = row;
            continue;
          }
          Value size = arith::ConstantOp::create(
              body, loc,
              body.getF32FloatAttr(float(type.getDimSize(named.dim))));
          sum = arith::MulFOp::create(body, loc, sum, size);
          sum = arith::AddFOp::create(body, loc, sum, row);
        }
        return sum;
      });
  SmallVector<int64_t> order;
  SmallVector<ReassociationIndices> groups(1);
  for (const NamedDim &named : read.named) {
    groups[0].push_back(order.size());
    order.push_back(named.dim);
  }
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (!llvm::is_contained(order, d)) {
      groups.push_back({int64_t(order.size())});
      order.push_back(d);
    }
  if (!llvm::is_sorted(order))
    table = transpose(builder, op.getLoc(), table, order);
  rows.table =
      tensor::CollapseShapeOp::create(builder, op.getLoc(), table, groups);
  rows.loops = read.loops;
  return rows;
}

/// Returns the rows that `read` selects, with one row number for several
/// indices.
static Rows findRows(OpBuilder &builder, linalg::GenericOp op, Value table,
                     const RowRead &read) {
  if (read.named.size() > 1)
    return combineIndices(builder, op, table, read);
  auto [dim, row, wrap] = read.named.front();
  OpOperand &ids = op->getOpOperand(row.getArgNumber());
  return {table, dim, read.loops, ids.get(), op.getMatchingIndexingMap(&ids),
          wrap};
}

/// Creates the one-hot encoding of `ids` as f32, in a new last dim of size
/// `rows`. If `wrap` is not 0, negative `ids` count from the end of `wrap`
/// rows.
static Value makeOnes(OpBuilder &builder, Location loc, Value ids, int64_t rows,
                      int64_t wrap) {
  SmallVector<int64_t> shape(cast<RankedTensorType>(ids.getType()).getShape());
  unsigned rank = shape.size();
  shape.push_back(rows);
  Value known = makeIndices(builder, loc, rows);
  return makeElementwise(
      builder, loc, shape, ValueRange{ids, known},
      {getFirstDims(builder, rank + 1, rank),
       builder.getMultiDimIdentityMap(rank + 1).getMinorSubMap(1)},
      [&](OpBuilder &body, Location loc, ValueRange values) -> Value {
        Value id = makeRowNumber(body, loc, values[0], wrap);
        Value is = arith::CmpFOp::create(body, loc, arith::CmpFPredicate::UEQ,
                                         id, values[1]);
        auto number = [&](float value) -> Value {
          return arith::ConstantOp::create(body, loc,
                                           body.getF32FloatAttr(value));
        };
        return arith::SelectOp::create(body, loc, is, number(1), number(0));
      });
}

/// Creates the product of the one-hot matrix `ones` and a table, summed over
/// the last dim of `ones` and dim `dim` of the table. For each other dim of the
/// table, `shared` has the dim of `ones` with which it forms a batch dim, or
/// std::nullopt.
static Value makeProduct(OpBuilder &builder, Location loc, Value ones,
                         Value table, unsigned dim,
                         ArrayRef<std::optional<unsigned>> shared) {
  SmallVector<int64_t> shape(cast<RankedTensorType>(ones.getType()).getShape());
  ArrayRef<int64_t> tableShape =
      cast<RankedTensorType>(table.getType()).getShape();
  // The loops are those of the result, and last that over the table rows.
  unsigned named = shape.size() - 1,
           last = named + llvm::count(shared, std::nullopt);
  shape.pop_back();
  SmallVector<AffineExpr> ofTable;
  for (auto [d, size] : llvm::enumerate(tableShape)) {
    if (d == dim) {
      ofTable.push_back(builder.getAffineDimExpr(last));
      continue;
    }
    std::optional<unsigned> same = shared[d - (d > dim)];
    ofTable.push_back(builder.getAffineDimExpr(same.value_or(shape.size())));
    if (!same)
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

/// Creates a tensor with the high or the low 16 bits of the 32-bit elements of
/// `table`, as f32 numbers from 0 to 65535.
static Value makeHalf(OpBuilder &builder, Location loc, Value table,
                      bool isHigh) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(table.getType()).getShape();
  return makeElementwise(
      builder, loc, shape, table,
      {builder.getMultiDimIdentityMap(shape.size())},
      [&](OpBuilder &body, Location loc, ValueRange values) -> Value {
        Value by =
            arith::ConstantOp::create(body, loc, body.getI32IntegerAttr(16));
        Value bits = values[0];
        if (bits.getType().isF32())
          bits = arith::BitcastOp::create(body, loc, body.getI32Type(), bits);
        if (!isHigh)
          bits = arith::ShLIOp::create(body, loc, bits, by);
        bits = arith::ShRUIOp::create(body, loc, bits, by);
        return arith::SIToFPOp::create(body, loc, body.getF32Type(), bits);
      });
}

/// Adds the one-hot products of the row numbers with each of `tables` as
/// operands of `op`, and returns their elements.
static SmallVector<Value> addProducts(linalg::GenericOp op, const Rows &rows,
                                      ValueRange tables) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  // A scalar index becomes one row. A sum of products without another dim would
  // be computed as an average times a count, which rounds.
  Value ids = rows.ids;
  auto type = cast<RankedTensorType>(ids.getType());
  bool isNumber = type.getRank() == 0;
  if (isNumber)
    ids = tensor::ExpandShapeOp::create(builder, loc, type.clone({1}), ids,
                                        ArrayRef<ReassociationIndices>());
  AffineMap map = rows.map;
  SmallVector<std::optional<unsigned>> shared;
  for (unsigned loop : rows.loops) {
    AffineExpr expr = builder.getAffineDimExpr(loop);
    shared.push_back(rows.map.getResultPosition(expr));
    if (!shared.back())
      map = map.insertResult(expr, map.getNumResults());
  }
  Value ones = makeOnes(
      builder, loc, ids,
      cast<RankedTensorType>(rows.table.getType()).getDimSize(rows.dim),
      rows.wrap);
  SmallVector<Value> elements;
  for (Value table : tables) {
    Value product = makeProduct(builder, loc, ones, table, rows.dim, shared);
    if (isNumber)
      product = takeIndex(builder, loc, product, 0, 0);
    elements.push_back(addOperand(op, product, map));
  }
  return elements;
}

/// Adds the table rows that data select as operands of `op`, computed as a
/// product of a one-hot matrix with the table. Returns the element that the
/// body reads. Unless `isExact`, there are two products, with the high and low
/// 16 bits of the elements, which the body combines.
static Value multiplyTable(OpBuilder &body, linalg::GenericOp op, Value table,
                           const RowRead &read, bool isExact) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Rows rows = findRows(builder, op, table, read);
  if (isExact)
    return addProducts(op, rows, rows.table).front();
  Value high = makeHalf(builder, loc, rows.table, /*isHigh=*/true);
  Value low = makeHalf(builder, loc, rows.table, /*isHigh=*/false);
  SmallVector<Value> elements = addProducts(op, rows, {high, low});
  IntegerBody words(body, loc, nullptr);
  Value by = arith::ConstantOp::create(body, loc, body.getI32IntegerAttr(16));
  Value bits = arith::OrIOp::create(
      body, loc,
      arith::ShLIOp::create(body, loc, words.word(elements[0], {0, 0xFFFF}),
                            by),
      words.word(elements[1], {0, 0xFFFF}));
  Type type = getElementTypeOrSelf(table);
  return type.isF32() ? Value(arith::BitcastOp::create(body, loc, type, bits))
                      : bits;
}

/// Emits selects that choose among the rows of the table by the data indices of
/// the dims `named`, and returns the chosen element. Each choice of indices of
/// these dims is an operand. `loops` index the other dims.
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
    // A greater row number replaces the choice so far.
    Value is = arith::CmpFOp::create(
        body, loc, arith::CmpFPredicate::OGT, id,
        arith::ConstantOp::create(body, loc,
                                  body.getF32FloatAttr(float(i) - 0.5f)));
    chosen = arith::SelectOp::create(body, loc, is, element, chosen);
  }
  return chosen;
}

/// Returns the number of rows that the data indices of `read` select from, or
/// 2^24 + 1 if there are more than 2^24.
static int64_t countRows(RankedTensorType table, const RowRead &read) {
  int64_t rows = 1;
  for (const NamedDim &named : read.named)
    rows = std::min(rows * table.getDimSize(named.dim), kExactInteger + 1);
  return rows;
}

/// Adds operands to `op` that provide the table rows selected by data, and
/// emits before `extract` the ops that compute its result from their elements.
/// Returns the result, or a null value if indices or types are not supported or
/// there are too many rows.
static Value makeElement(linalg::GenericOp op, tensor::ExtractOp extract) {
  std::optional<RowRead> read = findRowRead(op, extract);
  if (!read)
    return {};
  OpBuilder body(extract);
  Value table = extract.getTensor();
  Type type = extract.getType();
  int64_t rows = countRows(extract.getTensor().getType(), *read);
  bool isExact = hasExactProducts(table);
  if (rows > 0 && rows <= kMostChosen && !(isExact && read->named.size() == 1))
    return chooseRow(body, op, table, read->loops, read->named);
  if (rows > kExactInteger || !(type.isF32() || type.isInteger(32)))
    return {};
  return multiplyTable(body, op, table, *read, isExact);
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
      Value element = makeElement(op, extract);
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
