//===- Passes.td - What pipelines run passes by ------------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Passes that change nothing themselves.
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_PIPELINES_PASSES
#define LAYOUT_PIPELINES_PASSES

include "mlir/Pass/PassBase.td"

def RunIfUsedPass : Pass<"layout-run-if-used"> {
  let summary = "Runs passes only where the ops that they rewrite are used";
  let description = [{
    Runs the pipelines, one after the other, on an op that holds one of `ops`,
    and does nothing elsewhere: a pass with nothing to rewrite still looks at
    every op.
  }];
  let options = [
    ListOption<"ops", "ops", "std::string",
               "Names of ops, or of dialects for all ops of theirs">,
    ListOption<"pipelines", "op-pipelines", "OpPassManager",
               "The passes, as pipelines of the op that this runs on">
  ];
}

#endif // LAYOUT_PIPELINES_PASSES
