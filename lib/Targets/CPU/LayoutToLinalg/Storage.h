//===- Storage.h - Laid-out values as physical tensors ----------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// After the conversion a laid-out tensor is its physical tensor, followed by
// the sizes that the physical tensor does not tell:
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

namespace mlir {
namespace layout {

/// Laid-out tensors of the `buffer` space to physical tensors and carried
/// sizes.
void populateStorageConversion(TypeConverter &converter);

/// The dynamic dims whose size no stored axis holds, or no stored dim, so that
/// it goes with the tensor inside of functions and between them; ascending.
SmallVector<unsigned> getCarriedDims(RankedTensorType type);

/// The logical sizes of a converted value. `type` is its logical type.
SmallVector<OpFoldResult> getLogicalSizes(OpBuilder &b, Location loc,
                                          RankedTensorType type,
                                          ValueRange values);

/// The physical tensor with the sizes that its type carries.
SmallVector<Value> withCarriedSizes(OpBuilder &b, Location loc,
                                    RankedTensorType type, Value physical,
                                    ArrayRef<OpFoldResult> sizes);

/// The extents of the physical tensor.
SmallVector<OpFoldResult> getPhysicalSizes(OpBuilder &b, Location loc,
                                           RankedTensorType type,
                                           ArrayRef<OpFoldResult> sizes);

/// The extents of the plain tensor of the storage, `getStorageType`.
SmallVector<OpFoldResult> getStorageSizes(OpBuilder &b, Location loc,
                                          RankedTensorType type,
                                          ArrayRef<OpFoldResult> sizes);

/// Whether every logical size of `type` is static or that of a stored dim.
bool areSizesStored(RankedTensorType type);

/// The logical sizes, read off the plain tensor `storage`; `carried` are those
/// that it does not store.
SmallVector<OpFoldResult> readLogicalSizes(OpBuilder &b, Location loc,
                                           RankedTensorType type, Value storage,
                                           ValueRange carried = {});

/// An uninitialized physical tensor.
Value createEmpty(OpBuilder &b, Location loc, RankedTensorType type,
                  ArrayRef<OpFoldResult> sizes);

/// The value of `getFillerAttr`, or a complex zero; the type has one.
Value createFiller(OpBuilder &b, Location loc, RankedTensorType type);

/// One whose positions all hold the padding that the type states.
Value createPadded(OpBuilder &b, Location loc, RankedTensorType type,
                   ArrayRef<OpFoldResult> sizes);

/// Whether storage of `from` that is moved as it is, padding included, leaves
/// in the padding of `to` what that states.
bool carriesPadding(RankedTensorType from, RankedTensorType to);

/// The same elements in memory order under another shape, without moving them;
/// null where dynamic sizes leave the way open.
Value reinterpretShape(OpBuilder &b, Location loc, Value source,
                       RankedTensorType to);
/// The same where sizes are only known when the program runs: `sizes` are the
/// extents of `to`.
Value reinterpretShape(OpBuilder &b, Location loc, Value source,
                       RankedTensorType to, ArrayRef<OpFoldResult> sizes);
/// Whether reinterpretShape has a way without sizes.
bool canReinterpret(RankedTensorType from, RankedTensorType to);

/// Whether the two types store every logical element at the same position.
bool storeAlike(RankedTensorType a, RankedTensorType b);

/// The element at a logical index of a physical tensor.
Value extractElement(OpBuilder &b, Location loc, RankedTensorType type,
                     Value physical, ValueRange index,
                     ArrayRef<OpFoldResult> sizes);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_LIB_TARGETS_CPU_LAYOUTTOLINALG_STORAGE_H
