//===- CopyTileEmitter.h - The vectors of one tile of a copy ----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits the loads, shuffles and stores of one tile planned by CopyTiles.h.
// Squares are transposed in 16-byte lanes, e.g. with 512-bit registers of f32:
//
//   Rows 0, 4, 8 and 12 of 4 columns become one register, rows 1, 5, .. the
//   next. After two rounds of shuffles within lanes, each register has 16 rows
//   of one column, a line of the result.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_COPIES_COPYTILEEMITTER_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_COPIES_COPYTILEEMITTER_H

#include "Copies/CopyTiles.h"
#include "Copies/VectorShuffles.h"

namespace mlir::layout {

/// The source or the result of a tile: a buffer as a flat row of elements, the
/// offset of the tile, and the stride of each digit.
struct CopySide {
  Value memory, base;
  SmallVector<Value> strides;
};

class CopyTileEmitter {
public:
  /// `padding` is the scalar that is stored in the last `tile.padding` rows of
  /// each column of the result. It is not used, and may be null, if
  /// `tile.padding` is 0.
  CopyTileEmitter(OpBuilder &b, Location loc, const CopyTile &tile,
                  Type element, Value padding)
      : b(b), loc(loc), tile(tile), element(element), padding(padding),
        bits(b.getIntegerType(element.getIntOrFloatBitWidth())),
        shuffles(b, loc) {}

  /// Emits one tile, whose first element is at the bases of both sides. If
  /// several loops iterate over columns, `firstColumn` is the number of the
  /// tile's first column, and the base of the result is that of column 0.
  /// Otherwise `firstColumn` is not used.
  void emit(CopySide in, CopySide out, Value firstColumn);

  Value index(int64_t value);
  Value add(Value a, Value b);
  Value multiply(Value a, Value b);

private:
  /// Returns the index, in the flat source buffer, of the element at `row` and
  /// `column` of the tile.
  Value source(int64_t row, int64_t column);
  /// Returns the index, in the flat result buffer, of the first row of `column`
  /// of the tile.
  Value result(int64_t column);
  Value toBits(Value row);
  Value load(Value position, int64_t size);
  Value makePadding(int64_t size);
  /// Returns `size` elements of a row of the tile, from `column` on, as a
  /// vector of integers. A row of padding consists of the padding value.
  /// Without padding, a row after the last one has the elements of the last
  /// one, and is not written.
  Value loadRow(int64_t row, int64_t column, int64_t size);
  /// Returns `size` elements of a row, from `start` on, as a vector of
  /// integers. A row is a contiguous segment of the source, followed by
  /// padding.
  Value loadPadded(int64_t row, int64_t start, int64_t size);
  void store(Value row, Value position);
  /// Stores the first `size` elements of the vector `row` at `position`, with a
  /// mask if the vector has more.
  void storeFirst(Value row, int64_t size, Value position);

  void emitMemcpy();
  /// Rows of one column of the result, starting at `row`, as slices of
  /// registers.
  struct Part {
    int64_t column, row;
    SmallVector<VectorShuffles::Slice, 4> rows;
  };

  void emitSquareTransposes();
  /// Stores rows of consecutive result columns that together fill a register,
  /// and removes them from `parts`. The others remain in `parts`.
  void storeJoined(SmallVectorImpl<Part> &parts);
  void storeParts(SmallVectorImpl<Part> &parts);
  void transposeLanes(int64_t row, int64_t column, int64_t width, int64_t lane,
                      SmallVectorImpl<Part> &parts);
  void transposeSquare(int64_t row, int64_t column, int64_t lane,
                       SmallVectorImpl<Part> &parts);
  /// Adds to `parts` the columns that `registers` hold after a square of the
  /// tile was transposed in lanes of `lane` elements. The first element of the
  /// square is at `row` and `column` of the tile.
  void addParts(int64_t row, int64_t column, int64_t lane,
                ArrayRef<Value> registers, SmallVectorImpl<Part> &parts);
  void emitWoven();

  OpBuilder &b;
  Location loc;
  const CopyTile &tile;
  Type element;
  Value padding;
  Type bits;
  VectorShuffles shuffles;
  CopySide in, out;
  Value firstColumn;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_COPIES_COPYTILEEMITTER_H
