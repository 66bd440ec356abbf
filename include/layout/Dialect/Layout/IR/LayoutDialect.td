//===- LayoutDialect.td - The layout dialect ---------------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_IR_LAYOUTDIALECT_TD
#define LAYOUT_DIALECT_LAYOUT_IR_LAYOUTDIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def Layout_Dialect : Dialect {
  let name = "layout";
  let cppNamespace = "::mlir::layout";
  let summary = "Storage layouts of tensors";
  let description = [{
    A layout maps every logical index of a tensor to one point of a storage
    space. It is the encoding of a ranked tensor type:

    ```mlir
    tensor<1x64x56x56xf32,
           #layout.map<(n, c, h, w) -> buffer(n, c floordiv 16, h, w, c mod 16)>>
    ```

    The dialect has the layout attributes, which all resolve to `#layout.map`,
    and the ops that change or reinterpret storage. `docs/spec.md` defines the
    semantics; diagnostics cite its rule labels.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasCanonicalizer = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let extraClassDeclaration = [{
    ResolvedLayouts &getResolvedLayouts() { return resolvedLayouts; }

  private:
    ResolvedLayouts resolvedLayouts;

  public:
  }];
}

class Layout_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Layout_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

#endif // LAYOUT_DIALECT_LAYOUT_IR_LAYOUTDIALECT_TD
