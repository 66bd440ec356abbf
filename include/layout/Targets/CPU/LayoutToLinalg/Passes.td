//===- Passes.td - Laid-out tensors to physical tensors ----*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_TARGETS_CPU_LAYOUTTOLINALG_PASSES_TD
#define LAYOUT_TARGETS_CPU_LAYOUTTOLINALG_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertLayoutToLinalgPass
    : Pass<"convert-layout-to-linalg", "ModuleOp"> {
  let summary = "Lower laid-out tensors to linalg ops on their storage";
  let description = [{
    Replaces each tensor with a layout of the `buffer` space (linear memory) by its physical tensor,
    a tensor without encoding whose dims are the stored axes of the layout. Replaces each op on such
    tensors by ops on physical tensors that compute the same logical values:

    * Linalg and elementwise ops become loops over the mixed-radix digits of indices in which their
      operands are stored. Padding is masked if a result depends on it, and written if the type of
      the result states its value.
    * `layout.convert` becomes slices, pads, reshapes and transpositions, or else a gather. If the
      layout has no closed-form inverse, it becomes a loop that inserts each element.
      `layout.storage_view` becomes a reshape.
    * Constants are packed at compile time.
    * Pads and slices along whole stored axes remain pads and slices.
    * Ops of other dialects that implement `linalg::AggregatedOpInterface`, directly or by an
      external model, are decomposed on laid-out tensors, and `linalg.softmax` on physical ones.
    * Elementwise ops on plain tensors become `linalg.generic`, too.
    * Functions, calls and structured control flow change their types. A dynamic size that cannot be
      read from a physical tensor is passed as an additional `index`.

        %0 = layout.convert %x                                         // before
            : tensor<1x32x7x7xf32> to tensor<1x32x7x7xf32, #nchw16c>
        %1 = tensor.expand_shape %x [[0], [1, 2], [3], [4]]            // after
            : tensor<1x32x7x7xf32> into tensor<1x2x16x7x7xf32>
        %0 = linalg.transpose ins(%1 : tensor<1x2x16x7x7xf32>)
            outs(%e : tensor<1x2x7x7x16xf32>) permutation = [0, 1, 3, 4, 2]

    No laid-out type and no `layout` op remains. An op that cannot be lowered is an error that names
    the op, its layout and the remedy.
  }];
  let dependentDialects = [
    "::mlir::affine::AffineDialect", "::mlir::arith::ArithDialect",
    "::mlir::complex::ComplexDialect", "::mlir::linalg::LinalgDialect",
    "::mlir::scf::SCFDialect", "::mlir::tensor::TensorDialect"
  ];
  let options = [
    Option<"packOps", "pack-ops", "bool", "false",
           "Lower conversions to linalg.pack and linalg.unpack if possible. "
           "Incomplete tiles are then padded, even if no type states what "
           "padding holds">
  ];
}

def StripAttributesPass : Pass<"layout-strip-attributes", "ModuleOp"> {
  let summary = "Strip layout attributes and generalize named elementwise ops";
  let description = [{
    The last pass of `layout-to-upstream`, whose output other MLIR-based compilers read:

    * Named elementwise ops of linalg become `linalg.generic`, because MLIR removes and renames them
      from version to version.
    * Attributes in the namespace `layout` are removed. They record a decision that has been
      applied.
    * An op, type or nested attribute of the dialect `layout` that remains is an error at its op.

        %0 = linalg.add {layout.operand_layouts = []} ins(..) outs(..) // before
        %0 = linalg.generic {..} ins(..) outs(..) {..}                 // after
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

#endif // LAYOUT_TARGETS_CPU_LAYOUTTOLINALG_PASSES_TD
