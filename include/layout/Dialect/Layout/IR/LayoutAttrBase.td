//===- LayoutAttrBase.td - Base of the layout attributes ---*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_IR_LAYOUTATTRBASE_TD
#define LAYOUT_DIALECT_LAYOUT_IR_LAYOUTATTRBASE_TD

include "layout/Dialect/Layout/IR/LayoutDialect.td"
include "layout/Dialect/Layout/IR/LayoutInterfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/TensorEncoding.td"

/// A layout family. The attribute resolves to a map, and every tensor type that
/// has it as its encoding is verified by that map.
class Layout_LayoutAttr<string name, string attrMnemonic,
                        list<string> overrides = [],
                        list<Trait> traits = []>
    : Layout_Attr<name, attrMnemonic,
        [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>,
         DeclareAttrInterfaceMethods<LayoutAttrInterface, overrides>]
        # traits> {
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verifyEncoding(
        ::llvm::ArrayRef<int64_t> shape, ::mlir::Type elementType,
        ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError) const {
      return ::mlir::layout::verifyEncoding(*this, shape, elementType,
                                            emitError);
    }
  }];
}

#endif // LAYOUT_DIALECT_LAYOUT_IR_LAYOUTATTRBASE_TD
