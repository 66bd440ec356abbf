//===- VectorShuffles.h - Transpositions in registers -----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Emits shuffles of vectors of one length. A transposition moves a square of
// lanes, then the square of elements in each lane. For 16x16 f32 elements, with
// 4 elements per lane:
//
//   gatherLanes      rows 0, 4, 8 and 12 become four registers, each with the
//                    same 4 columns of all four rows; likewise rows 1, 5, ..
//   interleaveLanes  each register of the same columns becomes one column of 16
//                    rows
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_COPIES_VECTORSHUFFLES_H
#define LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_COPIES_VECTORSHUFFLES_H

#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::layout {

class VectorShuffles {
public:
  VectorShuffles(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  /// Returns a vector of `size` elements. Element i is element `element(i)` of
  /// the concatenation of `a` and `b`.
  Value shuffle(Value a, Value b, int64_t size,
                function_ref<int64_t(int64_t)> element);
  /// Returns `size` elements of one vector, starting at `start`.
  Value slice(Value vector, int64_t start, int64_t size);
  /// Concatenates vectors, whose number is a power of two.
  Value concat(ArrayRef<Value> parts);

  /// A slice of `size` elements of a vector, starting at `start`.
  struct Slice {
    Value vector;
    int64_t start, size;
  };
  /// Concatenates slices of one size. Slices of at most two vectors need at
  /// most one shuffle.
  Value join(ArrayRef<Slice> parts);

  /// Transposes a square in each lane of `lane` elements: the `count` vectors
  /// `part(first)`, `part(first + 1)`, .. are its rows, and the results hold
  /// its columns. Transposes both halves, then interleaves their segments.
  /// Calls `part` when a vector is needed, so that few are live at once.
  SmallVector<Value> interleaveLanes(int64_t first, int64_t count, int64_t lane,
                                     function_ref<Value(int64_t)> part);
  /// Returns n vectors from n `rows`: lane l of result r, of `lane` elements,
  /// is lane n * l + r of all rows in sequence. If each row has n lanes, this
  /// transposes them. Each round combines the even lanes of two vectors, and
  /// their odd lanes.
  SmallVector<Value> gatherLanes(ArrayRef<Value> rows, int64_t lane);

  /// The position of an element in a list of vectors.
  struct Place {
    size_t part;
    int64_t element;
  };
  /// Returns as many vectors as `parts`, made of their elements: element e of
  /// result r is the one at `from(r, e)`.
  SmallVector<Value> shuffleParts(ArrayRef<Value> parts,
                                  function_ref<Place(int64_t, int64_t)> from);

  /// Deinterleaves an odd number n of vectors within each lane of `lane`
  /// elements. The n lanes at one position, one of each vector, form a row, of
  /// which result j gets the elements j, j + n, j + 2n, .. Each position of a
  /// lane belongs to result j in only one of the n vectors, so that results are
  /// blends whose elements are then permuted.
  SmallVector<Value> deinterleaveParts(ArrayRef<Value> parts, int64_t lane);
  /// Interleaves an odd number n of vectors within each lane of `lane`
  /// elements. The n lanes at one position, one of each vector, form a row of
  /// the result: element i of the lane of vector j becomes element j + n * i of
  /// the row.
  SmallVector<Value> interleaveParts(ArrayRef<Value> parts, int64_t lane);

private:
  OpBuilder &b;
  Location loc;
};

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LINALGTOLLVM_COPIES_VECTORSHUFFLES_H
