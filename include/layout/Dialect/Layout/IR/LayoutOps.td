//===- LayoutOps.td - Layout ops ---------------------------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_IR_LAYOUTOPS_TD
#define LAYOUT_DIALECT_LAYOUT_IR_LAYOUTOPS_TD

include "layout/Dialect/Layout/IR/LayoutDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Layout_Op<string mnemonic, list<Trait> traits = []>
    : Op<Layout_Dialect, mnemonic, traits>;

def Layout_ConvertOp : Layout_Op<"convert", [Pure]> {
  let summary = "converts a tensor to another layout";
  let description = [{
    Keeps every logical element and changes where it is stored and, if the
    result type states a value, what padding holds. No other op converts
    layouts.

    ```mlir
    %1 = layout.convert %0 : tensor<1x64x56x56xf32>
                          to tensor<1x64x56x56xf32, #layout.blocked<"NCHW" to "NCHW16c">>
    ```

    A chain folds into one conversion. A conversion of a constant folds into a
    constant of the new type, which is packed at compile time.
  }];
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source attr-dict `:` type($source) `to` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Layout_StorageViewOp : Layout_Op<"storage_view", [Pure]> {
  let summary = "casts between a tensor with a layout and its storage";
  let description = [{
    Moves no data: one side is a tensor with a layout, the other the plain
    tensor of its stored dims, padding included. Packed arguments, results and
    weights cross a function boundary in this form. A tensor without a layout is
    its own storage, and a view of it to its own type folds.

    ```mlir
    %1 = layout.storage_view %0 : tensor<1x17x7x7xf32, #layout.blocked<"NCHW" to "NCHW16c">>
                               to tensor<1x2x7x7x16xf32>
    ```

    A result with a layout has no padding value, because the contents of the
    padding are unknown; `layout.convert` sets one.
  }];
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source attr-dict `:` type($source) `to` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // LAYOUT_DIALECT_LAYOUT_IR_LAYOUTOPS_TD
