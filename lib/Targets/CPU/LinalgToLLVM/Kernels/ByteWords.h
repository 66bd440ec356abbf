//===- ByteWords.h - Tensors of bytes as words ------------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Creates tensors of 32-bit words from four bytes along one dim of a tensor of
// bytes. The first byte is in the lowest bits, as in the memory of the machine:
//
//   bytes  b[k][n], k < 6, n < 2      words of k, for each n
//   words  w[0][n] = b[0][n] | b[1][n] << 8 | b[2][n] << 16 | b[3][n] << 24
//          w[1][n] = b[4][n] | b[5][n] << 8
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_BYTEWORDS_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_BYTEWORDS_H

#include "layout/Support/Kernels/ByteProducts.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <optional>

namespace mlir::layout {

/// The dims of a tensor of words, as dims of a tensor of bytes: `others`, then
/// the words of `from`, then `column`, if any.
struct WordDims {
  SmallVector<int64_t> others;
  int64_t from;
  std::optional<int64_t> column;
};

/// Returns the words of a constant, or a null attribute if its bytes are not
/// available. Zeros fill the last word.
ElementsAttr packWords(ElementsAttr value, const WordDims &dims);

/// Returns words of bytes as twice as many words of two 16-bit halves along dim
/// `dim`: a word with the bytes 0 and 2, then one with the bytes 1 and 3, which
/// are extended from `isUnsigned` or signed bytes.
ElementsAttr extendToHalves(ElementsAttr words, int64_t dim, bool isUnsigned);
Value extendToHalves(OpBuilder &b, Location loc, Value words, int64_t dim,
                     bool isUnsigned);

/// Returns -128 times the sums of the signed bytes of a constant over its dims
/// that are not in `kept`, modulo 2^32, or a null attribute if its bytes are not
/// available.
DenseElementsAttr sumSignedBytes(ElementsAttr value, ArrayRef<int64_t> kept);

/// Returns `value`, a tensor of bytes, with zeros at the end of dim `dim` so
/// that this is a multiple of a word.
Value padToWords(OpBuilder &b, Location loc, Value value, int64_t dim);

/// Returns a view of the last dim of `bytes` as words.
Value viewWords(OpBuilder &b, Location loc, Value bytes);

/// Returns a copy of `value` as words. The extent of `dims.from` is a multiple
/// of a word.
Value copyWords(OpBuilder &b, Location loc, Value value, const WordDims &dims);

/// Returns words with the sign bits of their bytes flipped.
Value flipSigns(OpBuilder &b, Location loc, Value words);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_KERNELS_BYTEWORDS_H
