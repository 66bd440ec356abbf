//===- ByteWords.cpp - Tensors of bytes as words --------------------------===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Kernels/ByteWords.h"
#include "layout/Support/ConstantBytes.h"
#include "layout/Support/MappedFiles.h"
#include "layout/Targets/CPU/LinalgToLLVM/CpuOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::layout;

/// The sign bit of a byte, and those of the bytes of a word.
static constexpr uint32_t kSignBit = 128;
static constexpr uint32_t kSignBits = 0x80808080;

/// Returns the bytes of a constant of bytes, one if all are equal, or an empty
/// list if they are not available.
static ArrayRef<char> getBytes(ElementsAttr value) {
  ArrayRef<char> bytes = getConstantBytes(value).value_or(ArrayRef<char>());
  bool isWhole =
      bytes.size() == 1 || int64_t(bytes.size()) == value.getNumElements();
  return isWhole ? bytes : ArrayRef<char>();
}

ElementsAttr layout::packWords(ElementsAttr value, const WordDims &dims) {
  const auto &[others, from, column] = dims;
  auto type = cast<RankedTensorType>(value.getType());
  ArrayRef<int64_t> sizes = type.getShape();
  ArrayRef<char> bytes = getBytes(value);
  if (bytes.empty() && value.getNumElements() != 0)
    return {};
  bool isSplat = bytes.size() == 1;
  SmallVector<int64_t> shape, strides, steps = computeStrides(sizes);
  auto add = [&](int64_t size, int64_t stride) {
    shape.push_back(size);
    strides.push_back(stride);
  };
  for (int64_t dim : others)
    add(sizes[dim], steps[dim]);
  add(llvm::divideCeil(sizes[from], kWordBytes), steps[from] * kWordBytes);
  if (column)
    add(sizes[*column], steps[*column]);
  auto packed = RankedTensorType::get(
      shape, IntegerType::get(type.getContext(), 8 * kWordBytes));
  AsmResourceBlob blob = allocateConstant(packed.getNumElements() * kWordBytes,
                                          /*alignment=*/64);
  char *to = blob.getMutableData().data();
  int64_t wordDim = others.size();
  SmallVector<int64_t> position(shape.size(), 0);
  for (int64_t left = packed.getNumElements(); left > 0; --left) {
    int64_t at = 0;
    for (auto [index, stride] : llvm::zip_equal(position, strides))
      at += index * stride;
    for (int64_t byte = 0; byte < kWordBytes; ++byte) {
      bool exists = position[wordDim] * kWordBytes + byte < sizes[from];
      *to++ = !exists ? 0 : bytes[isSplat ? 0 : at + byte * steps[from]];
    }
    for (int64_t dim = shape.size(); dim-- > 0;) {
      if (++position[dim] < shape[dim])
        break;
      position[dim] = 0;
    }
  }
  forgetMappedPages(bytes);
  return DenseResourceElementsAttr::get(packed, "byte_words", std::move(blob));
}

ElementsAttr layout::extendToHalves(ElementsAttr words, int64_t dim,
                                    bool isUnsigned) {
  auto type = cast<RankedTensorType>(words.getType());
  SmallVector<int64_t> shape(type.getShape());
  int64_t count = shape[dim],
          inner = computeProduct(ArrayRef(shape).drop_front(dim + 1));
  shape[dim] *= 2;
  ArrayRef<char> bytes = *getConstantBytes(words);
  AsmResourceBlob blob =
      allocateConstant(2 * type.getNumElements() * kWordBytes,
                       /*alignment=*/64);
  char *data = blob.getMutableData().data();
  for (int64_t i = 0, e = type.getNumElements(); i < e; ++i) {
    int64_t outer = i / (count * inner), at = i / inner % count;
    for (int64_t byte = 0; byte < kWordBytes; ++byte) {
      int64_t half = byte / 2, odd = byte % 2;
      int64_t to = ((outer * count + at) * 2 + odd) * inner + i % inner;
      char low = bytes[i * kWordBytes + byte];
      data[to * kWordBytes + 2 * half] = low;
      data[to * kWordBytes + 2 * half + 1] =
          !isUnsigned && static_cast<int8_t>(low) < 0 ? -1 : 0;
    }
  }
  return DenseResourceElementsAttr::get(
      RankedTensorType::get(shape, type.getElementType()), "half_words",
      std::move(blob));
}

