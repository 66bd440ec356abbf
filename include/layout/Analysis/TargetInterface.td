//===- TargetInterface.td - Attributes that are targets ----*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ANALYSIS_TARGETINTERFACE_TD
#define LAYOUT_ANALYSIS_TARGETINTERFACE_TD

include "mlir/IR/OpBase.td"

def TargetInterface : AttrInterface<"TargetInterface"> {
  let cppNamespace = "::mlir::layout";
  let description = [{
    A machine for which layouts are assigned. The module has it as attribute
    `layout.target`, or a pass has it as an option. The assignment depends on
    the machine only through its model, so attributes of any dialect can be
    targets.
  }];
  let methods = [
    InterfaceMethod<"Creates the model of the machine's storage and its "
                    "costs. Each assignment creates a model of its own.",
      "::std::unique_ptr<::mlir::layout::TargetModel>", "createModel">
  ];
}

#endif // LAYOUT_ANALYSIS_TARGETINTERFACE_TD
