//===- LayoutTypes.h - Tensor types with a layout ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The encoding of a tensor type states where its elements are stored; a type
// without an encoding is row-major. Only these functions read or create
// encodings.
//
//   tensor<1x17x7x7xf32, #layout.blocked<"NCHW" to "NCHW16c">>
//     getLayoutMap      (d0, d1, d2, d3) -> buffer(d0, d1 floordiv 16, ..)
//     getStorageType    tensor<1x2x7x7x16xf32>
//     getPhysicalType   tensor<1x2x7x7x16xf32>
//
// The storage type and the physical type hold the same elements in the same
// order:
//
//   type      dims                        used for
//   storage   as the notation groups them data that crosses a function boundary
//   physical  the axes of the map         computation
//
// In linear memory, they differ if the notation splits an axis of the map:
// `NC4c` has the storage type NxC/4x4, but the physical type NxC', because c
// floordiv 4 and c mod 4 are adjacent. In other spaces, the storage type has
// one dim per coordinate.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_IR_LAYOUTTYPES_H
#define LAYOUT_DIALECT_LAYOUT_IR_LAYOUTTYPES_H

#include "layout/Algebra/LayoutMap.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir::layout {

class LayoutAttrInterface;

/// Returns true if the type has a layout attribute of any family as its
/// encoding.
bool hasLayout(Type type);

/// Returns the canonical map, or the row-major map if there is no encoding.
/// Returns failure for encodings of other dialects and for layouts that do not
/// apply to the shape (never after the type was verified).
FailureOr<LayoutMap> getLayoutMap(RankedTensorType type);

/// Returns the constant of the element type that padding holds (rule P1 of
/// docs/spec.md), or a null attribute if padding is unspecified.
TypedAttr getPadding(RankedTensorType type);

/// Returns true unless the storage is proven to have no padding (rule L2 of
/// docs/spec.md). A type without a layout has none.
bool mayHavePadding(RankedTensorType type);

/// Returns true if `type` states a padding value and its storage may have
/// padding.
bool statesPadding(RankedTensorType type);

/// Returns the constant that fills storage positions without an element: the
/// padding value of the type, or else zero. Returns a null attribute if zero is
/// not a single attribute, e.g. for complex elements.
TypedAttr getFillerAttr(RankedTensorType type);

/// Returns true if storage positions without an element can be filled: by
/// `getFillerAttr`, or by a complex zero.
bool hasFiller(RankedTensorType type);

/// Returns `layout`, which must not state padding, with padding that holds
/// `padding`, or `layout` itself if `padding` is null.
Attribute withPadding(Attribute layout, TypedAttr padding);

/// Returns `type` with the layout `map`, the storage dims `stored` and padding
/// that holds `padding` (unspecified if null). Returns the type without an
/// encoding, and so without `padding`, if `map` is row-major and `stored` is
/// empty.
RankedTensorType withLayout(RankedTensorType type, const LayoutMap &map,
                            TypedAttr padding = {}, StoredDims stored = {});

/// Returns the logical type: `type` without its encoding.
RankedTensorType withoutLayout(RankedTensorType type);

/// Returns the tensor type, without an encoding, whose dims are the stored
/// axes, padding included. Returns failure if the encoding is not a layout that
/// applies to the shape, or if an extent exceeds int64.
FailureOr<RankedTensorType> getPhysicalType(RankedTensorType type);

/// Returns the dims of the array that holds the storage, slowest first: the
/// shape of compiled functions' arguments and results. The encoding must be
/// absent or a layout that applies to the shape.
SmallVector<BoundedIndex> getStoredDims(RankedTensorType type);

/// Returns the tensor type, without an encoding, of the array that holds the
/// storage, as at the boundary of compiled functions and in
/// layout.storage_view. Returns failure if the encoding is not a layout that
/// applies to the shape, or if an extent exceeds int64.
FailureOr<RankedTensorType> getStorageType(RankedTensorType type);

/// Returns the size of an element in bytes if `elementType` is an integer or
/// float of whole bytes or a fixed-size vector of those, or else std::nullopt.
std::optional<int64_t> getWholeBytes(Type elementType);

/// Returns `elements`, in logical order, with another type of the same shape.
/// Returns a null attribute for other kinds than dense, dense_resource and
/// sparse elements.
ElementsAttr retypeElements(ElementsAttr elements, RankedTensorType type);

/// Verifies that `map` is a valid layout for tensors of this shape (rule L1 of
/// docs/spec.md). Sizes must fit int64. Unless a size is 0, every index must
/// map into the extents, each replica dim must be used by a coordinate, and
/// `map` must be proven injective. Otherwise emits an error, in which `name` is
/// the layout as the user wrote it, and fails.
LogicalResult verifyLayout(const LayoutMap &map, Attribute name,
                           ArrayRef<int64_t> shape, Type elementType,
                           function_ref<InFlightDiagnostic()> emitError);

/// Verifies the layout of a tensor type: resolves `layout` for the shape and
/// checks the resulting map and the stated storage dims. Emits an error and
/// fails at the first that is invalid.
LogicalResult verifyEncoding(LayoutAttrInterface layout,
                             ArrayRef<int64_t> shape, Type elementType,
                             function_ref<InFlightDiagnostic()> emitError);

} // namespace mlir::layout

#endif // LAYOUT_DIALECT_LAYOUT_IR_LAYOUTTYPES_H