Value layout::extendToHalves(OpBuilder &b, Location loc, Value words,
                             int64_t dim, bool isUnsigned) {
  // The low bytes of the halves of a word, their sign bits, and the sign bits of
  // the halves.
  constexpr uint32_t lowBytes = 0x00ff00ff, lowSigns = 0x00800080,
                     halfSigns = 0x80008000;
  int64_t rank = cast<RankedTensorType>(words.getType()).getRank();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, words);
  SmallVector<AffineExpr> read;
  SmallVector<ReassociationIndices> groups;
  for (int64_t d = 0; d < rank; ++d) {
    read.push_back(b.getAffineDimExpr(d + (d > dim)));
    groups.push_back({d + (d > dim)});
  }
  groups[dim].push_back(dim + 1);
  sizes.insert(sizes.begin() + dim + 1, b.getIndexAttr(2));
  Value empty = tensor::EmptyOp::create(b, loc, sizes, b.getI32Type());
  auto integer = [&](OpBuilder &b, uint32_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(value));
  };
  auto body = [&](OpBuilder &b, Location, ValueRange args) {
    Value odd = linalg::IndexOp::create(b, loc, dim + 1);
    odd = arith::IndexCastOp::create(b, loc, b.getI32Type(), odd);
    Value bits = arith::MulIOp::create(b, loc, odd, integer(b, 8));
    Value half = arith::ShRUIOp::create(b, loc, args[0], bits);
    half = arith::AndIOp::create(b, loc, half, integer(b, lowBytes));
    // Sets the high bits, so that no half borrows from the other.
    if (!isUnsigned) {
      half = arith::XOrIOp::create(b, loc, half, integer(b, lowSigns));
      half = arith::OrIOp::create(b, loc, half, integer(b, halfSigns));
      half = arith::SubIOp::create(b, loc, half, integer(b, lowSigns));
      half = arith::XOrIOp::create(b, loc, half, integer(b, halfSigns));
    }
    linalg::YieldOp::create(b, loc, half);
  };
  Value halves = linalg::GenericOp::create(
                     b, loc, empty.getType(), words, empty,
                     {AffineMap::get(rank + 1, 0, read, b.getContext()),
                      b.getMultiDimIdentityMap(rank + 1)},
                     SmallVector<utils::IteratorType>(
                         rank + 1, utils::IteratorType::parallel),
                     body)
                     .getResult(0);
  return tensor::CollapseShapeOp::create(b, loc, halves, groups);
}

DenseElementsAttr layout::sumSignedBytes(ElementsAttr value,
                                         ArrayRef<int64_t> kept) {
  auto type = cast<RankedTensorType>(value.getType());
  ArrayRef<char> bytes = getBytes(value);
  if (bytes.empty() && value.getNumElements() != 0)
    return {};
  bool isSplat = bytes.size() == 1;
  SmallVector<int64_t> shape, steps = computeStrides(type.getShape());
  for (int64_t dim : kept)
    shape.push_back(type.getDimSize(dim));
  SmallVector<int64_t> strides = computeStrides(shape);
  SmallVector<uint32_t> sums(computeProduct(shape), 0);
  for (int64_t i = 0, e = type.getNumElements(); i < e; ++i) {
    int64_t at = 0;
    for (auto [dim, stride] : llvm::zip_equal(kept, strides))
      at += i / steps[dim] % type.getDimSize(dim) * stride;
    sums[at] -= kSignBit * static_cast<uint32_t>(
                               static_cast<int8_t>(bytes[isSplat ? 0 : i]));
  }
  return DenseElementsAttr::get(
      RankedTensorType::get(shape, IntegerType::get(type.getContext(), 32)),
      ArrayRef<uint32_t>(sums));
}

