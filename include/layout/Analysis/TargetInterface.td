//===- TargetInterface.td - Attributes that are targets ----*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETINTERFACE
#define LAYOUT_TARGETINTERFACE

include "mlir/IR/OpBase.td"

def TargetInterface : AttrInterface<"TargetInterface"> {
  let cppNamespace = "::mlir::layout";
  let description = [{
    A machine for which layouts are decided. It stands on the module as
    `layout.target`, or is given to a pass as an option. All that a decision
    knows of the machine is what the model answers, so that attributes of any
    dialect can be targets.
  }];
  let methods = [
    InterfaceMethod<"What the machine can store, and what conversions and ops "
                    "cost there. One model serves one decision.",
      "::std::unique_ptr<::mlir::layout::TargetModel>", "createModel">
  ];
}

#endif // LAYOUT_TARGETINTERFACE
