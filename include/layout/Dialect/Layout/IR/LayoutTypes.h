//===- LayoutTypes.h - Tensor types with a layout ---------------*- C++ -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A tensor type says where its elements live by its encoding; a type without
// one is row-major. These functions are the only place where encodings are
// read or made.
//
//   tensor<1x17x7x7xf32, #layout.blocked<"NCHW" to "NCHW16c">>
//     getLayoutMap      (d0, d1, d2, d3) -> buffer(d0, d1 floordiv 16, ..)
//     getStorageType    tensor<1x2x7x7x16xf32>
//     getPhysicalType   tensor<1x2x7x7x16xf32>
//
// The last two hold the same elements in the same order. The storage type has
// the dims that the notation states: what crosses a boundary. The physical type
// has the axes of the map, which is all that computations depend on. They
// differ in linear memory where the notation groups digits in another way
// (`NC4c`: NxC/4x4 and NxC'), and in other spaces, whose storage type has one
// dim for each coordinate.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_IR_LAYOUTTYPES_H
#define LAYOUT_DIALECT_LAYOUT_IR_LAYOUTTYPES_H

#include "layout/Algebra/LayoutMap.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"

namespace mlir {
namespace layout {

class LayoutAttrInterface;

/// True if the type carries a layout attribute of any family.
bool hasLayout(Type type);

/// The canonical map; row-major where there is no encoding. Fails for foreign
/// encodings and for layouts that do not apply to the shape (never after the
/// type was verified).
FailureOr<LayoutMap> getLayoutMap(RankedTensorType type);

/// What padding holds (P1): a constant of the element type; null for anything.
TypedAttr getPadding(RankedTensorType type);

/// True unless the storage provably has no padding (L2).
bool mayHavePadding(RankedTensorType type);

/// True if a type states what padding holds and storage may have some.
bool statesPadding(RankedTensorType type);

/// A value for positions that nobody reads: what the type states, else zero.
/// Null for element types without a zero that is one attribute.
TypedAttr getFillerAttr(RankedTensorType type);

/// Whether positions that nobody reads have a value: that of `getFillerAttr`,
/// or a complex zero.
bool hasFiller(RankedTensorType type);

/// `layout`, which states nothing of padding, with padding that holds
/// `padding`; itself for null.
Attribute withPadding(Attribute layout, TypedAttr padding);

/// `type` stored by `map` in the dims `stored`, with padding holding `padding`
/// (null: anything). A row-major map gives the plain type, which has no
/// padding.
RankedTensorType withLayout(RankedTensorType type, const LayoutMap &map,
                            TypedAttr padding = {}, StoredDims stored = {});

/// The logical type: the same without an encoding.
RankedTensorType withoutLayout(RankedTensorType type);

/// The plain tensor of the stored axes, padding included. Fails like
/// `getLayoutMap`, and where an extent leaves int64.
FailureOr<RankedTensorType> getPhysicalType(RankedTensorType type);

/// The dims of the array that holds the storage; see
/// LayoutAttrInterface::getStoredDims. Of a type with a known map.
SmallVector<Sized> getStoredDims(RankedTensorType type);

/// The plain tensor of these dims: the type of the storage wherever it shows.
/// Fails like `getPhysicalType`.
FailureOr<RankedTensorType> getStorageType(RankedTensorType type);

/// Bytes of an element: integers and floats of whole bytes, vectors of those;
/// nothing for any other type.
std::optional<int64_t> getWholeBytes(Type elementType);

/// Elements in logical order under another type of the same shape; null for
/// kinds of elements that are not known here.
ElementsAttr retypeElements(ElementsAttr elements, RankedTensorType type);

/// Checks that `map` is a valid layout for tensors of this shape (L1): the
/// rank fits, sizes stay in int64, no index maps below 0 or past the extents,
/// and injectivity is proven. `name` is the layout as the user wrote it.
LogicalResult verifyLayout(const LayoutMap &map, Attribute name,
                           ArrayRef<int64_t> shape, Type elementType,
                           function_ref<InFlightDiagnostic()> emitError);

/// Resolves a layout for a shape and checks the map: what makes a tensor type
/// valid.
LogicalResult verifyEncoding(LayoutAttrInterface layout,
                             ArrayRef<int64_t> shape, Type elementType,
                             function_ref<InFlightDiagnostic()> emitError);

} // namespace layout
} // namespace mlir

#endif // LAYOUT_DIALECT_LAYOUT_IR_LAYOUTTYPES_H