Value layout::padToWords(OpBuilder &b, Location loc, Value value, int64_t dim) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape(type.getShape());
  int64_t size = shape[dim];
  shape[dim] = llvm::alignTo(size, kWordBytes);
  if (shape[dim] == size)
    return value;
  SmallVector<OpFoldResult> low(type.getRank(), b.getIndexAttr(0)), high(low);
  high[dim] = b.getIndexAttr(shape[dim] - size);
  Value zero = arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(0));
  return tensor::PadOp::create(
      b, loc, RankedTensorType::get(shape, type.getElementType()), value, low,
      high, zero);
}

Value layout::viewWords(OpBuilder &b, Location loc, Value bytes) {
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(bytes.getType()).getShape());
  shape.back() /= kWordBytes;
  return cpu::ViewWordsOp::create(
      b, loc, RankedTensorType::get(shape, b.getI32Type()), bytes);
}

Value layout::copyWords(OpBuilder &b, Location loc, Value value,
                        const WordDims &dims) {
  const auto &[others, from, column] = dims;
  auto type = cast<RankedTensorType>(value.getType());
  int64_t rank = type.getRank(), words = type.getDimSize(from) / kWordBytes;
  // Splits dim `from` into words and bytes.
  SmallVector<ReassociationIndices> groups;
  SmallVector<OpFoldResult> sizes;
  SmallVector<int64_t> shape;
  for (int64_t dim = 0, next = 0; dim < rank; ++dim) {
    groups.push_back({next++});
    if (dim != from) {
      sizes.push_back(tensor::getMixedSize(b, loc, value, dim));
      shape.push_back(type.getDimSize(dim));
      continue;
    }
    groups.back().push_back(next++);
    for (int64_t size : {words, kWordBytes}) {
      sizes.push_back(b.getIndexAttr(size));
      shape.push_back(size);
    }
  }
  Value split = tensor::ExpandShapeOp::create(
      b, loc, RankedTensorType::get(shape, type.getElementType()), value,
      groups, sizes);
  SmallVector<int64_t> order;
  auto moved = [from = from](int64_t dim) {
    return dim > from ? dim + 1 : dim;
  };
  for (int64_t dim : others)
    order.push_back(moved(dim));
  order.push_back(from);
  if (column)
    order.push_back(moved(*column));
  order.push_back(from + 1);
  SmallVector<OpFoldResult> into;
  for (int64_t dim : order)
    into.push_back(sizes[dim]);
  Value empty = tensor::EmptyOp::create(b, loc, into, type.getElementType());
  Value copy =
      linalg::TransposeOp::create(b, loc, split, empty, order).getResult()[0];
  Value wordsOfCopy = viewWords(b, loc, copy);
  SmallVector<ReassociationIndices> whole;
  for (int64_t dim = 0; dim < rank; ++dim)
    whole.push_back({dim});
  whole.back().push_back(rank);
  return tensor::CollapseShapeOp::create(b, loc, wordsOfCopy, whole);
}

Value layout::flipSigns(OpBuilder &b, Location loc, Value words) {
  auto type = cast<RankedTensorType>(words.getType());
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  Value empty = tensor::EmptyOp::create(
      b, loc, tensor::getMixedSizes(b, loc, words), b.getI32Type());
  return linalg::GenericOp::create(
             b, loc, type, words, empty, {identity, identity},
             SmallVector<utils::IteratorType>(type.getRank(),
                                              utils::IteratorType::parallel),
             [](OpBuilder &b, Location loc, ValueRange args) {
               Value bits = arith::ConstantOp::create(
                   b, loc, b.getI32IntegerAttr(kSignBits));
               Value flipped = arith::XOrIOp::create(b, loc, args[0], bits);
               linalg::YieldOp::create(b, loc, flipped);
             })
      .getResult(0);
}
