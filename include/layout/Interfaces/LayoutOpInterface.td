//===- LayoutOpInterface.td - The interface of op rules ----*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_LAYOUTOPINTERFACE
#define LAYOUT_LAYOUTOPINTERFACE

include "mlir/IR/OpBase.td"

def LayoutOpInterface : OpInterface<"LayoutOpInterface"> {
  let cppNamespace = "::mlir::layout";
  let description = [{
    An op that takes part in the assignment of layouts. It says what it asks of
    the layouts of its operands and results as a value, an `OpLayoutRule`; all
    passes work from that. Ops that do not implement the interface keep the
    types they have, unless they are elementwise by their traits.
  }];
  let methods = [
    InterfaceMethod<"What the op asks of layouts.",
      "::mlir::layout::OpLayoutRule", "getLayoutRule">
  ];
}

#endif // LAYOUT_LAYOUTOPINTERFACE
