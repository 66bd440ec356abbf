//===- LayoutOps.td - Layout ops ---------------------------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_OPS
#define LAYOUT_OPS

include "layout/Dialect/Layout/IR/LayoutDialect.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Layout_Op<string mnemonic, list<Trait> traits = []>
    : Op<Layout_Dialect, mnemonic, traits>;

def Layout_ConvertOp : Layout_Op<"convert", [Pure]> {
  let summary = "the same logical tensor in other storage";
  let description = [{
    Keeps every logical element and changes where it is stored, and, where the
    result type asks for it, what padding holds. The only conversion there is.

    ```mlir
    %1 = layout.convert %0 : tensor<1x64x56x56xf32>
                          to tensor<1x64x56x56xf32, #layout.blocked<"NCHW" to "NCHW16c">>
    ```

    Chains fold into one conversion, and a conversion of a constant folds into
    a constant with the new type, which is packed at compile time.
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
  let summary = "a laid-out tensor as the plain tensor of its storage, and back";
  let description = [{
    Moves nothing: one side is a tensor with a layout, the other the plain
    tensor of its stored dims, padding included. So packed arguments, results
    and weights cross a function boundary. A tensor without a layout is its own
    storage: a view from a plain type to itself is its source.

    ```mlir
    %1 = layout.storage_view %0 : tensor<1x17x7x7xf32, #layout.blocked<"NCHW" to "NCHW16c">>
                               to tensor<1x2x7x7x16xf32>
    ```

    Read back as a laid-out tensor, padding is not known to hold anything: the
    laid-out type then has no padding value; `layout.convert` gives it one.
  }];
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $source attr-dict `:` type($source) `to` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // LAYOUT_OPS
