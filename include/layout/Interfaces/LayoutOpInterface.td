//===- LayoutOpInterface.td - The interface of op rules ----*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_INTERFACES_LAYOUTOPINTERFACE_TD
#define LAYOUT_INTERFACES_LAYOUTOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def LayoutOpInterface : OpInterface<"LayoutOpInterface"> {
  let cppNamespace = "::mlir::layout";
  let description = [{
    An op that takes part in the assignment of layouts. It returns the
    constraints on the layouts of its operands and results as a value, an
    `OpLayoutRule`, from which all passes work. Ops without the interface keep
    their types, unless they are elementwise by their traits.
  }];
  let methods = [
    InterfaceMethod<"Returns the constraints of the op on layouts.",
      "::mlir::layout::OpLayoutRule", "getLayoutRule">
  ];
}

#endif // LAYOUT_INTERFACES_LAYOUTOPINTERFACE_TD
