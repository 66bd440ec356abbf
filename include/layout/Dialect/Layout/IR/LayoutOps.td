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

    A tensor with a `#layout.bundle` converts to a bundle of the same values,
    which repacks its codes, and to a plain tensor, which decodes them. A
    conversion to a bundle of other values would quantize, and is an error.

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

def Layout_AssembleOp : Layout_Op<"assemble", [Pure]> {
  let summary = "casts the streams of a bundle to the tensor that they hold";
  let description = [{
    Moves no data. Takes the bytes of each stream, in the order in which the
    components of `#layout.bundle` name the streams.

    ```mlir
    %0 = layout.assemble %bytes : tensor<72xi8> to tensor<2x64xf32, #layout.bundle<"gguf.q4_0">>
    ```

    The result states no padding, because what the streams hold there is
    unknown (B6).
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$streams);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $streams attr-dict `:` type($streams) `to` type($result)
  }];
  let hasVerifier = 1;
}

def Layout_StreamsOp : Layout_Op<"streams", [Pure]> {
  let summary = "casts a tensor with a bundle to its streams of bytes";
  let description = [{
    Moves no data: the inverse of `layout.assemble`.

    ```mlir
    %bytes = layout.streams %0 : tensor<2x64xf32, #layout.bundle<"gguf.q4_0">> to tensor<72xi8>
    ```
  }];
  let arguments = (ins AnyRankedTensor:$source);
  let results = (outs Variadic<AnyRankedTensor>:$streams);
  let assemblyFormat = [{
    $source attr-dict `:` type($source) `to` type($streams)
  }];
  let hasVerifier = 1;
}

#endif // LAYOUT_DIALECT_LAYOUT_IR_LAYOUTOPS_TD
