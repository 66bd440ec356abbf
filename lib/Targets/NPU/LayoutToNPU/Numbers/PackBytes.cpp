//===- PackBytes.cpp - 8-bit results in 32-bit words ----------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// No function of OKKernel writes bytes. Four integers become one word,
//
//     %b = bitcast(%x + 1.5 * 2^23)      the low bits are those of the integer
//     %w = %b0 & 255 | (%b1 & 255) << 8 | (%b2 & 255) << 16 | %b3 << 24
//
// with strided slices along the last dim, or of the flattened tensor if that
// dim is not a multiple of 4.
//
//===----------------------------------------------------------------------===//

#include "Legalize/LegalizeLinalg.h"
#include "Numbers/IntegerBody.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

/// The largest number of words of a row of a flattened tensor.
static constexpr int64_t kRowWords = 256;

/// Returns the elements of `tensor` as rows of a multiple of 4 elements, padded
/// with zeros.
static Value flatten(OpBuilder &builder, Location loc, Value tensor) {
  auto type = cast<RankedTensorType>(tensor.getType());
  int64_t count = type.getNumElements();
  int64_t row =
      4 * std::min<int64_t>(kRowWords, llvm::divideCeil(count, int64_t(4)));
  int64_t padded = llvm::alignTo(count, row);
  Type element = type.getElementType();
  if (type.getRank() == 0) {
    tensor = tensor::ExpandShapeOp::create(
        builder, loc, RankedTensorType::get({1}, element), tensor,
        ArrayRef<ReassociationIndices>{});
  } else if (type.getRank() > 1) {
    ReassociationIndices all =
        llvm::to_vector<2>(llvm::seq<int64_t>(0, type.getRank()));
    tensor = tensor::CollapseShapeOp::create(
        builder, loc, RankedTensorType::get({count}, element), tensor,
        ArrayRef<ReassociationIndices>{all});
  }
  if (padded != count) {
    Value zero =
        arith::ConstantOp::create(builder, loc, builder.getZeroAttr(element));
    OpFoldResult none = builder.getIndexAttr(0),
                 rest = builder.getIndexAttr(padded - count);
    tensor = tensor::PadOp::create(
        builder, loc, RankedTensorType::get({padded}, element), tensor,
        ArrayRef{none}, ArrayRef{rest}, zero);
  }
  return tensor::ExpandShapeOp::create(
      builder, loc, RankedTensorType::get({padded / row, row}, element), tensor,
      ArrayRef<ReassociationIndices>{{0, 1}});
}

Value layout::packBytes(OpBuilder &builder, Location loc, Value floats) {
  auto type = cast<RankedTensorType>(floats.getType());
  if (type.getRank() == 0 || type.getShape().back() % 4 != 0)
    floats = flatten(builder, loc, floats);
  type = cast<RankedTensorType>(floats.getType());
  int64_t last = type.getRank() - 1, words = type.getDimSize(last) / 4;
  SmallVector<Value> bytes;
  for (int64_t byte = 0; byte < 4; ++byte)
    bytes.push_back(takeRange(builder, loc, floats, last, byte, words, 4));
  SmallVector<int64_t> shape(type.getShape());
  shape[last] = words;
  Value init =
      tensor::EmptyOp::create(builder, loc, shape, builder.getI32Type());
  SmallVector<AffineMap> maps(5, builder.getMultiDimIdentityMap(last + 1));
  SmallVector<utils::IteratorType> kinds(last + 1,
                                         utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             builder, loc, TypeRange(init.getType()), bytes, init, maps, kinds,
             [](OpBuilder &body, Location loc, ValueRange values) {
               IntegerBody numbers(body, loc, nullptr);
               Value word;
               for (unsigned byte = 0; byte < 4; ++byte) {
                 Value bits = numbers.byte(values[byte], byte);
                 word = word
                            ? Value(arith::OrIOp::create(body, loc, word, bits))
                            : bits;
               }
               linalg::YieldOp::create(body, loc, word);
             })
      .getResult(0);
}
