//===- LayoutInterfaces.td - What every layout attribute answers -*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_INTERFACES
#define LAYOUT_INTERFACES

include "mlir/IR/OpBase.td"

def LayoutAttrInterface : AttrInterface<"LayoutAttrInterface"> {
  let cppNamespace = "::mlir::layout";
  let description = [{
    A layout family. Whatever its notation, it resolves to one canonical map;
    nothing else about where an element lives is asked of it.
  }];
  let methods = [
    InterfaceMethod<[{
      The canonical map for tensors of this shape (`ShapedType::kDynamic` where
      not known) and element type. Where the layout does not apply, reports the
      rule and the way out through `emitError` (when given) and fails.
      }],
      "::mlir::FailureOr<::mlir::layout::LayoutMap>", "resolve",
      (ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType,
           "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError)>,
    InterfaceMethod<[{
      The dims of the array that holds the storage, slowest first: what the
      stored shape and a stored index are, what `layout.storage_view` shows and
      what compiled functions take and return. In linear memory they are
      row-major digits of the offset, as the notation groups them; in any other
      space they are its coordinates. The layout applies to the shape.
      }],
      "::llvm::SmallVector<::mlir::layout::Sized>", "getStoredDims",
      (ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType)>,
    InterfaceMethod<[{
      The shape that the notation states by itself: one size per dim,
      `ShapedType::kDynamic` where it takes any; nothing where it does not even
      fix the rank.
      }],
      "::std::optional<::llvm::SmallVector<int64_t>>", "getStatedShape", (ins),
      [{}], [{ return ::std::nullopt; }]>,
    InterfaceMethod<[{
      Some shape that the layout applies to, for questions whose answer is the
      same on all of them, such as the storage space.
      }],
      "::llvm::SmallVector<int64_t>", "getExampleShape", (ins), [{}],
      [{ return $_attr.getStatedShape().value_or(::llvm::SmallVector<int64_t>()); }]>,
    InterfaceMethod<[{
      What padding holds (rule P1): a constant of `elementType`, or null for
      padding that holds anything.
      }],
      "::mlir::TypedAttr", "getPadding", (ins "::mlir::Type":$elementType),
      [{}], [{ return {}; }]>,
    InterfaceMethod<[{
      The same layout with the figures of `target` (an `NpuTargetInterface`),
      for families that need some and state none; any other layout is its own
      answer.
      }],
      "::mlir::Attribute", "withTarget", (ins "::mlir::Attribute":$target),
      [{}], [{ return $_attr; }]>,
  ];
}

def NpuTargetInterface : AttrInterface<"NpuTargetInterface"> {
  let cppNamespace = "::mlir::layout";
  let description = [{
    A chip, as far as layouts in the local memory of its cores ask: `#npu.target`
    implements it.
  }];
  let methods = [
    InterfaceMethod<[{
      Cores, bytes of the memory of one, and the bytes to align channels to. All
      are at least 1, the last is a power of two, and the product of the first
      two is an int64.
      }],
      "::mlir::layout::NpuFigures", "getFigures", (ins)>,
  ];
}

#endif // LAYOUT_INTERFACES
