//===- Layout.h - C API of layouts --------------------------------*- C -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layouts are attributes, and encodings of ranked tensor types. An attribute is
// made here or by mlirAttributeParseGet, a type by
// mlirRankedTensorTypeGetChecked, which reports a layout that does not apply.
// Functions on types take ranked tensors that were verified; one without a
// layout is row-major.
//
//   tensor<1x17x7x7xf32, #layout.blocked<"NCHW" to "NCHW16c">>
//     layoutTypeGetMap           #layout.map<(d0, d1, d2, d3) -> buffer(..)>
//     layoutTypeGetStorageType   tensor<1x2x7x7x16xf32>
//     layoutTypeGetPoint         of (0, 16, 6, 6): offset 1552
//
// Positions count elements. An index has one number for each logical dim, a
// point one for each coordinate of the storage space, which are those of the
// map. What does not fit 64 bits or depends on a dynamic size has no number.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_C_LAYOUT_H
#define LAYOUT_C_LAYOUT_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// An answer that may not be known within the stated bounds.
enum LayoutAnswer { LayoutAnswerNo, LayoutAnswerUnknown, LayoutAnswerYes };
typedef enum LayoutAnswer LayoutAnswer;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// True for attributes of every family of layouts.
MLIR_CAPI_EXPORTED bool layoutAttributeIsALayout(MlirAttribute attr);

/// `#layout.blocked<"NCHW" to "NCHW16c">`; null, with a diagnostic at the
/// location, where the letters are not right.
MLIR_CAPI_EXPORTED MlirAttribute layoutBlockedAttrGetChecked(
    MlirLocation loc, MlirStringRef logical, MlirStringRef stored);

/// Notations of other projects.
enum LayoutNotation {
  LayoutNotationXla,
  LayoutNotationOneDnn,
  LayoutNotationCuTe,
  LayoutNotationTriton
};
typedef enum LayoutNotation LayoutNotation;

/// `#layout.import<onednn, "aBcd16b">`; null, with a diagnostic at the
/// location, where the text is not right.
MLIR_CAPI_EXPORTED MlirAttribute layoutImportAttrGetChecked(
    MlirLocation loc, LayoutNotation notation, MlirStringRef text);

/// True for `#layout.map`.
MLIR_CAPI_EXPORTED bool layoutAttributeIsAMap(MlirAttribute attr);

/// The storage space of a map: `buffer`, `image2d`, `npu`, ..
MLIR_CAPI_EXPORTED MlirStringRef layoutMapAttrGetSpace(MlirAttribute map);

/// The coordinates of the space; linear memory has one, `offset`.
MLIR_CAPI_EXPORTED intptr_t layoutMapAttrGetNumCoordinates(MlirAttribute map);
MLIR_CAPI_EXPORTED MlirStringRef
layoutMapAttrGetCoordinateName(MlirAttribute map, intptr_t coordinate);

/// Whether no two indices of a shape share a storage point. No where the layout
/// does not apply to the shape; dynamic sizes are those of MLIR.
MLIR_CAPI_EXPORTED LayoutAnswer layoutAttrIsInjective(MlirAttribute layout,
                                                      intptr_t rank,
                                                      const int64_t *shape,
                                                      MlirType elementType);

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// True if the type has a layout of any family.
MLIR_CAPI_EXPORTED bool layoutTypeHasLayout(MlirType type);

/// The layout as `#layout.map` in canonical form.
MLIR_CAPI_EXPORTED MlirAttribute layoutTypeGetMap(MlirType type);

/// The plain tensor of the stored dims, padding included: what compiled
/// functions take and return. Null where an extent has no number.
MLIR_CAPI_EXPORTED MlirType layoutTypeGetStorageType(MlirType type);

/// Bytes of the storage, padding included; -1 where there is no such number.
MLIR_CAPI_EXPORTED int64_t layoutTypeGetStorageBytes(MlirType type);

/// The positions along each coordinate, padding included; false where one has
/// no number.
MLIR_CAPI_EXPORTED bool layoutTypeGetStorageExtent(MlirType type,
                                                   int64_t *extents);

/// What one more in a dim adds to a coordinate; false where that is no one
/// number.
MLIR_CAPI_EXPORTED bool layoutTypeGetStride(MlirType type, intptr_t coordinate,
                                            intptr_t dim, int64_t *stride);

/// The storage point of an index; false for an index outside the shape, and
/// where there is no number.
MLIR_CAPI_EXPORTED bool layoutTypeGetPoint(MlirType type, const int64_t *index,
                                           int64_t *point);

/// The same as an index into the storage type.
MLIR_CAPI_EXPORTED bool layoutTypeGetStoredIndex(MlirType type,
                                                 const int64_t *index,
                                                 int64_t *storedIndex);

/// The index that is stored at a point. No for padding and points outside of
/// the storage.
MLIR_CAPI_EXPORTED LayoutAnswer layoutTypeGetIndex(MlirType type,
                                                   const int64_t *point,
                                                   int64_t *index);

/// Whether the storage holds points that are no index's.
MLIR_CAPI_EXPORTED LayoutAnswer layoutTypeHasPadding(MlirType type);

/// Whether two types of one shape store every element at the same point.
MLIR_CAPI_EXPORTED LayoutAnswer layoutTypeStoresLike(MlirType type,
                                                     MlirType other);

/// Copies row-major elements to their places in the storage, which holds the
/// padding already, and back. False where a size in bytes is not that of the
/// type, or elements have no whole bytes.
MLIR_CAPI_EXPORTED bool layoutTypePack(MlirType type, const void *elements,
                                       intptr_t elementsBytes, void *storage,
                                       intptr_t storageBytes);
MLIR_CAPI_EXPORTED bool layoutTypeUnpack(MlirType type, const void *storage,
                                         intptr_t storageBytes, void *elements,
                                         intptr_t elementsBytes);

#ifdef __cplusplus
}
#endif

#endif // LAYOUT_C_LAYOUT_H
