//===- BundleAttr.td - Tensors of coded components ---------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_DIALECT_LAYOUT_IR_BUNDLEATTR_TD
#define LAYOUT_DIALECT_LAYOUT_IR_BUNDLEATTR_TD

include "layout/Dialect/Layout/IR/LayoutDialect.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/TensorEncoding.td"

def Layout_BundleAttr
    : Layout_Attr<"Bundle", "bundle",
                  [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "a tensor whose values are computed from coded components";
  let description = [{
    The encoding of a tensor that is stored as small integers or floats with
    their scales: block formats, packed weights, fused parameters. Each
    component has codes of a few bits, an index, and positions of bits in a
    stream of bytes; a decode function computes a value of the tensor from its
    codes (`docs/bundles.md`).

    ```mlir
    // 32 values of 4 bits and their scale in 18 bytes
    #layout.bundle<scale(r, k),
      value : ui4 excess 8 [r, k] in block (r, k, b) ->
        bits(bit = [r, k floordiv 32] * 144 + (k mod 16) * 8 + (k floordiv 16 mod 2) * 4 + b + 16),
      scale : f16 [r, k floordiv 32] in block (r, g, b) -> bits(bit = [r, g] * 144 + b)>
    #layout.bundle<"gguf.q4_0">    // the same, by name
    #layout.bundle<"awq", group = 128>
    ```

    A component is `name : type [index] in stream map`. The index lists digits
    of the index of the tensor. The map has one dim per digit and a last one for
    the bit of a code. Several maps in braces are pieces: a dim with a range, `j
    = 4 to 8`, counts from the start of the range. `excess e` subtracts e from
    an integer code, `fraction f` divides by 2^f. `padding(block = 0)` at the
    end states the byte that positions without a bit hold in a stream.

    A bundle is not a layout with one map: ops on its values do not exist.
    `layout.assemble` and `layout.streams` cast between it and its streams, and
    `layout.convert` decodes or repacks it.
  }];
  let parameters = (ins
    AttrParameter<"::mlir::layout::BundleRef", "the components">:$bundle);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // LAYOUT_DIALECT_LAYOUT_IR_BUNDLEATTR_TD
