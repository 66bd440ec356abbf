//===- VectorShuffles.h - Transpositions in registers -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Vectors of one length whose elements change places. A square of lanes, then
// the square of elements that each lane is, make a transposition; 16 rows of 16
// columns of f32, whose lanes have 4 elements:
//
//   gatherLanes      rows 0, 4, 8 and 12: four registers, each with the same 4
//                    columns of all four rows; so for rows 1, 5, .., and on
//   interleaveLanes  the registers of the same columns: each becomes one column
//                    of 16 rows
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_VECTORSHUFFLES_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_VECTORSHUFFLES_H

#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::layout {

class VectorShuffles {
public:
  VectorShuffles(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  /// The elements `element(0)`, `element(1)`, .. of two vectors in a row.
  Value shuffle(Value a, Value b, int64_t size,
                function_ref<int64_t(int64_t)> element);
  /// `size` elements of one vector.
  Value slice(Value vector, int64_t start, int64_t size);
  /// A power of two of vectors, in a row.
  Value concat(ArrayRef<Value> parts);

  /// `size` elements of a vector, from `start` on.
  struct Slice {
    Value vector;
    int64_t start, size;
  };
  /// Slices of one size, in a row. Those of two vectors take one shuffle.
  Value join(ArrayRef<Slice> parts);

  /// Transposes the square that the same lane of `count` parts from `first` on
  /// is: of each half, and then runs of two lanes are taken by turns. So few
  /// vectors are alive at once, and a part is asked for where it is needed.
  SmallVector<Value> interleaveLanes(int64_t first, int64_t count, int64_t lane,
                                     function_ref<Value(int64_t)> part);
  /// Transposes the square of lanes that rows are: in each round the even lanes
  /// of two rows, and the odd ones, become one.
  SmallVector<Value> gatherLanes(ArrayRef<Value> rows, int64_t lane);

  /// An element of a list of vectors.
  struct Place {
    size_t part;
    int64_t element;
  };
  /// As many vectors of elements of `parts`; `from` tells where the element of
  /// a vector comes from.
  SmallVector<Value> weave(ArrayRef<Value> parts,
                           function_ref<Place(int64_t, int64_t)> from);

  /// In each lane, an odd number of parts that make a row, of whose elements
  /// the first result takes those at 0, parts, 2 * parts, .., the second those
  /// at 1, 1 + parts, ... Each place of a lane is that of one result in one
  /// part only, so results are blends whose elements then change places.
  SmallVector<Value> unweaveLanes(ArrayRef<Value> parts, int64_t lane);
  /// The way back.
  SmallVector<Value> weaveLanes(ArrayRef<Value> parts, int64_t lane);

private:
  OpBuilder &b;
  Location loc;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_VECTORSHUFFLES_H
