//===- CopyTileEmitter.h - The vectors of one tile of a copy ----*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Loads, shuffles and stores of one tile that CopyTiles.h plans. A tile of
// squares is moved lane by lane; four lanes of f32:
//
//   rows 0, 4, 8 and 12 of 4 columns become one register, rows 1, 5, .. the
//   next; two rounds of shuffles inside of lanes, and each register has 16 rows
//   of one column, a line of the result.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_COPYTILEEMITTER_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_COPYTILEEMITTER_H

#include "CopyTiles.h"
#include "VectorShuffles.h"

namespace mlir::layout {

/// The source or the result of a tile: a buffer as one row of elements, the
/// first element of the tile, and how far apart the indices of each digit are.
struct CopySide {
  Value memory, base;
  SmallVector<Value> strides;
};

class CopyTileEmitter {
public:
  /// `padding` is what rows behind those of the source hold, if there are any.
  CopyTileEmitter(OpBuilder &b, Location loc, const CopyTile &tile,
                  Type element, Value padding)
      : b(b), loc(loc), tile(tile), element(element), padding(padding),
        bits(b.getIntegerType(element.getIntOrFloatBitWidth())),
        shuffles(b, loc) {}

  /// Where columns are several digits, `firstColumn` tells which ones they are,
  /// and the base of the result is that of the first of all.
  void emit(CopySide in, CopySide out, Value firstColumn);

  Value index(int64_t value);
  Value add(Value a, Value b);
  Value multiply(Value a, Value b);

private:
  /// Where row `row`, column `column` of the tile is read, from its first.
  Value source(int64_t row, int64_t column);
  /// Where the first row of a column is written.
  Value result(int64_t column);
  Value toBits(Value row);
  Value load(Value position, int64_t size);
  Value makePadding(int64_t size);
  /// So many columns of a row, from `column` on.
  Value loadRow(int64_t row, int64_t column, int64_t size);
  /// `size` elements from `start` on of the run that a row is, and of the
  /// padding behind it.
  Value loadPadded(int64_t row, int64_t start, int64_t size);
  void store(Value row, Value position);
  /// The first `size` elements, under a mask where there are more.
  void storeFirst(Value row, int64_t size, Value position);

  void emitRuns();
  /// Rows from `row` on of one column of the result.
  struct Part {
    int64_t column, row;
    SmallVector<VectorShuffles::Slice, 4> rows;
  };

  void emitSquares();
  /// Stores the registers that columns fill together, and leaves other parts.
  void storeJoined(SmallVectorImpl<Part> &parts);
  void storeParts(SmallVectorImpl<Part> &parts);
  void transposeLanes(int64_t row, int64_t column, int64_t width, int64_t lane,
                      SmallVectorImpl<Part> &parts);
  void transposeSquares(int64_t row, int64_t column, int64_t lane,
                        SmallVectorImpl<Part> &parts);
  /// The columns of a square that was transposed.
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

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_COPYTILEEMITTER_H
