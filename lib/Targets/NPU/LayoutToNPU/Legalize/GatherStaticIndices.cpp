//===- GatherStaticIndices.cpp - Gathers at constant indices --------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Legalize/LegalizeLinalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::layout;

// The maximum number of slices that are concatenated, each of which is at least
// one transfer.
static constexpr size_t kMostPieces = 256;

namespace {
/// An arithmetic sequence with repetitions: the indices first + step * (i
/// floordiv repeat) for i < count.
struct Piece {
  int64_t first, step, repeat, count;

  int64_t at(int64_t i) const { return first + step * (i / repeat); }
};
} // namespace

/// Returns an arithmetic sequence, with or without repetitions, that `indices`
/// begins with: the longest one, with two exceptions. If the first index is
/// repeated and the step is not 1, the sequence has only the repetitions of
/// that index. Of two indices that fit no third one, it has only the first.
static Piece getFirstPiece(ArrayRef<int64_t> indices) {
  int64_t size = indices.size(), repeat = 1;
  while (repeat < size && indices[repeat] == indices[0])
    ++repeat;
  Piece piece{indices[0], 0, repeat, repeat};
  if (repeat == size)
    return piece;
  piece.step = indices[repeat] - indices[0];
  while (piece.count < size && indices[piece.count] == piece.at(piece.count))
    ++piece.count;
  // Repetitions must be whole, and repeated indices must have step 1.
  if (piece.count < size)
    piece.count -= piece.count % repeat;
  if (repeat > 1 && piece.step != 1)
    return {piece.first, 0, repeat, repeat};
  // The second of two indices may begin a longer sequence.
  if (piece.count == 2 && size > 2 && repeat == 1)
    return {piece.first, 0, 1, 1};
  return piece;
}

/// Creates a slice of `count` indices of `dim` from `first` on with stride
/// `step`. `shape` is that of the result, which may omit `dim`.
static Value slice(OpBuilder &builder, Location loc, Value tensor, unsigned dim,
                   int64_t first, int64_t count, int64_t step,
                   ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(tensor.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
      strides(type.getRank(), builder.getIndexAttr(1)),
      sizes = getAsIndexOpFoldResult(type.getContext(), type.getShape());
  offsets[dim] = builder.getIndexAttr(first);
  sizes[dim] = builder.getIndexAttr(count);
  strides[dim] = builder.getIndexAttr(step);
  return tensor::ExtractSliceOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()), tensor,
      offsets, sizes, strides);
}

Value layout::takeRange(OpBuilder &builder, Location loc, Value tensor,
                        unsigned dim, int64_t first, int64_t count,
                        int64_t step) {
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(tensor.getType()).getShape());
  shape[dim] = count;
  return slice(builder, loc, tensor, dim, first, count, step, shape);
}

Value layout::takeIndex(OpBuilder &builder, Location loc, Value tensor,
                        unsigned dim, int64_t index) {
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(tensor.getType()).getShape());
  shape.erase(shape.begin() + dim);
  return slice(builder, loc, tensor, dim, index, 1, 1, shape);
}

static Value makePiece(OpBuilder &builder, Location loc, Value source,
                       unsigned dim, const Piece &piece) {
  auto type = cast<RankedTensorType>(source.getType());
  int64_t last = piece.at(piece.count - 1);
  int64_t step = std::max<int64_t>(std::abs(piece.step), 1);
  Value range =
      takeRange(builder, loc, source, dim, std::min(piece.first, last),
                std::abs(last - piece.first) / step + 1, step);
  if (piece.repeat == 1 && piece.step >= 0)
    return range;
  SmallVector<AffineExpr> exprs;
  for (int64_t d = 0; d < type.getRank(); ++d)
    exprs.push_back(builder.getAffineDimExpr(d));
  AffineExpr along = exprs[dim];
  exprs[dim] = piece.step < 0    ? (piece.count - 1) - along
               : piece.step == 0 ? builder.getAffineConstantExpr(0)
                                 : along.floorDiv(piece.repeat);
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = piece.count;
  Value init =
      tensor::EmptyOp::create(builder, loc, shape, type.getElementType());
  SmallVector<utils::IteratorType> kinds(shape.size(),
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, TypeRange(init.getType()), ValueRange(range),
             ValueRange(init),
             ArrayRef<AffineMap>{
                 AffineMap::get(shape.size(), 0, exprs, builder.getContext()),
                 builder.getMultiDimIdentityMap(shape.size())},
             kinds,
             [](OpBuilder &body, Location loc, ValueRange arguments) {
               linalg::YieldOp::create(body, loc, arguments[0]);
             })
      .getResult(0);
}

Value layout::gatherStaticIndices(OpBuilder &builder, Location loc,
                                  Value source, unsigned dim,
                                  ArrayRef<int64_t> indices) {
  SmallVector<Piece> pieces;
  for (ArrayRef<int64_t> rest = indices; !rest.empty();
       rest = rest.drop_front(pieces.back().count)) {
    if (pieces.size() == kMostPieces)
      return {};
    pieces.push_back(getFirstPiece(rest));
  }
  if (pieces.empty())
    return {};
  SmallVector<Value> parts;
  for (const Piece &piece : pieces)
    parts.push_back(makePiece(builder, loc, source, dim, piece));
  if (parts.size() == 1)
    return parts.front();
  return tensor::ConcatOp::create(builder, loc, dim, parts).getResult();
}
