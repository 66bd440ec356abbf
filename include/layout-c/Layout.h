//===- Layout.h - C API of layouts --------------------------------*- C -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Layouts are attributes, and encodings of ranked tensor types. Create an
// attribute here or with mlirAttributeParseGet, and a type with
// mlirRankedTensorTypeGetChecked, which reports a layout that does not apply.
// Functions on types require verified ranked tensors; a type without a layout
// is row-major.
//
//   tensor<1x17x7x7xf32, #layout.blocked<"NCHW" to "NCHW16c">>
//     layoutTypeGetMap           #layout.map<(d0, d1, d2, d3) -> buffer(..)>
//     layoutTypeGetStorageType   tensor<1x2x7x7x16xf32>
//     layoutTypeGetPoint         of (0, 16, 6, 6): offset 1552
//
// Positions count elements. An index has one number per logical dim, and a
// point one per coordinate of the storage space of the map. A value that
// exceeds 64 bits or depends on a dynamic size has no number.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_C_LAYOUT_H
#define LAYOUT_C_LAYOUT_H

#include "mlir-c/IR.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The answer to a question about a layout: unknown if neither yes nor no can
/// be proven within fixed bounds on the work.
enum LayoutAnswer { LayoutAnswerNo, LayoutAnswerUnknown, LayoutAnswerYes };
typedef enum LayoutAnswer LayoutAnswer;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// Returns true if the attribute is a layout of any family.
MLIR_CAPI_EXPORTED bool layoutAttributeIsALayout(MlirAttribute attr);

/// Creates `#layout.blocked<"NCHW" to "NCHW16c">`, or emits an error at the
/// location and returns a null attribute if the letters are invalid.
MLIR_CAPI_EXPORTED MlirAttribute layoutBlockedAttrGetChecked(
    MlirLocation loc, MlirStringRef logical, MlirStringRef stored);

/// The notations of other projects from which layouts can be imported.
enum LayoutNotation {
  LayoutNotationXla,
  LayoutNotationOneDnn,
  LayoutNotationCuTe,
  LayoutNotationTriton
};
typedef enum LayoutNotation LayoutNotation;

/// Creates `#layout.import<onednn, "aBcd16b">`, or emits an error at the
/// location and returns a null attribute if the text is invalid.
MLIR_CAPI_EXPORTED MlirAttribute layoutImportAttrGetChecked(
    MlirLocation loc, LayoutNotation notation, MlirStringRef text);

/// Returns true if the attribute is a `#layout.map`.
MLIR_CAPI_EXPORTED bool layoutAttributeIsAMap(MlirAttribute attr);

/// Returns the storage space of a map, e.g. `buffer`, `image2d` or `npu`.
MLIR_CAPI_EXPORTED MlirStringRef layoutMapAttrGetSpace(MlirAttribute map);

/// Returns the number of coordinates of the space; linear memory has one,
/// `offset`.
MLIR_CAPI_EXPORTED intptr_t layoutMapAttrGetNumCoordinates(MlirAttribute map);
MLIR_CAPI_EXPORTED MlirStringRef
layoutMapAttrGetCoordinateName(MlirAttribute map, intptr_t coordinate);

/// Returns yes if no two indices of a shape share a storage point, and no if
/// some do or the layout does not apply to the shape and element type. Dynamic
/// sizes are encoded as in MLIR.
MLIR_CAPI_EXPORTED LayoutAnswer layoutAttrIsInjective(MlirAttribute layout,
                                                      intptr_t rank,
                                                      const int64_t *shape,
                                                      MlirType elementType);

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Returns true if the type has a layout of any family.
MLIR_CAPI_EXPORTED bool layoutTypeHasLayout(MlirType type);

/// Returns the layout as `#layout.map` in canonical form; a type without a
/// layout has the row-major one.
MLIR_CAPI_EXPORTED MlirAttribute layoutTypeGetMap(MlirType type);

/// Returns the tensor type without layout that the type has at the boundary of
/// compiled functions. Its sizes are the extents of the stored dims, padding
/// included, and `?` if they are dynamic. Returns a null type if an extent
/// exceeds 64 bits.
MLIR_CAPI_EXPORTED MlirType layoutTypeGetStorageType(MlirType type);

/// Returns the storage size in bytes with padding, or -1 if it exceeds 64 bits,
/// depends on a dynamic size, or elements are not whole bytes.
MLIR_CAPI_EXPORTED int64_t layoutTypeGetStorageBytes(MlirType type);

/// Computes the number of positions along each coordinate of the storage,
/// padding included. Returns false if one exceeds 64 bits or depends on a
/// dynamic size.
MLIR_CAPI_EXPORTED bool layoutTypeGetStorageExtent(MlirType type,
                                                   int64_t *extents);

/// Computes the amount by which a coordinate changes when the index of a dim
/// grows by one, or 0 if the dim has at most one index. Returns false if it is
/// not the same constant number at all indices.
MLIR_CAPI_EXPORTED bool layoutTypeGetStride(MlirType type, intptr_t coordinate,
                                            intptr_t dim, int64_t *stride);

/// Computes the storage point of an index, one number per coordinate. If the
/// element has several replicas, it is that of the first one. Returns false if
/// the shape is dynamic, if the index is out of bounds, or if a number exceeds
/// 64 bits.
MLIR_CAPI_EXPORTED bool layoutTypeGetPoint(MlirType type, const int64_t *index,
                                           int64_t *point);

/// Computes the index of element `index` in a tensor of the storage type
/// (layoutTypeGetStorageType), one number per dim of that type. If the element
/// has several replicas, it is that of the first one. Returns false if the
/// shape is dynamic, if `index` is out of bounds, or if a number exceeds 64
/// bits.
MLIR_CAPI_EXPORTED bool layoutTypeGetStoredIndex(MlirType type,
                                                 const int64_t *index,
                                                 int64_t *storedIndex);

/// Computes the index of the element that is stored at a point of a static
/// shape. Returns yes and writes `index` if there is such an element, no if the
/// point is padding or outside of the storage, and unknown if a bounded search
/// finds no answer.
MLIR_CAPI_EXPORTED LayoutAnswer layoutTypeGetIndex(MlirType type,
                                                   const int64_t *point,
                                                   int64_t *index);

/// Returns yes if the storage contains padding.
MLIR_CAPI_EXPORTED LayoutAnswer layoutTypeHasPadding(MlirType type);

/// Returns yes if two types of equal shape store every element at the same
/// point, in storage of the same extents.
MLIR_CAPI_EXPORTED LayoutAnswer layoutTypeStoresLike(MlirType type,
                                                     MlirType other);

/// Copies each element from a row-major array to its points in the storage, one
/// per replica, without writing padding (Pack), or from the point of its first
/// replica to the array (Unpack). Both return false if a size in bytes does not
/// match the type, if elements are not whole bytes, or if positions exceed 64
/// bits.
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
