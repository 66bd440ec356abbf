//===- Passes.td - Laid-out tensors to physical tensors ----*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_CONVERSION_LAYOUTTOLINALG_PASSES
#define LAYOUT_CONVERSION_LAYOUTTOLINALG_PASSES

include "mlir/Pass/PassBase.td"

def ConvertLayoutToLinalgPass
    : Pass<"convert-layout-to-linalg", "ModuleOp"> {
  let summary = "Turns laid-out tensors into the plain tensors of their storage";
  let description = [{
    Every tensor with a layout of the `buffer` space becomes its physical tensor,
    and every op on it the op on storage that computes the same logical values:

    * linalg ops and elementwise ops on tensors run over the digits in which
      their operands are stored; padding is masked where a result would depend
      on it, and written where the result's type states what it holds;
    * `layout.convert` becomes slices, pads, reshapes and a transposition; where
      those cannot say it a gather, and where the layout has no inverse as a
      formula a loop that stores each element; `layout.storage_view` disappears;
    * constants are packed at compile time;
    * pads and slices stay what they are along dims that storage keeps whole;
    * an op of another dialect that implements `linalg::AggregatedOpInterface`,
      itself or by an external model, is decomposed on laid-out tensors, and what
      it decomposes into is lowered as above;
    * functions, calls and structured control flow change their types. A dynamic
      size that storage does not tell travels beside the tensor as an `index`.

    Afterwards no laid-out type and no `layout` op is left. An op that cannot be
    lowered is an error that names it, its layout and the way out.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::complex::ComplexDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
  let options = [
    Option<"packOps", "pack-ops", "bool", "false",
           "Make a conversion a linalg.pack or linalg.unpack where it can be "
           "one; tiles that an axis does not fill are then padded, also where "
           "no type states what padding holds">
  ];
}

def FinalizeUpstreamPass : Pass<"layout-finalize-upstream", "ModuleOp"> {
  let summary = "Leaves what every compiler that takes linalg knows";
  let description = [{
    The end of `layout-to-upstream`:

    * named elementwise ops of linalg, such as `linalg.add`, become
      `linalg.generic`: MLIR drops and renames them from version to version;
    * attributes in the namespace `layout` are removed: the decision is applied,
      and nobody else reads its record;
    * whatever of the dialect `layout` is left then, an op, a type or an
      attribute inside another, is an error at its op.
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

#endif // LAYOUT_CONVERSION_LAYOUTTOLINALG_PASSES
