//===- Storage.h - Laid-out values as physical tensors ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The conversion replaces a laid-out tensor by its physical tensor, whose dims
// are the stored axes of the map, followed by the dynamic sizes that cannot be
// read from it (carried sizes):
//
//   tensor<?x17x7x7xf32, NCHW16c>   tensor<?x2x7x7x16xf32>        N is dim 0
//   tensor<1x?x7x7xf32, NCHW16c>    tensor<1x?x7x7x16xf32>, index C carried
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_STORAGE_H
#define LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_STORAGE_H

#include "layout/Algebra/LayoutMap.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::layout {

/// Adds the conversion from a laid-out tensor of the `buffer` space to its
/// physical tensor, followed by one index for each dynamic size that is passed
/// separately (getCarriedDims). The conversion of laid-out tensors of other
/// spaces fails; other types stay.
void populateStorageConversion(TypeConverter &converter);

/// Returns the dynamic dims whose size is passed as a separate value, in
/// ascending order. The size of any other dim is the extent of a dim of the
/// physical tensor (a stored axis of the map) and of a dim of the storage array
/// (a stored dim, which `stored(..)` can state).
SmallVector<unsigned> getCarriedDims(RankedTensorType type);

/// Returns the logical sizes of a tensor of type `type`, one per dim. `values`
/// is the converted tensor: the physical tensor, then the sizes that are passed
/// separately (getCarriedDims).
SmallVector<OpFoldResult> getLogicalSizes(OpBuilder &b, Location loc,
                                          RankedTensorType type,
                                          ValueRange values);

/// Returns the values to which a tensor of type `type` is converted:
/// `physical`, then those of its logical `sizes` that are passed separately
/// (getCarriedDims).
SmallVector<Value> withCarriedSizes(OpBuilder &b, Location loc,
                                    RankedTensorType type, Value physical,
                                    ArrayRef<OpFoldResult> sizes);

/// Returns the extents of the physical tensor of a tensor of type `type` with
/// the logical `sizes`.
SmallVector<OpFoldResult> getPhysicalSizes(OpBuilder &b, Location loc,
                                           RankedTensorType type,
                                           ArrayRef<OpFoldResult> sizes);

/// Returns the extents of the storage array (`getStorageType`) of a tensor of
/// type `type` with the logical `sizes`.
SmallVector<OpFoldResult> getStorageSizes(OpBuilder &b, Location loc,
                                          RankedTensorType type,
                                          ArrayRef<OpFoldResult> sizes);

/// Returns true if every logical size is static or the extent of a dim of the
/// storage array.
bool areSizesStored(RankedTensorType type);

/// Returns the logical sizes of a tensor of type `type`, read from the extents
/// of its storage array `storage`. `carried` are the sizes that are passed
/// separately (getCarriedDims); it may be empty if the extents determine all
/// sizes.
SmallVector<OpFoldResult> readLogicalSizes(OpBuilder &b, Location loc,
                                           RankedTensorType type, Value storage,
                                           ValueRange carried = {});

/// Returns an uninitialized physical tensor for a tensor of type `type` with
/// the logical `sizes`.
Value createEmpty(OpBuilder &b, Location loc, RankedTensorType type,
                  ArrayRef<OpFoldResult> sizes);

/// Emits the constant for storage positions without an element: the padding
/// value that `type` states, else zero, which is never used. The element type
/// must then have a zero that a constant can hold (hasFiller).
Value createFiller(OpBuilder &b, Location loc, RankedTensorType type);

/// Returns a physical tensor all of whose elements have the padding value that
/// the type states.
Value createPadded(OpBuilder &b, Location loc, RankedTensorType type,
                   ArrayRef<OpFoldResult> sizes);

/// Returns true if moving storage of `from` unchanged, padding included,
/// establishes the padding that `to` states, or if `to` states none.
bool carriesPadding(RankedTensorType from, RankedTensorType to);

/// Reshapes `source` to `to`, which has as many elements, without moving
/// elements. Returns a null value if dynamic sizes do not determine the
/// reshape.
Value reinterpretShape(OpBuilder &b, Location loc, Value source,
                       RankedTensorType to);
/// Reshapes `source` to `to`, which has as many elements, without moving
/// elements. `sizes` are the extents of `to`, so that no reshape fails.
Value reinterpretShape(OpBuilder &b, Location loc, Value source,
                       RankedTensorType to, ArrayRef<OpFoldResult> sizes);
/// Returns true if a reshape from `from` to `to` needs no other sizes than
/// those of its source: the types are equal, both are static with as many
/// elements, or the reshape collapses dims.
bool canReinterpret(RankedTensorType from, RankedTensorType to);

/// Returns true if both types have one shape and provably store every logical
/// element at the same position.
bool haveIdenticalStorage(RankedTensorType a, RankedTensorType b);

/// Emits the element at the logical `index` of a tensor of type `type` with the
/// logical `sizes`. `physical` is its physical tensor.
Value extractElement(OpBuilder &b, Location loc, RankedTensorType type,
                     Value physical, ValueRange index,
                     ArrayRef<OpFoldResult> sizes);

} // namespace mlir::layout

#endif // LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_STORAGE_H
