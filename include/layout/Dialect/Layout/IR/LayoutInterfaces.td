//===- LayoutInterfaces.td - Interfaces of layouts ---------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_IR_LAYOUTINTERFACES_TD
#define LAYOUT_DIALECT_LAYOUT_IR_LAYOUTINTERFACES_TD

include "mlir/IR/OpBase.td"

def LayoutAttrInterface : AttrInterface<"LayoutAttrInterface"> {
  let cppNamespace = "::mlir::layout";
  let description = [{
    A layout family. Any notation resolves to one canonical map, which alone
    determines where elements are stored.
  }];
  let methods = [
    InterfaceMethod<[{
      Returns the canonical map for tensors of this shape
      (`ShapedType::kDynamic` for dynamic sizes) and element type. If the layout
      does not apply, reports the rule and the way out through `emitError` (if
      it is not null) and fails.
      }],
      "::mlir::FailureOr<::mlir::layout::LayoutMap>", "resolve",
      (ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType,
           "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError)>,
    InterfaceMethod<[{
      Returns the dims of the array that holds the storage, slowest first. They
      are the stored shape, the type of `layout.storage_view`, and the type at
      the boundary of compiled functions. In linear memory they are row-major
      digits of the offset, as the notation groups them; in any other space they
      are its coordinates. The layout must apply to the shape.
      }],
      "::llvm::SmallVector<::mlir::layout::BoundedIndex>", "getStoredDims",
      (ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType)>,
    InterfaceMethod<[{
      Returns the shape that the notation states: one size per dim,
      `ShapedType::kDynamic` for any size, or std::nullopt if it does not fix
      the rank.
      }],
      "::std::optional<::llvm::SmallVector<int64_t>>", "getStatedShape", (ins),
      [{}], [{ return ::std::nullopt; }]>,
    InterfaceMethod<[{
      Returns a shape that the layout applies to, for queries whose result is
      the same for all of them, e.g. the storage space.
      }],
      "::llvm::SmallVector<int64_t>", "getExampleShape", (ins), [{}],
      [{ return $_attr.getStatedShape().value_or(::llvm::SmallVector<int64_t>()); }]>,
    InterfaceMethod<[{
      Returns the constant of `elementType` that padding holds (rule P1), or
      null if padding is unspecified.
      }],
      "::mlir::TypedAttr", "getPadding", (ins "::mlir::Type":$elementType),
      [{}], [{ return {}; }]>,
    InterfaceMethod<[{
      Returns this layout with the chip parameters of `target` (an
      `NpuTargetInterface`) if it needs some and states none, or else itself.
      }],
      "::mlir::Attribute", "withTarget", (ins "::mlir::Attribute":$target),
      [{}], [{ return $_attr; }]>,
  ];
}

def NpuTargetInterface : AttrInterface<"NpuTargetInterface"> {
  let cppNamespace = "::mlir::layout";
  let description = [{
    The parameters of a chip that layouts in the local memory of its cores
    depend on; implemented by `#npu.target`.
  }];
  let methods = [
    InterfaceMethod<[{
      Returns the number of cores, the bytes of local memory of each, and the
      alignment of channels in bytes. All are at least 1, the alignment is a
      power of two, and the total local memory fits int64.
      }],
      "::mlir::layout::ChipParams", "getParams", (ins)>,
  ];
}

#endif // LAYOUT_DIALECT_LAYOUT_IR_LAYOUTINTERFACES_TD
