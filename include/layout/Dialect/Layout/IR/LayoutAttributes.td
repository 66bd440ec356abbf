//===- LayoutAttributes.td - Layout attributes -------------*- tablegen -*-===//
//
// Part of MLIR Layout, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LAYOUT_ATTRIBUTES
#define LAYOUT_ATTRIBUTES

include "layout/Dialect/Layout/IR/LayoutDialect.td"
include "layout/Dialect/Layout/IR/LayoutInterfaces.td"
include "layout/Dialect/Layout/IR/TargetAttr.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/TensorEncoding.td"

class Layout_LayoutAttr<string name, string attrMnemonic,
                        list<string> overrides = []>
    : Layout_Attr<name, attrMnemonic,
        [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>,
         DeclareAttrInterfaceMethods<LayoutAttrInterface, overrides>]>;

def Layout_MapAttr : Layout_LayoutAttr<"Map", "map"> {
  let summary = "the canonical map from logical indices to storage";
  let description = [{
    The core of every layout: named storage coordinates as sums of digits of
    the logical indices (`docs/spec.md`, sections 1 and 2).

    ```mlir
    #layout.map<(n, c, h, w) -> buffer(n, c floordiv 16, h, w, c mod 16)>
    #layout.map<(n, h, w, c) -> image2d(x = [c floordiv 4, w], y = [n, h], lane = c mod 4)>
    #layout.map<(i, j) -> buffer(offset = i * 40 + j)>
    ```

    * `x floordiv k` and `x mod k` split a digit (extent ceil(x / k), and k);
    * `[a, b]` fuses row-major, `[a, b] align k` rounds its extent up to a
      multiple of k; the arguments of `buffer(..)` are such a group;
    * `pad(x, lo, hi)` leaves `lo` empty positions before x and `hi` after;
    * `e * s` places a digit with stride s, an integer or a product or sum of
      `size(dim)` and `ceil(size, k)`; constants are added the same way;
    * `name = e extent s` states the number of positions of a coordinate where
      it is not the one that e implies.

    The attribute is built in canonical form and printed so, with dims d0, d1,
    ..: equal maps are the same attribute (L5). Spaces: `buffer(offset)`,
    `image2d(x, y, lane)`, `npu(npu, offset)`; any other name is a space of
    the user's with the coordinates written.
  }];
  let parameters = (ins
    AttrParameter<"::mlir::layout::LayoutMap", "the map">:$map);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Layout_BlockedAttr : Layout_LayoutAttr<"Blocked", "blocked"> {
  let summary = "axes named by letters, with split and fused parts";
  let description = [{
    `#layout.blocked<"NCHW" to "NCHW16c">`: an upper-case letter is an axis,
    `16c` is its part of 16 consecutive indices, and parts of one letter stand
    from major to minor. `[4o4i]` fuses two parts into one stored axis. The
    first string gives the logical order and may itself be blocked. Extents are
    rounded up: 17 channels in `NCHW16c` store 2 x 16.

    Source: the DataLayout RFC of TVM (spec, section 3.1).
  }];
  let parameters = (ins
    StringRefParameter<"the logical axes">:$logical,
    StringRefParameter<"the stored axes, slowest first">:$stored);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Layout_PaddedAttr : Layout_LayoutAttr<"Padded", "padded", ["getPadding"]> {
  let summary = "a layout whose padding holds a stated value";
  let description = [{
    `#layout.padded<#layout.blocked<"NCHW" to "NCHW16c">, zero>`: the storage
    points that are no index's image hold zero, or the constant that is given
    (`1.0 : f32`). A layout without this wrapper says nothing about its padding
    (rules P1 to P3). The map is that of the wrapped layout.
  }];
  let parameters = (ins
    "::mlir::Attribute":$layout,
    OptionalParameter<"::mlir::TypedAttr", "null for zero">:$value);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // LAYOUT_ATTRIBUTES
